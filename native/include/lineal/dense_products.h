// X W, X'U and (X*X)'U for dense rows and several outputs, through blocks of sums that stay in registers.
//
// Each score is summed over columns in order and each weight over rows in order, panel by panel of fixed
// length, whoever computes it: threads change no bit.
#pragma once

#include <algorithm>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

// Four rows or columns meet up to three lanes of outputs: twelve sums, and what is multiplied, fill the
// registers.
inline constexpr Index block_height = 4, most_lanes = 3, lane = Lane<double>::size;

inline Index whole_lanes(Index K) noexcept { return (K + lane - 1) / lane * lane; }

// Calls body.template operator()<N>(first) for runs of N lanes that cover `width` outputs, whole lanes of
// them.
template <class Body>
void in_lanes(Index width, Body&& body) {
  Index first = 0;
  for (; first + most_lanes * lane <= width; first += most_lanes * lane)
    body.template operator()<int(most_lanes)>(first);
  if (width - first == 2 * lane) body.template operator()<2>(first);
  if (width - first == lane) body.template operator()<1>(first);
}

// Numbers with `stride` a row, K of them meant, as rows of whole lanes; what is added is 0.
template <class T>
void copy_lanes(const T* from, Index n_rows, Index stride, Index K, double* to) {
  const Index width = whole_lanes(K);
  for (Index i = 0; i < n_rows; ++i) {
    for (Index k = 0; k < K; ++k) to[i * width + k] = double(from[i * stride + k]);
    std::fill(to + i * width + K, to + (i + 1) * width, 0.0);
  }
}

// Z = X W: (n_rows x K) from W with `stride` numbers a row.
template <class V, class T>
void dense_dot_pass(const Dense<V>& X, const T* W, Index stride, Index K, double* Z, int n_threads) {
  const Index d = X.n_columns, width = whole_lanes(K);
  std::vector<double> weights(std::size_t(d * width));
  copy_lanes(W, d, stride, K, weights.data());
  parallel(n_threads, [&](int part) {
    const Range mine = share(X.n_rows, part, n_threads);
    for (Index i = mine.first; i < mine.last; i += block_height) {
      const Index count = std::min(block_height, mine.last - i);
      const V* x[block_height];  // beyond the end the last row stands in, and is not kept
      for (Index r = 0; r < block_height; ++r) x[r] = X.value + (i + std::min(r, count - 1)) * d;
      in_lanes(width, [&]<int N>(Index first) {
        using L = Lane<double>;
        L::Vector sum[block_height][N] = {};
        const double* w = weights.data() + first;
        for (Index c = 0; c < d; ++c, w += width) {
          L::Vector across[N];
          for (int n = 0; n < N; ++n) across[n] = L::load(w + n * lane);
          for (Index r = 0; r < block_height; ++r)
            for (int n = 0; n < N; ++n) sum[r][n] += double(x[r][c]) * across[n];
        }
        const Index kept = std::min(K - first, N * lane);
        for (Index r = 0; r < count; ++r) {
          double found[N * lane];
          for (int n = 0; n < N; ++n) L::store(found + n * lane, sum[r][n]);
          std::copy(found, found + kept, Z + (i + r) * K + first);
        }
      });
    }
  });
}

// Rows of a panel: its numbers stay in the first cache while columns are walked.
inline Index panel_rows(Index n_columns) noexcept {
  return std::clamp<Index>(4096 / std::max<Index>(n_columns, 1), 16, 256);
}

