// One pass over a stream, row by row: predict, be judged, learn.
//
// The metric is made of what was seen. Of more than a few columns it is diagonal,
//
//     A_j = l2 + G_j,    G_j = prior unit x_first^2 + sum of bend x^2 over the rows so far,
//
// and of up to 64 columns it is whole (whole_metric.h), with that diagonal. So a column's scale cancels: x_j
// in other units gives the same scores, and no rate has to be chosen. A row moves the weights by -u A^-1 x
// and the metric grows behind it, around where the weights now are. The l2 of a penalty is counted once, as a
// prior is. Steps of one size for all columns have A = 1/eta instead.
//
// Pulls (online_table.h) move by s -= u x, and then by the growth of G times w: follow the regularised leader
// (McMahan 2011). Without a penalty both are the same steps.
//
// A row whose squares, or whose steps, overflow is refused and counted, and leaves everything as it was.
// Cost: two visits of a record for each stored number of a row; memory of the records and of one row.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lineal/epoch/online_steps.h"
#include "lineal/epoch/online_table.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// sum + a b, rounded once where the processor does that in one step. Said, not left to the compiler, which
// may choose otherwise for the rest of a loop than for its vectors: the place of a number in its row would
// show.
inline double plus_product(double sum, double a, double b) noexcept {
#if defined(__FP_FAST_FMA)
  return __builtin_fma(a, b, sum);
#else
  return sum + a * b;
#endif
}

// Rows in another order than they stand in; their places are told by what comes first, second, ...
template <class Rows>
struct RowsInOrder {
  Rows rows;
  const std::int64_t* order;  // n_rows
  Index n_rows;

  auto operator[](Index i) const noexcept { return rows[Index(order[i])]; }
};

// Hints the beginning of a row that stands anywhere; the hardware sees what follows.
template <class Rows>
LINEAL_HINT void hint_row(const Rows&, Index) noexcept {}
template <class V>
LINEAL_HINT void hint_row(const RowsInOrder<Dense<V>>& X, Index i) noexcept {
  constexpr Index line = 64 / Index(sizeof(V)), most = 16 * line;
  if (i >= X.n_rows) return;
  const auto x = X[i];
  for (Index k = 0; k < std::min(x.size, most); k += line) hint(x.value + k);
}
// Where it stands is told by a number that has to be fetched before.
template <class V>
LINEAL_HINT void hint_row(const RowsInOrder<Csr<V>>& X, Index i) noexcept {
  if (i + 2 < X.n_rows) X.rows.hint_place(X.order[i + 2]);
  if (i < X.n_rows) prefetch(X[i]);
}

// Whether what lies behind a row in memory are the rows to come.
template <class Rows>
inline constexpr bool is_in_order = false;
template <class Rows>
inline constexpr bool is_in_order<RowsInOrder<Rows>> = true;

// Learns from rows, one at a time. Room for a row's intermediate numbers is kept between rows.
class OnlineLearner {
 public:
  OnlineLearner(RowSteps& steps, const OnlineTable& table)
      : steps_(steps), table_(table), n_(Index(table.tally().scores)) {}

  // Meets the rows of X, which are rows first_row, first_row + 1, ... of the targets and of s.
  template <class Rows>
  void meet(const Rows& X, Index first_row, const double* s, Watch& watch) {
    for (Index i = 0; i < X.n_rows && !watch.is_over(); ++i) {
      // Where a record is one number, as even steps ask of one score, to hint at it takes as long as to meet
      // it.
      const bool is_short = are_steps_even(table_.settings(), n_);
      hint_row(X, i + (is_short ? 4 : 2));
      if (!is_short && (n_ > 1 || is_in_order<Rows>) && i + 1 < X.n_rows) prefetch_records(table_, X[i + 1]);
      const Index row = first_row + i;
      if (const Index n = steps_.n_scores(row); n != n_) {
        if (n_ == 1) table_.part(table_.settings().is_shared);
        n_ = n;
        table_.tally().scores = double(n);
      }
      if (s[row] > 0) {
        n_places_ = table_.tally().places;
        if (table_.has_whole_metric() && has_places(X[i]))
          learn_whole(X[i], row, s[row]);
        else if (table_.settings().is_pulled)
          learn<true, 0>(X[i], row, s[row], 0);
        else if (n_ == 1)
          learn<false, 1>(X[i], row, s[row], in_sight(X, i));
        else
          learn<false, 0>(X[i], row, s[row], 0);
      }
      watch.says_stop((X[i].size + 1) * n_ * 2);
    }
  }

