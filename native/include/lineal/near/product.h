// All rows against all queries by blocks of a matrix product in single precision, as a filter.
//
// |q - x|^2 = |q|^2 + |x|^2 - 2 q.x costs one fused multiply-add a column, but it is not the distance: it is
// within a known error of it. With centred rows q', x' in single precision of unit roundoff u = 2^-24,
//
//   computed q'.x'  is within  (d u / (1 - d u)) |q'||x'|  of q'.x'      (Higham 2002, 3.5, and
//   Cauchy-Schwarz) |q' - x'|       is within  delta_q + delta_x of |q - x|              (delta <= u |x'|,
//   the triangle)
//
// so a row whose product says that it lies beyond the worst kept neighbour by more than both errors is left
// out, and all others get their exact distance (exact.h). Few do: about k (1 + ln(n / k)) of rows in random
// order.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "lineal/near/exact.h"
#include "lineal/near/nearest.h"

namespace lineal::near {

#ifdef __AVX2__
typedef float Floats __attribute__((vector_size(32)));
#else
typedef float Floats __attribute__((vector_size(16)));
#endif

inline Floats load(const float* from) noexcept {
  Floats lane;
  __builtin_memcpy(&lane, from, sizeof lane);
  return lane;
}
// One number in every lane.
inline Floats in_all_lanes(float x) noexcept {
#ifdef __AVX2__
  return _mm256_set1_ps(x);
#else
  return Floats{x, x, x, x};
#endif
}
// Asked for by name: this file's callers compile without fused operations, which only the filter may use.
inline Floats fused(Floats a, Floats b, Floats sum) noexcept {
#if defined(__AVX2__) && defined(__FMA__)
  return _mm256_fmadd_ps(a, b, sum);
#else
  return a * b + sum;
#endif
}

// Whether any lane of a is at most b.
inline bool any_at_most(Floats a, float b) noexcept {
  const auto holds = a <= in_all_lanes(b);
#ifdef __AVX2__
  return _mm256_movemask_ps(reinterpret_cast<__m256>(holds)) != 0;
#else
  long long halves[2];
  __builtin_memcpy(halves, &holds, sizeof halves);
  return (halves[0] | halves[1]) != 0;
#endif
}

inline constexpr double unit_roundoff = 0x1p-24;
inline constexpr double longest_query = 0x1p50;  // in units of the rows: squares of longer ones overflow
// A bound on the relative error of a sum of d products in single precision, with eight operations to spare;
// none where d is so large that the bound means nothing.
inline double product_error(Index d) noexcept {
  const double all = double(d + 8) * unit_roundoff;
  return all < 0.25 ? all / (1 - all) : std::numeric_limits<double>::infinity();
}
// The relative error of a distance in double precision, and then some.
inline double distance_error(Index d) noexcept { return double(d + 16) * 0x1p-51; }

template <class Metric>
class ProductIndex {
 public:
  static constexpr Index lanes = Index(sizeof(Floats) / sizeof(float)), width = 2 * lanes;

  // The points are borrowed; rows of length 1 or 0 for the cosine.
  ProductIndex(const double* points, Index n, Index d)
      : points_(points), n_(n), d_(d), centre_(std::size_t(d)) {
    if constexpr (is_euclidean) set_units();
    const Index n_panels = (n + width - 1) / width;
    panels_.assign(std::size_t(n_panels * width * d), 0.0f);
    base_.assign(std::size_t(n_panels * width), 0.0f);
    std::vector<float> row(static_cast<std::size_t>(d));
    for (Index i = 0; i < n; ++i) {
      const double squared = narrowed(points + i * d, row.data());
      if constexpr (is_euclidean) base_[std::size_t(i)] = float(squared);
      longest_ = std::max(longest_, std::sqrt(squared));
      float* panel = panels_.data() + i / width * width * d + i % width;
      for (Index j = 0; j < d; ++j) panel[j * width] = row[std::size_t(j)];
    }
  }