// X'U, or (X*X)'U with squares entry by entry: (n_columns x K); threads own ranges of columns.
template <bool squared, class V>
void dense_adjoint_pass(const Dense<V>& X, const double* U, Index K, double* out, int n_threads) {
  const Index d = X.n_columns, width = whole_lanes(K), height = panel_rows(d);
  const Index n_blocks = (d + block_height - 1) / block_height;
  const int n_workers = int(std::clamp<Index>(n_blocks, 1, n_threads));
  std::vector<double> total(std::size_t(n_blocks * block_height * width), 0.0);
  parallel(n_workers, [&](int worker) {
    const Range mine = share(n_blocks, worker, n_workers);
    std::vector<double> slopes(std::size_t(height * width));
    for (Index top = 0; top < X.n_rows; top += height) {
      const Index count = std::min(height, X.n_rows - top);
      copy_lanes(U + top * K, count, K, K, slopes.data());
      for (Index block = mine.first; block < mine.last; ++block) {
        const Index c = block * block_height, last = d - 1 - c;
        in_lanes(width, [&]<int N>(Index first) {
          using L = Lane<double>;
          double* sums = total.data() + c * width + first;
          L::Vector sum[block_height][N];
          for (Index r = 0; r < block_height; ++r)
            for (int n = 0; n < N; ++n) sum[r][n] = L::load(sums + r * width + n * lane);
          const V* x = X.value + top * d + c;
          const double* u = slopes.data() + first;
          for (Index i = 0; i < count; ++i, x += d, u += width) {
            if (first == 0 && top + i + height < X.n_rows) hint(x + height * d);  // of the next panel
            L::Vector across[N];
            for (int n = 0; n < N; ++n) across[n] = L::load(u + n * lane);
            for (Index r = 0; r < block_height; ++r) {
              double number = double(x[std::min(r, last)]);  // beyond the end the last column stands in
              if constexpr (squared) number *= number;
              for (int n = 0; n < N; ++n) sum[r][n] += number * across[n];
            }
          }
          for (Index r = 0; r < block_height; ++r)
            for (int n = 0; n < N; ++n) L::store(sums + r * width + n * lane, sum[r][n]);
        });
      }
    }
  });
  for (Index c = 0; c < d; ++c)
    std::copy(total.data() + c * width, total.data() + c * width + K, out + c * K);
}

// ---- one output ---------------------------------------------------------------------------------

// Rows that are met together: what they multiply is read once for all of them.
inline constexpr int row_group = 4;

// The products of R rows with p; a row's are the same in any group.
template <int R, class V>
void dot_rows(const V* const* x, Index d, const double* p, double* q) noexcept {
  using L = Lane<double>;
  typename L::Vector near[R], far[R];
  for (int r = 0; r < R; ++r) near[r] = far[r] = typename L::Vector{};
  Index k = 0;
  for (; k + 2 * L::size <= d; k += 2 * L::size) {
    const typename L::Vector left = L::load(p + k), right = L::load(p + k + L::size);
    for (int r = 0; r < R; ++r) {
      near[r] += load_as<double>(x[r] + k) * left;
      far[r] += load_as<double>(x[r] + k + L::size) * right;
    }
  }
  if (k + L::size <= d) {
    const typename L::Vector left = L::load(p + k);
    for (int r = 0; r < R; ++r) near[r] += load_as<double>(x[r] + k) * left;
    k += L::size;
  }
  for (int r = 0; r < R; ++r) near[r] += far[r];
  if constexpr (R == 4) {  // lanes of four rows are added side by side
    typedef Index Places __attribute__((vector_size(32)));
    const auto pairs = [&](int r) {
      return __builtin_shuffle(near[r], near[r + 1], Places{0, 4, 2, 6}) +
             __builtin_shuffle(near[r], near[r + 1], Places{1, 5, 3, 7});
    };
    const typename L::Vector low = pairs(0), high = pairs(2);
    L::store(q, __builtin_shuffle(low, high, Places{0, 1, 4, 5}) +
                    __builtin_shuffle(low, high, Places{2, 3, 6, 7}));
  } else {
    for (int r = 0; r < R; ++r) q[r] = (near[r][0] + near[r][1]) + (near[r][2] + near[r][3]);
  }
  for (; k < d; ++k)
    for (int r = 0; r < R; ++r) q[r] += double(x[r][k]) * p[k];
}

// v += sum_r u_r x_r, or of squares entry by entry, in the order of the rows.
template <int R, bool squared = false, class V>
void add_rows(const V* const* x, Index d, const double* u, double* v) noexcept {
  using L = Lane<double>;
  const auto term = [](auto number) {
    if constexpr (squared)
      return number * number;
    else
      return number;
  };
  typename L::Vector weight[R];  // for all that the compiler knows, v may be where u is
  for (int r = 0; r < R; ++r) weight[r] = u[r] - typename L::Vector{};
  Index k = 0;
  for (; k + L::size <= d; k += L::size) {
    typename L::Vector sum = L::load(v + k);
    for (int r = 0; r < R; ++r) sum += weight[r] * term(load_as<double>(x[r] + k));
    L::store(v + k, sum);
  }
  for (; k < d; ++k)
    for (int r = 0; r < R; ++r) v[k] += weight[r][0] * term(double(x[r][k]));
}

