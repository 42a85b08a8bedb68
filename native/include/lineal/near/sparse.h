// Sparse rows without an index: every row, exactly.
#pragma once

#include <vector>

#include "lineal/near/exact.h"
#include "lineal/near/nearest.h"

namespace lineal::near {

// A sparse row's numbers in an array of all columns while it lives; zeros before and after.
class Spread {
 public:
  Spread(CsrRow<double> row, std::vector<double>& columns) noexcept : row_(row), columns_(columns) {
    for (Index k = 0; k < row.size; ++k) columns[std::size_t(row.index[k])] = row.value[k];
  }
  ~Spread() {
    for (Index k = 0; k < row_.size; ++k) columns_[std::size_t(row_.index[k])] = 0.0;
  }
  Spread(const Spread&) = delete;
  Spread& operator=(const Spread&) = delete;

 private:
  CsrRow<double> row_;
  std::vector<double>& columns_;
};

struct SparseScratch {
  SparseScratch(Index n_columns, Index k) : columns(std::size_t(n_columns), 0.0), nearest(k) {}
  std::vector<double> columns;
  Nearest nearest;
};

// Calls meet(scratch, query, row, distance) for every pair, a query's rows in order and on one thread, and
// then end(scratch, query).
template <class Metric, class Meet, class End>
void each_pair(const Csr<double>& points, const Csr<double>& queries, Index k, int n_threads, Watch& watch,
               Meet&& meet, End&& end) {
  Ending ending(watch);
  each_block(
      queries.n_rows, 1, n_threads, ending, [&] { return SparseScratch(points.n_columns, k); },
      [&](SparseScratch& scratch, int part, Index i, Index) {
        const CsrRow<double> q = queries[i];
        const Spread spread(q, scratch.columns);
        for (Index r = 0; r < points.n_rows; ++r) {
          meet(scratch, i, r, distance(Metric{}, q, scratch.columns.data(), points[r]));
          if (ending.is_near(part, points[r].size + q.size)) return;
        }
        end(scratch, i);
      });
}

template <class Metric>
void search_sparse(const Csr<double>& points, const Csr<double>& queries, const Answers& answers,
                   int n_threads, Watch& watch) {
  each_pair<Metric>(
      points, queries, answers.k, n_threads, watch,
      [](SparseScratch& scratch, Index, Index row, double distance) { scratch.nearest.offer(distance, row); },
      [&](SparseScratch& scratch, Index query) { answers.take(scratch.nearest, query); });
}

// Distances of all queries to all rows, (n_queries, n).
template <class Metric>
void all_distances(const Csr<double>& points, const Csr<double>& queries, double* out, int n_threads,
                   Watch& watch) {
  each_pair<Metric>(
      points, queries, 0, n_threads, watch,
      [&](SparseScratch&, Index query, Index row, double distance) {
        out[query * points.n_rows + row] = distance;
      },
      [](SparseScratch&, Index) {});
}

}  // namespace lineal::near
