// The linear system of an interior-point step for K outputs that meet.
//
// Where they meet in groups of weights alone it has a weighted Gram matrix for each output on its diagonal.
// Of a joint loss, with theta of each score and M_i = diag(theta_i) - theta_i theta_i' / sum theta_i, the
// matrix is
//
//     sum_i s_i M_i (x) x_i x_i' + L,    output by output.
//
// M_i is the Laplacian of a graph whose edges (k, l) weigh theta_ik theta_il / sum theta_i. So the blocks off
// the diagonal are K (K - 1) / 2 Gram matrices with weights >= 0, negated, and one on it is the sum of those
// of its edges: nothing cancels, however far apart the thetas are.
//
// Scores that all move by the same change no loss. A column that costs nothing, in none of its K weights, has
// such a direction of its own; it is given a curvature, which changes no solution whose right side is
// orthogonal to it, as all are here.
//
// Cost: K (K - 1) / 2 Gram matrices and a factor of K d unknowns.
#pragma once

#include <algorithm>
#include <vector>

#include "lineal/cholesky.h"
#include "lineal/epoch/interior_point.h"
#include "lineal/gram.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

class JointSystem {
 public:
  // False: not positive definite even when damped, or the watch said stop. `gram(h, G)` makes G the matrix
  // [X 1]'diag(h)[X 1] of the programme's rows, or one near it.
  template <class Gram>
  bool factorise(Gram&& gram, const InteriorPoint& run, Watch& watch) {
    watch_ = &watch;
    const IntervalProgramme& p = run.programme();
    const Index n = p.n_rows, K = p.n_outputs, m = p.n_weights_of_output();
    size_ = K * m;
    matrix_.assign(std::size_t(size_ * size_), 0.0);
    block_.resize(std::size_t(m * m));
    if (!p.is_joint) {
      for (Index k = 0; k < K; ++k) {
        gram(run.curvatures().data() + k * n, block_.data());
        for (Index r = 0; r < m; ++r)
          std::copy_n(block_.data() + r * m, m, matrix_.data() + (k * m + r) * size_ + k * m);
        if (watch.says_stop(n * m)) return false;
      }
      run.add_penalty(matrix_.data());
      return factor_.factorise(matrix_.data(), size_, watch);
    }
    const Numbers& theta = run.thetas();
    edge_.resize(std::size_t(n));
    share_.resize(std::size_t(n));
    for (Index i = 0; i < n; ++i) {
      double total = 0.0;
      for (Index k = 0; k < K; ++k) total += theta[std::size_t(k * n + i)];
      share_[std::size_t(i)] = p.weight[std::size_t(i)] / total;
    }
    for (Index k = 0; k < K; ++k)
      for (Index l = 0; l < k; ++l) {
        const double *one = theta.data() + k * n, *other = theta.data() + l * n;
        for (Index i = 0; i < n; ++i) edge_[std::size_t(i)] = one[i] * share_[std::size_t(i)] * other[i];
        gram(edge_.data(), block_.data());
        add_edge(k, l, m);
        if (watch.says_stop(n * m)) return false;
      }
    run.add_penalty(matrix_.data());
    for (Index j = 0; j < m; ++j) hold_shift(j, m, K, run.diagonal());
    return factor_.factorise(matrix_.data(), size_, watch);
  }
  // The same with the Gram matrices of all rows of X that the programme has, `used`, none if it has all.
  template <class Rows>
  bool factorise(const Rows& X, const std::vector<Index>& used, const InteriorPoint& run, int n_threads,
                 Watch& watch) {
    Numbers every;
    const auto gram = [&](const double* h, double* G) {
      if (!used.empty()) {
        every.assign(std::size_t(X.n_rows), 0.0);
        for (std::size_t i = 0; i < used.size(); ++i) every[std::size_t(used[i])] = h[i];
        h = every.data();
      }
      gram_pass(X, h, run.programme().has_constant, G, n_threads);
    };
    return factorise(gram, run, watch);
  }
  void solve(const double* right, double* x) {
    factor_.solve(right, x, 2);
    watch_->says_stop(6 * size_ * size_);
  }
  // Whether the watch said stop: directions are refined no more.
  bool is_broken_off() const { return watch_->is_over(); }
  void solve_once(const double* right, double* x) { factor_.solve(right, x, 0); }

 private:
  double& at(Index r, Index c) { return matrix_[std::size_t(r * size_ + c)]; }

  void add_edge(Index k, Index l, Index m) {
    for (Index r = 0; r < m; ++r)
      for (Index c = 0; c < m; ++c) {
        const double value = block_[std::size_t(r * m + c)];
        at(k * m + r, k * m + c) += value;
        at(l * m + r, l * m + c) += value;
        at(k * m + r, l * m + c) = at(l * m + c, k * m + r) = -value;
      }
  }

  void hold_shift(Index j, Index m, Index K, const Numbers& diagonal) {
    double curvature = 0.0;
    for (Index k = 0; k < K; ++k) {
      if (diagonal[std::size_t(k * m + j)] != 0.0) return;
      curvature += at(k * m + j, k * m + j);
    }
    curvature /= double(K * K);
    for (Index k = 0; k < K; ++k)
      for (Index l = 0; l < K; ++l) at(k * m + j, l * m + j) += curvature;
  }

  Index size_ = 0;
  Watch* watch_ = nullptr;
  Numbers matrix_, edge_, block_, share_;
  Cholesky factor_;
};

}  // namespace lineal
