// Whole passes over a data matrix: X W, X'U, X'diag(h)X, row norms, columns taken out, and the check
// that arrays from outside are what they claim to be. One pass each, threaded, same bits for any
// number of threads (parallel.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

// Z = X W: (n_rows x K) from a feature-major W (n_columns x K); every row is one thread's.
template <class Rows>
void dot_pass(const Rows& X, const double* W, Index K, double* Z, int n_threads) {
  parallel(n_threads, [&](int part) {
    const Range rows = share(X.n_rows, part, n_threads);
    for (Index i = rows.first; i < rows.last; ++i) {
      if (K == 1) {
        Z[i] = dot(X[i], W);
      } else {
        std::fill(Z + i * K, Z + (i + 1) * K, 0.0);
        dot_block(X[i], W, K, K, Z + i * K);
      }
    }
  });
}

// How the work over columns is spread: evenly over stored entries, or, for the upper triangle of a Gram
// matrix, with shares that grow towards the later columns, whose rows of the triangle are shorter.
enum class Work { even, triangle };

inline double cut_at(Work work, int part, int n_parts) noexcept {
  const double share = double(part) / double(n_parts);
  return work == Work::even ? share : 1.0 - std::sqrt(1.0 - share);
}

// Column boundaries that give each thread about the same work. They only say who does it: each column is
// summed by one thread in the order of the rows.
template <class V>
std::vector<Index> column_cuts(const Csr<V>& X, int n_parts, Work work = Work::even) {
  const Index stored = X.stored(0, X.n_rows), n_samples = std::min<Index>(stored, 4096);
  std::vector<Index> sample;
  sample.reserve(std::size_t(n_samples));
  for (Index k = 0; k < n_samples; ++k) sample.push_back(X.index[X.start[0] + stored * k / n_samples]);
  std::sort(sample.begin(), sample.end());
  std::vector<Index> cuts{0};
  for (int part = 1; part < n_parts; ++part)
    cuts.push_back(sample.empty() ? 0 : sample[std::size_t(double(n_samples) * cut_at(work, part, n_parts))]);
  cuts.push_back(X.n_columns);
  return cuts;
}

template <class V>
std::vector<Index> column_cuts(const Dense<V>& X, int n_parts, Work work = Work::even) {
  std::vector<Index> cuts;
  for (int part = 0; part < n_parts; ++part)
    cuts.push_back(Index(double(X.n_columns) * cut_at(work, part, n_parts)));
  cuts.push_back(X.n_columns);
  return cuts;
}

// V = X'U: (n_columns x K), zeroed here; threads own ranges of columns.
template <class Rows>
void adjoint_pass(const Rows& X, const double* U, Index K, double* V, int n_threads) {
  // Finding its columns in short rows costs a thread more than it saves.
  if (X.stored(0, X.n_rows) < 48 * X.n_rows) n_threads = 1;
  const auto cuts = column_cuts(X, n_threads);
  parallel(n_threads, [&](int part) {
    const Index first = cuts[std::size_t(part)], last = cuts[std::size_t(part) + 1];
    std::fill(V + first * K, V + last * K, 0.0);
    for (Index i = 0; i < X.n_rows; ++i) {
      const auto x = X[i];
      const double* u = U + i * K;
      if (K == 1 && u[0] == 0.0) continue;
      const Index begin = n_threads == 1 ? 0 : lower_bound(x, first);
      const Index end = n_threads == 1 ? x.size : lower_bound(x, last);
      double* target = V + first_column(x, begin) * K;
      if (K == 1)
        axpy(u[0], slice(x, begin, end), target);
      else
        update_block(slice(x, begin, end), u, K, K, target);
    }
  });
}

