// Gram matrices [X 1]' diag(h) [X 1] and X' diag(h) X, symmetric, both halves filled.
//
// Large ones: threads own rows of G. Small ones: a fixed number of shares of the rows of X, each with a G of
// its own, added in order; who sums a share does not show in the bits. A share adds outer products of sparse
// rows entry by entry, and of rows that are nearly full in dense tiles, where registers hold blocks of G.
#pragma once

#include <algorithm>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/passes.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// Up to this many columns the shares' matrices together stay within a few megabytes; where rows are nearly
// full, tiles are worth four times the room.
inline constexpr Index small_gram = 256, full_small_gram = 512;

template <class Rows>
void large_gram_pass(const Rows& X, const double* h, bool with_constant, double* G, int n_threads) {
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
}

// Adds the outer products of the rows in a range to the upper triangle of G, `stride` numbers a row.
template <class Rows>
void add_outer_products(const Rows& X, Range rows, const double* h, bool with_constant, Index stride,
                        double* G) {
  const Index d = X.n_columns;
  for (Index i = rows.first; i < rows.last; ++i) {
    if (h[i] == 0.0) continue;
    const auto x = X[i];
    Index k = 0;
    // Two rows of G at a time: each entry of x is read once for both.
    for (; k + 2 <= x.size; k += 2) {
      const double a = h[i] * double(x.value[k]), b = h[i] * double(x.value[k + 1]);
      double* upper = G + column(x, k) * stride;
      double* lower = G + column(x, k + 1) * stride;
      upper[column(x, k)] += a * double(x.value[k]);
      for (Index l = k + 1; l < x.size; ++l) {
        const Index c = column(x, l);
        const double value = double(x.value[l]);
        upper[c] += a * value;
        lower[c] += b * value;
      }
      if (with_constant) upper[d] += a, lower[d] += b;
    }
    if (k < x.size) {
      const double a = h[i] * double(x.value[k]);
      double* row = G + column(x, k) * stride;
      row[column(x, k)] += a * double(x.value[k]);
      if (with_constant) row[d] += a;
    }
    if (with_constant) G[d * stride + d] += h[i];
  }
}

// One register: wider vectors are split by way of memory.
#ifdef __AVX2__
typedef double Register __attribute__((vector_size(32)));
#else
typedef double Register __attribute__((vector_size(16)));
#endif
inline constexpr Index register_size = Index(sizeof(Register) / sizeof(double));
inline constexpr Index tile_height = 4, tile_width = 2 * register_size;
static_assert(tile_width % tile_height == 0);

// The same through dense tiles of rows, those of weight 0 left out, and blocks of G that stay in registers;
// `stride` is a multiple of tile_width. What lies below the diagonal inside a block is computed too, and
// means nothing. The sums of h x and of h, a constant's column of G, lie behind: another block would cost
// more.
template <class Rows>
void add_tiles(const Rows& X, Range rows, const double* h, Index stride, double* G) {
  const auto load = [](const double* from) {
    Register lane;
    __builtin_memcpy(&lane, from, sizeof lane);
    return lane;
  };
  const Index n_tile = std::max<Index>(8, 1024 / stride);  // two tiles of 8 kB stay in the first cache
  std::vector<double> plain(std::size_t(n_tile * stride)), scaled(plain.size());
  double* const constants = G + stride * stride;
  double total = 0.0;
  for (Index i = rows.first; i < rows.last;) {
    // Dense rows cover all of a row of the tile but its padding.
    if constexpr (!is_dense<Rows>) std::fill(plain.begin(), plain.end(), 0.0);
    Index count = 0;
    for (; i < rows.last && count < n_tile; ++i) {
      if (h[i] == 0.0) continue;
      const auto x = X[i];
      double* row = plain.data() + count * stride;
      for (Index k = 0; k < x.size; ++k) row[column(x, k)] = double(x.value[k]);
      double* const weighted = scaled.data() + count * stride;
#pragma omp simd
      for (Index c = 0; c < stride; ++c) {
        weighted[c] = h[i] * row[c];
        constants[c] += weighted[c];
      }
      total += h[i];
      ++count;
    }
    for (Index right = 0; right < stride; right += tile_width)
      for (Index top = 0; top < right + tile_width; top += tile_height) {
        Register sum[tile_height][2] = {};
        for (Index t = 0; t < count; ++t) {
          const double* across = plain.data() + t * stride + right;
          const double* down = scaled.data() + t * stride + top;
          const Register near = load(across), far = load(across + register_size);
          for (Index r = 0; r < tile_height; ++r) {
            sum[r][0] += down[r] * near;
            sum[r][1] += down[r] * far;
          }
        }
        for (Index r = 0; r < tile_height; ++r) {
          double* target = G + (top + r) * stride + right;
          const Register near = load(target) + sum[r][0], far = load(target + register_size) + sum[r][1];
          __builtin_memcpy(target, &near, sizeof near);
          __builtin_memcpy(target + register_size, &far, sizeof far);
        }
      }
  }
  constants[stride] += total;
}

