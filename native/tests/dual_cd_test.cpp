#include "lineal/epoch/dual_cd.h"

#include <algorithm>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Domain;
using check::each_dual_loss;
using check::Sample;
using check::sample_matrix;
using check::uniform;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

// A problem with targets the loss understands, weights that include zeros, and an empty row and column.
struct Problem {
  Sample<double> X;
  Numbers y, s, norm2;

  Problem(std::uint64_t seed, const Domain& domain, Index n = 30, Index d = 12) {
    Rng rng(seed);
    X = sample_matrix<double>(rng, n - 1, d, 0.4);
    ++X.n_rows;  // a row without entries
    X.start.push_back(X.start.back());
    X.full.resize(std::size_t(n * d), 0.0);
    ++X.n_columns;  // a column without entries
    Numbers wider(std::size_t(n * (d + 1)), 0.0);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < d; ++j) wider[std::size_t(i * (d + 1) + j)] = X.full[std::size_t(i * d + j)];
    X.full = wider;
    y = uniforms(rng, n, -2, 2);
    if (domain.is_margin)
      for (double& each : y) each = each < 0 ? -1.0 : 1.0;
    s = uniforms(rng, n, 0.2, 2.0);
    s[3] = 0.0;
    norm2 = X.squared_norms();
  }
};

// The state of a run, and one epoch of it.
struct Run {
  const Problem& problem;
  DualSettings set;
  Rng rng{11};
  std::vector<std::int32_t> order;
  std::vector<Rest> rest;
  std::vector<std::int32_t> middle;
  Numbers u, share, t;
  double b = 0, path = 0;
  Index n_moves = 0;
  bool is_halved = false;
  int patience = 0;  // positive: a second thread, which needs halves
  Watch watch = Watch();

  Run(const Problem& the_problem, DualSettings settings)
      : problem(the_problem),
        set(settings),
        order(problem.y.size()),
        rest(problem.y.size()),
        u(problem.y.size(), 0.0),
        share(problem.y.size(), 0.0),
        t(std::size_t(problem.X.n_columns), 0.0) {}

  template <class Loss, class Rows>
  double epoch(const Loss& loss, const Rows& rows) {
    shuffle_rows(rng, order);
    if (is_halved && middle.empty()) {
      middle.resize(order.size());
      halve(rows, middle.data(), 1);
    }
    DualState state{
        problem.y.data(), problem.s.data(), problem.norm2.data(), u.data(), share.data(), rest.data(), b,
        Index(u.size())};
    const double gap = dual_cd_epoch(loss, Halves<Rows>{rows, is_halved ? middle.data() : nullptr}, set,
                                     order, patience, watch, state, t.data());
    b = state.b;
    path += state.path;
    n_moves += state.n_moves;
    return gap;
  }
  double weight(std::size_t j) const { return soft(t[j], set.l1 / set.l2); }

  // -sum s loss*(u) - (l2/2)|w|^2, with the intercept's weight b / bias beside w when it is penalised.
  template <class Loss>
  double dual(const Loss& loss) const {
    double value = set.bias2 > 0 ? -0.5 * set.l2 * b * b / set.bias2 : 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) value -= problem.s[i] * loss.conjugate(problem.y[i], u[i]);
    for (std::size_t j = 0; j < t.size(); ++j) value -= 0.5 * set.l2 * weight(j) * weight(j);
    return value;
  }
  template <class Loss>
  double primal(const Loss& loss) const {
    double value = set.bias2 > 0 && !set.recentre ? 0.5 * set.l2 * b * b / set.bias2 : 0.0;
    Numbers w;
    for (std::size_t j = 0; j < t.size(); ++j) {
      w.push_back(weight(j));
      value += 0.5 * set.l2 * w[j] * w[j] + set.l1 * std::abs(w[j]);
    }
    for (std::size_t i = 0; i < u.size(); ++i)
      value += problem.s[i] * loss.value(problem.y[i], problem.X.dot(Index(i), w.data()) + b);
    return value;
  }
};

// Strengths weak and strong, an elastic net, and a penalised intercept.
const DualSettings settings[] = {
    {1.0, 0.0, 0.0, false}, {0.01, 0.0, 0.0, false}, {50.0, 0.0, 0.0, false},
    {1.0, 0.8, 0.0, false}, {1.0, 0.0, 1.0, false},
};

}  // namespace

