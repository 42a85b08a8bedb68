// The logistic loss of the pairs of a ranking.
//
// It does not come apart into sums, as a bent hinge does (ranking.h): pairs are visited one by one, O(pairs)
// time and no memory. Threads share out queries, and the bits do not depend on their number.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lineal/elementary.h"
#include "lineal/grade_merge.h"
#include "lineal/watch.h"

namespace lineal {

// log(1 + exp(-(z_i - z_j))) and its slope and curvature, by one exponential.
struct LogOfPair {
  double value, pull, bend;
  explicit LogOfPair(double m) noexcept {
    const double e = exp_nonpositive(-std::abs(m)), share = 1.0 / (1.0 + e);
    pull = m >= 0 ? e * share : share;
    bend = e * share * share;
    value = std::max(-m, 0.0) + log1p_unit(e);
  }
};

// Calls row(i, first, last) for every row of query q that has worse rows: those are first .. last - 1.
template <class Row>
void each_with_worse(const Ranking& all, Index q, Row&& row) {
  const Index first = all.first_row(q);
  for (Index g = all.query_first[q] + 1; g < all.query_first[q + 1]; ++g)
    for (Index i = all.group_first[g]; i < all.group_first[g + 1]; ++i) row(i, first, all.group_first[g]);
}

inline PairSums log_slopes_pass(const Ranking& all, const double* z, double* slope, double* curvature,
                                int n_threads, Watch& watch) {
  std::vector<PairSums> each(std::size_t(all.n_queries));
  SharedWatch shared(watch);
  over_queries(all, n_threads, [&](int part, Index first, Index last) {
    for (Index q = first; q < last; ++q) {
      const Index begin = all.first_row(q), end = all.first_row(q + 1);
      std::fill(slope + begin, slope + end, 0.0);
      std::fill(curvature + begin, curvature + end, 0.0);
      PairSums sum;
      each_with_worse(all, q, [&](Index i, Index from, Index to) {
        if (shared.says_stop(part, std::size_t(16 * (to - from)))) return;
        const double scale = all.c[q] * all.s[i];
        double value = 0.0, pull = 0.0, bend = 0.0;
        for (Index j = from; j < to; ++j) {
          const LogOfPair pair(z[i] - z[j]);
          const double weight = scale * all.s[j];
          value += weight * pair.value;
          pull += weight * pair.pull;
          bend += weight * pair.bend;
          slope[j] += weight * pair.pull;
          curvature[j] += weight * pair.bend;
        }
        slope[i] -= pull;
        curvature[i] += bend;
        sum.value += value;
        sum.slopes += pull;
      });
      each[std::size_t(q)] = sum;
    }
  });
  return added_up(each);
}

inline void log_products_pass(const Ranking& all, const double* z, const double* V, Index n_columns,
                              double* out, int n_threads, Watch& watch) {
  SharedWatch shared(watch);
  over_queries(all, n_threads, [&](int part, Index first, Index last) {
    for (Index q = first; q < last; ++q) {
      std::fill(out + all.first_row(q) * n_columns, out + all.first_row(q + 1) * n_columns, 0.0);
      each_with_worse(all, q, [&](Index i, Index from, Index to) {
        if (shared.says_stop(part, std::size_t((16 + 2 * n_columns) * (to - from)))) return;
        const double* const v = V + i * n_columns;
        double* const o = out + i * n_columns;
        for (Index j = from; j < to; ++j) {
          const double h = all.c[q] * all.s[i] * all.s[j] * LogOfPair(z[i] - z[j]).bend;
          for (Index e = 0; e < n_columns; ++e) {
            const double moved = h * (v[e] - V[j * n_columns + e]);
            o[e] += moved;
            out[j * n_columns + e] -= moved;
          }
        }
      });
    }
  });
}

}  // namespace lineal
