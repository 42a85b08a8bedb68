#include "lineal/epoch/block_dual_cd.h"

#include <algorithm>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Sample;
using check::sample_matrix;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

// Rows with K classes; the last row has no entries, one row has weight 0.
struct Problem {
  Index n = 25, d, K;
  Sample<double> X;
  std::vector<std::int32_t> code;
  Numbers Y, s, norm2;

  Problem(std::uint64_t seed, Index n_classes, Index n_columns = 10) : d(n_columns), K(n_classes) {
    Rng rng(seed);
    X = sample_matrix<double>(rng, n - 1, d, 0.5);
    ++X.n_rows;
    X.start.push_back(X.start.back());
    X.full.resize(std::size_t(n * d), 0.0);
    for (Index i = 0; i < n; ++i) code.push_back(std::int32_t(rng.below(std::uint64_t(K))));
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < K; ++k) Y.push_back(rng.below(2) ? 1.0 : -1.0);
    s = uniforms(rng, n, 0.2, 2.0);
    s[3] = 0.0;
    norm2 = X.squared_norms();
  }
};

template <class T>
struct Run {
  const Problem& problem;
  DualSettings set;
  Outputs shape;
  Rng rng{11};
  std::vector<std::int32_t> order;
  std::vector<Rest> rest;
  std::vector<std::int32_t> middle;
  Numbers share, b;
  std::vector<T> U, extra, W, start;
  std::array<double, 2> drift{};
  bool is_halved = false;
  int patience = 0;  // positive: a second thread, which needs halves
  Watch watch = Watch();

  // Joint losses begin at p = e_y with log p floored, the others at u = 0.
  Run(const Problem& the_problem, DualSettings settings, bool is_joint)
      : problem(the_problem),
        set(settings),
        shape{0, problem.K, problem.K, (problem.K + 7) / 8 * 8},
        order(std::size_t(problem.n)),
        rest(std::size_t(problem.n)),
        share(std::size_t(problem.n), 0.0),
        b(std::size_t(problem.K), 0.0),
        U(std::size_t(problem.n * problem.K), T(0)),
        extra(U.size(), T(-20)),
        W(std::size_t(problem.d * shape.width), T(0)) {
    for (Index i = 0; is_joint && i < problem.n; ++i) {
      const std::size_t gold = std::size_t(i * problem.K + problem.code[std::size_t(i)]);
      U[gold] = T(1);
      extra[gold] = T(0);
    }
    start = U;
  }

  template <class Block>
  double epoch(const Block& block) {
    shuffle_rows(rng, order);
    const auto rows = problem.X.csr();
    if (is_halved && middle.empty()) {
      middle.resize(order.size());
      halve(rows, middle.data(), 1);
    }
    const BlockState<T> state{U.data(),    extra.data(), b.data(), share.data(),
                              rest.data(), problem.n,    problem.K};
    const auto more =
        block_dual_cd_epoch(block, Halves<Csr<double>>{rows, is_halved ? middle.data() : nullptr},
                            problem.s.data(), problem.norm2.data(), set, shape,
                            std::span<const std::int32_t>(order), patience, watch, state, W.data());
    for (const std::size_t half : {0u, 1u}) drift[half] += more[half];
    double gap = 0;
    for (const double each : share) gap += each;
    return gap;
  }
  double half_norm() const {
    double sum = 0;
    for (const T w : W) sum += 0.5 * set.l2 * double(w) * double(w);
    if (set.bias2 > 0)
      for (const double each : b) sum += 0.5 * set.l2 * each * each / set.bias2;
    return sum;
  }
  Numbers scores(Index i) const {
    Numbers z = b;
    for (Index j = 0; j < problem.d; ++j)
      for (Index k = 0; k < problem.K; ++k)
        z[std::size_t(k)] += problem.X.at(i, j) * double(W[std::size_t(j * shape.width + k)]);
    return z;
  }

