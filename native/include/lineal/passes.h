// Whole passes over a data matrix: X W, X'U, row norms, columns taken out. One pass each, threaded, same bits
// for any number of threads (parallel.h). Those that need the columns of a row in order say so.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#include "lineal/dense_products.h"
#include "lineal/parallel.h"
#include "lineal/raw.h"
#include "lineal/rows.h"

namespace lineal {

// Z = X W: (n_rows x K) from a feature-major W with `stride` numbers per column, K of them meant; every row
// is one thread's. Sums are float64 whatever W is.
template <class Rows, class T>
void dot_pass(const Rows& X, const T* W, Index stride, Index K, double* Z, int n_threads) {
  if constexpr (is_dense<Rows>) {
    if (K > 1) {
      dense_dot_pass(X, W, stride, K, Z, n_threads);
      return;
    }
  }
  parallel(n_threads, [&](int part) {
    const Range rows = share(X.n_rows, part, n_threads);
    if constexpr (is_dense<Rows> && std::is_same_v<T, double>) {
      if (K == 1 && stride == 1) {
        in_row_groups(X, rows, [&]<int R>(Index i, auto x) { dot_rows<R>(x, X.n_columns, W, Z + i); });
        return;
      }
    }
    for (Index i = rows.first; i < rows.last; ++i) {
      if (K == 1 && stride == 1) {
        Z[i] = dot(X[i], W);
      } else {
        std::fill(Z + i * K, Z + (i + 1) * K, 0.0);
        dot_block(X[i], W, stride, K, Z + i * K);
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

// V += the part of X'U that some rows have.
template <bool is_cold, class Rows>
void add_products(const Rows& X, Range rows, const double* U, Index K, double* V) {
  if constexpr (is_dense<Rows>) {
    if (K == 1) {
      add_dense_rows(X, rows, U, V);
      return;
    }
  }
  for (Index i = rows.first; i < rows.last; ++i) add_product<is_cold>(X[i], U + i * K, K, V);
}

// V = X'U for few columns: each share of the rows has a V of its own.
template <class Rows>
void short_adjoint_pass(const Rows& X, const double* U, Index K, double* V, int n_threads) {
  const Index size = X.n_columns * K;
  const int n_shares = n_row_shares(X.n_rows), n_workers = std::min(n_threads, n_shares);
  std::vector<double> partial(std::size_t(size * n_shares), 0.0);
  parallel(n_workers, [&](int worker) {
    const Range mine = share(n_shares, worker, n_workers);
    for (Index part = mine.first; part < mine.last; ++part) {
      add_products<false>(X, share(X.n_rows, int(part), n_shares), U, K, partial.data() + part * size);
    }
  });
  for (Index k = 0; k < size; ++k) {
    double sum = 0;
    for (Index part = 0; part < n_shares; ++part) sum += partial[std::size_t(part * size + k)];
    V[k] = sum;
  }
}

// Whether V, (n_columns x K), is so small beside X that a second one costs little.
template <class Rows>
bool is_worth_two(const Rows& X, Index K) noexcept {
  return X.n_columns * K * 8 <= X.stored(0, X.n_rows) && X.n_rows > 1;
}

// V = X'U by two halves of the rows, each with a V of its own, whoever builds them: rows are read from end to
// end, as the hardware foresees, where a thread with columns of its own skips through every row.
template <class Rows>
void halved_adjoint_pass(const Rows& X, const double* U, Index K, double* V, int n_threads) {
  const Index size = X.n_columns * K;
  std::vector<double, LargePages<double>> second(std::size_t(size), 0.0);
  std::fill(V, V + size, 0.0);
  const int n_workers = std::min(n_threads, 2);
  parallel(n_workers, [&](int worker) {
    for (int half = worker; half < 2; half += n_workers) {
      add_products<true>(X, share(X.n_rows, half, 2), U, K, half == 0 ? V : second.data());
    }
  });
  parallel(n_threads, [&](int part) {
    const Range mine = share(size, part, n_threads);
    for (Index k = mine.first; k < mine.last; ++k) V[k] += second[std::size_t(k)];
  });
}

// V = X'U: (n_columns x K), zeroed here; threads own ranges of columns where those are many, and rows are
// ordered.
template <class Rows>
void adjoint_pass(const Rows& X, const double* U, Index K, double* V, int n_threads) {
  if constexpr (is_dense<Rows>) {
    if (K > 1) {
      dense_adjoint_pass<false>(X, U, K, V, n_threads);
      return;
    }
  }
  if (X.n_columns * K <= 4096 && X.n_rows >= 4096) {
    short_adjoint_pass(X, U, K, V, n_threads);
    return;
  }
  if (!X.is_ordered || is_worth_two(X, K)) {
    halved_adjoint_pass(X, U, K, V, n_threads);
    return;
  }
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
      add_product<true>(slice(x, begin, end), u, K, V + first_column(x, begin) * K);
    }
  });
}

// What a certificate under L2 asks of V = X'U, without ever holding V: |V|^2, and the largest
// |v + strength w| over the weights W (n_columns x stride, K of them meant). V is built some columns at a
// time, in pieces that stay in a cache, where rows are ordered.
struct AdjointSummary {
  double squared_norm = 0, largest = 0;
};

// The summaries of runs of columns, which depend on nothing; who builds which of them is free to vary.
class SummaryOfRuns {
 public:
  static constexpr Index run = 512;  // columns

  SummaryOfRuns(Index n_columns, Index K)
      : K_(K), found_(static_cast<std::size_t>((n_columns + run - 1) / run)) {}

  // Takes the columns [first, last), whose part of V begins at V.
  template <class T>
  void take(Index first, Index last, const double* V, const T* W, Index stride, double strength) noexcept {
    // Weights without gaps are scanned in one sweep a run, others column by column.
    for (Index c = first; c < last;) {
      const Index n_columns = stride == K_ ? std::min(run - c % run, last - c) : 1;
      const double* v = V + (c - first) * K_;
      const T* w = W + c * stride;
      double sum = 0, largest = 0;
#pragma omp simd reduction(+ : sum) reduction(max : largest)
      for (Index k = 0; k < n_columns * K_; ++k) {
        const double residual = std::abs(v[k] + strength * double(w[k]));
        sum += v[k] * v[k];
        largest = residual > largest ? residual : largest;
      }
      AdjointSummary& mine = found_[static_cast<std::size_t>(c / run)];
      mine.squared_norm += sum;
      mine.largest = std::max(mine.largest, largest);
      c += n_columns;
    }
  }
  AdjointSummary all() const noexcept {
    AdjointSummary sum;
    for (const AdjointSummary& each : found_) {
      sum.squared_norm += each.squared_norm;
      sum.largest = std::max(sum.largest, each.largest);
    }
    return sum;
  }

 private:
  Index K_;
  std::vector<AdjointSummary> found_;
};

template <class Rows, class T>
AdjointSummary adjoint_summary_pass(const Rows& X, const double* U, Index K, const T* W, Index stride,
                                    double strength, int n_threads) {
  constexpr Index run = SummaryOfRuns::run, piece = 1 << 20;  // numbers of V at a time, 8 MB
  SummaryOfRuns found(X.n_columns, K);
  if (!X.is_ordered || (X.n_columns * K <= piece && is_worth_two(X, K))) {
    std::vector<double, LargePages<double>> V(std::size_t(X.n_columns * K));
    adjoint_pass(X, U, K, V.data(), n_threads);
    found.take(0, X.n_columns, V.data(), W, stride, strength);
    return found.all();
  }
  const int n_pieces = int((X.n_columns * K + piece * n_threads - 1) / (piece * n_threads));
  auto cuts = column_cuts(X, n_threads * n_pieces);
  for (std::size_t c = 1; c + 1 < cuts.size(); ++c) cuts[c] = cuts[c] / run * run;
  parallel(n_threads, [&](int part) {
    const Index* cut = cuts.data() + part * n_pieces;
    std::vector<double> V;
    // Where each row goes on: pieces are met in the order of columns, as rows are.
    std::vector<Index> at(static_cast<std::size_t>(X.n_rows), 0);
    for (Index i = 0; *cut > 0 && i < X.n_rows; ++i)
      at[static_cast<std::size_t>(i)] = lower_bound(X[i], *cut);
    for (int p = 0; p < n_pieces; ++p) {
      const Index first = cut[p], last = cut[p + 1];
      if (first == last) continue;
      V.assign(static_cast<std::size_t>((last - first) * K), 0.0);
      for (Index i = 0; i < X.n_rows; ++i) {
        const auto x = X[i];
        const Index begin = at[static_cast<std::size_t>(i)];
        const auto rest = slice(x, begin, x.size);
        const Index end =
            last == X.n_columns ? x.size : begin + lower_bound(rest, last - first_column(x, begin));
        at[static_cast<std::size_t>(i)] = end;
        double* target = V.data() + (first_column(x, begin) - first) * K;
        add_product<true>(slice(x, begin, end), U + i * K, K, target);
      }
      found.take(first, last, V.data(), W, stride, strength);
    }
  });
  return found.all();
}

// (X*X)'u with squares entry by entry, K columns of u: the diagonals of Gram matrices. Rows are ordered.
template <class Rows>
void squared_adjoint_pass(const Rows& X, const double* U, Index K, double* V, int n_threads) {
  if constexpr (is_dense<Rows>) {
    if (K == 1)
      dense_squares_pass(X, U, V, n_threads);
    else
      dense_adjoint_pass<true>(X, U, K, V, n_threads);
    return;
  }
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

template <class Rows>
void squared_norm_pass(const Rows& X, double* norms, int n_threads) {
  parallel(n_threads, [&](int part) {
    const Range rows = share(X.n_rows, part, n_threads);
    for (Index i = rows.first; i < rows.last; ++i) norms[i] = squared_norm(X[i]);
  });
}

// The sum of the squares of (n_rows x K) numbers whose rows begin `stride` apart, in float64. Runs of rows
// that depend on nothing are summed apart.
template <class T>
double sum_of_squares_pass(const T* W, Index stride, Index n_rows, Index K, int n_threads) {
  constexpr Index run = 512;
  const Index n_runs = (n_rows + run - 1) / run;
  std::vector<double> sums(std::size_t(n_runs), 0.0);
  parallel(n_threads, [&](int part) {
    const Range mine = share(n_runs, part, n_threads);
    for (Index r = mine.first; r < mine.last; ++r) {
      const Index last = std::min((r + 1) * run, n_rows);
      double sum = 0;
      for (Index i = r * run; i < last;) {
        const Index n = stride == K ? last - i : 1;  // rows without gaps are one run of numbers
        const T* w = W + i * stride;
        double part_sum = 0;
#pragma omp simd reduction(+ : part_sum)
        for (Index k = 0; k < n * K; ++k) part_sum += double(w[k]) * double(w[k]);
        sum += part_sum;
        i += n;
      }
      sums[std::size_t(r)] = sum;
    }
  });
  double all = 0;
  for (const double each : sums) all += each;
  return all;
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

// ---- columns as rows ----------------------------------------------------------------------------

// Where each column begins among the stored numbers of the transpose; zeros of dense rows are not stored.
template <class Rows>
void transpose_count(const Rows& X, Index* start) {
  std::fill(start, start + X.n_columns + 1, 0);
  for (Index i = 0; i < X.n_rows; ++i) {
    const auto x = X[i];
    for (Index k = 0; k < x.size; ++k) start[column(x, k) + 1] += is_stored(x, k);
  }
  for (Index j = 0; j < X.n_columns; ++j) start[j + 1] += start[j];
}

// The transpose: rows are met in order, so that they increase within each column.
template <class Rows>
void transpose_copy(const Rows& X, const Index* start, std::int32_t* row, double* value) {
  std::vector<Index> next(start, start + X.n_columns);
  for (Index i = 0; i < X.n_rows; ++i) {
    const auto x = X[i];
    for (Index k = 0; k < x.size; ++k) {
      if (!is_stored(x, k)) continue;
      const Index place = next[std::size_t(column(x, k))]++;
      row[place] = std::int32_t(i);
      value[place] = double(x.value[k]);
    }
  }
}

// Whether the mean of a column, in every `step`-th row, is more than `factor` deviations from 0, or than
// `factor` itself where there are none. Deviations are summed around the first row, so that they survive an
// offset.
template <class V>
bool far_pass(const Dense<V>& X, Index step, double factor) {
  constexpr Index width = 64;
  double sum[width], square[width];
  for (Index first = 0; first < X.n_columns; first += width) {
    const Index n = std::min(width, X.n_columns - first);
    std::fill_n(sum, n, 0.0);
    std::fill_n(square, n, 0.0);
    const V* const origin = X.value + first;
    Index count = 0;
    for (Index i = 0; i < X.n_rows; i += step, ++count)
      for (Index j = 0; j < n; ++j) {
        const double moved = double(X.value[i * X.n_columns + first + j]) - double(origin[j]);
        sum[j] += moved;
        square[j] += moved * moved;
      }
    for (Index j = 0; count > 0 && j < n; ++j) {
      const double mean = sum[j] / double(count);
      const double spread = std::sqrt(std::max(square[j] / double(count) - mean * mean, 0.0));
      if (std::abs(double(origin[j]) + mean) > factor * (spread > 0 ? spread : 1.0)) return true;
    }
  }
  return false;
}

}  // namespace lineal
