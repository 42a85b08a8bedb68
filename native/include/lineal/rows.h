// Rows of a data matrix, sparse or dense, and the only index arithmetic of the library.
//
// A view borrows the caller's arrays. Rows know how to meet a weight vector (one output) or a
// feature-major weight matrix (K outputs side by side, so that one column index serves all classes).
// Sums for one output are accumulated in double whatever the storage type; blocks in the type of W.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

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

// A row whose stored numbers are all 1, in any order: its columns alone.
struct SetRow {
  struct Ones {
    constexpr double operator[](Index) const noexcept { return 1.0; }
  };
  const std::int32_t* index;
  Index size;
  static constexpr Ones value{};
};

// A function that only hints has no effect that the compiler knows of: GCC drops calls to it. Such functions
// are inlined by force; tests cannot see the difference, clocks can.
#define LINEAL_HINT [[gnu::always_inline]] inline

// One number on its way to the second-level cache. Not the first: what is hinted rows ahead would push out
// the weights of the row at work.
LINEAL_HINT void hint(const void* p) noexcept { __builtin_prefetch(p, 0, 2); }
LINEAL_HINT void hint_to_change(const void* p) noexcept { __builtin_prefetch(p, 1, 2); }

// Hints a row's bytes into cache while others are being worked on: rows are visited in random order, which
// the hardware prefetcher cannot foresee.
template <class V>
LINEAL_HINT void prefetch(CsrRow<V> x) noexcept {
  for (Index k = 0; k < x.size; k += 16) {
    hint(x.index + k);
    hint(x.value + k);
    if constexpr (sizeof(V) == 8) hint(x.value + k + 8);
  }
}
template <class V>
LINEAL_HINT void prefetch(DenseRow<V>) noexcept {}  // long and contiguous: the hardware sees it coming

template <class V>
struct Csr {
  using Value = V;
  Index n_rows, n_columns;
  const Index* start;         // n_rows + 1
  const std::int32_t* index;  // no column twice in a row; strictly increasing where rows are ordered
  const V* value;
  bool is_ordered = true;

  CsrRow<V> operator[](Index i) const noexcept {
    return {index + start[i], value + start[i], start[i + 1] - start[i]};
  }
  Index stored(Index first, Index last) const noexcept { return start[last] - start[first]; }
  LINEAL_HINT void hint_place(Index i) const noexcept { hint(start + i); }  // of what operator[] reads
};

template <class V>
struct Dense {
  using Value = V;
  Index n_rows, n_columns;
  const V* value;  // row-major
  static constexpr bool is_ordered = true;

  DenseRow<V> operator[](Index i) const noexcept { return {value + i * n_columns, n_columns}; }
  Index stored(Index first, Index last) const noexcept { return (last - first) * n_columns; }
  LINEAL_HINT void hint_place(Index) const noexcept {}
};

template <class Rows>
inline constexpr bool is_dense = false;
template <class V>
inline constexpr bool is_dense<Dense<V>> = true;

struct Sets {
  Index n_rows, n_columns;
  const Index* start;         // n_rows + 1
  const std::int32_t* index;  // distinct inside a row

  SetRow operator[](Index i) const noexcept { return {index + start[i], start[i + 1] - start[i]}; }
  Index stored(Index first, Index last) const noexcept { return start[last] - start[first]; }
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
  return dot(x, x.value);
}

