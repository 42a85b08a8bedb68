// The linear system of an interior-point step for one output, by a matrix of all rows: one of columns, or of
// rows where those are fewer.
//
// Cost: a factor of as many unknowns, and, of rows, some passes over X a solution.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "lineal/cholesky.h"
#include "lineal/epoch/interval_programme.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// (A'S theta A + L) x = right by its own matrix.
class ColumnSystem {
 public:
  // G = [X 1]'diag(h)[X 1]; what the run adds to it, in place, comes from its penalty.
  template <class Run>
  bool factorise(double* G, const Run& run, Watch& watch) {
    run.add_penalty(G);
    const Index size = Index(run.diagonal().size());
    for (Numbers* each : {&scale_, &residue_, &step_}) each->resize(std::size_t(size));
    for (Index j = 0; j < size; ++j) {
      const double own = G[j * size + j];
      scale_[std::size_t(j)] = own > 0.0 ? 1.0 / std::sqrt(own) : 1.0;
    }
    G_ = G;
    return factor_.factorise(G, size, watch);
  }
  void solve_once(const double* right, double* x) { factor_.solve(right, x, 0); }
  void solve(const double* right, double* x) {
    const Index size = Index(residue_.size());
    factor_.solve(right, x, 0);
    for (int round = 0; round < 2; ++round) {
      double most = 0.0, left = 0.0;
      for (Index i = 0; i < size; ++i) {
        const double* const row = G_ + i * size;
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (Index j = 0; j < size; ++j) sum += row[j] * x[j];
        const double each = right[i] - sum, scale = scale_[std::size_t(i)];
        residue_[std::size_t(i)] = each;
        most = std::max(most, scale * std::abs(right[i]));
        left = std::max(left, scale * std::abs(each));
      }
      if (left <= rounded * most) return;
      factor_.solve(residue_.data(), step_.data(), 0);
      for (Index j = 0; j < size; ++j) x[j] += step_[std::size_t(j)];
    }
  }

 private:
  // A solution with so small a share of the right side left over, in units of the columns, needs no second
  // look.
  static constexpr double rounded = 1e-12;

  Cholesky factor_;
  const double* G_ = nullptr;
  Numbers scale_, residue_, step_;
};

// The same by a system of as many unknowns as rows (Woodbury): with M the diagonal,
//
//     x = M^-1 (right - A'q),    (H^-1 + A M^-1 A') q = A M^-1 right.
//
// A free constant, whose M is 0, is eliminated from the rows by itself.
template <class Map>
class RowSystem {
 public:
  RowSystem(const Map& A, Index n_rows, bool has_constant) : A_(A), n_(n_rows), has_constant_(has_constant) {}

  // K = X M^-1 X'; 1 / h, and 1 / M of a constant that costs something, are added to it, in place.
  bool factorise(double* K, const Numbers& h, const Numbers& diagonal, Watch& watch) {
    h_ = &h;
    diagonal_ = &diagonal;
    const double edge = has_constant_ ? diagonal.back() : 0.0;
    is_free_ = has_constant_ && edge == 0.0;
    if (has_constant_ && !is_free_)
      for (Index k = 0; k < n_ * n_; ++k) K[k] += 1.0 / edge;
    for (Index i = 0; i < n_; ++i) K[i * n_ + i] += 1.0 / h[std::size_t(i)];
    if (!factor_.factorise(K, n_, watch)) return false;
    seen_.resize(std::size_t(n_));
    q_.resize(std::size_t(n_));
    step_.resize(diagonal.size());
    residue_.resize(diagonal.size());
    along_.resize(std::size_t(n_));
    if (is_free_) {
      std::fill(seen_.begin(), seen_.end(), 1.0);
      factor_.solve(seen_.data(), along_.data(), 0);
    }
    return true;
  }
  void solve(const double* right, double* x) {
    const std::size_t size = diagonal_->size();
    std::fill(x, x + size, 0.0);
    residue_.assign(right, right + size);
    double left = HUGE_VAL;
    for (int round = 0; round < most_rounds; ++round) {  // again for what rounding left
      once(residue_.data(), step_.data());
      for (std::size_t j = 0; j < size; ++j) x[j] += step_[j];
      if (round + 1 == most_rounds) break;
      // right - (A'H A + M) x
      A_.dot_rows(x, seen_.data());
      for (Index i = 0; i < n_; ++i) seen_[std::size_t(i)] *= (*h_)[std::size_t(i)];
      A_.adjoint_rows(seen_.data(), residue_.data());
      double now = 0.0;
      for (std::size_t j = 0; j < size; ++j) {
        residue_[j] = right[j] - residue_[j] - (*diagonal_)[j] * x[j];
        now += std::abs(residue_[j]);
      }
      if (round > 0 && !(now < left / 2)) break;
      left = now;
    }
  }

 private:
  static constexpr int most_rounds = 5;

  void once(const double* right, double* x) {
    const std::size_t d = diagonal_->size() - (has_constant_ ? 1 : 0);
    for (std::size_t j = 0; j < d; ++j) x[j] = right[j] / (*diagonal_)[j];
    if (has_constant_) x[d] = is_free_ ? 0.0 : right[d] / (*diagonal_)[d];
    A_.dot_rows(x, seen_.data());
    factor_.solve(seen_.data(), q_.data(), 0);
    double constant = 0.0;
    if (is_free_) {
      double sum = 0.0, total = 0.0;
      for (Index i = 0; i < n_; ++i) sum += q_[std::size_t(i)], total += along_[std::size_t(i)];
      constant = (right[d] - sum) / total;  // 1'q = right_b with q = K^-1 (seen + constant)
      for (Index i = 0; i < n_; ++i) q_[std::size_t(i)] += constant * along_[std::size_t(i)];
    }
    pulled_.resize(diagonal_->size());
    A_.adjoint_rows(q_.data(), pulled_.data());
    for (std::size_t j = 0; j < d; ++j) x[j] -= pulled_[j] / (*diagonal_)[j];
    if (has_constant_) x[d] = is_free_ ? constant : x[d] - pulled_[d] / (*diagonal_)[d];
  }

  const Map& A_;
  Index n_;
  bool has_constant_, is_free_ = false;
  Cholesky factor_;
  const Numbers* h_ = nullptr;
  const Numbers* diagonal_ = nullptr;
  Numbers seen_, q_, along_, step_, residue_, pulled_;
};

}  // namespace lineal