  // W = -X'(s (U - start))/l2 and b alike, the padding still 0.
  void check_invariant(double tol) const {
    for (Index k = 0; k < shape.width; ++k) {
      Numbers w(std::size_t(problem.d), 0.0);
      double constant = 0;
      for (Index i = 0; k < problem.K && i < problem.n; ++i) {
        const std::size_t place = std::size_t(i * problem.K + k);
        const double a = problem.s[std::size_t(i)] * (double(U[place]) - double(start[place])) / set.l2;
        for (Index j = 0; j < problem.d; ++j) w[std::size_t(j)] -= a * problem.X.at(i, j);
        constant -= a * set.bias2;
      }
      for (Index j = 0; j < problem.d; ++j)
        CHECK_NEAR(double(W[std::size_t(j * shape.width + k)]), w[std::size_t(j)], k < problem.K ? tol : 0.0);
      if (k < problem.K) CHECK_NEAR(b[std::size_t(k)], constant, tol);
    }
  }
  // |W + X'(s (U - start))/l2|
  double distance() const {
    double sum = 0;
    for (Index j = 0; j < problem.d; ++j)
      for (Index k = 0; k < problem.K; ++k) {
        double w = double(W[std::size_t(j * shape.width + k)]);
        for (Index i = 0; i < problem.n; ++i) {
          const std::size_t place = std::size_t(i * problem.K + k);
          w += problem.s[std::size_t(i)] / set.l2 * problem.X.at(i, j) *
               (double(U[place]) - double(start[place]));
        }
        sum += w * w;
      }
    return std::sqrt(sum);
  }
  void check_on_simplex(double tol) const {
    for (Index i = 0; i < problem.n; ++i) {
      double sum = 0;
      for (Index k = 0; k < problem.K; ++k) {
        CHECK(U[std::size_t(i * problem.K + k)] >= T(0));
        sum += double(U[std::size_t(i * problem.K + k)]);
      }
      CHECK_NEAR(sum, 1.0, tol);
    }
  }
};

const DualSettings settings[] = {{1.0, 0.0, 0.0, false}, {0.05, 0.0, 0.0, false}, {1.0, 0.0, 1.0, false}};

}  // namespace

THEOREM("with one output a block epoch is an epoch of dual_cd.h") {
  const auto agree = [](const auto& loss) {
    using Loss = std::decay_t<decltype(loss)>;
    // Up to three entries to a row and powers of two for l2: there both kernels add and scale in the same
    // order, and a row that rests in one rests in the other.
    const Problem problem(1, 1, 3);
    for (const DualSettings& set :
         {DualSettings{1.0, 0.0, 0.0, false}, DualSettings{0.25, 0.0, 1.0, false}}) {
      Run<double> block(problem, set, false);
      Run<double> single(problem, set, false);
      Numbers t(std::size_t(problem.d), 0.0);
      double b = 0;
      for (int epoch = 0; epoch < 20; ++epoch) {
        const double gap = block.epoch(Elementwise<Loss, double>{loss, problem.Y.data()});
        shuffle_rows(single.rng, single.order);
        DualState state{problem.Y.data(),
                        problem.s.data(),
                        problem.norm2.data(),
                        single.U.data(),
                        single.share.data(),
                        single.rest.data(),
                        b,
                        problem.n};
        const double same = dual_cd_epoch(loss, Halves<Csr<double>>{problem.X.csr(), nullptr}, set,
                                          single.order, single.patience, single.watch, state, t.data());
        b = state.b;
        CHECK_NEAR(gap, same, 1e-12);
      }
      for (std::size_t i = 0; i < block.U.size(); ++i) CHECK_NEAR(block.U[i], single.U[i], 1e-12);
      for (Index j = 0; j < problem.d; ++j)
        CHECK_NEAR(block.W[std::size_t(j * block.shape.width)], t[std::size_t(j)], 1e-12);
      CHECK_NEAR(block.b[0], b, 1e-12);
    }
  };
  agree(Hinge{});
  agree(Log{});
  agree(Squared{});
}

THEOREM("elementwise: each output's dual never falls, W = -X'(s U)/l2, and the padding stays 0") {
  const Log loss;
  for (const Index K : {1, 3, 11})
    for (const DualSettings& set : settings) {
      const Problem problem(2, K);
      Run<double> run(problem, set, false);
      double before = -HUGE_VAL;
      for (int epoch = 0; epoch < 60; ++epoch) {
        run.epoch(Elementwise<Log, double>{loss, problem.Y.data()});
        run.check_invariant(1e-11);
        double dual = -run.half_norm();
        for (std::size_t place = 0; place < run.U.size(); ++place)
          dual -= problem.s[place / std::size_t(K)] * loss.conjugate(problem.Y[place], run.U[place]);
        CHECK(dual >= before - 1e-12 * (1 + std::abs(dual)));
        before = dual;
      }
    }
}

