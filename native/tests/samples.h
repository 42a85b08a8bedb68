// Random matrices and losses for the theorems. Every number comes from a seed.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "lineal/loss.h"
#include "lineal/rng.h"
#include "lineal/rows.h"

namespace lineal::check {

inline double uniform(Rng& rng, double low, double high) {
  return low + (high - low) * (double(rng.next() >> 11) * 0x1p-53);
}

inline std::vector<double> uniforms(Rng& rng, Index n, double low, double high) {
  std::vector<double> all(static_cast<std::size_t>(n));
  for (double& x : all) x = uniform(rng, low, high);
  return all;
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

// Small whole numbers: their sums are exact in any order, so results can be compared bit by bit.
inline double whole(Rng& rng) { return double(rng.below(17)) - 8.0; }

// One matrix in both layouts. The vectors are exactly as long as their content, so that a sanitizer
// sees a read one past it.
template <class V>
struct Sample {
  Index n_rows = 0, n_columns = 0;
  std::vector<Index> start{0};
  std::vector<std::int32_t> index;
  std::vector<V> value, full;

  Csr<V> csr() const { return {n_rows, n_columns, start.data(), index.data(), value.data()}; }
  Dense<V> dense() const { return {n_rows, n_columns, full.data()}; }
  double at(Index i, Index j) const { return double(full[std::size_t(i * n_columns + j)]); }
  double dot(Index i, const double* w) const {
    double sum = 0;
    for (Index j = 0; j < n_columns; ++j) sum += at(i, j) * w[j];
    return sum;
  }
  double squared_norm(Index i) const {
    double sum = 0;
    for (Index j = 0; j < n_columns; ++j) sum += at(i, j) * at(i, j);
    return sum;
  }
  std::vector<double> squared_norms() const {
    std::vector<double> all;
    for (Index i = 0; i < n_rows; ++i) all.push_back(squared_norm(i));
    return all;
  }
};

template <class V>
Sample<V> sample_matrix(Rng& rng, Index n_rows, Index n_columns, double density) {
  Sample<V> X;
  X.n_rows = n_rows;
  X.n_columns = n_columns;
  X.full.assign(std::size_t(n_rows * n_columns), V(0));
  for (Index i = 0; i < n_rows; ++i) {
    for (Index j = 0; j < n_columns; ++j) {
      if (uniform(rng, 0, 1) >= density) continue;
      const V a = V(uniform(rng, -2, 2));
      X.full[std::size_t(i * n_columns + j)] = a;
      X.index.push_back(std::int32_t(j));
      X.value.push_back(a);
    }
    X.start.push_back(Index(X.index.size()));
  }
  X.start.shrink_to_fit();
  X.index.shrink_to_fit();
  X.value.shrink_to_fit();
  return X;
}

// The same rows with their numbers in any order.
template <class V>
struct Scrambled {
  Index n_rows, n_columns;
  std::vector<Index> start;
  std::vector<std::int32_t> index;
  std::vector<V> value;

  Scrambled(Rng& rng, const Sample<V>& X)
      : n_rows(X.n_rows), n_columns(X.n_columns), start(X.start), index(X.index), value(X.value) {
    for (Index i = 0; i < n_rows; ++i)
      for (Index first = start[std::size_t(i)], k = start[std::size_t(i) + 1] - 1; k > first; --k) {
        const auto other = std::size_t(first) + std::size_t(rng.below(std::uint64_t(k - first + 1)));
        std::swap(index[std::size_t(k)], index[other]);
        std::swap(value[std::size_t(k)], value[other]);
      }
  }
  Csr<V> csr() const { return {n_rows, n_columns, start.data(), index.data(), value.data(), false}; }
};

// The same with small whole numbers, some of which may be stored zeros.
inline Sample<double> whole_matrix(Rng& rng, Index n_rows, Index n_columns, double density) {
  Sample<double> X = sample_matrix<double>(rng, n_rows, n_columns, density);
  for (double& value : X.value) value = whole(rng);
  for (Index i = 0; i < n_rows; ++i)
    for (Index k = X.start[std::size_t(i)]; k < X.start[std::size_t(i + 1)]; ++k)
      X.full[std::size_t(i * n_columns + X.index[std::size_t(k)])] = X.value[std::size_t(k)];
  return X;
}

// Where a loss's dual variable lives: -y u in [low, high] for a margin loss, u in [low, high] else.
struct Domain {
  bool is_margin;
  double low, high;

  double inner(double y, double u) const { return is_margin ? -y * u : u; }
  bool contains(double y, double u) const { return inner(y, u) >= low && inner(y, u) <= high; }
};

// Calls f(name, loss, domain) for every loss of one score that has a dual step.
template <class F>
void each_dual_loss(F&& f) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  f("Hinge", Hinge{}, Domain{true, 0, 1});
  f("SquaredHinge", SquaredHinge{}, Domain{true, 0, inf});
  f("ModifiedHuber", ModifiedHuber{}, Domain{true, 0, 4});
  f("Log", Log{}, Domain{true, 0, 1});
  f("Squared", Squared{}, Domain{false, -inf, inf});
  f("Huber", Huber{0.7}, Domain{false, -0.7, 0.7});
  f("EpsilonInsensitive", EpsilonInsensitive{0.3}, Domain{false, -1, 1});
  f("SquaredEpsilonInsensitive", SquaredEpsilonInsensitive{0.3}, Domain{false, -inf, inf});
  f("Quantile", Quantile{0.8}, Domain{false, -0.8, 1.0 - 0.8});
}

// The same, and those whose kinks are rounded.
template <class F>
void each_loss(F&& f) {
  each_dual_loss(f);
  f("SmoothedHinge", SmoothedHinge{1.0, 0.3}, Domain{true, 0, 1});
  f("SmoothedEpsilonInsensitive", SmoothedEpsilonInsensitive{0.3, 0.2}, Domain{false, -1, 1});
  f("SmoothedQuantile", SmoothedQuantile{0.8, 0.5}, Domain{false, -0.8, 1.0 - 0.8});
}

}  // namespace lineal::check
