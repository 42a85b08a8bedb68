// Coordinate descent on a penalised quadratic model, the inner loop of proximal Newton:
//
//     minimise  g.(w - w0) + (1/2)(w - w0)'G(w - w0) + sum_j l1_j |w_j| + (l2_j/2) w_j^2,
//
// coordinate by coordinate, each exactly. Two forms of the same loop: on an explicit Gram matrix G
// (a sweep costs m^2 at most and is nearly free for the few hundred columns of a working set), and on
// the columns themselves, G = X'diag(h)X, for working sets too large for a Gram matrix.
//
// Violation of a coordinate: the distance from -gradient to the subdifferential of the penalty.
#pragma once

#include <algorithm>
#include <cmath>

#include "lineal/loss.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

struct CoordinatePenalty {
  double l1, l2;

  // argmin over v of gradient (v - w) + (curvature/2)(v - w)^2 + l1 |v| + (l2/2) v^2.
  double minimise(double w, double gradient, double curvature) const noexcept {
    return soft(curvature * w - gradient, l1) / (curvature + l2);
  }
  double violation(double w, double gradient) const noexcept {
    const double g = gradient + l2 * w;
    if (w > 0) return std::abs(g + l1);
    if (w < 0) return std::abs(g - l1);
    return std::max(0.0, std::abs(g) - l1);
  }
};

// The penalty of each weight; a weight whose l1 is 0 (an intercept, a ridge) has no corner to rest in.
struct WeightPenalties {
  const double *l1, *l2;

  CoordinatePenalty operator[](Index j) const noexcept { return {l1[j], l2[j]}; }
  bool has_corner(Index j) const noexcept { return l1[j] > 0; }
};

struct Sweeps {
  Index count;
  double violation;  // the largest seen in the last sweep over everything
};

// A symmetric matrix whose rows may lie apart.
template <class T>
struct SquareOf {
  const T* data;
  Index size, stride;

  SquareOf(const T* numbers, Index n) : SquareOf(numbers, n, n) {}
  SquareOf(const T* numbers, Index n, Index apart) : data(numbers), size(n), stride(apart) {}
  const T* row(Index j) const noexcept { return data + j * stride; }
};
using SquareView = SquareOf<double>;

// gradient enters as the model's gradient at w (g at w0) and is kept up to date. Sweeps alternate: one over
// everything, then up to ten over what is not resting at 0.
template <class T = double>
Sweeps gram_cd(SquareOf<T> G, WeightPenalties penalties, double* gradient, double* w, double tol,
               Index max_sweeps, Watch& watch) {
  const Index m = G.size;
  Sweeps done{0, 0.0};
  Index since_full = 0;
  bool full = true;
  while (done.count < max_sweeps) {
    ++done.count;
    double worst = 0;
    for (Index j = 0; j < m; ++j) {
      if (!full && w[j] == 0.0 && penalties.has_corner(j)) continue;
      const T* row = G.row(j);
      const double curvature = double(row[j]);
      const CoordinatePenalty p = penalties[j];
      if (curvature + p.l2 <= 0) continue;  // a column of zeros: any weight gives the same scores
      worst = std::max(worst, p.violation(w[j], gradient[j]));
      const double next = p.minimise(w[j], gradient[j], curvature), moved = next - w[j];
      if (moved == 0.0) continue;
      if (watch.says_stop(m)) return done;
      w[j] = next;
      for (Index k = 0; k < m; ++k) gradient[k] += moved * double(row[k]);
    }
    if (full) done.violation = worst;
    if (full && worst <= tol) break;
    since_full = full ? 0 : since_full + 1;
    full = !full && (worst <= 0.3 * tol || since_full >= 10);
  }
  return done;
}

// The same on columns: XT holds column j of X as its row j; residual[i] = s_i u_i + h_i (x_i.(w - w0) + ...),
// the model's slope in score i; `curvature`[j] = sum_i h_i x_ij^2. An intercept (b) has the last penalty.
template <class Rows>
Sweeps column_cd(const Rows& XT, const double* h, bool has_constant, WeightPenalties penalties,
                 const double* curvature, double* residual, double* w, double& b, double tol,
                 Index max_sweeps, Watch& watch) {
  const Index n = XT.n_columns;
  double total_h = 0;
  for (Index i = 0; i < n; ++i) total_h += h[i];
  Sweeps done{0, 0.0};
  Index since_full = 0;
  bool full = true;
  while (done.count < max_sweeps) {
    ++done.count;
    double worst = 0;
    const CoordinatePenalty on_b = has_constant ? penalties[XT.n_rows] : CoordinatePenalty{0.0, 0.0};
    if (has_constant && total_h + on_b.l2 > 0) {
      double slope = 0;
      for (Index i = 0; i < n; ++i) slope += residual[i];
      worst = on_b.violation(b, slope);
      const double moved = on_b.minimise(b, slope, total_h) - b;
      b += moved;
      for (Index i = 0; i < n; ++i) residual[i] += h[i] * moved;
    }
    for (Index j = 0; j < XT.n_rows; ++j) {
      if (!full && w[j] == 0.0 && penalties.has_corner(j)) continue;
      const CoordinatePenalty penalty = penalties[j];
      if (curvature[j] + penalty.l2 <= 0) continue;
      const auto x = XT[j];
      if (watch.says_stop(2 * x.size)) return done;
      const double gradient = dot(x, static_cast<const double*>(residual));
      worst = std::max(worst, penalty.violation(w[j], gradient));
      const double next = penalty.minimise(w[j], gradient, curvature[j]), moved = next - w[j];
      if (moved == 0.0) continue;
      w[j] = next;
      for (Index k = 0; k < x.size; ++k) {
        const Index i = column(x, k);
        residual[i] += h[i] * double(x.value[k]) * moved;
      }
    }
    if (full) done.violation = worst;
    if (full && worst <= tol) break;
    since_full = full ? 0 : since_full + 1;
    full = !full && (worst <= 0.3 * tol || since_full >= 10);
  }
  return done;
}

}  // namespace lineal
