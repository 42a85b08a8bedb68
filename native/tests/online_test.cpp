#include "lineal/epoch/online.h"

#include <cstring>
#include <functional>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::same_bits;
using check::Sample;
using check::sample_matrix;
using check::uniform;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

// What a stream keeps, all of it.
struct Stream {
  OnlineSettings set;
  Index d;
  Numbers records, intercept, factors;
  std::vector<std::int32_t> places = std::vector<std::int32_t>(std::size_t(WholeMetric::most_columns), -1);
  OnlineTally tally{};

  Stream(const OnlineSettings& settings, Index n_columns, bool is_whole = false)
      : set(settings), d(n_columns) {
    records.assign(std::size_t(d * set.stride()), 0.0);
    intercept.assign(std::size_t(set.stride()), 0.0);
    if (is_whole) factors.assign(std::size_t(set.n_metrics() * WholeMetric::size * WholeMetric::width), 0.0);
  }
  OnlineTable table() {
    return {
        set,  records.data(), d, intercept.data(), places.data(), factors.empty() ? nullptr : factors.data(),
        tally};
  }
  // Weight k of column j, the intercept's behind the last, as it is learned with or predicted with.
  double weight(Index j, Index k = 0) {
    const OnlineTable now = table();
    return j < d ? now.weight(now.record(j), k, now.of_weights())
                 : now.weight(intercept.data(), k, now.of_intercept());
  }
  double kept(Index j, Index k = 0) {
    const OnlineTable now = table();
    return j < d ? now.kept(now.record(j), k, now.of_weights())
                 : now.kept(intercept.data(), k, now.of_intercept());
  }
  double metric(Index j, Index k = 0) { return (j < d ? table().record(j) : intercept.data())[set.room + k]; }
  Index n_weights() const { return d + set.has_intercept; }
  bool operator==(const Stream& other) const {
    return same_bits(records, other.records) && same_bits(intercept, other.intercept) &&
           same_bits(factors, other.factors) && std::memcmp(&tally, &other.tally, sizeof(tally)) == 0 &&
           std::equal(places.begin(), places.begin() + std::max(0, int(tally.places)), other.places.begin());
  }
};

constexpr OnlineSettings plain{.room = 1,
                               .is_shared = false,
                               .is_averaged = false,
                               .is_pulled = false,
                               .has_intercept = true,
                               .is_intercept_penalized = false,
                               .rate = 0.0,
                               .power = 0.0,
                               .l1 = 0.0,
                               .l2 = 0.0,
                               .l1_growth = 0.0,
                               .l2_growth = 0.0,
                               .prior = 4.0,
                               .intercept_prior = 4.0,
                               .whole_prior = 0.25,
                               .whole_intercept_prior = 0.5};

OnlineSettings with(const std::function<void(OnlineSettings&)>& change) {
  OnlineSettings set = plain;
  change(set);
  return set;
}

// The settings there are, each with whether its metric may be whole.
template <class F>
void each_kind(F&& f) {
  // A penalty that is there from the start is prior enough.
  const auto penalized = [](OnlineSettings& set) { set.l2 = 0.5, set.prior = set.whole_prior = 0.0; };
  const auto all_penalized = [&](OnlineSettings& set) {
    penalized(set);
    set.is_intercept_penalized = true;
    set.intercept_prior = set.whole_intercept_prior = 0.0;
  };
  f(plain, false);
  f(plain, true);
  f(with([&](auto& set) { penalized(set), set.has_intercept = false; }), false);
  f(with([&](auto& set) { penalized(set), set.is_averaged = true; }), false);
  f(with([&](auto& set) { all_penalized(set), set.is_averaged = true; }), true);
  f(with([](auto& set) { set.rate = 0.3, set.power = 0.5; }), false);
  f(with([](auto& set) { set.is_pulled = true, set.l1 = 0.2, set.l2_growth = 0.01; }), false);
}

