// From the counts of classes (class_sums.h) to the weights of a linear score.
//
//   W[j, k] = weight(V[k, j], k, j)
//
// Counts are class-major, weights feature-major as products with rows want them; tiles keep both sides in
// cache. The weight of a count of 0 is given, for its limit is not always what the formula says. Every number
// is computed alone: threads change no bit.
#pragma once

#include <algorithm>

#include "lineal/elementary.h"
#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

// log((count + smoothing) / total).
struct LogShare {
  double smoothing;
  const double* log_total;  // (K)
  const double* at_zero;    // (K) the weight of a count of 0
  double operator()(double count, Index k, Index) const noexcept {
    const double logarithm = log_nonnegative(count + smoothing) - log_total[k];
    return count == 0.0 ? at_zero[k] : logarithm;
  }
};

// log(mu / (1 - mu)) for mu = (count + smoothing) / (total + 2 smoothing).
struct LogOdds {
  double smoothing;
  const double* total;    // (K)
  const double* at_zero;  // (K)
  double operator()(double count, Index k, Index) const noexcept {
    const double rest = total[k] - count, others = rest > 0.0 ? rest : 0.0;  // sums of weights round
    const double logarithm = log_nonnegative((count + smoothing) / (others + smoothing));
    return count == 0.0 ? at_zero[k] : logarithm;
  }
};

// -log((count of all other classes + smoothing) / their total).
struct ComplementLogShare {
  double smoothing;
  const double* log_total;     // (K) of the other classes
  const double* column_total;  // (n_columns) of all classes
  double operator()(double count, Index k, Index j) const noexcept {
    return log_total[k] - log_nonnegative(column_total[j] - count + smoothing);
  }
};

template <class Weight>
void class_weights_pass(const double* V, Index K, Index n_columns, const Weight& weight, double* W,
                        int n_threads) {
  constexpr Index tile = 64;
  parallel(n_threads, [&](int part) {
    const Range columns = share(n_columns, part, n_threads);
    for (Index first = columns.first; first < columns.last; first += tile) {
      const Index last = std::min(first + tile, Index(columns.last));
      for (Index k = 0; k < K; ++k) {
        const double* const counts = V + k * n_columns;
        double weights[tile];  // side by side first, so that the logarithms vectorise
        for (Index j = first; j < last; ++j) weights[j - first] = weight(counts[j], k, j);
        for (Index j = first; j < last; ++j) W[j * K + k] = weights[j - first];
      }
    }
  });
}

}  // namespace lineal