 private:
  // Whether one score is learned by steps that are the same for all columns, and nothing else is kept of
  // them.
  static bool are_steps_even(const OnlineSettings& set, Index n_scores) noexcept {
    return n_scores == 1 && !set.is_pulled && !set.is_averaged && set.rate > 0;
  }
  // How many columns can be read from row i on, those of rows behind it too where they lie behind it.
  template <class V>
  static Index in_sight(const Csr<V>& X, Index i) noexcept {
    return X.stored(i, X.n_rows);
  }
  static Index in_sight(const Sets& X, Index i) noexcept { return X.stored(i, X.n_rows); }
  template <class V>
  static Index in_sight(const Dense<V>& X, Index) noexcept {
    return X.n_columns;
  }
  template <class Rows>
  static Index in_sight(const RowsInOrder<Rows>& X, Index i) noexcept {
    return X[i].size;
  }

  // N: the number of scores where it is known in advance, else 0.
  template <bool is_pulled, Index N, class Row>
  void learn(Row x, Index row, double s, Index n_in_sight) {
    const OnlineSettings& set = table_.settings();
    OnlineTally& tally = table_.tally();
    const Index n = N > 0 ? N : n_, m = N == 1 || set.is_shared ? 1 : n;
    const bool is_one = !is_pulled && N == 1 && !set.is_averaged;
    const bool is_usual = is_one && set.rate == 0, is_even = is_one && set.rate > 0;
    if (is_usual)
      look_at_one(x, n_in_sight);
    else if (is_even)
      look_evenly(x);
    else
      look<is_pulled, N>(x, n, m);
    OnlineTally judged = tally;
    if (!are_finite(z_, n) || !are_finite(q_, m) || !are_finite(new_, m) ||
        !steps_.judge(row, n, set.is_averaged ? kept_.data() : z_.data(), s, judged))
      return refuse();
    const double unit = steps_.unit(judged);
    if (unit > 0.0) add_new(x, m, unit);
    if (!find_steps(row, n, m, s, judged)) return refuse();
    tally = judged;
    if (!(unit > 0.0)) return count(s);
    if constexpr (is_pulled)
      pull(x, n, m, unit);
    else if (is_usual)
      move_one(x, unit);
    else if (is_even)
      move_evenly(x);
    else
      move<N>(x, n, m, unit);
    count(s);
  }
  void count(double s) noexcept {
    table_.tally().rows += 1.0;
    table_.tally().weight += s;
  }

  // What the columns that are new add to q. What they start from may depend on the row's loss; x^2 / A is the
  // same for all x, unless a penalty has grown before they came.
  template <class Row>
  void add_new(Row x, Index m, double unit) {
    const double l2 = table_.of_weights().l2, intercept_l2 = table_.of_intercept().l2;
    if (l2 == 0.0 || table_.start(false) == 0.0) {
      for (Index k = 0; k < m; ++k) q_[std::size_t(k)] += new_[std::size_t(k)] / unit;
      return;
    }
    each(x, [&](Index, const double* record, double value, bool is_intercept) {
      if (table_.start(is_intercept) == 0.0) return;
      const double square = value * value, strength = is_intercept ? intercept_l2 : l2;
      const double added = square / (strength + table_.begun(is_intercept, unit, square));
      for (Index k = 0; k < m; ++k)
        if (record[table_.settings().room + k] == 0.0) q_[std::size_t(k)] += added;
    });
  }

  // What a row asks for, from its scores and q; false where one of the numbers is more than can be held.
  bool find_steps(Index row, Index n, Index m, double s, const OnlineTally& judged) {
    if (!are_finite(q_, m, s)) return false;
    steps_.step(row, n, z_.data(), q_.data(), s, judged, u_.data(), bend_.data());
    return are_finite(u_, n) && are_finite(bend_, std::max(m, std::min<Index>(n, 2)));
  }