// Meets rows [first, last) of a sample, in either layout. Two functions, so that each is compiled once.
template <class V>
void meet(Stream& stream, RowSteps& steps, const Csr<V>& X, const Numbers& s, Watch& watch, Index first,
          Index last) {
  const OnlineTable table = stream.table();
  OnlineLearner learner(steps, table);
  learner.meet(Csr<V>{last - first, X.n_columns, X.start + first, X.index, X.value}, first, s.data(), watch);
}
template <class V>
void meet(Stream& stream, RowSteps& steps, const Dense<V>& X, const Numbers& s, Watch& watch, Index first,
          Index last) {
  const OnlineTable table = stream.table();
  OnlineLearner learner(steps, table);
  learner.meet(Dense<V>{last - first, X.n_columns, X.value + first * X.n_columns}, first, s.data(), watch);
}
template <class Rows>
void meet(Stream& stream, RowSteps& steps, const Rows& X, const Numbers& s) {
  Watch watch;
  meet(stream, steps, X, s, watch, 0, X.n_rows);
}

// One more row, number i.
void meet_one(Stream& stream, RowSteps& steps, Index i, std::vector<std::int32_t> columns, Numbers values,
              double weight = 1.0) {
  const Index start[] = {0, Index(columns.size())};
  const OnlineTable table = stream.table();
  OnlineLearner learner(steps, table);
  Watch watch;
  const Numbers s(std::size_t(i + 1), weight);
  learner.meet(Csr<double>{1, stream.d, start, columns.data(), values.data()}, i, s.data(), watch);
}

// Slopes and bends that were written down before, and the scores and lengths that were asked about.
struct Scripted final : RowSteps {
  Index n;
  Numbers u, bend, z, q;

  Scripted(Rng& rng, Index n_rows, Index scores) : n(scores) {
    u = uniforms(rng, n_rows * n, -1, 1);
    bend = uniforms(rng, n_rows * n, 0, 1);
    for (std::size_t k = 0; k < bend.size(); k += 5) u[k] = bend[k] = 0.0;
  }
  Index n_scores(Index) const noexcept override { return n; }
  bool judge(Index, Index, const double* scores, double, OnlineTally&) override {
    z.assign(scores, scores + n);
    return true;
  }
  double unit(const OnlineTally&) const noexcept override { return 0.25; }
  void step(Index i, Index, const double*, const double* lengths, double, const OnlineTally&, double* slopes,
            double* bends) override {
    q.assign(lengths, lengths + n);
    std::copy_n(u.data() + i * n, n, slopes);
    std::copy_n(bend.data() + i * n, n, bends);
  }
};

// Two classes in turn, or numbers.
struct Targets {
  Numbers y;
  std::vector<std::int32_t> code;
  std::vector<std::int64_t> from;
  std::vector<std::int32_t> order;

  Targets(Rng& rng, Index n, std::int32_t n_classes) : y(uniforms(rng, n, -3, 3)) {
    for (Index i = 0; i < n; ++i) code.push_back(std::int32_t(rng.below(std::uint64_t(n_classes))));
    for (std::int32_t k = 0; k < n_classes; ++k) {
      from.push_back(-1);
      order.push_back(k);
    }
  }
  ArrivingClasses classes() const { return {code.data(), from, order}; }
};

// The x of a row, its 1 behind the last.
double at(const Sample<double>& X, Index i, Index j) { return j < X.n_columns ? X.at(i, j) : 1.0; }

}  // namespace

THEOREM("a diagonal stream is the printed rule: z = w.x, q = x'x / A, w -= u x / A, then G += bend x^2") {
  Rng rng(1);
  const Index n = 60, d = 9;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.4);
  const Numbers s = uniforms(rng, n, 0.5, 2.0);
  each_kind([&](OnlineSettings set, bool is_whole) {
    if (is_whole || set.is_pulled) return;
    for (const Index scores : {1, 3}) {
      set.room = scores;
      Stream stream(set, d);
      Scripted steps(rng, n, scores);
      const auto size = std::size_t((d + 1) * scores);
      Numbers w(size, 0.0), sum(size, 0.0), G(size, 0.0);
      for (Index i = 0; i < n; ++i) {
        Watch watch;
        meet(stream, steps, X.csr(), s, watch, i, i + 1);
        for (Index k = 0; k < scores; ++k) {
          double z = 0, q = 0;
          for (Index j = 0; j < stream.n_weights(); ++j) {
            const auto e = std::size_t(j * scores + k);
            const double x = at(X, i, j), l2 = j < d || set.is_intercept_penalized ? set.l2 : 0.0;
            z += x * (set.is_averaged && i > 0 ? sum[e] / double(i) : w[e]);
            if (x == 0.0) continue;
            if (G[e] == 0.0) G[e] = (j < d ? set.prior : set.intercept_prior) * 0.25 * x * x;
            const double A = set.rate > 0 ? std::pow(double(i + 1), set.power) / set.rate + l2 : l2 + G[e];
            q += x * x / A;
            w[e] -= steps.u[std::size_t(i * scores + k)] * x / A;
            G[e] += steps.bend[std::size_t(i * scores + k)] * x * x;
          }
          CHECK_NEAR(steps.z[std::size_t(k)], z, 1e-12);
          CHECK_NEAR(steps.q[std::size_t(k)], q, 1e-12 * (1.0 + q));
          for (Index j = 0; j < stream.n_weights(); ++j) {
            const auto e = std::size_t(j * scores + k);
            sum[e] += w[e];
            CHECK_NEAR(stream.weight(j, k), w[e], 1e-12);
            if (set.rate == 0) CHECK_NEAR(stream.metric(j, k), G[e], 1e-12 * (1.0 + G[e]));
            // An average is that of the weights after every row so far.
            CHECK_NEAR(stream.kept(j, k), set.is_averaged ? sum[e] / double(i + 1) : w[e], 1e-12);
          }
        }
      }
      CHECK(stream.tally.rows == double(n));
    }
  });
}

