// Sparse rows without an index: every row, exactly.
#pragma once

#include "lineal/near/exact.h"
#include "lineal/near/nearest.h"

namespace lineal::near {

// Calls meet(nearest, query, row, distance) for every pair, a query's rows in order and on one thread, and
// then end(nearest, query).
template <class Metric, class Meet, class End>
void each_pair(const Csr<double>& points, const Csr<double>& queries, Index k, int n_threads, Watch& watch,
               Meet&& meet, End&& end) {
  Ending ending(watch);
  each_block(
      queries.n_rows, 1, n_threads, ending, [&] { return Nearest(k); },
      [&](Nearest& nearest, int part, Index i, Index) {
        const CsrRow<double> q = queries[i];
        for (Index r = 0; r < points.n_rows; ++r) {
          meet(nearest, i, r, distance<Metric>(q, points[r]));
          if (ending.is_near(part, points[r].size + q.size)) return;
        }
        end(nearest, i);
      });
}

template <class Metric>
void search_sparse(const Csr<double>& points, const Csr<double>& queries, const Answers& answers,
                   int n_threads, Watch& watch) {
  each_pair<Metric>(
      points, queries, answers.k, n_threads, watch,
      [](Nearest& nearest, Index, Index row, double distance) { nearest.offer(distance, row); },
      [&](Nearest& nearest, Index query) { answers.take(nearest, query); });
}

// Distances of all queries to all rows, (n_queries, n).
template <class Metric>
void all_distances(const Csr<double>& points, const Csr<double>& queries, double* out, int n_threads,
                   Watch& watch) {
  each_pair<Metric>(
      points, queries, 0, n_threads, watch,
      [&](Nearest&, Index query, Index row, double distance) { out[query * points.n_rows + row] = distance; },
      [](Nearest&, Index) {});
}

}  // namespace lineal::near