// (X*X)'u with squares entry by entry, K columns of u: the diagonals of Gram matrices.
template <class Rows>
void squared_adjoint_pass(const Rows& X, const double* U, Index K, double* V, int n_threads) {
  const auto cuts = column_cuts(X, n_threads);
  parallel(n_threads, [&](int part) {
    const Index first = cuts[std::size_t(part)], last = cuts[std::size_t(part) + 1];
    std::fill(V + first * K, V + last * K, 0.0);
    for (Index i = 0; i < X.n_rows; ++i) {
      const auto x = X[i];
      const Index end = lower_bound(x, last);
      for (Index k = lower_bound(x, first); k < end; ++k) {
        const double a = double(x.value[k]) * double(x.value[k]);
        for (Index j = 0; j < K; ++j) V[column(x, k) * K + j] += a * U[i * K + j];
      }
    }
  });
}

// G = [X 1]' diag(h) [X 1] or X' diag(h) X, symmetric, both halves filled; threads own rows of G.
template <class Rows>
void gram_pass(const Rows& X, const double* h, bool with_constant, double* G, int n_threads) {
  const Index d = X.n_columns, size = d + (with_constant ? 1 : 0);
  const auto cuts = column_cuts(X, n_threads, Work::triangle);
  parallel(n_threads, [&](int part) {
    const Index first = cuts[std::size_t(part)];
    const bool is_last = part == n_threads - 1;
    const Index last = cuts[std::size_t(part) + 1];
    std::fill(G + first * size, G + (is_last ? size : last) * size, 0.0);
    for (Index i = 0; i < X.n_rows; ++i) {
      if (h[i] == 0.0) continue;
      const auto x = X[i];
      const Index end = lower_bound(x, last);
      for (Index k = lower_bound(x, first); k < end; ++k) {
        const double a = h[i] * double(x.value[k]);
        double* row = G + column(x, k) * size;
        for (Index l = k; l < x.size; ++l) row[column(x, l)] += a * double(x.value[l]);
        if (with_constant) row[d] += a;
      }
      if (with_constant && is_last) G[d * size + d] += h[i];
    }
  });
  for (Index r = 0; r < size; ++r)
    for (Index c = 0; c < r; ++c) G[r * size + c] = G[c * size + r];
}

template <class Rows>
void squared_norm_pass(const Rows& X, double* norms, int n_threads) {
  parallel(n_threads, [&](int part) {
    const Range rows = share(X.n_rows, part, n_threads);
    for (Index i = rows.first; i < rows.last; ++i) norms[i] = squared_norm(X[i]);
  });
}

// What a check of foreign arrays found: nothing, or the first offence in row order.
struct Flaw {
  enum Kind { none, bad_pointer, bad_column, unsorted, not_finite } kind = none;
  Index row = -1, column = -1;
};

template <class V>
Flaw check_row(const Csr<V>& X, Index i, Index n_stored) {
  const Index first = X.start[i], last = X.start[i + 1];
  if (first < 0 || last < first || last > n_stored) return {Flaw::bad_pointer, i, -1};
  Index before = -1;
  bool is_sorted = true, is_finite = true;
  for (Index k = first; k < last; ++k) {
    const Index c = X.index[k];
    if (c < 0 || c >= X.n_columns) return {Flaw::bad_column, i, c};
    is_sorted &= c > before;
    is_finite &= bool(std::isfinite(X.value[k]));
    before = c;
  }
  if (!is_sorted) return {Flaw::unsorted, i, -1};
  if (!is_finite)
    for (Index k = first; k < last; ++k)
      if (!std::isfinite(X.value[k])) return {Flaw::not_finite, i, X.index[k]};
  return {};
}

template <class V>
Flaw check_row(const Dense<V>& X, Index i, Index) {
  const V* x = X.value + i * X.n_columns;
  // NaN and infinity are the only values that 0 * x does not turn into 0; sums vectorise, tests do not.
  V sum = 0;
  for (Index k = 0; k < X.n_columns; ++k) sum += V(0) * x[k];
  if (sum == V(0)) return {};
  for (Index k = 0; k < X.n_columns; ++k)
    if (!std::isfinite(x[k])) return {Flaw::not_finite, i, k};
  return {};
}