// Fetches the group after the one that begins at row i: several short rows at a time are more than the
// hardware foresees. Of long ones it needs no help.
template <class V>
LINEAL_HINT void fetch_ahead(const Dense<V>& X, Index i) noexcept {
  const Index length = row_group * X.n_columns;
  if (length > 2048) return;
  const V* const from = X.value + i * X.n_columns + length;
  for (Index k = 0; k < length; k += 64 / Index(sizeof(V))) __builtin_prefetch(from + k);
}

// Calls body.template operator()<R>(i, x) for groups of R rows x, from row i on, that cover a range.
template <class V, class Body>
void in_row_groups(const Dense<V>& X, Range rows, Body&& body) {
  const V* x[row_group];
  Index i = rows.first;
  for (; i + row_group <= rows.last; i += row_group) {
    for (int r = 0; r < row_group; ++r) x[r] = X[i + r].value;
    body.template operator()<row_group>(i, x);
  }
  for (; i < rows.last; ++i) {
    x[0] = X[i].value;
    body.template operator()<1>(i, x);
  }
}

// v += the rows' part of X'u, or of (X*X)'u; rows of weight 0 are not met.
template <bool squared = false, class V>
void add_dense_rows(const Dense<V>& X, Range rows, const double* u, double* v) noexcept {
  const V* x[row_group];
  double weight[row_group];
  int count = 0;
  for (Index i = rows.first; i < rows.last; ++i) {
    if (u[i] == 0.0) continue;
    x[count] = X[i].value;
    weight[count++] = u[i];
    if (count < row_group) continue;
    fetch_ahead(X, i + 1);
    add_rows<row_group, squared>(x, X.n_columns, weight, v);
    count = 0;
  }
  for (int r = 0; r < count; ++r) add_rows<1, squared>(x + r, X.n_columns, weight + r, v);
}

// z = X p + constant and v = X'(h z), with h z summed into `total`: a product with a Hessian in one pass,
// where each row is met twice while it is in the cache.
template <class V>
void dense_curved_pass(const Dense<V>& X, const double* p, double constant, const double* h, double* z,
                       double* v, double* total, int n_threads) {
  const Index d = X.n_columns;
  const int n_shares = n_row_shares(X.n_rows), n_workers = std::min(n_threads, n_shares);
  std::vector<double> partial(std::size_t((d + 1) * n_shares), 0.0);
  parallel(n_workers, [&](int worker) {
    const Range mine = share(n_shares, worker, n_workers);
    for (Index part = mine.first; part < mine.last; ++part) {
      double* const sum = partial.data() + part * (d + 1);
      in_row_groups(X, share(X.n_rows, int(part), n_shares), [&]<int R>(Index i, const V* const* x) {
        double u[R];
        fetch_ahead(X, i + R);
        dot_rows<R>(x, d, p, z + i);
        for (int r = 0; r < R; ++r) {
          z[i + r] += constant;
          u[r] = h[i + r] * z[i + r];
          sum[d] += u[r];
        }
        add_rows<R>(x, d, u, sum);
      });
    }
  });
  std::fill(v, v + d, 0.0);
  *total = 0.0;
  for (Index part = 0; part < n_shares; ++part) {
    const double* const sum = partial.data() + part * (d + 1);
    for (Index k = 0; k < d; ++k) v[k] += sum[k];
    *total += sum[d];
  }
}

// (X*X)'u, squares entry by entry, by the shares of rows that `dense_curved_pass` has.
template <class V>
void dense_squares_pass(const Dense<V>& X, const double* u, double* v, int n_threads) {
  const Index d = X.n_columns;
  const int n_shares = n_row_shares(X.n_rows), n_workers = std::min(n_threads, n_shares);
  std::vector<double> partial(std::size_t(d * n_shares), 0.0);
  parallel(n_workers, [&](int worker) {
    const Range mine = share(n_shares, worker, n_workers);
    for (Index part = mine.first; part < mine.last; ++part)
      add_dense_rows<true>(X, share(X.n_rows, int(part), n_shares), u, partial.data() + part * d);
  });
  std::fill(v, v + d, 0.0);
  for (Index part = 0; part < n_shares; ++part)
    for (Index k = 0; k < d; ++k) v[k] += partial[std::size_t(part * d + k)];
}

}  // namespace lineal
