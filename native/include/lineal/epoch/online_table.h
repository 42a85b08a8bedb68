// The records of a stream: what is known of each column, and how scores are read from it.
//
// Each column has a record of numbers side by side, so that a row touches one place for each number it
// stores:
//
//     weights of the scores (room for `room`) | metrics, of each score or of all | late sums, for averages
//
// With an l1, or with a penalty that grows with the stream, a record holds pulls s in the place of weights,
// and
//
//     w = soft(s, l1) / (G + l2).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lineal/epoch/online_steps.h"
#include "lineal/epoch/whole_metric.h"
#include "lineal/loss.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

struct OnlineSettings {
  Index room;        // scores that a record has room for
  bool is_shared;    // whether all scores of a record have one metric
  bool is_averaged;  // whether a record has late sums
  bool is_pulled;    // whether a record holds pulls
  bool has_intercept, is_intercept_penalized;
  double rate, power;             // 1/A = rate / rows^power of all columns; rate 0: each column has its own
  double l1, l2;                  // of the penalty
  double l1_growth, l2_growth;    // what a row of weight 1 adds to them
  double prior, intercept_prior;  // rows that a new column counts as having been met in
  double whole_prior, whole_intercept_prior;  // and in the whole metric

  Index n_metrics() const noexcept { return rate > 0 ? 0 : is_shared ? 1 : room; }
  Index late() const noexcept { return room + n_metrics(); }
  Index stride() const noexcept { return late() + (is_averaged ? room : 0); }
};

// The records, and how the scores are read from them.
class OnlineTable {
 public:
  OnlineTable(const OnlineSettings& set, double* records, Index n_columns, double* intercept,
              std::int32_t* places, double* factors, OnlineTally& tally)
      : set_(set),
        stride_(set.stride()),
        records_(records),
        n_columns_(n_columns),
        intercept_(intercept),
        places_(places),
        factors_(factors),
        tally_(tally) {}

  const OnlineSettings& settings() const noexcept { return set_; }
  OnlineTally& tally() const noexcept { return tally_; }
  Index n_columns() const noexcept { return n_columns_; }
  double* record(Index column) const noexcept { return records_ + column * stride_; }
  double* intercept() const noexcept { return set_.has_intercept ? intercept_ : nullptr; }

  struct Strength {
    double l1, l2;
  };
  Strength of_weights() const noexcept {
    return {set_.l1 + set_.l1_growth * tally_.weight, set_.l2 + set_.l2_growth * tally_.weight};
  }
  Strength of_intercept() const noexcept {
    return set_.is_intercept_penalized ? of_weights() : Strength{0.0, 0.0};
  }
  // What the metric of a column that is new starts from, in units of its first square.
  double start(bool is_intercept) const noexcept { return is_intercept ? set_.intercept_prior : set_.prior; }

  // The same of its first square; not 0, though the product be, since it is divided by.
  double begun(bool is_intercept, double unit, double square) const noexcept {
    return std::max(start(is_intercept) * unit * square, std::numeric_limits<double>::min());
  }

  // The weight of score k as it is learned with.
  double weight(const double* record, Index k, Strength penalty) const noexcept {
    if (!set_.is_pulled) return record[k];
    const double metric = record[set_.room + (set_.is_shared ? 0 : k)] + penalty.l2;
    return metric > 0 ? soft(record[k], penalty.l1) / metric : 0.0;
  }
  // As it is predicted with: averages are of the weights after each row so far.
  double kept(const double* record, Index k, Strength penalty) const noexcept {
    const double w = weight(record, k, penalty);
    return set_.is_averaged && tally_.rows > 0 ? w - record[set_.late() + k] / tally_.rows : w;
  }

