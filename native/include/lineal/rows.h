// Rows of a data matrix, sparse or dense, and the only index arithmetic of the library.
//
// A view borrows the caller's arrays. Rows know how to meet a weight vector (one output) or a
// feature-major weight matrix (K outputs side by side, so that one column index serves all classes).
// Every sum is accumulated in double whatever the storage type.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lineal {

using Index = std::int64_t;

template <class V>
struct CsrRow {
  const std::int32_t* index;
  const V* value;
  Index size;
};

template <class V>
struct DenseRow {
  const V* value;
  Index size;
};

template <class V>
struct Csr {
  using Value = V;
  Index n_rows, n_columns;
  const Index* start;         // n_rows + 1
  const std::int32_t* index;  // strictly increasing inside a row
  const V* value;

  CsrRow<V> operator[](Index i) const noexcept {
    return {index + start[i], value + start[i], start[i + 1] - start[i]};
  }
  Index stored(Index first, Index last) const noexcept { return start[last] - start[first]; }
  // Hints the next row's bytes into cache while the present one is being worked on: rows are
  // visited in random order, which the hardware prefetcher cannot foresee.
  void prefetch(Index i) const noexcept {
    const Index first = start[i], last = start[i + 1];
    for (Index k = first; k < last; k += 16) {
      __builtin_prefetch(index + k);
      __builtin_prefetch(value + k);
      if constexpr (sizeof(V) == 8) __builtin_prefetch(value + k + 8);
    }
  }
};

template <class V>
struct Dense {
  using Value = V;
  Index n_rows, n_columns;
  const V* value;  // row-major

  DenseRow<V> operator[](Index i) const noexcept { return {value + i * n_columns, n_columns}; }
  Index stored(Index first, Index last) const noexcept { return (last - first) * n_columns; }
  void prefetch(Index) const noexcept {}
};

// ---- one output -------------------------------------------------------------------------------

// Weights may be a pointer or anything indexable (see Shrunk in epoch/dual_cd.h).
template <class V, class W>
inline double dot(CsrRow<V> x, W w) noexcept {
  // Four chains hide the latency of the adds; their order is fixed, so the bits are too.
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  Index k = 0;
  for (; k + 4 <= x.size; k += 4) {
    s0 += double(x.value[k]) * double(w[x.index[k]]);
    s1 += double(x.value[k + 1]) * double(w[x.index[k + 1]]);
    s2 += double(x.value[k + 2]) * double(w[x.index[k + 2]]);
    s3 += double(x.value[k + 3]) * double(w[x.index[k + 3]]);
  }
  for (; k < x.size; ++k) s0 += double(x.value[k]) * double(w[x.index[k]]);
  return (s0 + s1) + (s2 + s3);
}

template <class V, class W>
inline double dot(DenseRow<V> x, W w) noexcept {
  double sum[8] = {};
  Index k = 0;
  for (; k + 8 <= x.size; k += 8)
    for (int j = 0; j < 8; ++j) sum[j] += double(x.value[k + j]) * double(w[k + j]);
  for (; k < x.size; ++k) sum[0] += double(x.value[k]) * double(w[k]);
  return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]));
}

template <class V, class T>
inline void axpy(double a, CsrRow<V> x, T* w) noexcept {
  for (Index k = 0; k < x.size; ++k) {
    T& target = w[x.index[k]];
    target = T(double(target) + a * double(x.value[k]));
  }
}

template <class V, class T>
inline void axpy(double a, DenseRow<V> x, T* w) noexcept {
  for (Index k = 0; k < x.size; ++k) w[k] = T(double(w[k]) + a * double(x.value[k]));
}

template <class V>
inline double squared_norm(CsrRow<V> x) noexcept {
  double sum = 0;
  for (Index k = 0; k < x.size; ++k) sum += double(x.value[k]) * double(x.value[k]);
  return sum;
}

template <class V>
inline double squared_norm(DenseRow<V> x) noexcept {
  return squared_norm(CsrRow<V>{nullptr, x.value, x.size});
}

// Column of the k-th stored entry, for loops written once over both layouts.
template <class V>
inline Index column(CsrRow<V> x, Index k) noexcept {
  return x.index[k];
}
template <class V>
inline Index column(DenseRow<V>, Index k) noexcept {
  return k;
}

// First stored entry whose column is >= c (rows are sorted).
template <class V>
inline Index lower_bound(CsrRow<V> x, Index c) noexcept {
  Index low = 0, high = x.size;
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (x.index[middle] < c)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
template <class V>
inline Index lower_bound(DenseRow<V> x, Index c) noexcept {
  return c < x.size ? c : x.size;
}

// ---- K outputs side by side -------------------------------------------------------------------

// z[0..width) += x . W, W feature-major with `width` numbers per feature.
template <class Row, class T, class S>
inline void dot_block(Row x, const T* __restrict W, Index width, S* __restrict z) noexcept {
  constexpr Index ahead = 12;  // far enough for L3, near enough to stay in the line-fill buffers
  for (Index k = 0; k < x.size; ++k) {
    if (k + ahead < x.size) {
      const T* next = W + column(x, k + ahead) * width;
      for (Index j = 0; j < width; j += Index(64 / sizeof(T))) __builtin_prefetch(next + j);
    }
    const S a = S(x.value[k]);
    const T* __restrict row = W + column(x, k) * width;
    for (Index j = 0; j < width; ++j) z[j] += a * S(row[j]);
  }
}

// W += x d', the rank-one update of dot_block's layout.
template <class Row, class T>
inline void update_block(Row x, const T* __restrict d, Index width, T* __restrict W) noexcept {
  for (Index k = 0; k < x.size; ++k) {
    const T a = T(x.value[k]);
    T* __restrict row = W + column(x, k) * width;
    for (Index j = 0; j < width; ++j) row[j] += a * d[j];
  }
}

}  // namespace lineal
