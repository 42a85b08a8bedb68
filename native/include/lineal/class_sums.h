// Sums over the rows of each class: all that a naive Bayes learner asks of its data.
//
//   V[k, j] = sum over the rows i of class k that store column j of  term(s_i, x_ij, k, j)
//
// V is class-major, and rows are visited class by class: what one class adds up to stays in a cache that the
// sums of all classes would not fit into. Every number is the sum of its rows in their own order, by one
// thread (or, where columns are few, by shares of the rows that depend on the data alone), so that the bits
// do not depend on the number of threads. One pass; memory for one number a row. The passes return whether a
// stored number is below 0, which those who count want to know and which costs nothing on the way.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/passes.h"
#include "lineal/rows.h"

namespace lineal {

// What a stored number x of a row of weight s adds to the sum of its class and column.
struct Value {
  double operator()(double s, double x, Index, Index) const noexcept { return s * x; }
};
struct IsAbove {
  double threshold;
  double operator()(double s, double x, Index, Index) const noexcept { return x > threshold ? s : 0.0; }
};
struct SquaredDeviation {
  const double* centre;  // (K x n_columns)
  Index n_columns;
  double operator()(double s, double x, Index k, Index j) const noexcept {
    const double d = x - centre[k * n_columns + j];
    return s * (d * d);
  }
};

// The rows of each class, in their own order: those of class k are row[first[k]] .. row[first[k + 1] - 1].
struct ClassRows {
  std::vector<Index> first, row;