THEOREM("pulled weights minimise u.w + l1 |w| + (start + l2) w^2 / 2 + sum of bend x^2 (w - w_t)^2 / 2") {
  Rng rng(2);
  const Index n = 50, d = 7;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.5);
  const Numbers s = uniforms(rng, n, 0.5, 2.0);
  for (const double l1 : {0.0, 0.3})
    for (const double growth : {0.0, 0.02}) {
      const OnlineSettings set = with([&](auto& to) {
        to.is_pulled = true, to.l1 = l1, to.l2 = 0.5, to.l1_growth = growth, to.l2_growth = 2.0 * growth;
      });
      Stream stream(set, d);
      Scripted steps(rng, n, 1);
      // The linear part, the metric, and the weight that is proposed before the metric grows, of each column.
      Numbers linear(std::size_t(d + 1), 0.0), G(std::size_t(d + 1), 0.0);
      double met = 0;
      int n_zeros = 0;
      for (Index i = 0; i < n; ++i) {
        Watch watch;
        meet(stream, steps, X.csr(), s, watch, i, i + 1);
        for (Index j = 0; j <= d; ++j) {
          const auto e = std::size_t(j);
          const double x = at(X, i, j), is_weight = j < d ? 1.0 : 0.0;
          const double before_l1 = is_weight * (l1 + growth * met),
                       before_l2 = is_weight * (0.5 + 2.0 * growth * met);
          if (x != 0.0) {
            if (G[e] == 0.0) G[e] = 4.0 * 0.25 * x * x;
            linear[e] += steps.u[std::size_t(i)] * x;
            const double around = soft(-linear[e], before_l1) / (before_l2 + G[e]);
            linear[e] -= steps.bend[std::size_t(i)] * x * x * around;
            G[e] += steps.bend[std::size_t(i)] * x * x;
          }
          const double now = met + s[std::size_t(i)];
          const double l1_now = is_weight * (l1 + growth * now),
                       l2_now = is_weight * (0.5 + 2.0 * growth * now);
          const double wanted = G[e] > 0 ? soft(-linear[e], l1_now) / (G[e] + l2_now) : 0.0;
          CHECK_NEAR(stream.weight(j), wanted, 1e-12);
          n_zeros += wanted == 0.0 && G[e] > 0.0;
        }
        met += s[std::size_t(i)];
      }
      CHECK((l1 + growth > 0) == (n_zeros > n));  // l1 has true zeros
      CHECK_NEAR(stream.tally.weight, met, 1e-12 * met);
    }
}

THEOREM("without an l1, and with a penalty that does not grow, pulls and weights take the same steps") {
  Rng rng(3);
  const Index n = 80, d = 7;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.5);
  const Targets targets(rng, n, 2);
  const Numbers s = uniforms(rng, n, 0.0, 2.0);
  const auto run = [&](bool is_pulled) {
    Stream stream(with([&](auto& set) { set.is_pulled = is_pulled, set.l2 = 0.4; }), d);
    ClassSteps<Log> steps(Log{}, Joint::none, targets.classes());
    meet(stream, steps, X.csr(), s);
    return stream;
  };
  Stream weights = run(false), pulls = run(true);
  for (Index j = 0; j <= d; ++j) CHECK_NEAR(pulls.weight(j), weights.weight(j), 1e-12);
  CHECK_NEAR(pulls.tally.loss, weights.tally.loss, 1e-10);
}