THEOREM(
    "the dual never falls, stays below the primal, and meets it: every loss, L2, elastic net, intercept") {
  each_dual_loss([](const char*, const auto& loss, const Domain& domain) {
    const Problem problem(1, domain);
    for (const DualSettings& set : settings) {
      Run run(problem, set);
      run.is_halved = &set != settings;  // rows whole and in halves
      double before = run.dual(loss), gap = 0;
      const double zero = run.primal(loss);
      for (int epoch = 0; epoch < 300; ++epoch) {
        run.epoch(loss, problem.X.csr());
        const double after = run.dual(loss);
        CHECK(after >= before - 1e-13 * (1 + std::abs(before)));
        gap = run.primal(loss) - after;
        CHECK(gap >= -1e-12 * zero);
        before = after;
      }
      if (set.l2 >= 1) CHECK(gap <= 1e-3 * zero);  // weak penalties take longer
    }
  });
}

THEOREM("after any epoch u is in its domain and t = -X'(s u)/l2; rows of weight 0 never move") {
  each_dual_loss([](const char*, const auto& loss, const Domain& domain) {
    const Problem problem(2, domain);
    for (const DualSettings& set : settings) {
      Run run(problem, set);
      for (int epoch = 0; epoch < 5; ++epoch) {
        run.is_halved = epoch % 2 == 1;
        // The last epochs are broken off after a few rows, which must leave a whole state too.
        int n_rows = epoch < 3 ? 1000 : epoch;
        run.watch = Watch([&] { return n_rows-- == 0; }, Watch::Wait::zero(), 1);
        run.epoch(loss, problem.X.csr());
        CHECK(run.watch.is_over() == (epoch >= 3));
        Numbers t(run.t.size(), 0.0);
        double b = 0;
        for (std::size_t i = 0; i < run.u.size(); ++i) {
          CHECK(domain.contains(problem.y[i], run.u[i]));
          for (std::size_t j = 0; j < t.size(); ++j)
            t[j] -= problem.s[i] * run.u[i] * problem.X.at(Index(i), Index(j)) / set.l2;
          b -= problem.s[i] * run.u[i] / set.l2 * set.bias2;
        }
        // Updates are summed in another order than this; t is of order n max|x| s / l2.
        for (std::size_t j = 0; j < t.size(); ++j) CHECK_NEAR(run.t[j], t[j], 1e-12 * (1 + 1 / set.l2));
        CHECK_NEAR(run.b, b, 1e-12 * (1 + 1 / set.l2));
        CHECK(run.u[3] == 0.0 && run.share[3] == 0.0);
        CHECK(run.t.back() == 0.0);  // the column without entries
      }
    }
  });
}

THEOREM("the returned estimate is the sum of the shares, none negative, and ends near the true gap") {
  each_dual_loss([](const char*, const auto& loss, const Domain& domain) {
    const Problem problem(3, domain);
    Run run(problem, {1.0, 0.0, 0.0, false});
    const double zero = run.primal(loss);
    double estimate = 0;
    for (int epoch = 0; epoch < 400; ++epoch) {
      estimate = run.epoch(loss, problem.X.csr());
      double sum = 0;
      for (const double share : run.share) {
        CHECK(share >= -1e-12);
        sum += share;
      }
      CHECK(estimate == sum);
    }
    CHECK_NEAR(estimate, run.primal(loss) - run.dual(loss), 1e-4 * zero);
  });
}

THEOREM("a free intercept drives sum(s u) to 0, where the primal and the dual meet") {
  each_dual_loss([](const char*, const auto& loss, const Domain& domain) {
    const Problem problem(4, domain);
    Run run(problem, {1.0, 0.0, 0.5, true});
    for (int epoch = 0; epoch < 2000; ++epoch) run.epoch(loss, problem.X.csr());
    double sum = 0, total = 0, dual = 0;
    for (std::size_t i = 0; i < run.u.size(); ++i) {
      sum += problem.s[i] * run.u[i];
      total += problem.s[i];
      dual -= problem.s[i] * loss.conjugate(problem.y[i], run.u[i]);
    }
    for (std::size_t j = 0; j < run.t.size(); ++j) dual -= 0.5 * run.t[j] * run.t[j];
    CHECK_NEAR(sum, 0.0, 1e-3 * total);
    CHECK_NEAR(run.primal(loss), dual, 1e-2 * total);
  });
}

