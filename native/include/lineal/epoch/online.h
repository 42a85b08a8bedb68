// One pass over a stream, row by row: predict, be judged, learn.
//
// Each column has a record of numbers side by side, so that a row touches one place for each number it
// stores:
//
//     weights of the scores (room for `room`) | metrics, of each score or of all | late sums, for averages
//
// The metric of a column is diagonal and is made of what was seen there,
//
//     A_j = l2 + G_j,    G_j = prior unit x_first^2 + sum of bend x^2 over the rows so far,
//
// so that a column's scale cancels: x_j in other units gives the same scores, and no rate has to be chosen.
// A row moves the weights by -u x / A and the metric grows behind it, around where the weights now are. The
// l2 of a penalty is counted once, as a prior is: for the squared loss and one column (or columns that never
// meet) the weights are the ridge regression's after every row. `Same` has one A = 1/eta for all columns
// instead.
//
// With an l1, or with a penalty that grows with the stream, a record holds pulls s in the place of weights,
//
//     w = soft(s, l1) / (G + l2),     s += -u x, then s += (growth of G) w:
//
// follow the regularised leader (McMahan 2011). Without a penalty both are the same steps.
//
// A row whose squares overflow is refused and counted; no other number can make a weight infinite.
// Cost: two visits of a record for each stored number of a row; memory of the records and of one row.
#pragma once

#include <cmath>
#include <vector>

#include "lineal/epoch/online_steps.h"
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

  Index n_metrics() const noexcept { return rate > 0 ? 0 : is_shared ? 1 : room; }
  Index late() const noexcept { return room + n_metrics(); }
  Index stride() const noexcept { return late() + (is_averaged ? room : 0); }
};

// The records, and how the scores are read from them.
class OnlineTable {
 public:
  OnlineTable(const OnlineSettings& set, double* records, Index n_columns, double* intercept,
              OnlineTally& tally)
      : set_(set),
        stride_(set.stride()),
        records_(records),
        n_columns_(n_columns),
        intercept_(intercept),
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

  // One score for two classes becomes two of more: half of it each way where they are joint, all of it where
  // each class has its own.
  void part(bool is_joint) const noexcept {
    for (Index j = 0; j < n_columns_; ++j) part(record(j), is_joint);
    if (intercept()) part(intercept_, is_joint);
  }

 private:
  void part(double* record, bool is_joint) const noexcept {
    const double half = is_joint ? 0.5 : 1.0;
    for (const Index from : {Index(0), set_.late()}) {
      if (from > 0 && !set_.is_averaged) break;
      record[from] *= half;
      record[from + 1] = -record[from];
    }
    if (set_.n_metrics() > 1) record[set_.room + 1] = record[set_.room];
  }

  const OnlineSettings& set_;
  Index stride_;
  double* records_;
  Index n_columns_;
  double* intercept_;
  OnlineTally& tally_;
};

// Hints the records of a row that will be met soon into cache.
template <class V>
inline void prefetch_records(const OnlineTable& table, CsrRow<V> x) noexcept {
  const Index bytes = table.settings().stride() * Index(sizeof(double));
  for (Index k = 0; k < x.size; ++k)
    for (Index byte = 0; byte < bytes; byte += 64)
      __builtin_prefetch(reinterpret_cast<const char*>(table.record(x.index[k])) + byte, 1);
}
template <class V>
inline void prefetch_records(const OnlineTable&, DenseRow<V>) noexcept {}

// Learns from rows, one at a time. Room for a row's intermediate numbers is kept between rows.
class OnlineLearner {
 public:
  OnlineLearner(RowSteps& steps, const OnlineTable& table)
      : steps_(steps), table_(table), n_(Index(table.tally().scores)) {}

  // Meets the rows of X, which are rows first_row, first_row + 1, ... of the targets and of s.
  template <class Rows>
  void meet(const Rows& X, Index first_row, const double* s, Watch& watch) {
    for (Index i = 0; i < X.n_rows && !watch.is_over(); ++i) {
      if (i + 1 < X.n_rows) prefetch_records(table_, X[i + 1]);
      const Index row = first_row + i;
      if (const Index n = steps_.n_scores(row); n != n_) {
        if (n_ == 1) table_.part(table_.settings().is_shared);
        n_ = n;
        table_.tally().scores = double(n);
      }
      if (s[row] > 0) {
        if (table_.settings().is_pulled)
          learn<true, 0>(X[i], row, s[row]);
        else if (n_ == 1)
          learn<false, 1>(X[i], row, s[row]);
        else
          learn<false, 0>(X[i], row, s[row]);
      }
      watch.says_stop((X[i].size + 1) * n_ * 2);
    }
  }

 private:
  // N: the number of scores where it is known in advance, else 0.
  template <bool is_pulled, Index N, class Row>
  void learn(Row x, Index row, double s) {
    const OnlineSettings& set = table_.settings();
    OnlineTally& tally = table_.tally();
    const Index n = N > 0 ? N : n_, m = N == 1 || set.is_shared ? 1 : n;
    look<is_pulled, N>(x, n, m);
    if (!are_finite(z_, n) || !are_finite(q_, m) ||
        !steps_.judge(row, n, set.is_averaged ? kept_.data() : z_.data(), s, tally)) {
      tally.refused += 1.0;
      return;
    }
    // What a new column starts from may depend on the row's loss. There x^2 / A is the same for all x.
    const double unit = steps_.unit(tally);
    for (Index k = 0; k < m; ++k) q_[std::size_t(k)] += new_[std::size_t(k)] / unit;
    steps_.step(row, n, z_.data(), q_.data(), s, tally, u_.data(), bend_.data());
    if constexpr (is_pulled)
      pull(x, n, m, unit);
    else
      move<N>(x, n, m, unit);
    tally.rows += 1.0;
    tally.weight += s;
  }