THEOREM(
    "few columns, squared loss: the weights solve the normal equations of the rows so far, after each row") {
  Rng rng(4);
  const Index n = 40, d = 6, width = 2;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.6);
  Numbers y = uniforms(rng, n * width, -3, 3);
  std::fill_n(y.begin(), 6, 0.0);  // rows that move nothing count as well
  const Numbers s = uniforms(rng, n, 0.1, 2.0);
  for (const double l2 : {0.0, 0.7}) {
    Stream stream(with([&](auto& set) { set.room = width, set.l2 = l2; }), d, true);
    NumberSteps<Squared> steps(Squared{}, y.data(), width);
    std::vector<Numbers> A(std::size_t(d + 1), Numbers(std::size_t(d + 1), 0.0));
    std::vector<Numbers> b(std::size_t(width), Numbers(std::size_t(d + 1), 0.0));
    for (Index i = 0; i < n; ++i) {
      Watch watch;
      meet(stream, steps, X.csr(), s, watch, i, i + 1);
      for (Index j = 0; j <= d; ++j) {
        const double x = at(X, i, j);
        double& own = A[std::size_t(j)][std::size_t(j)];
        if (x != 0.0 && own == 0.0) own = j < d ? l2 + 0.25 * x * x : 0.5;
        for (Index k = 0; k <= d; ++k)
          A[std::size_t(j)][std::size_t(k)] += s[std::size_t(i)] * x * at(X, i, k);
        for (Index t = 0; t < width; ++t)
          b[std::size_t(t)][std::size_t(j)] += s[std::size_t(i)] * x * y[std::size_t(i * width + t)];
      }
      for (Index t = 0; t < width; ++t)
        for (Index j = 0; j <= d; ++j) {
          double left = -b[std::size_t(t)][std::size_t(j)];
          for (Index k = 0; k <= d; ++k) left += A[std::size_t(j)][std::size_t(k)] * stream.weight(k, t);
          CHECK_NEAR(left, 0.0, 1e-9);
        }
    }
    CHECK(stream.tally.places == double(d));
  }
}

THEOREM("in a whole metric too an average is that of the weights after every row so far") {
  Rng rng(5);
  const Index n = 40, d = 5;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.6);
  const Targets targets(rng, n, 2);
  const Numbers s = uniforms(rng, n, 0.5, 2.0);
  Stream stream(with([](auto& set) { set.is_averaged = true; }), d, true);
  ClassSteps<Hinge> steps(Hinge{}, Joint::none, targets.classes());
  Numbers sum(std::size_t(d + 1), 0.0);
  for (Index i = 0; i < n; ++i) {
    Watch watch;
    meet(stream, steps, X.csr(), s, watch, i, i + 1);
    for (Index j = 0; j <= d; ++j) {
      sum[std::size_t(j)] += stream.weight(j);
      CHECK_NEAR(stream.kept(j), sum[std::size_t(j)] / double(i + 1), 1e-12);
    }
  }
}

THEOREM(
    "rows in pieces, sparse or dense, are met as rows at once, bit for bit; rows of weight 0 are no rows") {
  Rng rng(6);
  const Index n = 60, d = 8;
  Sample<double> X = sample_matrix<double>(rng, n, d, 0.5);
  X.value[3] = X.value[40] = 0.0;  // stored zeros
  for (Index i = 0; i < n; ++i)
    for (Index e = X.start[std::size_t(i)]; e < X.start[std::size_t(i + 1)]; ++e)
      X.full[std::size_t(i * d + X.index[std::size_t(e)])] = X.value[std::size_t(e)];
  Numbers s = uniforms(rng, n, 0.5, 2.0);
  for (std::size_t i = 0; i < s.size(); i += 7) s[i] = 0.0;
  for (const std::int32_t n_classes : {2, 4}) {
    const Targets targets(rng, n, n_classes);
    each_kind([&](OnlineSettings set, bool is_whole) {
      for (const Joint joint : {Joint::none, Joint::softmax}) {
        set.room = n_classes == 2 ? 1 : n_classes;
        set.is_shared = joint != Joint::none;
        ClassSteps<Log> steps(Log{}, joint, targets.classes());
        Stream whole(set, d, is_whole), cut = whole, dense = whole;
        meet(whole, steps, X.csr(), s);
        meet(dense, steps, X.dense(), s);
        for (Index first = 0, last = 0; first < n; first = last) {
          last = std::min(n, first + 1 + Index(rng.below(9)));
          Watch watch;
          meet(cut, steps, X.csr(), s, watch, first, last);
        }
        CHECK(cut == whole);
        CHECK(dense == whole);
        CHECK(whole.tally.rows == double(n - 9) && whole.tally.refused == 0.0);
      }
    });
  }
}