template <class Rows>
void small_gram_pass(const Rows& X, const double* h, bool with_constant, double* G, int n_threads) {
  const Index size = X.n_columns + (with_constant ? 1 : 0);
  // An update of one entry of a sparse row costs as much as eight inside a tile.
  const Index stored = X.stored(0, X.n_rows);
  const bool is_full =
      double(stored) * double(stored) * 8 > double(X.n_rows * size) * double(X.n_rows * size);
  const Index d = X.n_columns;
  const Index stride = is_full ? (d + tile_width - 1) / tile_width * tile_width : size;
  const Index area = stride * stride + (is_full ? stride + 1 : 0);
  const int n_shares = n_row_shares(X.n_rows);
  const int n_workers = std::min(n_threads, n_shares);
  std::vector<double> partial(std::size_t(area * n_shares), 0.0);
  parallel(n_workers, [&](int worker) {
    const Range mine = share(n_shares, worker, n_workers);
    for (Index part = mine.first; part < mine.last; ++part) {
      const Range rows = share(X.n_rows, int(part), n_shares);
      double* target = partial.data() + part * area;
      if (is_full)
        add_tiles(X, rows, h, stride, target);
      else
        add_outer_products(X, rows, h, with_constant, stride, target);
    }
  });
  const auto place = [&](Index r, Index c) {
    if (!is_full || c < d) return r * stride + c;
    return stride * stride + (r < d ? r : stride);
  };
  for (Index r = 0; r < size; ++r)
    for (Index c = r; c < size; ++c) {
      double sum = 0;
      for (Index part = 0; part < n_shares; ++part) sum += partial[std::size_t(part * area + place(r, c))];
      G[r * size + c] = sum;
    }
}

// Fills the lower half of a symmetric matrix.
inline void mirror(Index size, double* G) noexcept {
  for (Index r = 0; r < size; ++r)
    for (Index c = 0; c < r; ++c) G[r * size + c] = G[c * size + r];
}

template <class Rows>
bool has_small_gram(const Rows& X) noexcept {
  const bool is_full = 2.0 * double(X.stored(0, X.n_rows)) > double(X.n_rows) * double(X.n_columns);
  return X.n_columns <= (is_full ? full_small_gram : small_gram);
}

template <class Rows>
void gram_pass(const Rows& X, const double* h, bool with_constant, double* G, int n_threads) {
  if (has_small_gram(X))
    small_gram_pass(X, h, with_constant, G, n_threads);
  else
    large_gram_pass(X, h, with_constant, G, n_threads);
  mirror(X.n_columns + (with_constant ? 1 : 0), G);
}

// Some rows of a matrix, in order.
template <class Rows>
struct SomeRows {
  const Rows& whole;
  const std::vector<Index>& index;
  Index n_rows, n_columns;

  SomeRows(const Rows& X, const std::vector<Index>& wanted)
      : whole(X), index(wanted), n_rows(Index(wanted.size())), n_columns(X.n_columns) {}
  auto operator[](Index i) const noexcept { return whole[index[std::size_t(i)]]; }
  Index stored(Index first, Index last) const noexcept {
    Index total = 0;
    for (Index i = first; i < last; ++i) total += (*this)[i].size;
    return total;
  }
};

// The Gram matrix of some rows of X, those in `rows`, with their weights.
template <class Rows>
void rows_gram_pass(const Rows& X, const std::vector<Index>& rows, const std::vector<double>& weights,
                    bool with_constant, double* G, int n_threads) {
  if (has_small_gram(X)) {
    small_gram_pass(SomeRows<Rows>(X, rows), weights.data(), with_constant, G, n_threads);
  } else {  // there threads own rows of G, and cut the columns of all of X
    std::vector<double> h(static_cast<std::size_t>(X.n_rows), 0.0);
    for (std::size_t j = 0; j < rows.size(); ++j) h[std::size_t(rows[j])] = weights[j];
    large_gram_pass(X, h.data(), with_constant, G, n_threads);
  }
  mirror(X.n_columns + (with_constant ? 1 : 0), G);
}

// A Gram matrix for each column of H, (n_rows x K), one after another. Rows of weight 0 are not met. Ends
// early where the watch says stop.
template <class Rows>
void grams_pass(const Rows& X, const double* H, Index K, bool with_constant, double* G, int n_threads,
                Watch& watch) {
  const Index size = X.n_columns + (with_constant ? 1 : 0);
  std::vector<std::vector<Index>> rows(static_cast<std::size_t>(K));
  std::vector<std::vector<double>> weights(rows.size());
  for (Index i = 0; i < X.n_rows; ++i)
    for (Index k = 0; k < K; ++k)
      if (const double h = H[i * K + k]; h != 0.0) {
        rows[std::size_t(k)].push_back(i);
        weights[std::size_t(k)].push_back(h);
      }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    double* own = G + Index(k) * size * size;
    rows_gram_pass(X, rows[k], weights[k], with_constant, own, n_threads);
    if (watch.says_stop(Index(rows[k].size()) * X.n_columns * X.n_columns / 2)) return;
  }
}

}  // namespace lineal