  Index n_rows() const noexcept { return n_; }
  Index n_columns() const noexcept { return d_; }

  void search(const double* queries, Index n_queries, const Answers& answers, int n_threads,
              Watch& watch) const {
    Ending ending(watch);
    each_block(
        n_queries, block, n_threads, ending, [&] { return Scratch(d_, answers.k); },
        [&](Scratch& scratch, int part, Index first, Index last) {
          for (Index i = first; i < last; ++i) scratch.begin(i - first, queries + i * d_, *this);
          for (Index start = 0; start < n_; start += chunk) {
            const Index stop = std::min(start + chunk, n_);
            multiply(scratch, last - first, start, stop);
            for (Index i = first; i < last; ++i) sift(scratch, i - first, queries + i * d_, start, stop);
            if (ending.is_near(part, (last - first) * (stop - start) * d_)) return;
          }
          for (Index i = first; i < last; ++i) answers.take(scratch.nearest[std::size_t(i - first)], i);
        });
  }

 private:
  static constexpr bool is_euclidean = std::is_same_v<Metric, Euclidean>;
  static constexpr Index height = 6, block = 24, chunk = 512;

  struct Scratch {
    Scratch(Index d, Index k)
        : rows(std::size_t(block * d)), products(std::size_t(block * chunk)), lengths(std::size_t(block)) {
      for (Index i = 0; i < block; ++i) nearest.emplace_back(k);
    }
    void begin(Index i, const double* query, const ProductIndex& index) {
      nearest[std::size_t(i)].clear();
      lengths[std::size_t(i)] = std::sqrt(index.narrowed(query, rows.data() + i * index.d_));
    }
    std::vector<float> rows, products;
    std::vector<double> lengths;
    std::vector<Nearest> nearest;
  };