THEOREM("sets, in whatever order their columns are, are met as rows of ones in that order, bit for bit") {
  Rng rng(31);
  each_kind([&](const OnlineSettings& set, bool is_whole) {
    for (const Index n_columns : {Index(6), Index(300)}) {
      Sample<double> X = sample_matrix<double>(rng, 40, n_columns, 0.6);
      for (Index i = 0; i < X.n_rows; ++i)
        for (Index k = X.start[std::size_t(i) + 1] - 1; k > X.start[std::size_t(i)]; --k)
          std::swap(X.index[std::size_t(k)],
                    X.index[std::size_t(X.start[std::size_t(i)]) +
                            rng.below(std::uint64_t(k - X.start[std::size_t(i)] + 1))]);
      std::fill(X.value.begin(), X.value.end(), 1.0);
      const Targets targets(rng, X.n_rows, 2);
      const Numbers s = uniforms(rng, X.n_rows, 0.5, 2);
      Stream ones(set, n_columns, is_whole), sets(set, n_columns, is_whole);
      ones.tally.scores = sets.tally.scores = 1;
      ClassSteps<Log> steps(Log{}, Joint::none, targets.classes());
      meet(ones, steps, X.csr(), s);
      Watch watch;
      const OnlineTable table = sets.table();
      OnlineLearner(steps, table)
          .meet(Sets{X.n_rows, n_columns, X.start.data(), X.index.data()}, 0, s.data(), watch);
      CHECK(sets == ones);
    }
  });
}

THEOREM("a stream that is told to stop is as after the last row it met") {
  Rng rng(7);
  const Index n = 40, d = 6;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.5);
  const Targets targets(rng, n, 2);
  const Numbers s = uniforms(rng, n, 0.5, 2.0);
  each_kind([&](const OnlineSettings& set, bool is_whole) {
    ClassSteps<Hinge> steps(Hinge{}, Joint::none, targets.classes());
    Stream told(set, d, is_whole), wanted = told;
    int asked = 0;
    Watch watch([&] { return ++asked == 11; }, Watch::Wait(0), 1), silent;
    meet(told, steps, X.csr(), s, watch, 0, n);
    CHECK(told.tally.rows == 11.0);
    meet(wanted, steps, X.csr(), s, silent, 0, 11);
    CHECK(told == wanted);
    meet(told, steps, X.csr(), s, watch, 11, n);  // over: nothing more
    CHECK(told == wanted);
  });
}

THEOREM(
    "a row whose squares overflow changes nothing but the number of refused rows, in old and new columns") {
  Rng rng(8);
  const Index n = 30, d = 6;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.5);
  const Numbers s = uniforms(rng, n, 0.5, 2.0);
  for (const std::int32_t n_classes : {2, 4}) {
    const Targets targets(rng, n + 1, n_classes);
    each_kind([&](OnlineSettings set, bool is_whole) {
      set.room = n_classes == 2 ? 1 : n_classes;
      ClassSteps<Log> steps(Log{}, Joint::none, targets.classes());
      Stream stream(set, d + 2, is_whole);
      meet(stream, steps, X.csr(), s);
      meet_one(stream, steps, n, {6}, {1e150});
      CHECK(stream.tally.rows == double(n + 1) && stream.tally.refused == 0.0);
      const auto refuses = [&](std::vector<std::int32_t> columns, Numbers values, double weight = 1.0) {
        Stream after = stream;
        meet_one(after, steps, n, columns, values, weight);
        CHECK(after.tally.refused == 1.0);
        after.tally.refused = 0.0;
        CHECK(after == stream);
      };
      for (const double size : {1e200, -1e160, 1.7e308}) refuses({0, 2}, {1.0, size});
      refuses({0, 6}, {1.0, 1e155});  // small beside what was met there, but no square
      for (const double size : {1e200, -1e160, 1.7e308}) refuses({0, 7}, {1.0, size});
    });
    Stream fresh(with([&](auto& set) { set.room = n_classes == 2 ? 1 : n_classes; }), d), after = fresh;
    ClassSteps<Log> steps(Log{}, Joint::none, targets.classes());
    meet_one(after, steps, 0, {0}, {1.0}, 1e308);  // s q is what overflows
    CHECK(after.tally.refused == 1.0 && after.tally.loss == 0.0 && after.tally.rows == 0.0);
    CHECK(same_bits(after.records, fresh.records) && same_bits(after.intercept, fresh.intercept));
  }
}

