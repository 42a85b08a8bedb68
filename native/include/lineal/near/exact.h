// Distances, computed in the one way that counts.
//
// A sum runs over the columns in their order, one double after another, with every operation rounded by
// itself: files that include this are compiled without fused multiply-adds (see CMakeLists.txt). Columns
// where both rows are 0 add 0 and may be left out, so sparse rows give the bits of dense ones. Every index
// ends here: bounds and products of matrices decide only which rows need not be looked at.
//
// Nothing of rows.h that computes is used: other files compile it with fused operations.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "lineal/rows.h"

namespace lineal::near {

// sqrt(sum of squared differences).
struct Euclidean {
  static double term(double a, double b) noexcept {
    const double difference = a - b;
    return difference * difference;
  }
  static double distance(double sum) noexcept { return std::sqrt(sum); }
};

// 1 - a . b for rows of length 1, within [0, 2]; rows of zeros are at distance 1 from everything.
struct Cosine {
  static double term(double a, double b) noexcept { return a * b; }
  static double distance(double sum) noexcept { return std::clamp(1.0 - sum, 0.0, 2.0); }
};

template <class Metric>
double distance(const double* a, const double* b, Index d) noexcept {
  double sum = 0;
  for (Index j = 0; j < d; ++j) sum += Metric::term(a[j], b[j]);
  return Metric::distance(sum);
}

// Four rows at once: each sum waits for its own last addition only.
template <class Metric>
void four_distances(const double* a, const double* const b[4], Index d, double out[4]) noexcept {
  double sum[4] = {};
  for (Index j = 0; j < d; ++j)
    for (int r = 0; r < 4; ++r) sum[r] += Metric::term(a[j], b[r][j]);
  for (int r = 0; r < 4; ++r) out[r] = Metric::distance(sum[r]);
}

// Two sparse rows, column by column of either.
template <class Metric>
double distance(CsrRow<double> a, CsrRow<double> b) noexcept {
  double sum = 0;
  Index i = 0, k = 0;
  while (i < a.size && k < b.size) {
    const auto left = a.index[i], right = b.index[k];
    const double x = left <= right ? a.value[i] : 0.0, y = right <= left ? b.value[k] : 0.0;
    i += left <= right;
    k += right <= left;
    sum += Metric::term(x, y);
  }
  for (; i < a.size; ++i) sum += Metric::term(a.value[i], 0.0);
  for (; k < b.size; ++k) sum += Metric::term(0.0, b.value[k]);
  return Metric::distance(sum);
}

// The same for the cosine, where the first row also stands in `spread`, a number for every column: products
// are 0 but in columns of both.
inline double cosine_distance(const double* spread, CsrRow<double> b) noexcept {
  double sum = 0;
  for (Index k = 0; k < b.size; ++k) sum += Cosine::term(spread[b.index[k]], b.value[k]);
  return Cosine::distance(sum);
}

// A row's length, its squares summed in the order of its columns.
inline double length(const double* value, Index size) noexcept {
  double sum = 0;
  for (Index k = 0; k < size; ++k) sum += value[k] * value[k];
  return std::sqrt(sum);
}

// No sum above this has a root of at most `distance`: roots of different sums may round to one number.
inline double highest_sum(double distance) noexcept {
  return distance * distance * (1 + 0x1p-50) + 4 * std::numeric_limits<double>::denorm_min();
}

}  // namespace lineal::near