THEOREM("softmax: p stays on the simplex, the dual never falls and meets the primal") {
  for (const Index K : {2, 3, 130})
    for (const DualSettings& set : settings) {
      const Problem problem(3, K);
      Run<double> run(problem, set, true);
      double before = -HUGE_VAL, gap = 0, zero = 0;
      for (const double s : problem.s) zero += s * std::log(double(K));
      for (int epoch = 0; epoch < 60; ++epoch) {
        const double estimate = run.epoch(SoftmaxBlock<double>{});
        CHECK(estimate >= -1e-6 * zero);
        run.check_on_simplex(1e-12);
        double dual = -run.half_norm(), primal = run.half_norm();
        for (Index i = 0; i < problem.n; ++i) {
          const Numbers z = run.scores(i);
          double sum = 0, entropy = 0;
          for (Index k = 0; k < K; ++k) {
            sum += std::exp(z[std::size_t(k)]);
            entropy += xlogx(run.U[std::size_t(i * K + k)]);
          }
          primal +=
              problem.s[std::size_t(i)] * (std::log(sum) - z[std::size_t(problem.code[std::size_t(i)])]);
          dual -= problem.s[std::size_t(i)] * entropy;
        }
        gap = primal - dual;
        // A row's step is exact to 1e-8 in p, so D to about its square times q.
        CHECK(dual >= before - 1e-11 * zero);
        CHECK(gap >= -1e-11 * zero);
        before = dual;
      }
      run.check_invariant(1e-10);
      if (set.l2 >= 1) CHECK(gap <= 1e-3 * zero);  // weak penalties take longer
    }
}

THEOREM("Crammer-Singer: p stays on the simplex, the dual never falls and meets the primal") {
  for (const Index K : {2, 3, 130})
    for (const DualSettings& set : settings) {
      const Problem problem(4, K);
      Run<double> run(problem, set, true);
      double before = -HUGE_VAL, gap = 0, zero = 0;
      for (const double s : problem.s) zero += s;
      for (int epoch = 0; epoch < 300; ++epoch) {
        run.epoch(CrammerSingerBlock<double>{problem.code.data()});
        run.check_on_simplex(1e-11);
        double dual = -run.half_norm(), primal = run.half_norm();
        for (Index i = 0; i < problem.n; ++i) {
          const Numbers z = run.scores(i);
          const std::int32_t gold = problem.code[std::size_t(i)];
          double worst = 0;
          for (Index k = 0; k < K; ++k)
            worst = std::max(worst, z[std::size_t(k)] - z[std::size_t(gold)] + (k == gold ? 0.0 : 1.0));
          primal += problem.s[std::size_t(i)] * worst;
          dual += problem.s[std::size_t(i)] * (1.0 - run.U[std::size_t(i * K + gold)]);
        }
        gap = primal - dual;
        CHECK(dual >= before - 1e-12 * zero);
        CHECK(gap >= -1e-11 * zero);
        before = dual;
      }
      run.check_invariant(1e-10);
      if (set.l2 >= 1) CHECK(gap <= 2e-2 * zero);  // weak penalties take longer
    }
}

THEOREM("in float32 W is still what U says, to float32 rounding") {
  const Problem problem(5, 3);
  const DualSettings set{1.0, 0.0, 1.0, false};
  Run<float> softmax(problem, set, true), joint(problem, set, true), each(problem, set, false);
  for (int epoch = 0; epoch < 30; ++epoch) {
    softmax.epoch(SoftmaxBlock<float>{});
    joint.epoch(CrammerSingerBlock<float>{problem.code.data()});
    each.epoch(Elementwise<Hinge, float>{Hinge{}, problem.Y.data()});
  }
  softmax.check_on_simplex(1e-6);
  joint.check_on_simplex(1e-6);
  // 25 rows of 30 updates, each rounded to 6e-8 of weights of order ten.
  for (const Run<float>* run : {&softmax, &joint, &each}) run->check_invariant(3e-4);
}