  // The scores z (and those that are predicted with, if they are others), q without the columns that are new,
  // and what these add to it.
  template <bool is_pulled, Index N, class Row>
  void look(Row x, Index n_given, Index m_given) {
    const Index n = N > 0 ? N : n_given, m = N == 1 ? 1 : m_given;
    const OnlineSettings& set = table_.settings();
    const auto weights = table_.of_weights(), intercept = table_.of_intercept();
    const bool is_same = set.rate > 0, is_averaged = set.is_averaged;
    const Index room = set.room;
    same_ = is_same ? std::pow(table_.tally().rows + 1.0, set.power) / set.rate : 0.0;
    make_room(x.size + 1, n, m);
    double *const z = z_.data(), *const kept = kept_.data(), *const q = q_.data(), *const fresh = new_.data();
    double* const along = along_.data();
    each(x, [&](Index at, const double* record, double value, bool is_intercept) {
      const auto penalty = is_intercept ? intercept : weights;
      for (Index k = 0; k < n; ++k) {
        z[k] += value * (is_pulled ? table_.weight(record, k, penalty) : record[k]);
        if (is_averaged) kept[k] += value * table_.kept(record, k, penalty);
      }
      for (Index k = 0; k < m; ++k) {
        const double seen = is_same ? same_ : record[room + k];
        const bool is_new = seen == 0.0 && table_.start(is_intercept) > 0.0;
        const double pull = is_new ? 0.0 : value / (penalty.l2 + seen);
        along[at * m + k] = pull;
        q[k] += value * pull;
        fresh[k] += is_new ? 1.0 / table_.start(is_intercept) : 0.0;
      }
    });
  }
  // Weights first, then the metric around where they are now.
  template <Index N, class Row>
  void move(Row x, Index n_given, Index m_given, double unit) {
    const Index n = N > 0 ? N : n_given, m = N == 1 ? 1 : m_given;
    const OnlineSettings& set = table_.settings();
    const double rows = table_.tally().rows, l2 = table_.of_weights().l2, intercept_l2 = table_.of_intercept().l2;
    const Index room = set.room, late = set.late();
    const bool is_averaged = set.is_averaged, has_metrics = !(set.rate > 0);
    const double *const u = u_.data(), *const bend = bend_.data();
    double* const along = along_.data();
    each(x, [&](Index at, double* record, double value, bool is_intercept) {
      const double square = value * value;
      if (has_metrics)
        for (Index k = 0; k < m; ++k) {
          double& seen = record[room + k];
          if (seen == 0.0 && table_.start(is_intercept) > 0.0) {
            seen = table_.start(is_intercept) * unit * square;
            along[at * m + k] = value / ((is_intercept ? intercept_l2 : l2) + seen);
          }
          seen += bend[k] * square;
        }
      for (Index k = 0; k < n; ++k) {
        const double step = u[k] * along[at * m + (m > 1 ? k : 0)];
        record[k] -= step;
        if (is_averaged) record[late + k] -= rows * step;
      }
    });
  }
  template <class Row>
  void pull(Row x, Index n, Index m, double unit) {
    const Index room = table_.settings().room;
    const auto weights = table_.of_weights(), intercept = table_.of_intercept();
    const double *const u = u_.data(), *const bend = bend_.data();
    each(x, [&](Index, double* record, double value, bool is_intercept) {
      const auto penalty = is_intercept ? intercept : weights;
      const double square = value * value;
      for (Index k = 0; k < m; ++k)
        if (record[room + k] == 0.0) record[room + k] = table_.start(is_intercept) * unit * square;
      for (Index k = 0; k < n; ++k) {
        const Index own = m > 1 ? k : 0;
        const double pulled = record[k] - u[k] * value;
        record[k] =
            pulled + bend[own] * square * (soft(pulled, penalty.l1) / (penalty.l2 + record[room + own]));
      }
      for (Index k = 0; k < m; ++k) record[room + k] += bend[k] * square;
    });
  }

  void make_room(Index size, Index n, Index m) {
    z_.assign(std::size_t(n), 0.0);
    kept_.assign(table_.settings().is_averaged ? std::size_t(n) : 0, 0.0);
    q_.assign(std::size_t(m), 0.0);
    new_.assign(std::size_t(m), 0.0);
    u_.resize(std::size_t(n));
    bend_.resize(std::size_t(n));
    if (along_.size() < std::size_t(size * m)) along_.resize(std::size_t(size * m));
  }
  // Calls use(place, record, value, is_intercept) for each number of a row, its 1 included. Numbers whose
  // square is 0 are 0.
  template <class Row, class Use>
  void each(Row x, Use&& use) {
    for (Index k = 0; k < x.size; ++k) {
      const double value = double(x.value[k]);
      if (value * value != 0.0) use(k, table_.record(column(x, k)), value, false);
    }
    if (double* const intercept = table_.intercept()) use(x.size, intercept, 1.0, true);
  }
  static bool are_finite(const std::vector<double>& numbers, Index n) noexcept {
    return std::all_of(numbers.begin(), numbers.begin() + n, [](double t) { return std::isfinite(t); });
  }

  RowSteps& steps_;
  const OnlineTable& table_;
  Index n_;
  double same_ = 0;  // the metric of all columns, where they have one
  std::vector<double> z_, kept_, q_, new_, u_, bend_, along_;
};

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