  // A row that is not learned from leaves everything as it was, the places of its columns included.
  void refuse() noexcept {
    table_.tally().places = n_places_;
    table_.tally().refused += 1.0;
  }

  // Whether all columns of a row have a place in the whole metric.
  template <class Row>
  bool has_places(Row x) {
    at_.clear();
    each(x, [&](Index e, const double*, double, bool is_intercept) {
      if (!table_.has_whole_metric()) return;
      at_.push_back(is_intercept ? WholeMetric::intercept : table_.place(column(x, e)));
    });
    return table_.has_whole_metric();
  }

  template <class Row>
  void learn_whole(Row x, Index row, double s) {
    const OnlineSettings& set = table_.settings();
    OnlineTally& tally = table_.tally();
    const Index n = n_, m = set.is_shared ? 1 : n, size = WholeMetric::size;
    look<false, 0>(x, n, m);
    OnlineTally judged = tally;
    if (!are_finite(z_, n) || !are_finite(q_, m) || !are_finite(new_, m) ||
        !steps_.judge(row, n, set.is_averaged ? kept_.data() : z_.data(), s, judged))
      return refuse();
    whole_.assign(std::size_t(size * (m + 2)), 0.0);
    double *const v = whole_.data(), *const d = v + size, *const t = d + size;
    Index next = 0;
    each(x, [&](Index, const double*, double value, bool) { v[at_[std::size_t(next++)]] = value; });
    const double unit = steps_.unit(judged);
    if (!(unit > 0.0)) {
      tally = judged;
      return count(s);
    }
    begun_.clear();
    for (Index k = 0; k < m; ++k) {
      WholeMetric metric = table_.whole(k);
      for (const Index j : at_) {
        if (metric.is_begun(j)) continue;
        metric.begin(j, table_.l2_at(j) + table_.start(j, unit, v[j]));
        begun_.push_back({k, j});
      }
      q_[std::size_t(k)] = metric.norm(at_, v, t + k * size);
    }
    if (!find_steps(row, n, m, s, judged)) {
      for (const auto& [k, j] : begun_) table_.whole(k).forget(j);
      return refuse();
    }
    tally = judged;
    for (Index k = 0; k < m; ++k) {
      table_.whole(k).grow(t + k * size, q_[std::size_t(k)],
                           bend_[std::size_t(set.is_shared && n > 1 ? 1 : k)], d);
      for (Index j = 0; j < size; ++j) {
        if (d[j] == 0.0) continue;
        double* const record = table_.record_at(j);
        for (Index score = m > 1 ? k : 0; score < (m > 1 ? k + 1 : n); ++score) {
          const double step = u_[std::size_t(score)] * d[j];
          record[score] -= step;
          if (set.is_averaged) record[set.late() + score] -= tally.rows * step;
        }
      }
    }
    // The diagonal goes on beside it, for the day there are too many columns.
    next = 0;
    each(x, [&](Index, double* record, double value, bool) {
      const double start = table_.start(at_[std::size_t(next++)], unit, value);
      for (Index k = 0; k < m; ++k) {
        double& seen = record[set.room + k];
        seen = (seen == 0.0 ? start : seen) + bend_[std::size_t(k)] * value * value;
      }
    });
    count(s);
  }