THEOREM("rows of weight 0 never move, and an epoch over no rows is finite") {
  const Problem problem(6, 3);
  Run<double> run(problem, settings[0], true);
  for (int epoch = 0; epoch < 5; ++epoch) run.epoch(SoftmaxBlock<double>{});
  for (std::size_t place = 9; place < 12; ++place) CHECK(run.U[place] == run.start[place]);
  Run<double> nothing(problem, settings[0], true);
  nothing.order.clear();
  CHECK(nothing.epoch(SoftmaxBlock<double>{}) == 0.0);
}

THEOREM("two threads and one leave the same bits, whatever the block") {
  for (const Index K : {2, 5, 9})
    for (const DualSettings& set : settings) {
      const Problem problem(8, K);
      const auto agree = [&](const auto& block, bool is_joint) {
        Run<float> alone(problem, set, is_joint), both(problem, set, is_joint);
        alone.is_halved = both.is_halved = true;
        for (int epoch = 0; epoch < 12; ++epoch) {
          both.patience = 1000;
          CHECK(alone.epoch(block) == both.epoch(block));
        }
        CHECK(alone.W == both.W);
        CHECK(alone.U == both.U);
        CHECK(alone.extra == both.extra);
        CHECK(alone.b == both.b);
        CHECK(alone.drift == both.drift);
      };
      agree(Elementwise<Hinge, float>{Hinge{}, problem.Y.data()}, false);
      agree(Elementwise<Log, float>{Log{}, problem.Y.data()}, false);
      agree(SoftmaxBlock<float>{}, true);
      agree(CrammerSingerBlock<float>{problem.code.data()}, true);
    }
}

THEOREM("weights of one group drift from what U says no further than both halves are said to") {
  const auto stays_below = []<class T>(T, double most) {
    for (const DualSettings& set : settings)
      for (const bool is_halved : {false, true}) {
        const Problem problem(13, 7);
        Run<T> run(problem, set, false);
        run.is_halved = is_halved;
        for (int epoch = 0; epoch < 100; ++epoch) {
          run.patience = epoch % 2 ? 1000 : 0;
          run.epoch(Elementwise<Hinge, T>{Hinge{}, problem.Y.data()});
          CHECK(run.distance() <= std::hypot(run.drift[0], run.drift[1]) + 1e-12);
        }
        double size = 0;
        for (const T w : run.W) size += double(w) * double(w);
        CHECK(std::hypot(run.drift[0], run.drift[1]) <= most * std::sqrt(size));
        CHECK(is_halved == (run.drift[1] > 0.0));
      }
  };
  stays_below(float(), 3e-3);
  stays_below(double(), 6e-12);
}

namespace {

// All groups of outputs of a one-vs-rest problem, worked on `at_once` at a time.
template <class T>
struct GroupedRun {
  const Problem& problem;
  DualSettings set;
  int n_groups;
  Index width;
  Rng rng{11};
  std::vector<std::int32_t> order;
  std::vector<Rest> rest;
  Numbers share, b;
  std::vector<T> U, W;
  std::vector<OutputGroup<T>> groups;
  Watch watch = Watch();

  GroupedRun(const Problem& the_problem, DualSettings settings, int the_n_groups)
      : problem(the_problem),
        set(settings),
        n_groups(the_n_groups),
        width((problem.K / n_groups + 8) / 8 * 8),
        order(std::size_t(problem.n)),
        rest(order.size() * std::size_t(n_groups)),
        share(rest.size(), 0.0),
        b(std::size_t(problem.K), 0.0),
        U(std::size_t(problem.n * problem.K), T(0)),
        W(std::size_t(problem.d * width * n_groups), T(0)) {
    for (int g = 0; g < n_groups; ++g) {
      const Range outputs = lineal::share(problem.K, g, n_groups);
      const Index at = g * problem.n;
      groups.push_back(
          {{outputs.first, outputs.last - outputs.first, problem.K, width},
           {U.data(), nullptr, b.data(), share.data() + at, rest.data() + at, problem.n, problem.K},
           W.data() + g * problem.d * width,
           0.0});
    }
  }
  template <class Block>
  void epoch(const Block& block, int at_once) {
    shuffle_rows(rng, order);
    for (int g = 0; g < n_groups; g += at_once)
      grouped_dual_cd_epoch(
          block, problem.X.csr(), problem.s.data(), problem.norm2.data(), set,
          std::span(groups).subspan(std::size_t(g), std::size_t(std::min(at_once, n_groups - g))),
          std::span<const std::int32_t>(order), watch);
  }
  double weight(Index j, Index k) const {
    for (const OutputGroup<T>& group : groups)
      if (k >= group.of.first && k < group.of.first + group.of.count)
        return double(group.W[j * width + k - group.of.first]);
    return 0;
  }
  // |W + X'(s U)/l2|, all groups together.
  double distance() const {
    double sum = 0;
    for (Index j = 0; j < problem.d; ++j)
      for (Index k = 0; k < problem.K; ++k) {
        double w = weight(j, k);
        for (Index i = 0; i < problem.n; ++i)
          w += problem.s[std::size_t(i)] / set.l2 * problem.X.at(i, j) *
               double(U[std::size_t(i * problem.K + k)]);
        sum += w * w;
      }
    return std::sqrt(sum);
  }
  double drift() const {
    double sum = 0;
    for (const OutputGroup<T>& group : groups) sum += group.drift * group.drift;
    return std::sqrt(sum);
  }
};

}  // namespace

