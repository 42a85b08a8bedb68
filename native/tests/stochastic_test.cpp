#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "check.h"
#include "lineal/epoch/sgd.h"
#include "lineal/epoch/svrg.h"
#include "samples.h"

using namespace lineal;
using check::Sample;
using check::sample_matrix;
using check::uniform;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

// A sparse problem with more columns than a row stores, so that most weights wait at most steps.
struct Case {
  Index n = 30, d = 25, K;
  Sample<double> X;
  Numbers Y, s, theta;
  std::vector<std::int32_t> code;
  std::vector<std::int64_t> order;

  Case(std::uint64_t seed, Index outputs, bool has_intercept) : K(outputs) {
    Rng rng(seed);
    X = sample_matrix<double>(rng, n, d, 0.15);
    s = uniforms(rng, n, 0.5, 2.0);
    s[3] = 0.0;
    for (Index k = 0; k < n * K; ++k) Y.push_back(rng.below(2) == 0 ? -1.0 : 1.0);
    for (Index i = 0; i < n; ++i)
      code.push_back(std::int32_t(rng.below(std::uint32_t(std::max<Index>(K, 2)))));
    theta = uniforms(rng, (d + has_intercept) * K, -0.5, 0.5);
    order.resize(std::size_t(n));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i-- > 1;) std::swap(order[i], order[rng.below(std::uint32_t(i + 1))]);
  }
  bool has_intercept() const { return theta.size() > std::size_t(d * K); }
  // Slopes of row i at `at`.
  Numbers slopes(const RowSlopes& of, Index i, const Numbers& at) const {
    Numbers z(std::size_t(K), 0.0);
    for (Index k = 0; k < K; ++k) {
      if (has_intercept()) z[std::size_t(k)] = at[std::size_t(d * K + k)];
      for (Index j = 0; j < d; ++j) z[std::size_t(k)] += X.at(i, j) * at[std::size_t(j * K + k)];
    }
    of.at(i, z.data());
    return z;
  }
  // (n / |B|) sum_i s_i x_i (u_i - anchor_i)' over a batch, the intercept's 1 included.
  Numbers gradient(const RowSlopes& of, Index first, Index last, const Numbers& at,
                   const double* anchor) const {
    Numbers g(at.size(), 0.0);
    for (Index row = first; row < last; ++row) {
      const Index i = order[std::size_t(row)];
      const Numbers u = slopes(of, i, at);
      for (Index k = 0; k < K; ++k) {
        const double met = u[std::size_t(k)] - (anchor == nullptr ? 0.0 : anchor[i * K + k]);
        const double step = double(n) / double(last - first) * s[std::size_t(i)] * met;
        for (Index j = 0; j < d; ++j) g[std::size_t(j * K + k)] += step * X.at(i, j);
        if (has_intercept()) g[std::size_t(d * K + k)] += step;
      }
    }
    return g;
  }
};

void check_close(const Numbers& got, const Numbers& wanted, double tolerance) {
  CHECK(got.size() == wanted.size());
  for (std::size_t j = 0; j < got.size(); ++j)
    CHECK_NEAR(got[j], wanted[j], tolerance * (1.0 + std::abs(wanted[j])));
}

// Calls f for a loss with kinks, a smooth one and the joint ones, with one output or five.
template <class F>
void each_slopes(F&& f) {
  for (const bool has_intercept : {false, true}) {
    const Case one(1, 1, has_intercept), five(2, 5, has_intercept);
    f(one, ScoreSlopes<Hinge>(Hinge{}, one.Y.data(), 1));
    f(one, ScoreSlopes<Log>(Log{}, one.Y.data(), 1));
    f(five, ScoreSlopes<Squared>(Squared{}, five.Y.data(), 5));
    f(five, SoftmaxSlopes(five.code.data(), 5));
    f(five, CrammerSingerSlopes(five.code.data(), 5));
    f(five, SmoothedCrammerSingerSlopes(five.code.data(), 5, 0.3));
  }
}

// The rule as it is printed, every weight at every step.
struct Eager {
  Numbers theta, sum, U;
};

Watch watch;  // never asks