  // look and move for what nearly all streams are: one score, metrics of each column's own, nothing averaged.
  // The records of a wide table are far away: they are fetched ahead, for the next rows too, and each visit
  // of one does as little as can be; the arithmetic is done in between, many columns at a time.
  template <class Row>
  void look_at_one(Row x, Index n_in_sight) {
    constexpr Index ahead = 128, part = 32;
    make_room(x.size + 1, 1, 1);
    const Index room = table_.settings().room;
    const double l2 = table_.of_weights().l2, start = table_.start(false);
    double *const along = along_.data(), *const weight = weight_.data(), *const seen = seen_.data();
    const double unmet = metric_of_new();
    double z = 0, q = 0, n_new = 0;
    const Index n_ahead = std::min(x.size, std::max<Index>(n_in_sight - ahead, 0));
    const auto fetch = [&](Index k) {
      const double* const record = table_.record(column(x, k));
      weight[k] = record[0];
      seen[k] = record[room];
    };
    // By parts, so that the sums, whose every step waits for the one before, are made while the next part is
    // fetched.
    for (Index first = 0; first < x.size; first += part) {
      const Index last = std::min(first + part, x.size), hinted = std::clamp(n_ahead, first, last);
      for (Index k = first; k < hinted; ++k) {
        hint_to_change(table_.record(column(x, k + ahead)));
        fetch(k);
      }
      for (Index k = hinted; k < last; ++k) fetch(k);
      // No branch anywhere: nobody can foresee which columns are new. They are counted exactly, in any order.
#pragma omp simd reduction(+ : n_new)
      for (Index k = first; k < last; ++k) {
        const double value = double(x.value[k]), square = value * value, metric = l2 + seen[k];
        const bool is_new = seen[k] == unmet, is_zero = square == 0.0;
        along[k] = (is_new | is_zero ? 0.0 : value) / (is_new | is_zero ? 1.0 : metric);
        // A square that overflows makes NaN of it.
        n_new += (is_new & !is_zero ? 1.0 : 0.0) + 0.0 * square;
      }
      for (Index k = first; k < last; ++k) {
        z = plus_product(z, double(x.value[k]), weight[k]);
        q = plus_product(q, double(x.value[k]), along[k]);
      }
    }
    z_[0] = z;
    q_[0] = q;
    new_[0] = n_new / (start > 0.0 ? start : 1.0);
    if (const double* const record = table_.intercept()) add_intercept(record, along[x.size]);
  }
  // Equal to nothing where no column is new.
  double metric_of_new() const noexcept {
    return table_.start(false) > 0.0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  }
  void add_intercept(const double* record, double& along) {
    const double start = table_.start(true), seen = record[table_.settings().room];
    const bool is_new = seen == 0.0 && start > 0.0;
    along = is_new ? 0.0 : 1.0 / (table_.of_intercept().l2 + seen);
    z_[0] += record[0];
    q_[0] += along;
    new_[0] += is_new ? 1.0 / start : 0.0;
  }
  template <class Row>
  void move_one(Row x, double unit) {
    const double u = u_[0], bend = bend_[0], l2 = table_.of_weights().l2;
    const Index room = table_.settings().room;
    const double unmet = metric_of_new(), least = std::numeric_limits<double>::min();
    const double begun = table_.start(false) * unit;
    double *const along = along_.data(), *const weight = weight_.data(), *const seen = seen_.data();
    for (Index k = 0; k < x.size; ++k) {
      const double value = double(x.value[k]), square = value * value;
      const bool is_new = (seen[k] == unmet) & (square != 0.0);
      const double first = begun * square, start = first > least ? first : least;
      const double metric = is_new ? start : seen[k], divisor = l2 + metric;
      along[k] = (is_new ? value : along[k]) / (is_new ? divisor : 1.0);
      seen[k] = metric;
    }
    for (Index k = 0; k < x.size; ++k) {
      const double value = double(x.value[k]);
      weight[k] = plus_product(weight[k], -u, along[k]);
      seen[k] = plus_product(seen[k], bend, value * value);
    }
    for (Index k = 0; k < x.size; ++k) {
      double* const record = table_.record(column(x, k));
      record[0] = weight[k];
      record[room] = seen[k];
    }
    if (double* const record = table_.intercept()) {
      double metric = record[room], pull = along[x.size];
      if (metric == 0.0 && table_.start(true) > 0.0) {
        metric = table_.begun(true, unit, 1.0);
        pull = 1.0 / (table_.of_intercept().l2 + metric);
      }
      record[0] -= u * pull;
      record[room] = metric + bend;
    }
  }