THEOREM("in columns and targets of any units every number that is kept stays a number") {
  Rng rng(15);
  const Index n = 40, d = 4;
  const auto sized = [&](double most) {
    return std::exp2(uniform(rng, -most, most)) * (rng.below(2) ? 1.0 : -1.0);
  };
  double n_met = 0, n_refused = 0;
  for (int round = 0; round < 12; ++round) {
    Sample<double> X = sample_matrix<double>(rng, n, d, 0.7);
    Targets targets(rng, n, 3);
    Numbers unit, s;
    for (Index j = 0; j <= d; ++j) unit.push_back(std::abs(sized(480)));
    for (std::size_t e = 0; e < X.value.size(); ++e) X.value[e] = sized(20) * unit[std::size_t(X.index[e])];
    for (double& y : targets.y) y = sized(20) * unit.back();
    for (Index i = 0; i < n; ++i) s.push_back(std::abs(sized(20)));
    each_kind([&](OnlineSettings set, bool is_whole) {
      const auto check = [&](RowSteps&& steps, Index room, bool is_shared) {
        set.room = room, set.is_shared = is_shared;
        Stream stream(set, d, is_whole);
        meet(stream, steps, X.csr(), s);
        for (Index j = 0; j < stream.n_weights(); ++j)
          for (Index k = 0; k < room; ++k) {
            CHECK(std::isfinite(stream.weight(j, k)));
            if (set.rate == 0) CHECK(std::isfinite(stream.metric(j, is_shared ? 0 : k)));
          }
        for (const double each : stream.factors) CHECK(std::isfinite(each));
        n_met += stream.tally.rows;
        n_refused += stream.tally.refused;
      };
      check(ClassSteps<Log>(Log{}, Joint::none, targets.classes()), 3, false);
      check(ClassSteps<Log>(Log{}, Joint::softmax, targets.classes()), 3, true);
      check(ClassSteps<Hinge>(Hinge{}, Joint::crammer_singer, targets.classes()), 3, true);
      check(NumberSteps<Squared>(Squared{}, targets.y.data(), 1), 1, false);
      check(NumberSteps<Huber>(Huber{1.0}, targets.y.data(), 1), 1, false);
      check(NumberSteps<EpsilonInsensitive>(EpsilonInsensitive{0.1}, targets.y.data(), 1), 1, false);
    });
  }
  CHECK(n_met > 20.0 * n_refused);
}

THEOREM("columns and targets in units of 2^k: the same scores, and weights in the units there must be") {
  Rng rng(9);
  const Index n = 50, d = 5;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.6);
  const Numbers y = uniforms(rng, n, -3, 3), s = uniforms(rng, n, 0.5, 2.0);
  const double unit[] = {1.0, 0x1p-20, 0x1p30, 8.0, 0x1p-7}, money = 256.0;
  Sample<double> scaled = X;
  for (std::size_t e = 0; e < X.value.size(); ++e) scaled.value[e] *= unit[X.index[e]];
  Numbers in_cents(y);
  for (double& each : in_cents) each *= money;
  for (const bool is_whole : {false, true}) {
    Stream one(plain, d, is_whole), other = one;
    NumberSteps<EpsilonInsensitive> steps(EpsilonInsensitive{0.0}, y.data(), 1);
    NumberSteps<EpsilonInsensitive> in_units(EpsilonInsensitive{0.0}, in_cents.data(), 1);
    meet(one, steps, X.csr(), s);
    meet(other, in_units, scaled.csr(), s);
    for (Index j = 0; j < d; ++j) CHECK(one.weight(j) * money == other.weight(j) * unit[j]);
    CHECK(one.weight(d) * money == other.weight(d) && one.tally.loss * money == other.tally.loss);
    CHECK(one.weight(0) != 0.0);
  }
}