THEOREM("a group of outputs ends in the same bits whichever groups are worked on beside it") {
  const Problem problem(9, 21);
  const Elementwise<Hinge, float> block{Hinge{}, problem.Y.data()};
  for (const DualSettings& set : settings) {
    GroupedRun<float> apart(problem, set, 4), together(problem, set, 4);
    for (int epoch = 0; epoch < 12; ++epoch) {
      apart.epoch(block, 1);
      together.epoch(block, 3);
    }
    CHECK(apart.U == together.U);
    CHECK(apart.W == together.W);
    CHECK(apart.b == together.b);
    CHECK(apart.share == together.share);
    CHECK(apart.drift() == together.drift());
  }
}

THEOREM("groups of outputs: the dual never falls, the padding stays 0, the estimated gap closes") {
  const SquaredHinge loss;
  for (const Index K : {5, 17, 60})
    for (const DualSettings& set : settings) {
      const Problem problem(10, K);
      GroupedRun<double> run(problem, set, 2);
      double before = -HUGE_VAL, first = 0, gap = 0;
      for (int epoch = 0; epoch < 200; ++epoch) {
        run.epoch(Elementwise<SquaredHinge, double>{loss, problem.Y.data()}, 2);
        double dual = 0;
        for (const double w : run.W) dual -= 0.5 * set.l2 * w * w;
        for (const double each : run.b) dual -= set.bias2 > 0 ? 0.5 * set.l2 * each * each / set.bias2 : 0.0;
        for (std::size_t place = 0; place < run.U.size(); ++place)
          dual -= problem.s[place / std::size_t(K)] * loss.conjugate(problem.Y[place], run.U[place]);
        CHECK(dual >= before - 1e-12 * (1 + std::abs(dual)));
        before = dual;
        gap = 0;
        for (const double each : run.share) gap += each;
        if (epoch == 0) first = gap;
      }
      CHECK(gap >= -1e-9 && gap <= 0.1 * first);
      for (const OutputGroup<double>& group : run.groups)
        for (Index j = 0; j < problem.d; ++j)
          for (Index k = group.of.count; k < group.of.width; ++k) CHECK(group.W[j * run.width + k] == 0.0);
    }
}

THEOREM("weights drift from what U says by rounding, and no further than they are said to") {
  const auto stays_below = []<class T>(T, double most) {
    for (const DualSettings& set : settings) {
      const Problem problem(11, 19);
      GroupedRun<T> run(problem, set, 2);
      for (int epoch = 0; epoch < 100; ++epoch) {
        run.epoch(Elementwise<Hinge, T>{Hinge{}, problem.Y.data()}, 2);
        // The distance itself is computed in float64, whose rounding is no drift.
        CHECK(run.distance() <= run.drift() + 1e-12);
      }
      double size = 0;
      for (const T w : run.W) size += double(w) * double(w);
      // A bound that says nothing would pass too: 2500 updates of 25 rows, each a few roundings of W.
      CHECK(run.drift() <= most * std::sqrt(size));
    }
  };
  stays_below(float(), 2e-3);
  stays_below(double(), 4e-12);
}