// The first batches alone, where `most` of them are wanted.
constexpr Index all_batches = 1 << 20;

Eager eager_sgd(const Case& at, const RowSlopes& of, const Numbers& eta, const SgdSettings& set,
                Index most = all_batches) {
  Eager run{at.theta, Numbers(at.theta.size(), 0.25), Numbers(std::size_t(at.n * at.K))};
  std::size_t step = 0;
  for (Index first = 0; first < std::min(at.n, most * set.batch_size); first += set.batch_size, ++step) {
    const Index last = std::min(at.n, first + set.batch_size);
    for (Index row = first; row < last; ++row) {
      const Index i = at.order[std::size_t(row)];
      const Numbers u = at.slopes(of, i, run.theta);
      std::copy(u.begin(), u.end(), run.U.begin() + i * at.K);
    }
    const Numbers g = at.gradient(of, first, last, run.theta, nullptr);
    for (std::size_t j = 0; j < g.size(); ++j) {
      const double ridge = j < std::size_t(at.d * at.K) ? set.ridge : set.intercept_ridge;
      run.theta[j] = (1 - eta[step] * ridge) * run.theta[j] - eta[step] * g[j];
      run.sum[j] += run.theta[j];
    }
  }
  return run;
}

Numbers eager_svrg(const Case& at, const RowSlopes& of, const Numbers& rate, const double* drift,
                   const double* anchor, const SvrgSettings& set, Index most = all_batches) {
  Numbers theta = at.theta;
  for (Index first = 0; first < std::min(at.n, most * set.batch_size); first += set.batch_size) {
    const Numbers g = at.gradient(of, first, std::min(at.n, first + set.batch_size), theta, anchor);
    for (std::size_t j = 0; j < g.size(); ++j) {
      const bool is_weight = j < std::size_t(at.d * at.K);
      const StepPenalty& penalty = is_weight ? set.weights : set.intercept;
      theta[j] = penalty.step(theta[j], rate[is_weight ? j / std::size_t(at.K) : std::size_t(at.d)],
                              g[j] + (drift == nullptr ? 0.0 : drift[j]));
    }
  }
  return theta;
}

}  // namespace

THEOREM("sgd: scaled weights and their lazy sum are the printed rule's, sparse and dense, any batch") {
  each_slopes([](const Case& at, const RowSlopes& of) {
    for (const Index size : {1, 4, 7, 30}) {
      for (const double ridge : {0.0, 2.0}) {
        const SgdSettings set{size, ridge, size == 4 ? ridge : 0.0, at.has_intercept()};
        Numbers eta;
        for (Index t = 1; t <= at.n; ++t) eta.push_back(0.05 / double(t));
        const Eager wanted = eager_sgd(at, of, eta, set);
        const auto run = [&](const auto& rows) {
          Eager got{at.theta, Numbers(at.theta.size(), 0.25), Numbers(wanted.U.size())};
          sgd_epoch(of, rows, at.s.data(), at.order, eta.data(), set, got.theta.data(), got.sum.data(),
                    got.U.data(), watch);
          check_close(got.theta, wanted.theta, 1e-11);
          check_close(got.sum, wanted.sum, 1e-11);
          check_close(got.U, wanted.U, 1e-10);
          Numbers alone = at.theta;
          sgd_epoch(of, rows, at.s.data(), at.order, eta.data(), set, alone.data(), nullptr, got.U.data(),
                    watch);
          check_close(alone, got.theta, 1e-15);  // the sum is looked at, never used
        };
        run(at.X.csr());
        run(at.X.dense());
      }
    }
  });
}

