// From the counts of classes (class_sums.h) to the weights of a linear score.
//
//   W[j, k] = weight(V[k, j], k, j)
//
// Counts are class-major, weights feature-major as products with rows want them; tiles keep both sides in
// cache. The weight of a count of 0 is given, for its limit is not always what the formula says. Every number
// is computed alone: threads change no bit.
#pragma once

#include <algorithm>
#include <vector>

#include "lineal/elementary.h"
#include "lineal/parallel.h"
#include "lineal/passes.h"
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

// What a class's rows lack, column by column: total - count, of the columns that some row of it has.
struct Absences {
  double log_sum = 0.0;   // of total - count + smoothing, where that is above 0
  double n_met = 0.0;     // columns with a count above 0
  double n_always = 0.0;  // those of them that leave nothing: total - count + smoothing is 0
};

// Of one class. Shares of the columns that depend on their number alone are added up in order: threads change
// no bit.
inline Absences absences_pass(const double* counts, Index n_columns, double total, double smoothing,
                              int n_threads) {
  const int n_shares = n_row_shares(n_columns), n_workers = std::min(n_threads, n_shares);
  std::vector<Absences> partial(static_cast<std::size_t>(n_shares));
  parallel(n_workers, [&](int worker) {
    const Range mine = share(n_shares, worker, n_workers);
    for (Index part = mine.first; part < mine.last; ++part) {
      const Range columns = share(n_columns, int(part), n_shares);
      double log_sum = 0.0, n_met = 0.0, n_always = 0.0;
#pragma omp simd reduction(+ : log_sum, n_met, n_always)
      for (Index j = columns.first; j < columns.last; ++j) {
        const double count = counts[j], rest = total - count, absent = (rest > 0.0 ? rest : 0.0) + smoothing;
        const double logarithm = log_nonnegative(absent), met = count > 0.0 ? 1.0 : 0.0;
        log_sum += count > 0.0 && absent > 0.0 ? logarithm : 0.0;
        n_met += met;
        n_always += absent > 0.0 ? 0.0 : met;
      }
      partial[std::size_t(part)] = {log_sum, n_met, n_always};
    }
  });
  Absences all;
  for (const Absences& one : partial) {
    all.log_sum += one.log_sum;
    all.n_met += one.n_met;
    all.n_always += one.n_always;
  }
  return all;
}

}  // namespace lineal