  ClassRows(const std::int32_t* codes, Index n_rows, Index K)
      : first(std::size_t(K) + 1, 0), row(std::size_t(n_rows)) {
    for (Index i = 0; i < n_rows; ++i) ++first[std::size_t(codes[i]) + 1];
    for (std::size_t k = 1; k < first.size(); ++k) first[k] += first[k - 1];
    std::vector<Index> next(first.begin(), first.end() - 1);
    for (Index i = 0; i < n_rows; ++i) row[std::size_t(next[std::size_t(codes[i])]++)] = i;
  }
};

// A row's part of the sums of its class k; `sums` are those of the whole class.
// The term is a copy, which no sum written can change: it stays in registers.
template <class Row, class Term>
inline bool add_terms(Row x, Index first, double s, Index k, Term term, double* sums) noexcept {
  bool is_below = false;
  for (Index e = 0; e < x.size; ++e) {
    const Index j = column(x, e) + first;
    is_below |= x.value[e] < 0;
    sums[j] += term(s, double(x.value[e]), k, j);
  }
  return is_below;
}

inline bool any(const std::vector<char>& flags) {
  return std::find(flags.begin(), flags.end(), 1) != flags.end();
}

// Few columns: each share of the rows has sums of its own, added up in order.
template <class Rows, class Term>
bool short_class_sums_pass(const Rows& X, const std::int32_t* codes, const double* s, Index K,
                           const Term& term, double* V, int n_threads) {
  const Index size = X.n_columns * K;
  const int n_shares = n_row_shares(X.n_rows), n_workers = std::min(n_threads, n_shares);
  std::vector<double> partial(std::size_t(size * n_shares), 0.0);
  std::vector<char> is_below(std::size_t(n_workers), 0);
  parallel(n_workers, [&](int worker) {
    bool below = false;
    const Range mine = share(n_shares, worker, n_workers);
    for (Index part = mine.first; part < mine.last; ++part) {
      const Range rows = share(X.n_rows, int(part), n_shares);
      double* const sums = partial.data() + part * size;
      for (Index i = rows.first; i < rows.last; ++i)
        below |= add_terms(X[i], 0, s[i], codes[i], term, sums + codes[i] * X.n_columns);
    }
    is_below[std::size_t(worker)] = below;
  });
  for (Index v = 0; v < size; ++v) {
    V[v] = 0.0;
    for (Index part = 0; part < n_shares; ++part) V[v] += partial[std::size_t(part * size + v)];
  }
  return any(is_below);
}

// Classes of about the same size: each is one thread's, which reads its rows from end to end. Rows of a class
// need not lie side by side, so they are hinted ahead.
template <class Rows, class Term>
bool class_sums_by_class(const Rows& X, const ClassRows& classes, const double* s, Index K, const Term& term,
                         double* V, int n_threads) {
  constexpr Index ahead = 4;
  std::atomic<Index> next{0};
  std::vector<char> is_below(std::size_t(n_threads), 0);
  parallel(n_threads, [&](int part) {
    bool below = false;
    for (Index k = next++; k < K; k = next++) {
      double* const sums = V + k * X.n_columns;
      std::fill(sums, sums + X.n_columns, 0.0);
      const Index end = classes.first[std::size_t(k) + 1];
      for (Index r = classes.first[std::size_t(k)]; r < end; ++r) {
        if (r + ahead < end) prefetch(X[classes.row[std::size_t(r + ahead)]]);
        const Index i = classes.row[std::size_t(r)];
        below |= add_terms(X[i], 0, s[i], k, term, sums);
      }
    }
    is_below[std::size_t(part)] = below;
  });
  return any(is_below);
}

// V, (K x n_columns), is zeroed here; codes are in [0, K). Threads own classes, or ranges of columns where
// one class has most of the rows and these are in order.
template <class Rows, class Term>
bool class_sums_pass(const Rows& X, const std::int32_t* codes, const double* s, Index K, const Term& term,
                     double* V, int n_threads) {
  if (X.n_columns * K <= 4096 && X.n_rows >= 4096)
    return short_class_sums_pass(X, codes, s, K, term, V, n_threads);
  const ClassRows classes(codes, X.n_rows, K);
  Index most = 0;
  for (std::size_t k = 0; k < std::size_t(K); ++k)
    most = std::max(most, classes.first[k + 1] - classes.first[k]);
  if (most * n_threads * 4 <= X.n_rows * 5) return class_sums_by_class(X, classes, s, K, term, V, n_threads);
  // Finding its columns in short rows costs a thread more than it saves.
  if (n_threads == 1 || !X.is_ordered || X.stored(0, X.n_rows) < 48 * X.n_rows)
    return class_sums_by_class(X, classes, s, K, term, V, 1);
  const auto cuts = column_cuts(X, n_threads);
  std::vector<char> is_below(std::size_t(n_threads), 0);
  parallel(n_threads, [&](int part) {
    bool below = false;
    const Index first = cuts[std::size_t(part)], last = cuts[std::size_t(part) + 1];
    for (Index k = 0; k < K; ++k) {
      double* const sums = V + k * X.n_columns;
      std::fill(sums + first, sums + last, 0.0);
      const Index end_of_class = classes.first[std::size_t(k) + 1];
      for (Index r = classes.first[std::size_t(k)]; r < end_of_class; ++r) {
        const Index i = classes.row[std::size_t(r)];
        const auto x = X[i];
        const Index begin = lower_bound(x, first);
        below |=
            add_terms(slice(x, begin, lower_bound(x, last)), first_column(x, begin), s[i], k, term, sums);
      }
    }
    is_below[std::size_t(part)] = below;
  });
  return any(is_below);
}

// The chi-squared statistic of each column's sums over the classes against the shares e of the classes, all >
// 0:
//
//   scores[j] = t_j sum_k (V[k, j] / t_j - e_k)^2 / e_k,   t_j = sum_k V[k, j];  0 where t_j is.
//
// Some columns at a time, so that the second look at their sums finds them in a cache.
inline void chi2_pass(const double* V, Index K, Index n_columns, const double* e, double* scores,
                      int n_threads) {
  constexpr Index run = 512;
  parallel(n_threads, [&](int part) {
    const Range mine = share(n_columns, part, n_threads);
    std::vector<double> total(static_cast<std::size_t>(run)), sum(total);
    for (Index first = mine.first; first < mine.last; first += run) {
      const Index n = std::min(run, mine.last - first);
      double *const t = total.data(), *const z = sum.data();
      std::fill(t, t + n, 0.0);
      std::fill(z, z + n, 0.0);
      for (Index k = 0; k < K; ++k) {
        const double* const v = V + k * n_columns + first;
        for (Index j = 0; j < n; ++j) t[j] += v[j];
      }
      for (Index k = 0; k < K; ++k) {
        const double* const v = V + k * n_columns + first;
        const double expected = e[k], inverse = 1.0 / e[k];
        for (Index j = 0; j < n; ++j) {
          const double away = v[j] / t[j] - expected;  // NaN where t is 0
          z[j] += away * away * inverse;
        }
      }
      for (Index j = 0; j < n; ++j) scores[first + j] = t[j] > 0 ? z[j] * t[j] : 0.0;
    }
  });
}

}  // namespace lineal
