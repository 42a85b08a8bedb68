// Pairs of a ranking, never listed: sums over all pairs of one query whose first row has the higher grade.
//
//   value = sum over queries q of c_q sum over pairs (i, j), grade_i > grade_j, of s_i s_j loss(z_i - z_j)
//
// Rows stand in the order of their query and, within it, of their grade. A bent hinge is summed over the
// pairs of two sets of grades by one walk over both, sorted by score, with sums of scores instead of pairs
// (Joachims 2006; Lee and Lin 2014); grades are halved again and again and merged on the way back, so that a
// query of n rows and G grades costs O(n log n) and memory for its rows. The logistic loss of a difference
// does not come apart into sums: its pairs are visited one by one, O(pairs) time, no memory.
//
// Threads share out queries. What a query adds is computed by one thread, and queries are added up in their
// order: the bits do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "lineal/elementary.h"
#include "lineal/grade_merge.h"
#include "lineal/parallel.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// Sums over pairs, weighted.
struct PairSums {
  double value = 0.0;   // of the loss
  double hinge = 0.0;   // of max(0, t), whatever the loss; 0 for the logistic loss
  double slopes = 0.0;  // of -loss'(z_i - z_j)
};

// ---- the bent hinge ---------------------------------------------------------------------------------

// Adds the slopes and the curvatures of the pairs of two parts, without the weight of their query.
struct SlopesOfPairs {
  BentHinge loss;
  const double* s;
  double* slope;      // (n_rows) of the loss in each score
  double* curvature;  // (n_rows) its second derivative
  Sums sums;
  PairSums total;
  double beyond = 0.0, n_beyond = 0.0;  // sums of t and of 1 over the pairs beyond the bend

  void operator()(std::span<const Placed> worse, std::span<const Placed> better) {
    const double steepest = loss.steepest();
    sums.take(worse, s);
    WindowOfWorse below(loss, worse);
    for (const Placed& i : better) {
      below.move_to(i.z);
      const double top = i.z - loss.margin, weight = s[i.row];
      const double bent = sums.above(below.bent, below.beyond, top);
      const double far = sums.above(below.beyond, worse.size(), top);
      const double n_far = sums.weight(below.beyond, worse.size());
      const double pull = loss.bend * bent + steepest * n_far;
      slope[i.row] -= weight * pull;
      curvature[i.row] += weight * loss.bend * sums.weight(below.bent, below.beyond);
      total.slopes += weight * pull;
      total.hinge += weight * (bent + far);
      beyond += weight * far;
      n_beyond += weight * n_far;
    }
    sums.take(better, s);
    WindowOfBetter above(loss, better);
    for (const Placed& j : worse) {
      above.move_to(j.z);
      const double bent = -sums.above(above.bent, above.flat, j.z + loss.margin);
      const double weight = s[j.row];
      slope[j.row] += weight * (loss.bend * bent + steepest * sums.weight(0, above.bent));
      curvature[j.row] += weight * loss.bend * sums.weight(above.bent, above.flat);
    }
  }
};

inline double centred_product(const double* a, const double* b, Index n) noexcept {
  double sum = 0.0;
  for (Index i = 0; i < n; ++i) sum += (a[i] - a[0]) * b[i];
  return sum;
}

// The sums of one query; its slopes and curvatures are written.
inline PairSums query_slopes(const Ranking& all, Index q, const BentHinge& loss, const double* z,
                             GradeMerge& merge, SlopesOfPairs& cross) {
  const Index first = all.first_row(q), n = all.first_row(q + 1) - first;
  std::fill(cross.slope + first, cross.slope + first + n, 0.0);
  std::fill(cross.curvature + first, cross.curvature + first + n, 0.0);
  cross.total = {};
  cross.beyond = cross.n_beyond = 0.0;
  merge.walk(all, q, z, cross);
  // Over all pairs, the sum of (-slope) t is margin * slopes + z . slope, of which the bend has half for
  // value.
  const double steepest = loss.steepest();
  const double products =
      loss.margin * cross.total.slopes + (n > 0 ? centred_product(z + first, cross.slope + first, n) : 0.0);
  const double far = steepest > 0 ? steepest * (cross.beyond - loss.width * cross.n_beyond) : 0.0;
  const double c = all.c[q];
  for (Index i = first; i < first + n; ++i) {
    cross.slope[i] *= c;
    cross.curvature[i] *= c;
  }
  return {c * 0.5 * (products + far), c * cross.total.hinge, c * cross.total.slopes};
}

// Adds the Hessian of the pairs of two parts, in the scores, times n_columns columns of V (row by row).
struct ProductsOfPairs {
  BentHinge loss;
  const double* s;
  double c;
  Index n_columns;
  const double* V;
  double* out;
  Sums sums;
  std::vector<double> prefix, window;