THEOREM(
    "one score alone, with room for more, beside an equal one, or averaged: the same weights, bit for bit") {
  Rng rng(10);
  const Index n = 80, d = 12;
  Sample<double> X = sample_matrix<double>(rng, n, d, 0.4);
  X.value[5] = X.value[50] = 0.0;
  const Numbers y = uniforms(rng, n, -3, 3), s = uniforms(rng, n, 0.5, 2.0);
  Numbers twice;
  for (const double each : y) twice.insert(twice.end(), {each, each});
  for (const double l2 : {0.0, 0.5})
    for (const bool has_intercept : {false, true}) {
      const auto change = [&](OnlineSettings& set) { set.l2 = l2, set.has_intercept = has_intercept; };
      Stream alone(with(change), d);
      Stream beside(with([&](auto& set) { change(set), set.room = 2; }), d), roomy = beside;
      NumberSteps<Huber> steps(Huber{0.5}, y.data(), 1), two(Huber{0.5}, twice.data(), 2);
      meet(alone, steps, X.csr(), s);
      meet(roomy, steps, X.csr(), s);
      meet(beside, two, X.csr(), s);
      for (Index j = 0; j < alone.n_weights(); ++j) {
        for (Index k = 0; k < 2; ++k)
          CHECK(alone.weight(j) == beside.weight(j, k) && alone.metric(j) == beside.metric(j, k));
        CHECK(alone.weight(j) == roomy.weight(j) && alone.metric(j) == roomy.metric(j));
      }
      CHECK(2.0 * alone.tally.loss == beside.tally.loss);
      // The unit of a regression looks at predictions, which are others where weights are averaged.
      const Targets targets(rng, n, 2);
      ClassSteps<Log> of_classes(Log{}, Joint::none, targets.classes());
      Stream one(with(change), d), other(with([&](auto& set) { change(set), set.is_averaged = true; }), d);
      meet(one, of_classes, X.csr(), s);
      meet(other, of_classes, X.csr(), s);
      for (Index j = 0; j < one.n_weights(); ++j)
        CHECK(one.weight(j) == other.weight(j) && one.metric(j) == other.metric(j) && one.weight(j) != 0.0);
    }
}

THEOREM(
    "a third class: one score becomes two, of the same difference where they are joint, else one its "
    "negative") {
  Rng rng(11);
  const Index n = 60, d = 6;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.5);
  const Targets targets(rng, n, 2);
  const Numbers s = uniforms(rng, n, 0.5, 2.0);
  Watch watch;
  each_kind([&](OnlineSettings set, bool is_whole) {
    for (const bool is_joint : {false, true}) {
      set.room = 3;
      set.is_shared = is_joint;
      Stream stream(set, d, is_whole);
      ClassSteps<Log> steps(Log{}, is_joint ? Joint::softmax : Joint::none, targets.classes());
      meet(stream, steps, X.csr(), s);
      Numbers one(std::size_t(n), 0.0), three(std::size_t(3 * n), 0.0);
      online_scores(X.csr(), stream.table(), 1, one.data(), watch);
      stream.table().part(is_joint);
      online_scores(X.csr(), stream.table(), 3, three.data(), watch);
      for (std::size_t i = 0; i < one.size(); ++i) {
        const double *const z = three.data() + 3 * i, size = 1e-12 * (1.0 + std::abs(one[i]));
        CHECK_NEAR(z[0] - z[1], (is_joint ? 1.0 : 2.0) * one[i], size);
        CHECK_NEAR(z[0] + z[1], 0.0, size);
        CHECK(z[2] == 0.0);
      }
      // Both know as much of their columns as the one did.
      const Index n_copies = set.n_metrics() > 1 ? 2 : 0;
      for (Index j = 0; j < stream.n_weights() && n_copies == 2; ++j)
        CHECK(stream.metric(j, 0) == stream.metric(j, 1) && stream.metric(j, 0) > 0.0);
      const auto size = std::size_t(WholeMetric::size * WholeMetric::width);
      if (is_whole && n_copies == 2)
        CHECK(std::equal(stream.factors.begin(), stream.factors.begin() + std::ptrdiff_t(size),
                         stream.factors.begin() + std::ptrdiff_t(size)));
    }
  });
}