// Column of the k-th stored entry, for loops written once over both layouts.
template <class V>
inline Index column(CsrRow<V> x, Index k) noexcept {
  return x.index[k];
}
inline Index column(SetRow x, Index k) noexcept { return x.index[k]; }
template <class V>
inline Index column(DenseRow<V>, Index k) noexcept {
  return k;
}
// Whether a sparse form of the row would hold its number k: zeros of dense rows are nothing.
template <class V>
inline bool is_stored(CsrRow<V>, Index) noexcept {
  return true;
}
template <class V>
inline bool is_stored(DenseRow<V> x, Index k) noexcept {
  return x.value[k] != V(0);
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

// The stored entries [first, last) of a row, and the column that their numbering starts from.
template <class V>
inline CsrRow<V> slice(CsrRow<V> x, Index first, Index last) noexcept {
  return {x.index + first, x.value + first, last - first};
}
template <class V>
inline DenseRow<V> slice(DenseRow<V> x, Index first, Index last) noexcept {
  return {x.value + first, last - first};
}
template <class V>
inline Index first_column(CsrRow<V>, Index) noexcept {
  return 0;
}
template <class V>
inline Index first_column(DenseRow<V>, Index first) noexcept {
  return first;
}

// ---- K outputs side by side -------------------------------------------------------------------

// Thirty-two bytes of numbers, wherever they lie: one AVX2 register, two SSE ones.
template <class T>
struct Lane {
  typedef T Vector __attribute__((vector_size(32)));
  static constexpr Index size = Index(32 / sizeof(T));
  static Vector load(const T* p) noexcept {
    Vector v;
    __builtin_memcpy(&v, p, 32);
    return v;
  }
  static void store(T* p, Vector v) noexcept { __builtin_memcpy(p, &v, 32); }
};

// The numbers of a lane of S, wherever they lie, read from T.
template <class S, class T>
inline typename Lane<S>::Vector load_as(const T* p) noexcept {
  if constexpr (std::is_same_v<S, T>) {
    return Lane<S>::load(p);
  } else {
    typedef T Narrow __attribute__((vector_size(Lane<S>::size * sizeof(T))));
    Narrow v;
    __builtin_memcpy(&v, p, sizeof(v));
    return __builtin_convertvector(v, typename Lane<S>::Vector);
  }
}

// One tile of N lanes: the sums stay in registers while the row is walked.
template <int N, class Row, class T, class S>
inline void dot_tile(Row x, const T* W, Index stride, S* z) noexcept {
  using L = Lane<S>;
  constexpr Index ahead = 24;  // hints go to the second cache: the first has few fetches under way at a time
  typename L::Vector sum[N];
  for (int n = 0; n < N; ++n) sum[n] = L::load(z + n * L::size);
  for (Index k = 0; k < x.size; ++k) {
    if (k + ahead < x.size) {
      const T* next = W + column(x, k + ahead) * stride;
      for (Index byte = 0; byte < N * L::size * Index(sizeof(T)); byte += 64)
        __builtin_prefetch(reinterpret_cast<const char*>(next) + byte, 0, 2);
    }
    const S a = S(x.value[k]);
    const T* row = W + column(x, k) * stride;
    for (int n = 0; n < N; ++n) sum[n] += a * load_as<S>(row + n * L::size);
  }
  for (int n = 0; n < N; ++n) L::store(z + n * L::size, sum[n]);
}

// is_cold: the rows of W were not met just now, so they are fetched ahead.
template <int N, bool is_cold, class Row, class T>
inline void update_tile(Row x, const T* d, Index stride, T* W) noexcept {
  using L = Lane<T>;
  constexpr Index ahead = 24;
  typename L::Vector step[N];
  for (int n = 0; n < N; ++n) step[n] = L::load(d + n * L::size);
  for (Index k = 0; k < x.size; ++k) {
    if constexpr (is_cold) {
      if (k + ahead < x.size) {
        T* next = W + column(x, k + ahead) * stride;
        for (Index byte = 0; byte < 32 * N; byte += 64)
          __builtin_prefetch(reinterpret_cast<char*>(next) + byte, 1, 2);
      }
    }
    const T a = T(x.value[k]);
    T* row = W + column(x, k) * stride;
    for (int n = 0; n < N; ++n) L::store(row + n * L::size, L::load(row + n * L::size) + a * step[n]);
  }
}

// update_tile that also gives the sum of the squares of the weights it leaves behind, in the arithmetic of T.
template <int N, class Row, class T>
inline double measured_update_tile(Row x, const T* d, Index stride, T* W) noexcept {
  using L = Lane<T>;
  typename L::Vector step[N], squares[N];
  for (int n = 0; n < N; ++n) {
    step[n] = L::load(d + n * L::size);
    squares[n] = typename L::Vector{};
  }
  for (Index k = 0; k < x.size; ++k) {
    const T a = T(x.value[k]);
    T* row = W + column(x, k) * stride;
    for (int n = 0; n < N; ++n) {
      const typename L::Vector w = L::load(row + n * L::size) + a * step[n];
      L::store(row + n * L::size, w);
      squares[n] += w * w;
    }
  }
  double sum = 0;
  for (int n = 0; n < N; ++n)
    for (Index j = 0; j < L::size; ++j) sum += double(squares[n][j]);
  return sum;
}

// Calls tile.template operator()<N>(first) for tiles of few lanes that cover whole lanes of [0, width), and
// returns how many numbers they cover. Four lanes to a tile, or up to seven at the end: a second walk over a
// row for a lane or two costs as much as the first.
template <class T, class Tile>
inline Index in_tiles(Index width, Tile&& tile) noexcept {
  const Index n_lanes = width / Lane<T>::size;
  Index lane = 0;
  for (; lane + 8 <= n_lanes; lane += 4) tile.template operator()<4>(lane * Lane<T>::size);
  switch (n_lanes - lane) {
    case 7:
      tile.template operator()<7>(lane * Lane<T>::size);
      break;
    case 6:
      tile.template operator()<6>(lane * Lane<T>::size);
      break;
    case 5:
      tile.template operator()<5>(lane * Lane<T>::size);
      break;
    case 4:
      tile.template operator()<4>(lane * Lane<T>::size);
      break;
    case 3:
      tile.template operator()<3>(lane * Lane<T>::size);
      break;
    case 2:
      tile.template operator()<2>(lane * Lane<T>::size);
      break;
    case 1:
      tile.template operator()<1>(lane * Lane<T>::size);
      break;
    default:
      break;
  }
  return n_lanes * Lane<T>::size;
}

// z[0..count) += x . W, W feature-major with `stride` numbers per feature, of which `count` are meant; sums
// in the type of z.
template <class Row, class T, class S>
inline void dot_block(Row x, const T* W, Index stride, Index count, S* z) noexcept {
  using L = Lane<S>;
  if (count >= 8 * L::size) {
    // Too many for the registers: each row of W in one go, the sums in the first cache.
    constexpr Index ahead = 4;
    for (Index k = 0; k < x.size; ++k) {
      if (k + ahead < x.size) {
        const char* next = reinterpret_cast<const char*>(W + column(x, k + ahead) * stride);
        for (Index byte = 0; byte < count * Index(sizeof(T)); byte += 64) __builtin_prefetch(next + byte);
      }
      const S a = S(x.value[k]);
      const T* row = W + column(x, k) * stride;
      Index j = 0;
      for (; j + L::size <= count; j += L::size) L::store(z + j, L::load(z + j) + a * load_as<S>(row + j));
      for (; j < count; ++j) z[j] += a * S(row[j]);
    }
    return;
  }
  const Index covered =
      in_tiles<S>(count, [&]<int N>(Index first) { dot_tile<N>(x, W + first, stride, z + first); });
  for (Index j = covered; j < count; ++j) {
    S sum = z[j];
    for (Index k = 0; k < x.size; ++k) sum += S(x.value[k]) * S(W[column(x, k) * stride + j]);
    z[j] = sum;
  }
}

// W += x d', the rank-one update of dot_block's layout.
template <bool is_cold = false, class Row, class T>
inline void update_block(Row x, const T* d, Index stride, Index count, T* W) noexcept {
  using L = Lane<T>;
  Index covered = 0;
  if (count <= 4 * L::size) {
    covered = in_tiles<T>(
        count, [&]<int N>(Index first) { update_tile<N, is_cold>(x, d + first, stride, W + first); });
    if (covered == count) return;
  }
  // Too many for the registers: each row of W in one go, which the hardware sees coming.
  constexpr Index ahead = 4;
  for (Index k = 0; k < x.size; ++k) {
    if (is_cold && covered == 0 && k + ahead < x.size) {
      const char* next = reinterpret_cast<const char*>(W + column(x, k + ahead) * stride);
      for (Index byte = 0; byte < count * Index(sizeof(T)); byte += 64) __builtin_prefetch(next + byte, 1);
    }
    const T a = T(x.value[k]);
    T* row = W + column(x, k) * stride;
    Index j = covered;
    for (; j + L::size <= count; j += L::size) L::store(row + j, L::load(row + j) + a * L::load(d + j));
    for (; j < count; ++j) row[j] += a * d[j];
  }
}

// The same for whole lanes, with the sum of the squares of all weights that were met.
template <class Row, class T>
inline double measured_update_block(Row x, const T* d, Index stride, Index count, T* W) noexcept {
  double sum = 0;
  in_tiles<T>(count,
              [&]<int N>(Index first) { sum += measured_update_tile<N>(x, d + first, stride, W + first); });
  return sum;
}

// V += x u', one row's part of X'U; is_cold as in update_block.
template <bool is_cold, class Row>
inline void add_product(Row x, const double* u, Index K, double* V) noexcept {
  if (K > 1)
    update_block<is_cold>(x, u, K, K, V);
  else if (u[0] != 0.0)
    axpy(u[0], x, V);
}

}  // namespace lineal