THEOREM(
    "sgd: steps that shrink the weights to nothing, or by half each time, fold the scale and lose no digit") {
  const Case at(3, 1, true);
  const ScoreSlopes<Hinge> of(Hinge{}, at.Y.data(), 1);
  for (const double first : {1.0, 0.5}) {  // eta ridge
    // Pegasos as published begins with eta ridge = 1; factors of 2^-3 pass 2^-10 every fourth step.
    Numbers eta{first / 4.0};
    while (eta.size() < std::size_t(at.n)) eta.push_back(0.875 / 4.0);
    const SgdSettings set{1, 4.0, 4.0, true};
    const Eager wanted = eager_sgd(at, of, eta, set);
    Eager got{at.theta, Numbers(at.theta.size(), 0.25), Numbers(wanted.U.size())};
    sgd_epoch(of, at.X.csr(), at.s.data(), at.order, eta.data(), set, got.theta.data(), got.sum.data(),
              got.U.data(), watch);
    double size = 1.0;
    for (const double one : wanted.sum) size = std::max(size, std::abs(one));
    for (std::size_t j = 0; j < got.sum.size(); ++j) {
      CHECK_NEAR(got.theta[j], wanted.theta[j], 1e-12 * size);
      CHECK_NEAR(got.sum[j], wanted.sum[j], 1e-12 * size);
    }
  }
}

THEOREM("scaled weights: folding changes neither the weights nor their sum") {
  Rng rng(4);
  Numbers V = uniforms(rng, 20, -1, 1), sum = uniforms(rng, 20, -1, 1);
  const Numbers V0 = V, sum0 = sum;
  ScaledWeights W{V.data(), sum.data(), 20};
  for (int t = 0; t < 10; ++t) {
    W.shrink(0.7);
    W.count();
  }
  const double a = W.a, A = W.A;
  CHECK_NEAR(a, std::pow(0.7, 10), 1e-16);
  W.fold();
  CHECK(W.a == 1.0 && W.A == 0.0);
  for (std::size_t j = 0; j < V.size(); ++j) {
    CHECK_NEAR(V[j], a * V0[j], 1e-16);
    CHECK_NEAR(sum[j], sum0[j] + A * V0[j], 1e-15);
  }
  W.shrink(0.0);  // folds by itself: 1 / 0 is nobody's scale
  CHECK(W.a == 1.0);
  for (const double each : V) CHECK(each == 0.0);
}

THEOREM("powers: r^m - 1 and 1 + ... + r^(m-1) to rounding, for any r") {
  for (const double q : {0.0, 1e-17, 1e-9, 1e-5, 0.01, 0.3, 0.5, 0.9, 1.0, 1.7}) {
    for (const Index m : {1, 2, 3, 50, 1000}) {
      long double power = 1, sum = 0;
      for (Index k = 0; k < m; ++k) {
        sum += power;
        power *= 1 - static_cast<long double>(q);
      }
      const Powers got = Powers::of(q, std::log1p(-q), m);
      // -q sum is power - 1 without its cancellation.
      const double less_one = double(-static_cast<long double>(q) * sum);
      CHECK_NEAR(got.less_one, less_one, 2e-14 * std::abs(less_one));
      CHECK_NEAR(got.sum, double(sum), 2e-14 * std::abs(double(sum)));
    }
  }
}

THEOREM("svrg: m idle steps in closed form are m steps, on either side of 0 and across it") {
  Rng rng(5);
  for (int trial = 0; trial < 400; ++trial) {
    const bool is_proximal = trial % 2 == 0;
    const double rate = uniform(rng, 0.01, 0.3);
    const StepPenalty penalty{trial % 3 == 0 ? 0.0 : uniform(rng, 0, 2),
                              is_proximal ? uniform(rng, 0, 1) : 0.0, is_proximal};
    const IdleColumn column(penalty, rate);
    const double drift = trial % 5 == 0 ? 0.0 : uniform(rng, -2, 2);
    const double begin = trial % 7 == 0 ? 0.0 : uniform(rng, -1, 1);
    double wanted = begin;
    for (Index m = 1; m <= 60; ++m) {
      wanted = penalty.step(wanted, rate, drift);
      const double got = column.after(penalty, begin, drift, m, Powers::of(column.q, column.log_r, m));
      CHECK_NEAR(got, wanted, 1e-12);
    }
  }
}