  void operator()(std::span<const Placed> worse, std::span<const Placed> better) {
    take(worse);
    WindowOfWorse below(loss, worse);
    for (const Placed& i : better) {
      below.move_to(i.z);
      add(i.row, worse, below.bent, below.beyond);
    }
    take(better);
    WindowOfBetter above(loss, better);
    for (const Placed& j : worse) {
      above.move_to(j.z);
      add(j.row, better, above.bent, above.flat);
    }
  }

 private:
  void take(std::span<const Placed> rows) {
    sums.take(rows, s);
    const std::size_t k = std::size_t(n_columns);
    prefix.assign((rows.size() + 1) * k, 0.0);
    window.resize(k);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const double* const v = V + rows[r].row * n_columns;
      const double weight = s[rows[r].row];
      for (std::size_t e = 0; e < k; ++e) prefix[(r + 1) * k + e] = prefix[r * k + e] + weight * v[e];
    }
  }
  void add(Index row, std::span<const Placed> others, std::size_t first, std::size_t last) {
    if (last == first) return;
    const std::size_t k = std::size_t(n_columns);
    if (last - first > short_window) {
      for (std::size_t e = 0; e < k; ++e) window[e] = prefix[last * k + e] - prefix[first * k + e];
    } else {
      std::fill(window.begin(), window.end(), 0.0);
      for (std::size_t r = first; r < last; ++r)
        for (std::size_t e = 0; e < k; ++e)
          window[e] += s[others[r].row] * V[others[r].row * n_columns + Index(e)];
    }
    const double scale = c * loss.bend * s[row], weight = sums.weight(first, last);
    const double* const v = V + row * n_columns;
    double* const o = out + row * n_columns;
    for (std::size_t e = 0; e < k; ++e) o[e] += scale * (weight * v[e] - window[e]);
  }
};

// ---- the logistic loss ------------------------------------------------------------------------------

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

// ---- passes over all queries ------------------------------------------------------------------------

// Runs body(part, first, last) over ranges of queries with about the same number of rows.
template <class Body>
void over_queries(const Ranking& all, int n_threads, Body&& body) {
  parallel(n_threads, [&](int part) {
    const auto cut = [&](int p) {
      const Index row = share(all.n_rows, p, n_threads).first;
      Index low = 0, high = all.n_queries;  // the first query that begins at this row or later
      while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (all.first_row(middle) < row)
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    };
    body(part, part == 0 ? 0 : cut(part), part + 1 == n_threads ? all.n_queries : cut(part + 1));
  });
}

inline PairSums added_up(const std::vector<PairSums>& each) noexcept {
  PairSums sum;
  for (const PairSums& one : each) {
    sum.value += one.value;
    sum.hinge += one.hinge;
    sum.slopes += one.slopes;
  }
  return sum;
}

// Slopes and curvatures of the losses in the scores, (n_rows) each, and their sums. z must be finite.
inline PairSums bent_slopes_pass(const Ranking& all, const BentHinge& loss, const double* z, double* slope,
                                 double* curvature, int n_threads, Watch& watch) {
  std::vector<PairSums> each(std::size_t(all.n_queries));
  SharedWatch shared(watch);
  over_queries(all, n_threads, [&](int part, Index first, Index last) {
    GradeMerge merge;
    SlopesOfPairs cross{loss, all.s, slope, curvature, {}, {}};
    for (Index q = first; q < last; ++q) {
      if (shared.says_stop(part, std::size_t(16 * (all.first_row(q + 1) - all.first_row(q))))) return;
      each[std::size_t(q)] = query_slopes(all, q, loss, z, merge, cross);
    }
  });
  return added_up(each);
}

// out = (Hessian in the scores) V, both (n_rows x n_columns), row by row.
inline void bent_products_pass(const Ranking& all, const BentHinge& loss, const double* z, const double* V,
                               Index n_columns, double* out, int n_threads, Watch& watch) {
  SharedWatch shared(watch);
  over_queries(all, n_threads, [&](int part, Index first, Index last) {
    GradeMerge merge;
    ProductsOfPairs cross{loss, all.s, 0.0, n_columns, V, out, {}, {}, {}};
    for (Index q = first; q < last; ++q) {
      const Index begin = all.first_row(q), end = all.first_row(q + 1);
      if (shared.says_stop(part, std::size_t((end - begin) * (16 + 4 * n_columns)))) return;
      std::fill(out + begin * n_columns, out + end * n_columns, 0.0);
      cross.c = all.c[q];
      merge.walk(all, q, z, cross);
    }
  });
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
