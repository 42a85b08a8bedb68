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

// Of each kind of weight, of(k) is the function of one class: weight(count, j).

// log((count + smoothing) / total).
struct LogShare {
  double smoothing;
  const double* log_total;  // (K)
  const double* at_zero;    // (K) the weight of a count of 0
  auto of(Index k) const noexcept {
    return [l = smoothing, log_total = log_total[k], at_zero = at_zero[k]](double count, Index) noexcept {
      const double logarithm = log_nonnegative(count + l) - log_total;
      return count == 0.0 ? at_zero : logarithm;
    };
  }
};

// log(mu / (1 - mu)) for mu = (count + smoothing) / (total + 2 smoothing).
struct LogOdds {
  double smoothing;
  const double* total;    // (K)
  const double* at_zero;  // (K)
  auto of(Index k) const noexcept {
    return [l = smoothing, total = total[k], at_zero = at_zero[k]](double count, Index) noexcept {
      const double rest = total - count, others = rest > 0.0 ? rest : 0.0;  // sums of weights round
      const double logarithm = log_nonnegative((count + l) / (others + l));
      return count == 0.0 ? at_zero : logarithm;
    };
  }
};

// -log((count of all other classes + smoothing) / their total).
struct ComplementLogShare {
  double smoothing;
  const double* log_total;     // (K) of the other classes
  const double* column_total;  // (n_columns) of all classes
  auto of(Index k) const noexcept {
    return [l = smoothing, log_total = log_total[k], all = column_total](double count, Index j) noexcept {
      return log_total - log_nonnegative(all[j] - count + l);
    };
  }
};

// out[j] = weight(counts[j], j) for some columns, side by side, so that the logarithms vectorise.
template <class Weight>
void weigh_columns(const double* counts, Range columns, const Weight weight, double* out) noexcept {
#pragma omp simd
  for (Index j = columns.first; j < columns.last; ++j) out[j - columns.first] = weight(counts[j], j);
}

template <class Weight>
void class_weights_pass(const double* V, Index K, Index n_columns, const Weight& weight, double* W,
                        int n_threads) {
  constexpr Index tile = 64;
  parallel(n_threads, [&](int part) {
    const Range columns = share(n_columns, part, n_threads);
    double weights[tile];
    for (Index first = columns.first; first < columns.last; first += tile) {
      const Index last = std::min(first + tile, Index(columns.last));
      for (Index k = 0; k < K; ++k) {
        weigh_columns(V + k * n_columns, Range{first, last}, weight.of(k), weights);
        for (Index j = first; j < last; ++j) W[j * K + k] = weights[j - first];
      }
    }
  });
}

}  // namespace lineal