THEOREM(
    "a third class that comes late parts the scores before its first row, and a learner goes on from there") {
  Rng rng(12);
  const Index n = 60, d = 6;
  constexpr std::size_t late = 25;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.5);
  Targets targets(rng, n, 3);
  for (std::size_t i = 0; i < late; ++i) targets.code[i] %= 2;
  targets.code[late] = 2;
  targets.from[2] = Index(late);
  const Numbers s = uniforms(rng, n, 0.5, 2.0);
  Watch watch;
  each_kind([&](OnlineSettings set, bool is_whole) {
    for (const Joint joint : {Joint::none, Joint::crammer_singer}) {
      set.room = 3;
      set.is_shared = joint != Joint::none;
      ClassSteps<Hinge> steps(Hinge{}, joint, targets.classes());
      Stream whole(set, d, is_whole), by_hand = whole;
      meet(whole, steps, X.csr(), s);
      meet(by_hand, steps, X.csr(), s, watch, 0, Index(late));
      CHECK(by_hand.tally.scores == 1.0);
      by_hand.table().part(set.is_shared);
      by_hand.tally.scores = 3.0;
      meet(by_hand, steps, X.csr(), s, watch, Index(late), n);
      CHECK(by_hand == whole);
    }
  });
}

THEOREM("64 columns have a whole metric, whichever they are; the 65th ends it, and the diagonal goes on") {
  Rng rng(13);
  const Index n = 90, d = 200;
  // Columns 0, 3, ... 186 and 192 for 70 rows, so that places are not columns; then one more.
  Sample<double> X;
  X.n_rows = n;
  X.n_columns = d;
  for (Index i = 0; i < n; ++i) {
    X.index.push_back(3 * std::int32_t(i < 63 ? i : Index(rng.below(63))));
    X.index.push_back(i < 70 ? 192 : 199);
    X.start.push_back(Index(X.index.size()));
  }
  X.value = uniforms(rng, 2 * n, -2, 2);
  const Targets targets(rng, n, 2);
  const Numbers s = uniforms(rng, n, 0.5, 2.0);
  ClassSteps<Log> steps(Log{}, Joint::none, targets.classes());
  Watch watch;
  Stream stream(plain, d, true);
  meet(stream, steps, X.csr(), s, watch, 0, 70);
  CHECK(stream.tally.places == 64.0);
  std::vector<bool> is_met(std::size_t(d), false);
  for (const std::int32_t column : stream.places) is_met[std::size_t(column)] = true;
  CHECK(std::count(is_met.begin(), is_met.end(), true) == 64);
  const Numbers factors = stream.factors;
  meet_one(stream, steps, 70, {0, 198}, {1.0, 1e200});  // refused: its column needs no place
  CHECK(stream.tally.places == 64.0 && stream.tally.refused == 1.0);
  Stream diagonal = stream;
  diagonal.factors.clear();  // never had a whole metric
  meet(stream, steps, X.csr(), s, watch, 70, n);
  meet(diagonal, steps, X.csr(), s, watch, 70, n);
  CHECK(stream.tally.places == -1.0);
  CHECK(same_bits(stream.factors, factors));
  CHECK(same_bits(stream.records, diagonal.records) && same_bits(stream.intercept, diagonal.intercept));
  for (Index j = 0; j < d; ++j) CHECK(std::isfinite(stream.weight(j)));
}

THEOREM("scores are those of the weights that are predicted with; columns without a record count nothing") {
  Rng rng(14);
  const Index n = 30, d = 8, known = 5;
  const Sample<double> X = sample_matrix<double>(rng, n, d, 0.5);
  each_kind([&](OnlineSettings set, bool) {
    set.room = 3;
    Stream stream(set, known);
    stream.records = uniforms(rng, Index(stream.records.size()), 0.1, 1.0);
    stream.intercept = uniforms(rng, Index(stream.intercept.size()), 0.1, 1.0);
    stream.tally.rows = 7.0;
    stream.tally.weight = 9.0;
    Numbers Z(std::size_t(2 * n), 0.0), dense(Z);
    Watch watch;
    online_scores(X.csr(), stream.table(), 2, Z.data(), watch);
    online_scores(X.dense(), stream.table(), 2, dense.data(), watch);
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < 2; ++k) {
        double wanted = set.has_intercept ? stream.kept(known, k) : 0.0;
        for (Index j = 0; j < known; ++j) wanted += X.at(i, j) * stream.kept(j, k);
        CHECK_NEAR(Z[std::size_t(2 * i + k)], wanted, 1e-13);
      }
    CHECK(Z == dense);
  });
}
