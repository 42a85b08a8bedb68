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

// (X*X)'u for one output, squares entry by entry.
template <class V>
void dense_squares_pass(const Dense<V>& X, const double* u, double* out, int n_threads) {
  const Index d = X.n_columns;
  parallel(n_threads, [&](int part) {
    const Range mine = share(d, part, n_threads);
    std::fill(out + mine.first, out + mine.last, 0.0);
    for (Index i = 0; i < X.n_rows; ++i) {
      const V* x = X.value + i * d;
      for (Index c = mine.first; c < mine.last; ++c) out[c] += u[i] * (double(x[c]) * double(x[c]));
    }
  });
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

}  // namespace lineal