  // The middle of the points, and a power of two that brings the largest number to about 1.
  void set_units() {
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < d_; ++j) centre_[std::size_t(j)] += points_[i * d_ + j] / double(n_);
    double largest = 0;
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < d_; ++j)
        largest = std::max(largest, std::abs(points_[i * d_ + j] - centre_[std::size_t(j)]));
    if (largest > 0) unit_ = std::ldexp(1.0, -std::clamp(std::ilogb(largest), -900, 900));
  }

  // A row in single precision and in units; returns its squared length. Too long a row becomes zeros, and its
  // length infinite, which switches the filter off.
  double narrowed(const double* x, float* out) const noexcept {
    double squared = 0;
    for (Index j = 0; j < d_; ++j) {
      out[j] = float((x[j] - centre_[std::size_t(j)]) * unit_);
      squared += double(out[j]) * double(out[j]);
    }
    if (squared < longest_query * longest_query) return squared;
    std::fill(out, out + d_, 0.0f);
    return std::numeric_limits<double>::infinity();
  }

  // Products of the queries with points [start, stop).
  void multiply(Scratch& scratch, Index n_queries, Index start, Index stop) const noexcept {
    for (Index at = start; at < stop; at += width) {
      const float* panel = panels_.data() + at * d_;
      float* out = scratch.products.data() + (at - start);
      Index i = 0;
      for (; i + height <= n_queries; i += height)
        tile<height>(scratch.rows.data() + i * d_, panel, out + i * chunk);
      for (; i < n_queries; ++i) tile<1>(scratch.rows.data() + i * d_, panel, out + i * chunk);
    }
  }
  template <int n>
  void tile(const float* rows, const float* panel, float* out) const noexcept {
    Floats sum[n][2];
    for (int r = 0; r < n; ++r)
      sum[r][0] = sum[r][1] = Floats{};  // in registers, where "= {}" goes to memory
    for (Index j = 0; j < d_; ++j) {
      const Floats near = load(panel + j * width), far = load(panel + j * width + lanes);
      for (int r = 0; r < n; ++r) {
        const Floats a = in_all_lanes(rows[r * d_ + j]);
        sum[r][0] = fused(a, near, sum[r][0]);
        sum[r][1] = fused(a, far, sum[r][1]);
      }
    }
    for (int r = 0; r < n; ++r) __builtin_memcpy(out + r * chunk, sum[r], sizeof sum[r]);
  }

  // Rows whose key, |x|^2 - 2 q.x or -q.x, is above this are farther away than the worst kept one.
  float limit(const Nearest& nearest, double length) const noexcept {
    if (!nearest.is_full()) return std::numeric_limits<float>::infinity();
    const double worst = nearest.worst().distance, error = product_error(d_);
    double highest;
    if constexpr (is_euclidean) {
      const double both = length + longest_;
      const double reach = worst * unit_ * (1 + distance_error(d_)) + 1.01 * unit_roundoff * both + 1e-37;
      highest = reach * reach + error * both * both - length * length * (1 - distance_error(d_));
    } else {
      highest = worst - 1.0 + (error + distance_error(d_)) * 1.01 + 1e-37;
    }
    // An unlimited length gives NaN or infinity: then nothing is left out.
    const float above = std::nextafter(float(highest), std::numeric_limits<float>::infinity());
    return highest < 1e37 ? above : std::numeric_limits<float>::infinity();
  }

  void sift(Scratch& scratch, Index i, const double* query, Index start, Index stop) const {
    Nearest& nearest = scratch.nearest[std::size_t(i)];
    const float* product = scratch.products.data() + i * chunk;
    const float* base = base_.data() + start;
    const double length = scratch.lengths[std::size_t(i)];
    float highest = limit(nearest, length);
    constexpr float factor = is_euclidean ? 2.0f : 1.0f;
    Index waiting[4], n_waiting = 0;
    const auto settle = [&] {
      const double* rows[4];
      double distance[4];
      for (Index r = 0; r < 4; ++r) rows[r] = points_ + waiting[r < n_waiting ? r : 0] * d_;
      four_distances<Metric>(query, rows, d_, distance);
      for (Index r = 0; r < n_waiting; ++r) nearest.offer(distance[r], waiting[r]);
      n_waiting = 0;
      highest = limit(nearest, length);
    };
    for (Index at = 0; at < stop - start; at += width) {
      const Floats near = load(base + at) - factor * load(product + at);
      const Floats far = load(base + at + lanes) - factor * load(product + at + lanes);
      if (!any_at_most(near, highest) && !any_at_most(far, highest)) continue;
      for (Index l = 0; l < std::min(width, stop - start - at); ++l) {
        if (!(base[at + l] - factor * product[at + l] <= highest)) continue;
        waiting[n_waiting++] = start + at + l;
        if (n_waiting == 4) settle();
      }
    }
    if (n_waiting > 0) settle();
  }

  const double* points_;
  Index n_, d_;
  std::vector<double> centre_;
  double unit_ = 1.0, longest_ = 0.0;
  std::vector<float> panels_, base_;
};

// Distances of all queries to all rows, (n_queries, n).
template <class Metric>
void all_distances(const double* points, Index n, Index d, const double* queries, Index n_queries,
                   double* out, int n_threads, Watch& watch) {
  Ending ending(watch);
  each_block(
      n_queries, 1, n_threads, ending, [] { return 0; },
      [&](int, int part, Index i, Index) {
        const double* q = queries + i * d;
        for (Index r = 0; r < n; r += 4) {
          const double* rows[4];
          double four[4];
          for (Index s = 0; s < 4; ++s) rows[s] = points + std::min(r + s, n - 1) * d;
          four_distances<Metric>(q, rows, d, four);
          std::copy(four, four + std::min<Index>(4, n - r), out + i * n + r);
          if ((r & 1023) == 0 && ending.is_near(part, 1024 * d)) return;
        }
      });
}

}  // namespace lineal::near