// Offences that make memory unsafe come before order, order before values, each by row. Unsorted rows are
// legal in SciPy: the caller sorts them and asks again, which is only safe when nothing worse is there.
template <class Rows>
Flaw check_pass(const Rows& X, Index n_stored, int n_threads) {
  constexpr int n_grades = 3;  // unsafe, unsorted, not finite
  const auto grade = [](const Flaw& flaw) {
    return flaw.kind == Flaw::unsorted ? 1 : flaw.kind == Flaw::not_finite ? 2 : 0;
  };
  std::vector<Flaw> found(std::size_t(n_threads * n_grades), Flaw{});
  parallel(n_threads, [&](int part) {
    const Range rows = share(X.n_rows, part, n_threads);
    for (Index i = rows.first; i < rows.last; ++i) {
      const Flaw flaw = check_row(X, i, n_stored);
      if (flaw.kind == Flaw::none) continue;
      Flaw& first = found[std::size_t(part * n_grades + grade(flaw))];
      if (first.kind == Flaw::none) first = flaw;
      if (grade(flaw) == 0) return;
    }
  });
  for (int level = 0; level < n_grades; ++level)
    for (int part = 0; part < n_threads; ++part)
      if (const Flaw& flaw = found[std::size_t(part * n_grades + level)]; flaw.kind != Flaw::none)
        return flaw;
  return {};
}

// The columns `wanted` (increasing) of X as a sparse matrix of their own, numbered by position; two sweeps:
// count, then copy. Most entries are not wanted, so a set of bits, which stays in cache where a table of
// positions would not, says which are; and no branch depends on it, for no predictor would learn it.
struct WantedColumns {
  std::vector<std::uint64_t> bits;
  std::vector<std::int32_t> place;  // of the wanted columns only

  WantedColumns(const Index* wanted, Index n_wanted, Index n_columns)
      : bits(std::size_t(n_columns) / 64 + 1, 0), place(std::size_t(n_columns)) {
    for (Index j = 0; j < n_wanted; ++j) {
      bits[std::size_t(wanted[j] >> 6)] |= std::uint64_t(1) << (wanted[j] & 63);
      place[std::size_t(wanted[j])] = std::int32_t(j);
    }
  }
  Index has(Index c) const noexcept { return Index(bits[std::size_t(c >> 6)] >> (c & 63) & 1); }
};

template <class Rows>
void take_columns_count(const Rows& X, const WantedColumns& wanted, Index* start, int n_threads) {
  start[0] = 0;
  parallel(n_threads, [&](int part) {
    const Range rows = share(X.n_rows, part, n_threads);
    for (Index i = rows.first; i < rows.last; ++i) {
      const auto x = X[i];
      Index count = 0;
      for (Index k = 0; k < x.size; ++k) count += wanted.has(column(x, k));
      start[i + 1] = count;
    }
  });
  for (Index i = 0; i < X.n_rows; ++i) start[i + 1] += start[i];
}

template <class Rows, class V>
void take_columns_copy(const Rows& X, const WantedColumns& wanted, const Index* start, std::int32_t* index,
                       V* value, int n_threads) {
  parallel(n_threads, [&](int part) {
    const Range rows = share(X.n_rows, part, n_threads);
    std::vector<Index> found;
    for (Index i = rows.first; i < rows.last; ++i) {
      const auto x = X[i];
      if (Index(found.size()) < x.size) found.resize(std::size_t(x.size));
      Index* const next = found.data();
      Index count = 0;
      for (Index k = 0; k < x.size; ++k) {
        next[count] = k;
        count += wanted.has(column(x, k));
      }
      for (Index k = 0; k < count; ++k) {
        index[start[i] + k] = wanted.place[std::size_t(column(x, next[k]))];
        value[start[i] + k] = x.value[next[k]];
      }
    }
  });
}

}  // namespace lineal