THEOREM("svrg: lazy epochs are eager ones under every penalty, anchored or plain, sparse and dense") {
  const StepPenalty penalties[] = {{0.0, 0.0, false}, {1.5, 0.0, false}, {0.0, 0.4, true}, {0.7, 0.3, true}};
  each_slopes([&](const Case& at, const RowSlopes& of) {
    Rng rng(6);
    Numbers rate = uniforms(rng, at.d + 1, 0.001, 0.004);
    const Numbers drift = uniforms(rng, Index(at.theta.size()), -1, 1);
    const Numbers anchor = uniforms(rng, at.n * at.K, -1, 1);
    for (const StepPenalty& penalty : penalties) {
      for (const Index size : {1, 4, 30}) {
        for (const bool is_anchored : {false, true}) {
          const StepPenalty none{0.0, 0.0, false};
          const SvrgSettings set{size, penalty, size == 4 ? penalty : none, at.has_intercept()};
          const double* moved = is_anchored ? drift.data() : nullptr;
          const double* met = is_anchored ? anchor.data() : nullptr;
          const Numbers wanted = eager_svrg(at, of, rate, moved, met, set);
          Numbers sparse = at.theta, dense = at.theta;
          svrg_epoch(of, at.X.csr(), at.s.data(), at.order, rate.data(), moved, met, set, sparse.data(),
                     watch);
          svrg_epoch(of, at.X.dense(), at.s.data(), at.order, rate.data(), moved, met, set, dense.data(),
                     watch);
          check_close(sparse, wanted, 1e-11);
          check_close(dense, wanted, 1e-11);
        }
      }
    }
  });
}

THEOREM("a watch that says stop ends an epoch after the present batch, with nothing left half done") {
  const Case at(4, 3, true);
  const SoftmaxSlopes of(at.code.data(), 3);
  const Numbers rate(std::size_t(at.d + 1), 0.002), eta(std::size_t(at.n), 0.01);
  for (const int n_rows : {0, 5, 13}) {
    const Index most = n_rows / 4 + 1;
    const auto after = [](int& left) { return Watch([&] { return left-- == 0; }, Watch::Wait::zero(), 0); };
    int left = n_rows, same = n_rows;
    Watch one = after(left), other = after(same);
    const SgdSettings plain{4, 2.0, 0.0, true};
    const Eager wanted = eager_sgd(at, of, eta, plain, most);
    Eager got{at.theta, Numbers(at.theta.size(), 0.25), Numbers(wanted.U.size())};
    sgd_epoch(of, at.X.csr(), at.s.data(), at.order, eta.data(), plain, got.theta.data(), got.sum.data(),
              got.U.data(), one);
    check_close(got.theta, wanted.theta, 1e-11);
    check_close(got.sum, wanted.sum, 1e-11);
    const StepPenalty l1{0.0, 0.4, true};
    const SvrgSettings reduced{4, l1, StepPenalty{0.0, 0.0, false}, true};
    Numbers theta = at.theta;
    svrg_epoch(of, at.X.csr(), at.s.data(), at.order, rate.data(), at.theta.data(), nullptr, reduced,
               theta.data(), other);
    check_close(theta, eager_svrg(at, of, rate, at.theta.data(), nullptr, reduced, most), 1e-11);
    CHECK(left == -1 && same == -1);
  }
}

THEOREM("a step that is far too long ends at infinity or NaN, not in a hang or a trap") {
  const Case at(7, 5, true);
  const SmoothedCrammerSingerSlopes of(at.code.data(), 5, 0.01);
  const Numbers rate(std::size_t(at.d + 1), 1e300);
  for (const StepPenalty& penalty : {StepPenalty{3.0, 0.0, false}, StepPenalty{0.0, 1.0, true}}) {
    Numbers theta = at.theta;
    svrg_epoch(of, at.X.csr(), at.s.data(), at.order, rate.data(), at.theta.data(), nullptr,
               SvrgSettings{4, penalty, penalty, true}, theta.data(), watch);
  }
  Numbers theta = at.theta, U(std::size_t(at.n * 5));
  const Numbers eta(std::size_t(at.n), 1e200);
  sgd_epoch(of, at.X.csr(), at.s.data(), at.order, eta.data(), SgdSettings{1, 0.0, 0.0, true}, theta.data(),
            nullptr, U.data(), watch);
  for (const double u : U) CHECK(!(std::abs(u) > 1.0));  // slopes stay in their domain, or are NaN
}