THEOREM("sparse and dense rows take the same steps") {
  const auto agree = [](const auto& loss, const Domain& domain) {
    const Problem problem(5, domain);
    Run sparse(problem, {0.5, 0.1, 0.0, false}), dense(problem, {0.5, 0.1, 0.0, false});
    for (int epoch = 0; epoch < 10; ++epoch) {
      sparse.epoch(loss, problem.X.csr());
      dense.epoch(loss, problem.X.dense());
    }
    for (std::size_t i = 0; i < sparse.u.size(); ++i) CHECK_NEAR(sparse.u[i], dense.u[i], 1e-9);
    for (std::size_t j = 0; j < sparse.t.size(); ++j) CHECK_NEAR(sparse.t[j], dense.t[j], 1e-9);
  };
  agree(Log{}, Domain{true, 0, 1});
  agree(Squared{}, Domain{false, -HUGE_VAL, HUGE_VAL});
}

THEOREM("an epoch over no rows, or over rows without columns, leaves weights alone and is finite") {
  const Hinge loss;
  Problem none(6, Domain{true, 0, 1});
  none.y.clear();
  none.X.n_rows = 0;
  Run nothing(none, {1.0, 0.0, 0.0, false});
  CHECK(nothing.epoch(loss, none.X.csr()) == 0.0);
  Problem empty(6, Domain{true, 0, 1});
  empty.X.n_columns = 0;
  std::fill(empty.X.start.begin(), empty.X.start.end(), 0);
  std::fill(empty.norm2.begin(), empty.norm2.end(), 0.0);
  Run run(empty, {1.0, 0.0, 0.0, false});
  const double gap = run.epoch(loss, empty.X.csr());
  CHECK_NEAR(gap, 0.0, 1e-15);  // at z = 0 every u is a slope: the primal and the dual agree
}

THEOREM("a row that stays rests for 1, 3, 7, 7, ... epochs, and any move wakes it") {
  Rest rest;
  const auto n_rested = [&] {
    int n = 0;
    while (rest.passes()) ++n;
    return n;
  };
  CHECK(n_rested() == 0);
  for (const int wanted : {1, 3, 7, 7, 7}) {
    rest.stayed();
    CHECK(n_rested() == wanted);
    CHECK(!rest.passes());  // awake until it stays again
  }
  rest.moved();
  CHECK(n_rested() == 0);
  rest.stayed();
  CHECK(n_rested() == 1);
  rest.stayed();
  rest.moved();  // in the middle of a rest
  CHECK(n_rested() == 0);
}

THEOREM("Shrunk reads soft(t, threshold)") {
  const Numbers t{-2.0, -0.5, 0.0, 0.5, 2.0};
  const Shrunk w{t.data(), 0.5};
  const Numbers wanted{-1.5, 0.0, 0.0, 0.0, 1.5};
  for (Index j = 0; j < 5; ++j) CHECK(w[j] == wanted[std::size_t(j)]);
}

THEOREM("the weights are -X'(s u)/l2 up to the rounding that path and n_moves bound, and they do drift") {
  bool has_drifted = false;
  each_dual_loss([&](const char*, const auto& loss, const Domain& domain) {
    const Problem problem(5, domain, 300, 40);
    for (const double l2 : {0.01, 1.0}) {
      Run run(problem, {l2, 0.0, 0.0, false});
      for (int epoch = 0; epoch < 30; ++epoch) run.epoch(loss, problem.X.csr());
      std::vector<long double> wanted(run.t.size(), 0.0L);
      for (std::size_t i = 0; i < run.u.size(); ++i)
        for (std::size_t j = 0; j < wanted.size(); ++j)
          wanted[j] -= static_cast<long double>(problem.s[i]) * run.u[i] * problem.X.at(Index(i), Index(j)) /
                       static_cast<long double>(l2);
      long double square = 0;
      for (std::size_t j = 0; j < wanted.size(); ++j)
        square += (run.t[j] - wanted[j]) * (run.t[j] - wanted[j]);
      const double bound = 1.01 * 0x1p-53 * double(run.n_moves + 5) * run.path;
      CHECK(double(std::sqrt(square)) <= bound);
      has_drifted |= square > 0;
    }
  });
  CHECK(has_drifted);
}
