// A whole step of Newton's method for outputs that meet nowhere, under a penalty of squares: the Hessian of
// each, its factor and the length to go. On tables so small that a call costs as much as a pass, calls would
// be most of a fit. The slow twin is `_step_by_output` in src/lineal/solvers/newton.py.
//
// A Table knows the rows and their losses: dot(W, Z), curvatures(Z, H), weigh(U, G), grams(H, K, G, watch)
// and along(Z, M, t, out), all but `grams` for arrays of as many columns as there are outputs.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lineal/cholesky.h"
#include "lineal/line_search.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// Parameters are (size x K), the constants' row last where there is one; scores and slopes are (n_rows x K).
struct NewtonShape {
  Index n_rows, n_columns, K;
  bool has_constant;

  Index size() const noexcept { return n_columns + (has_constant ? 1 : 0); }
  Index n_scores() const noexcept { return n_rows * K; }
  Index n_parameters() const noexcept { return size() * K; }
};

struct NewtonPoint {
  const double *theta, *Z, *U, *gradient;
};

// Where a step went, the line to there with its scores, and what its model says: slopes at the model's
// minimiser, and the losses' Hessian times the way there.
struct NewtonStep {
  double *theta, *Z, *direction, *moved, *ahead, *bent;
  double value = 0.0;
};

// `ridges` is what each parameter is squared with. Outputs whose squared gradient is at most `enough` rest,
// unless all of them would. False where an output that falls found no lower point down to `shortest`, where
// none fell at all, or where the watch said stop.
template <class Table>
bool newton_step(const Table& table, const NewtonShape& shape, const NewtonPoint& from, const double* ridges,
                 double enough, double shortest, NewtonStep& to, Watch& watch) {
  const Index K = shape.K, size = shape.size(), n_weights = shape.n_columns * K;
  const std::size_t n_scores = std::size_t(shape.n_scores()), n_all = std::size_t(shape.n_parameters()),
                    n_outputs = std::size_t(K);
  std::vector<Index> part;
  for (const bool is_any : {false, true}) {
    for (Index k = 0; k < K; ++k) {
      double worth = 0.0;
      for (Index j = 0; j < size; ++j) worth += from.gradient[j * K + k] * from.gradient[j * K + k];
      if (is_any || worth > enough) part.push_back(k);
    }
    if (!part.empty()) break;
  }
  const Index n_moving = Index(part.size());

  // The systems of those that move, and the way to the minimum of each model.
  std::vector<double> H(n_scores), weighted(n_scores), own(std::size_t(shape.n_rows * n_moving));
  table.curvatures(from.Z, H.data());
  table.weigh(H.data(), weighted.data());
  for (Index i = 0; i < shape.n_rows; ++i)
    for (Index m = 0; m < n_moving; ++m)
      own[std::size_t(i * n_moving + m)] = weighted[std::size_t(i * K + part[std::size_t(m)])];
  std::vector<double> G(std::size_t(n_moving * size * size));
  table.grams(own.data(), n_moving, G.data(), watch);
  if (watch.is_over()) return false;
  std::vector<double> A = G, right(std::size_t(size * n_moving)), way(right.size());
  for (Index m = 0; m < n_moving; ++m)
    for (Index j = 0; j < size; ++j) {
      const Index at = j * K + part[std::size_t(m)];
      A[std::size_t((m * size + j) * size + j)] += ridges[at];
      right[std::size_t(j * n_moving + m)] = from.gradient[at];
    }
  BlockFactors factors;
  if (!factors.factorise(A.data(), n_moving, size, watch)) return false;
  factors.solve(right.data(), way.data(), 0);
  std::fill_n(to.direction, n_all, 0.0);
  std::fill_n(to.bent, n_all, 0.0);
  for (Index m = 0; m < n_moving; ++m)
    for (Index j = 0; j < size; ++j) {
      const Index at = j * K + part[std::size_t(m)];
      to.direction[at] = -way[std::size_t(j * n_moving + m)];
      const double* const row = G.data() + (m * size + j) * size;
      double sum = 0.0;
      for (Index l = 0; l < size; ++l) sum -= row[l] * way[std::size_t(l * n_moving + m)];
      to.bent[at] = sum;
    }
  table.dot(to.direction, to.moved);
  if (shape.has_constant)
    for (Index i = 0; i < shape.n_rows; ++i)
      for (Index k = 0; k < K; ++k) to.moved[i * K + k] += to.direction[n_weights + k];
  for (std::size_t i = 0; i < n_scores; ++i) to.ahead[i] = from.U[i] + H[i] * to.moved[i];

  // How far along it, each output by itself.
  std::vector<double> start(3 * n_outputs), quadratic(3 * n_outputs, 0.0), length(n_outputs),
      value(n_outputs);
  for (Index j = 0; j < size; ++j)
    for (Index k = 0; k < K; ++k) {
      const Index at = j * K + k;
      const double w = from.theta[at], c = to.direction[at], ridge = ridges[at];
      quadratic[std::size_t(k)] += 0.5 * ridge * w * w;
      quadratic[std::size_t(K + k)] += ridge * w * c;
      quadratic[std::size_t(2 * K + k)] += ridge * c * c;
    }
  table.along(from.Z, to.moved, length.data(), start.data());  // at lengths 0
  for (std::size_t k = 0; k < 2 * n_outputs; ++k) start[k] += quadratic[k];
  double* const incline = start.data() + K;
  for (std::size_t k = 0; k < n_outputs; ++k)
    if (!(incline[k] < -1e-15 * std::abs(start[k]))) incline[k] = 0.0;  // rounding beside the value
  line_lengths(
      K, [&](const double* t, double* out) { table.along(from.Z, to.moved, t, out); }, start.data(), incline,
      quadratic.data(), shortest, length.data(), value.data());
  bool is_any = false;
  for (std::size_t k = 0; k < n_outputs; ++k) {
    if (incline[k] < 0.0 && length[k] == 0.0) return false;
    is_any = is_any || length[k] != 0.0;
  }
  if (!is_any) return false;

  // The point there.
  to.value = 0.0;
  for (const double each : value) to.value += each;
  for (std::size_t j = 0; j < n_all; ++j) {
    to.direction[j] *= length[j % n_outputs];
    to.theta[j] = from.theta[j] + to.direction[j];
  }
  for (Index i = 0; i < shape.n_rows; ++i)
    for (Index k = 0; k < K; ++k) {
      const Index at = i * K + k;
      to.moved[at] *= length[std::size_t(k)];
      to.Z[at] = from.Z[at] + to.moved[at];
    }
  return true;
}

}  // namespace lineal
