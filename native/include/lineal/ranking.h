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

#include "lineal/grade_merge.h"
#include "lineal/watch.h"

namespace lineal {

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
      const double weight = s[i.row];
      const double bent = sums.t_of_worse(loss, below.bent, below.beyond, i.z);
      const double far = sums.above(below.beyond, worse.size(), i.z - loss.margin);
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
      const double bent = sums.t_of_better(loss, above.bent, above.flat, j.z);
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
    if (last - first > 8) {
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

// ---- order alone ------------------------------------------------------------------------------------

// Adds the weights of the pairs of two parts that stand in the wrong order, and of those whose scores are
// equal.
struct DisorderOfPairs {
  const double* s;
  Sums sums;
  double wrong = 0.0, tied = 0.0;

  void operator()(std::span<const Placed> worse, std::span<const Placed> better) {
    sums.take(worse, s);
    std::size_t below = 0, up_to = 0;
    for (const Placed& i : better) {
      while (below < worse.size() && worse[below].z < i.z) ++below;
      while (up_to < worse.size() && worse[up_to].z <= i.z) ++up_to;
      wrong += s[i.row] * sums.weight(up_to, worse.size());
      tied += s[i.row] * sums.weight(below, up_to);
    }
  }
};

// ---- passes over all queries ------------------------------------------------------------------------

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

// The weights of each query's pairs in the wrong order, and of those with equal scores, (n_queries) each.
inline void disorder_pass(const Ranking& all, const double* z, double* wrong, double* tied, int n_threads,
                          Watch& watch) {
  SharedWatch shared(watch);
  over_queries(all, n_threads, [&](int part, Index first, Index last) {
    GradeMerge merge;
    for (Index q = first; q < last; ++q) {
      if (shared.says_stop(part, std::size_t(16 * (all.first_row(q + 1) - all.first_row(q))))) return;
      DisorderOfPairs cross{all.s, {}};
      merge.walk(all, q, z, cross);
      wrong[q] = all.c[q] * cross.wrong;
      tied[q] = all.c[q] * cross.tied;
    }
  });
}

}  // namespace lineal