  // The same for steps of one size for all columns, as passive-aggressive ones are: no column is new.
  template <class Row>
  void look_evenly(Row x) {
    make_room(x.size + 1, 1, 1);
    same_ = metric_of_all();
    const double pull = 1.0 / (table_.of_weights().l2 + same_);
    double* const along = along_.data();
    double z = 0, q = 0, overflow = 0;
#pragma omp simd reduction(+ : overflow)
    for (Index k = 0; k < x.size; ++k) {
      const double value = double(x.value[k]), square = value * value;
      along[k] = pull * (square == 0.0 ? 0.0 : value);
      overflow += 0.0 * square;
    }
    for (Index k = 0; k < x.size; ++k) {
      z = plus_product(z, double(x.value[k]), table_.record(column(x, k))[0]);
      q = plus_product(q, double(x.value[k]), along[k]);
    }
    if (const double* const record = table_.intercept()) {
      along[x.size] = 1.0 / (table_.of_intercept().l2 + same_);
      z += record[0];
      q += along[x.size];
    }
    z_[0] = z;
    q_[0] = q;
    new_[0] = overflow;
  }
  double metric_of_all() const {
    const OnlineSettings& set = table_.settings();
    return (set.power == 0.0 ? 1.0 : std::pow(table_.tally().rows + 1.0, set.power)) / set.rate;
  }
  template <class Row>
  void move_evenly(Row x) {
    const double u = u_[0];
    const double* const along = along_.data();
    if (u == 0.0) return;
    for (Index k = 0; k < x.size; ++k) {
      double& weight = table_.record(column(x, k))[0];
      weight = plus_product(weight, -u, along[k]);
    }
    if (double* const record = table_.intercept()) record[0] = plus_product(record[0], -u, along[x.size]);
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
    same_ = is_same ? metric_of_all() : 0.0;
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
        // A square that overflows makes NaN of it.
        fresh[k] += (is_new ? 1.0 / table_.start(is_intercept) : 0.0) + 0.0 * (value * value);
      }
    });
  }
  // Weights first, then the metric around where they are now.
  template <Index N, class Row>
  void move(Row x, Index n_given, Index m_given, double unit) {
    const Index n = N > 0 ? N : n_given, m = N == 1 ? 1 : m_given;
    const OnlineSettings& set = table_.settings();
    const double rows = table_.tally().rows, l2 = table_.of_weights().l2,
                 intercept_l2 = table_.of_intercept().l2;
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
            seen = table_.begun(is_intercept, unit, square);
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
        if (record[room + k] == 0.0 && table_.start(is_intercept) > 0.0)
          record[room + k] = table_.begun(is_intercept, unit, square);
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
    if (n == 1 && m == 1 && size <= room_of_one_) {
      z_[0] = q_[0] = new_[0] = 0.0;
      if (!kept_.empty()) kept_[0] = 0.0;
      return;
    }
    room_of_one_ = n == 1 && m == 1 ? size : 0;
    z_.assign(std::size_t(n), 0.0);
    kept_.assign(table_.settings().is_averaged ? std::size_t(n) : 0, 0.0);
    q_.assign(std::size_t(m), 0.0);
    new_.assign(std::size_t(m), 0.0);
    u_.resize(std::size_t(n));
    bend_.resize(std::size_t(n));
    if (along_.size() < std::size_t(size * m)) along_.resize(std::size_t(size * m));
    if (weight_.size() < std::size_t(size)) weight_.resize(std::size_t(size));
    if (seen_.size() < std::size_t(size)) seen_.resize(std::size_t(size));
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
  static bool are_finite(const std::vector<double>& numbers, Index n, double s = 1.0) noexcept {
    return std::all_of(numbers.begin(), numbers.begin() + n, [=](double t) { return std::isfinite(s * t); });
  }

  RowSteps& steps_;
  const OnlineTable& table_;
  Index n_;
  double same_ = 0;        // the metric of all columns, where they have one
  Index room_of_one_ = 0;  // so long a row finds room, if it has one score as the last had
  std::vector<double> z_, kept_, q_, new_, u_, bend_, along_, weight_, seen_, whole_;
  double n_places_ = 0;                         // of the whole metric before the row at hand
  std::vector<Index> at_;                       // places of a row's numbers in the whole metric
  std::vector<std::pair<Index, Index>> begun_;  // scores and places that a row is the first to meet
};

}  // namespace lineal
