// Stochastic subgradient steps under an L2 penalty or none (Pegasos: Shalev-Shwartz et al. 2011),
//
//     theta <- (1 - eta ridge) theta - eta (n / |B|) sum_{i in B} s_i u_i x_i,
//
// at a cost of the stored numbers of B: the weights are kept as a V, so that shrinking them is one product,
// and the sum of all iterates as A V + B, so that a step changes B only where it changes V (Bottou 2012):
//
//     V += d            wants   B -= A d,  for the sum of the iterates before must stay what it was;
//     theta = a V       joins the sum by   A += a.
//
// a falls with every step and V grows as 1/a, so that A V + B cancels by as much. When a falls below 2^-10,
// A V is moved to B and a to V, at the cost of one pass over W; the same happens at the end of an epoch. With
// Pegasos' steps, 1 / (ridge t), that is once in a thousandfold of t; the sum keeps all but three or four of
// its digits.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "lineal/row_slopes.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// Weights a V and, if `sum` is there, the sum of all that were counted, A V + sum.
struct ScaledWeights {
  static constexpr double smallest = 0x1p-10;  // of a

  double* V;
  double* sum;  // or null
  Index size;
  double a = 1.0, A = 0.0;

  void shrink(double factor) noexcept {
    a *= factor;
    if (!(a > smallest)) fold();
  }
  void count() noexcept { A += a; }
  void fold() noexcept {
    if (sum != nullptr)
      for (Index j = 0; j < size; ++j) sum[j] += A * V[j];
    for (Index j = 0; j < size; ++j) V[j] *= a;
    a = 1.0;
    A = 0.0;
  }
  // z = W'x.
  template <class Row>
  void dot(Row x, Index K, double* z) const noexcept {
    std::fill(z, z + K, 0.0);
    add_scores(x, V, K, z);
    for (Index k = 0; k < K; ++k) z[k] *= a;
  }
  // W += x d'; d is spoilt.
  template <class Row>
  void add(Row x, Index K, double* d) noexcept {
    for (Index k = 0; k < K; ++k) d[k] /= a;
    add_product<false>(x, d, K, V);
    if (sum == nullptr || A == 0.0) return;
    for (Index k = 0; k < K; ++k) d[k] *= -A;
    add_product<false>(x, d, K, sum);
  }
};

// The parameters of an epoch. Vectors of parameters are W, feature-major, then b where there is an intercept.
struct SgdSettings {
  Index batch_size;
  double ridge;            // of the weights
  double intercept_ridge;  // of the intercept: the same where it is penalised, else 0
  bool has_intercept;
};

// One epoch in place. `order` is a permutation of the rows; eta holds a step for each batch, eta ridge <= 1.
// `sum`, if not null, gains the parameters after each step. U (n_rows x n_outputs) receives the slopes met.
// When the watch says stop, the batches that are left are not met.
template <class Rows>
void sgd_epoch(const RowSlopes& slopes, const Rows& X, const double* s, std::span<const std::int64_t> order,
               const double* eta, const SgdSettings& set, double* theta, double* sum, double* U,
               Watch& watch) {
  const Index K = slopes.n_outputs, n = X.n_rows, size = X.n_columns * K;
  ScaledWeights W{theta, sum, size};
  double* b = set.has_intercept ? theta + size : nullptr;
  std::vector<double> step(static_cast<std::size_t>(K)), pull(step.size());
  for (Index first = 0; first < n && !watch.is_over(); first += set.batch_size, ++eta) {
    const Index last = std::min(n, first + set.batch_size);
    for (Index at = first; at < last; ++at) {
      const Index i = order[std::size_t(at)];
      if (at + 1 < n) prefetch(X[order[std::size_t(at + 1)]]);
      double* u = U + i * K;
      W.dot(X[i], K, u);
      watch.says_stop(X[i].size * K);
      if (b != nullptr)
        for (Index k = 0; k < K; ++k) u[k] += b[k];
      slopes.at(i, u);
    }
    W.shrink(1.0 - *eta * set.ridge);
    std::fill(pull.begin(), pull.end(), 0.0);
    const double share = -*eta * (double(n) / double(last - first));
    for (Index at = first; at < last; ++at) {
      const Index i = order[std::size_t(at)];
      bool is_flat = true;
      for (Index k = 0; k < K; ++k) {
        const double d = share * s[i] * U[i * K + k];
        step[std::size_t(k)] = d;
        pull[std::size_t(k)] += d;
        is_flat = is_flat && d == 0.0;
      }
      if (!is_flat) W.add(X[i], K, step.data());
    }
    W.count();
    if (b == nullptr) continue;
    for (Index k = 0; k < K; ++k) {
      b[k] = (1.0 - *eta * set.intercept_ridge) * b[k] + pull[std::size_t(k)];
      if (sum != nullptr) sum[size + k] += b[k];
    }
  }
  W.fold();
}

}  // namespace lineal