  // The whole metric of score k; none where there is no room for it.
  bool has_whole_metric() const noexcept { return factors_ != nullptr && tally_.places >= 0.0; }
  WholeMetric whole(Index k) const noexcept {
    return WholeMetric(factors_ + k * WholeMetric::size * WholeMetric::width);
  }
  // The place of a column there, a new one if need be; -1: there are too many, from now on and for ever.
  Index place(Index column) const noexcept {
    const auto n = Index(tally_.places);
    const Index found = std::find(places_, places_ + n, std::int32_t(column)) - places_;
    if (found < n) return found;
    if (n == WholeMetric::most_columns) {
      tally_.places = -1.0;
      return -1;
    }
    places_[n] = std::int32_t(column);
    tally_.places += 1.0;
    return n;
  }
  // What the whole metric starts from at a place where x was met first.
  double start(Index place, double unit, double x) const noexcept {
    const bool is_intercept = place == WholeMetric::intercept;
    const double rows = is_intercept ? set_.whole_intercept_prior : set_.whole_prior;
    return rows > 0.0 ? std::max(rows * unit * x * x, std::numeric_limits<double>::min()) : 0.0;
  }
  double l2_at(Index place) const noexcept {
    return (place == WholeMetric::intercept ? of_intercept() : of_weights()).l2;
  }
  double* record_at(Index place) const noexcept {
    return place == WholeMetric::intercept ? intercept_ : record(places_[place]);
  }

  // One score for two classes becomes two of more: half of it each way where they are joint, all of it where
  // each class has its own.
  void part(bool is_joint) const noexcept {
    const double l1 = of_weights().l1;
    for (Index j = 0; j < n_columns_; ++j) part(record(j), is_joint, l1);
    if (intercept()) part(intercept_, is_joint, of_intercept().l1);
    if (factors_ != nullptr && set_.n_metrics() > 1)
      std::copy_n(factors_, WholeMetric::size * WholeMetric::width,
                  factors_ + WholeMetric::size * WholeMetric::width);
  }

 private:
  // What a pull has below l1 is no part of its weight, and is not halved.
  void part(double* record, bool is_joint, double l1) const noexcept {
    const double half = is_joint ? 0.5 : 1.0, idle = set_.is_pulled ? l1 : 0.0;
    for (const Index from : {Index(0), set_.late()}) {
      if (from > 0 && !set_.is_averaged) break;
      record[from] = half * record[from] + (1.0 - half) * std::clamp(record[from], -idle, idle);
      record[from + 1] = -record[from];
    }
    if (set_.n_metrics() > 1) record[set_.room + 1] = record[set_.room];
  }

  const OnlineSettings& set_;
  Index stride_;
  double* records_;
  Index n_columns_;
  double* intercept_;
  std::int32_t* places_;  // of the whole metric
  double* factors_;
  OnlineTally& tally_;
};

// Hints the records of a row that will be met soon into cache.
template <class Row>
LINEAL_HINT void prefetch_records(const OnlineTable& table, Row x) noexcept {
  const Index bytes = table.settings().stride() * Index(sizeof(double));
  for (Index k = 0; k < x.size; ++k)
    for (Index byte = 0; byte < bytes; byte += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(table.record(x.index[k])) + byte, 1);
}
template <class V>
LINEAL_HINT void prefetch_records(const OnlineTable&, DenseRow<V>) noexcept {}

// Z = the scores of rows of X, n to a row, by the weights that are predicted with. Columns without a record
// count nothing.
template <class Rows>
void online_scores(const Rows& X, const OnlineTable& table, Index n, double* Z, Watch& watch) {
  const auto weights = table.of_weights(), intercept = table.of_intercept();
  for (Index i = 0; i < X.n_rows && !watch.is_over(); ++i) {
    const auto x = X[i];
    double* const z = Z + i * n;
    for (Index k = 0; k < n; ++k)
      z[k] = table.intercept() ? table.kept(table.intercept(), k, intercept) : 0.0;
    for (Index e = 0; e < x.size; ++e) {
      if (column(x, e) >= table.n_columns()) continue;
      const double* const record = table.record(column(x, e));
      for (Index k = 0; k < n; ++k) z[k] += double(x.value[e]) * table.kept(record, k, weights);
    }
    watch.says_stop((x.size + 1) * n);
  }
}

}  // namespace lineal
