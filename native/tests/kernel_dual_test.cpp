#include "lineal/epoch/kernel_dual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Sample;
using check::uniform;

namespace {

using kernel::GaussianProfile;
using kernel::LinearProfile;
using kernel::VectorSource;
using Numbers = std::vector<double>;
constexpr double inf = std::numeric_limits<double>::infinity();

std::vector<Index> all_rows(Index n) {
  std::vector<Index> rows;
  for (Index i = 0; i < n; ++i) rows.push_back(i);
  return rows;
}

// Two classes that overlap: c = y, boxes [0, C] and [-C, 0].
KernelDual::Variables classes(Rng& rng, const Sample<double>& X, double C) {
  KernelDual::Variables v;
  for (Index i = 0; i < X.n_rows; ++i) {
    const double y = X.at(i, 0) + uniform(rng, -1, 1) > 0 ? 1 : -1;
    v.place.push_back(i);
    v.group.push_back(0);
    v.c.push_back(y);
    v.lo.push_back(y > 0 ? 0 : -C);
    v.hi.push_back(y > 0 ? C : 0);
    v.beta.push_back(0);
  }
  return v;
}

// A tube of unknown width: two variables a row, in two groups whose sums are fixed.
KernelDual::Variables tube(const Sample<double>& X, double C, double share) {
  KernelDual::Variables v;
  for (int side = 0; side < 2; ++side) {
    double left = share * C * double(X.n_rows) / 2;
    for (Index i = 0; i < X.n_rows; ++i) {
      const double start = std::min(C, left);
      left -= start;
      v.place.push_back(i);
      v.group.push_back(side);
      v.c.push_back(std::sin(X.at(i, 0)));
      v.lo.push_back(side ? -C : 0);
      v.hi.push_back(side ? 0 : C);
      v.beta.push_back(side ? -start : start);
    }
  }
  return v;
}

double gaussian(const Sample<double>& X, Index i, Index k, double gamma) {
  double apart = 0;
  for (Index j = 0; j < X.n_columns; ++j) apart += std::pow(X.at(i, j) - X.at(k, j), 2);
  return std::exp(-gamma * apart);
}

// The truth in double: F by variable, D, and the gap at given thresholds.
struct Truth {
  Numbers F;
  double dual = 0, gap = 0;
};
Truth truth(const Sample<double>& X, const KernelDual::Variables& v, const Numbers& beta, const Numbers& b,
            double gamma) {
  Truth told;
  for (std::size_t p = 0; p < beta.size(); ++p) {
    double f = 0;
    for (std::size_t q = 0; q < beta.size(); ++q) f += beta[q] * gaussian(X, v.place[p], v.place[q], gamma);
    told.F.push_back(f);
    told.dual += beta[p] * (v.c[p] - 0.5 * f);
    const double ahead = b[std::size_t(v.group[p])] - (v.c[p] - f);
    if (beta[p] > v.lo[p]) told.gap += (beta[p] - v.lo[p]) * std::max(ahead, 0.0);
    if (beta[p] < v.hi[p]) told.gap += (v.hi[p] - beta[p]) * std::max(-ahead, 0.0);
  }
  return told;
}

void check_feasible(const KernelDual::Variables& v, const Numbers& beta) {
  Numbers sum(2), wanted(2);
  for (std::size_t p = 0; p < beta.size(); ++p) {
    CHECK(v.lo[p] <= beta[p] && beta[p] <= v.hi[p]);
    sum[std::size_t(v.group[p])] += beta[p];
    wanted[std::size_t(v.group[p])] += v.beta[p];
  }
  for (int g = 0; g < 2; ++g) CHECK_NEAR(sum[std::size_t(g)], wanted[std::size_t(g)], 1e-11);
}

// Steps until the gap is proved, as the driver makes them.
KernelDual::Gap solve(KernelDual& machine, double tol, int n_threads, int max_steps = 300) {
  machine.refresh(n_threads);
  for (int k = 0; k < max_steps; ++k) {
    machine.step(0.1, 20000, n_threads);
    machine.correct(n_threads);
    const auto gap = machine.gap();
    if (gap.gap <= tol * std::abs(gap.dual + gap.gap)) return gap;
    if (k % 8 == 7) machine.refresh(n_threads);
  }
  return machine.gap();
}

}  // namespace

THEOREM("two points on a line: the machine of the textbook, by hand") {
  const std::vector<double> full{-1.0, 3.0};  // the margin is 4 wide: w = 1/2, b = -1/2, alpha = 1/8
  const Dense<double> X{2, 1, full.data()};
  const VectorSource<LinearProfile> source(X, {}, {});
  KernelDual::Variables v{{0, 1}, {0, 0}, {-1, 1}, {-10, 0}, {0, 10}, {0, 0}};
  KernelDual machine(source, {0, 1}, v, 1, 16);
  const auto found = solve(machine, 1e-9, 1);
  CHECK_NEAR(machine.beta()[0], -0.125, 1e-7);
  CHECK_NEAR(machine.beta()[1], 0.125, 1e-7);
  CHECK_NEAR(found.b[0], -0.5, 1e-6);
  CHECK_NEAR(found.dual, 0.125, 1e-9);
}

THEOREM("classes: the gap that is proved is there, the optimum is reached, sums and boxes are kept") {
  Rng rng(1);
  const double gamma = 0.5;
  for (const Index n : {20, 70})
    for (const double C : {0.1, 1.0, 100.0})
      for (const Index block : {16, 1000}) {
        const auto X = check::sample_matrix<double>(rng, n, 3, 1.0);
        const auto v = classes(rng, X, C);
        const VectorSource<GaussianProfile> source(X.dense(), GaussianProfile{gamma}, {});
        KernelDual machine(source, all_rows(n), v, 1, block);
        const auto found = solve(machine, 1e-6, 1);
        check_feasible(v, machine.beta());
        const Truth told = truth(X, v, machine.beta(), found.b, gamma);
        CHECK(told.gap <= found.gap + 1e-12);
        CHECK(told.gap <= 1e-6 * std::abs(told.dual + told.gap) + 1e-12);
        CHECK_NEAR(found.dual, told.dual, 1e-5 * (1 + std::abs(told.dual)));
        CHECK_NEAR(machine.exact_dual(1), told.dual, 1e-12 * (1 + std::abs(told.dual)));
        CHECK(machine.exact_dual(3) == machine.exact_dual(1));
      }
}

THEOREM("whatever step one stops at, the doubting gap is no less than the true one, and D never falls") {
  Rng rng(2);
  const double gamma = 0.3;
  const auto X = check::sample_matrix<double>(rng, 90, 4, 0.7);
  const auto v = classes(rng, X, 30.0);
  for (const bool is_sparse : {false, true}) {
    const VectorSource<GaussianProfile> dense(X.dense(), GaussianProfile{gamma}, {});
    const VectorSource<GaussianProfile> sparse(X.csr(), GaussianProfile{gamma}, {});
    KernelDual machine(is_sparse ? sparse : dense, all_rows(90), v, 1, 24);
    double before = 0;
    for (int k = 0; k < 25; ++k) {
      machine.step(0.1, 50, 1);
      if (k % 3 == 2) machine.correct(1);
      for (const double shift : {-0.3, 0.0, 0.2}) {
        auto b = machine.gap().b;
        b[0] += shift;
        const Truth told = truth(X, v, machine.beta(), b, gamma);
        CHECK(machine.gap_at(b, true).gap >= told.gap * (1 - 1e-12));
        if (shift == 0.0) {
          CHECK(told.dual >= before - 1e-4);
          before = told.dual;
          for (std::size_t p = 0; p < v.c.size(); ++p) CHECK_NEAR(machine.F()[p], told.F[p], 1e-3);
        }
      }
    }
  }
}

THEOREM("the thresholds of gap() are the best: no others have a smaller gap") {
  Rng rng(3);
  const auto X = check::sample_matrix<double>(rng, 40, 2, 1.0);
  const auto v = tube(X, 2.0, 0.4);
  const VectorSource<GaussianProfile> source(X.dense(), GaussianProfile{1.0}, {});
  KernelDual machine(source, all_rows(40), v, 2, 1000);
  machine.refresh(1);
  for (int k = 0; k < 6; ++k) {
    const auto best = machine.gap();
    for (int t = 0; t < 50; ++t) {
      auto b = best.b;
      for (double& each : b) each += uniform(rng, -0.5, 0.5) * std::pow(10.0, -double(t % 6));
      CHECK(machine.gap_at(b, false).gap >= machine.gap_at(best.b, false).gap * (1 - 1e-9) - 1e-12);
    }
    machine.step(0.3, 5, 1);
  }
}

THEOREM("two groups: each keeps its sum, and both reach the optimum") {
  Rng rng(4);
  const double gamma = 1.0;
  for (const Index block : {64, 1000}) {  // a block must hold the free variables with room to spare
    const auto X = check::sample_matrix<double>(rng, 45, 2, 1.0);
    const auto v = tube(X, 3.0, 0.3);
    const VectorSource<GaussianProfile> source(X.dense(), GaussianProfile{gamma}, {});
    KernelDual machine(source, all_rows(45), v, 2, block);
    const auto found = solve(machine, 1e-6, 1);
    check_feasible(v, machine.beta());
    const Truth told = truth(X, v, machine.beta(), found.b, gamma);
    CHECK(told.gap <= found.gap + 1e-12);
    CHECK(found.gap <= 1e-6 * std::abs(found.dual + found.gap));
    CHECK(found.b[0] >= found.b[1] - 1e-6);  // b + epsilon and b - epsilon
  }
}

THEOREM("a block that grows past all variables goes on from where it was") {
  Rng rng(5);
  const double gamma = 0.5;
  const auto X = check::sample_matrix<double>(rng, 60, 3, 1.0);
  const auto v = classes(rng, X, 10.0);
  const VectorSource<GaussianProfile> source(X.dense(), GaussianProfile{gamma}, {});
  KernelDual machine(source, all_rows(60), v, 1, 16);
  for (int k = 0; k < 3; ++k) machine.step(0.1, 100, 1);
  for (const Index size : {32, 64, 128}) {
    machine.set_block_size(size);
    machine.step(0.1, 1000, 1);
    const Truth told = truth(X, v, machine.beta(), {0.0}, gamma);
    for (std::size_t p = 0; p < v.c.size(); ++p) CHECK_NEAR(machine.F()[p], told.F[p], 1e-3);
  }
}

THEOREM("variables on one row share it: equal rows of two classes, and merged copies") {
  Rng rng(6);
  const auto X = check::sample_matrix<double>(rng, 12, 2, 1.0);
  KernelDual::Variables v;
  for (Index i = 0; i < 24; ++i) {  // every row in both classes
    const double y = i < 12 ? 1 : -1;
    v.place.push_back(i % 12);
    v.group.push_back(0);
    v.c.push_back(y);
    v.lo.push_back(y > 0 ? 0 : -2);
    v.hi.push_back(y > 0 ? 2 : 0);
    v.beta.push_back(0);
  }
  const VectorSource<GaussianProfile> source(X.dense(), GaussianProfile{1.0}, {});
  KernelDual machine(source, all_rows(12), v, 1, 16);
  const auto found = solve(machine, 1e-7, 1);
  // f = 0 is best: every coefficient at its bound, and D = the sum of bounds.
  CHECK_NEAR(found.dual, 48.0, 1e-4);
}

THEOREM("a path: scaled bounds and coefficients are the problem of another C, F included") {
  Rng rng(7);
  const double gamma = 0.5;
  const auto X = check::sample_matrix<double>(rng, 40, 3, 1.0);
  auto v = classes(rng, X, 1.0);
  const VectorSource<GaussianProfile> source(X.dense(), GaussianProfile{gamma}, {});
  KernelDual machine(source, all_rows(40), v, 1, 16);
  solve(machine, 1e-5, 1);
  machine.scale(3.0);
  for (auto* each : {&v.lo, &v.hi})
    for (double& number : *each) number *= 3.0;
  check_feasible(v, machine.beta());
  const Truth told = truth(X, v, machine.beta(), {0.0}, gamma);
  for (std::size_t p = 0; p < v.c.size(); ++p) CHECK_NEAR(machine.F()[p], told.F[p], 1e-4);
  CHECK(machine.gap_at({0.0}, true).gap >= told.gap * (1 - 1e-12));
}

THEOREM("threads change no bit of coefficients, F, gaps and thresholds") {
  Rng rng(8);
  const auto X = check::sample_matrix<double>(rng, 500, 6, 0.6);
  const auto v = classes(rng, X, 5.0);
  const VectorSource<GaussianProfile> dense(X.dense(), GaussianProfile{0.4}, {});
  const VectorSource<GaussianProfile> sparse(X.csr(), GaussianProfile{0.4}, {});
  for (const bool is_sparse : {false, true}) {
    Numbers beta, F;
    double gap = 0, b = 0;
    for (const int n_threads : {1, 2, 3, 4}) {
      KernelDual machine(is_sparse ? sparse : dense, all_rows(500), v, 1, 192);
      const auto found = solve(machine, 1e-3, n_threads, 12);
      if (n_threads == 1) {
        beta = machine.beta();
        F = machine.F();
        gap = found.gap;
        b = found.b[0];
      }
      CHECK(check::same_bits(machine.beta(), beta));
      CHECK(check::same_bits(machine.F(), F));
      CHECK(found.gap == gap && found.b[0] == b);
    }
  }
}

THEOREM("infinite bounds: a hard margin is approached, and the gap is infinite as long as slack is left") {
  const std::vector<double> full{-1.0, -2.0, 1.0, 4.0};
  const Dense<double> X{4, 1, full.data()};
  const VectorSource<LinearProfile> source(X, {}, {});
  KernelDual::Variables v{{0, 1, 2, 3},       {0, 0, 0, 0},     {-1, -1, 1, 1},
                          {-inf, -inf, 0, 0}, {0, 0, inf, inf}, {0, 0, 0, 0}};
  KernelDual machine(source, all_rows(4), v, 1, 16);
  CHECK(machine.gap().gap == inf);
  solve(machine, 1e-9, 1, 20);
  CHECK_NEAR(machine.beta()[0], -0.5, 1e-6);
  CHECK_NEAR(machine.beta()[2], 0.5, 1e-6);
  CHECK_NEAR(machine.beta()[1], 0.0, 1e-6);
}

THEOREM("values that are no numbers are no proof: the gap is then infinite, not 0") {
  const std::vector<double> full{-1e30, 1e30, 2e30, -3e30};  // products are beyond float
  const Dense<double> X{4, 1, full.data()};
  const VectorSource<LinearProfile> source(X, {}, {});
  KernelDual::Variables v{{0, 1, 2, 3},   {0, 0, 0, 0}, {-1, 1, 1, -1},
                          {-1, 0, 0, -1}, {0, 1, 1, 0}, {-0.5, 0.5, 0.5, -0.5}};
  KernelDual machine(source, all_rows(4), v, 1, 16);
  machine.refresh_fast(1);
  CHECK(!std::isfinite(machine.F()[0]));
  CHECK(machine.gap().gap == inf);
  for (int k = 0; k < 3; ++k) machine.step(0.1, 100, 1);
  CHECK(machine.gap().gap == inf);
}

THEOREM("rows of kernel values are kept within bounds: machines that move more of them are solved as well") {
  Rng rng(21);
  const Index n = 2300, block = 1024;  // room for 1823 rows
  const auto X = check::sample_matrix<double>(rng, n, 2, 1.0);
  KernelDual::Variables v = classes(rng, X, 0.01);  // nearly all coefficients reach their bounds
  const VectorSource<GaussianProfile> source(X.dense(), {30.0}, {});
  KernelDual machine(source, all_rows(n), v, 1, block);
  const auto found = solve(machine, 1e-4, 2);
  CHECK(machine.n_free() < n);
  const Truth told = truth(X, v, machine.beta(), found.b, 30.0);
  CHECK(std::count_if(machine.beta().begin(), machine.beta().end(), [](double b) { return b != 0; }) > 1823);
  CHECK(found.gap <= 1e-4 * std::abs(found.dual + found.gap));
  CHECK(told.gap <= found.gap + 1e-9 * std::abs(told.dual));
  check_feasible(v, machine.beta());
}

THEOREM("what stands without kernel values is true wherever one stops, and no narrower than the proof") {
  Rng rng(24);
  const double gamma = 0.3;
  for (const bool is_tube : {false, true})
    for (const Index block : {16, 40, 1000}) {  // rows of values computed, and all of them held
      const auto X = check::sample_matrix<double>(rng, 90, 4, 1.0);
      const auto v = is_tube ? tube(X, 2.0, 0.3) : classes(rng, X, 30.0);
      const VectorSource<GaussianProfile> source(X.dense(), GaussianProfile{gamma}, {});
      KernelDual best(source, all_rows(90), v, is_tube ? 2 : 1, 1000);
      const auto found = solve(best, 1e-7, 1);
      const double optimum = best.exact_dual(1) + found.gap;  // at most this
      KernelDual machine(source, all_rows(90), v, is_tube ? 2 : 1, block);
      machine.refresh(1);
      for (int k = 0; k < 40; ++k) {
        if (k % 7 == 6) machine.correct(1);
        if (k % 11 == 10) machine.refresh(1);
        const auto sure = machine.stand();
        const auto there = machine.gap();
        const Truth told = truth(X, v, machine.beta(), there.b, gamma);
        const double rounding = 1e-12 * (1 + std::abs(told.dual));
        CHECK(sure.low <= optimum + rounding);
        CHECK(sure.high >= machine.exact_dual(1) - rounding);
        CHECK(sure.high >= told.dual - rounding);
        CHECK(sure.high + there.gap >= told.dual + told.gap - rounding);  // P
        CHECK(sure.high + there.gap >= best.exact_dual(1) - rounding);
        if (is_tube) CHECK(sure.low <= told.dual + rounding);  // multiples have other sums
        if (!is_tube) CHECK(sure.low >= 0);
        if (k % 11 == 10) CHECK(sure.low >= told.dual - 1e-9 * (1 + std::abs(told.dual)));
        for (const std::size_t p : {0, 17, 60})
          CHECK(std::abs(machine.F()[std::size_t(v.place[p])] - told.F[p]) <= machine.doubt() + rounding);
        machine.step(0.1, 200, 1);
      }
      // Another machine takes over what is known of F, and a factor of coefficients where 0 is feasible.
      const double doubt = machine.doubt();
      auto there = v;
      there.beta = machine.beta();
      KernelDual heir(source, all_rows(90), there, is_tube ? 2 : 1, block);
      heir.assume(machine.F(), doubt);
      CHECK(heir.doubt() >= doubt && heir.F() == machine.F());
      CHECK(heir.stand().low <= machine.stand().low + 1e-12);
      if (is_tube) continue;
      heir.shrink(0.5);
      const auto sure = heir.stand();
      const auto gap = heir.gap();
      const Truth told = truth(X, v, heir.beta(), gap.b, gamma);
      CHECK(sure.low <= optimum && sure.high >= told.dual);
      CHECK(sure.high + gap.gap >= told.dual + told.gap);
      heir.shrink(2);
      CHECK(heir.beta() == machine.beta() && heir.F() == machine.F());
      heir.shrink(64);  // far beyond what is best: worse than 0
      const double before = heir.likely_primal();
      CHECK(heir.retreat() && heir.likely_primal() < before && !heir.retreat());
      KernelDual nothing(source, all_rows(90), v, 1, block);
      CHECK(heir.likely_primal() <= nothing.likely_primal());
      CHECK(!nothing.retreat());
    }
}

THEOREM("a machine that is told to stop anywhere in a block is as it was before it, and goes on from there") {
  for (const Index n : {2100, 1500}) {  // rows of values are too long to be kept, and are kept
    Rng rng(22);
    const Index block = n == 2100 ? 2048 : 1024;
    const auto X = check::sample_matrix<double>(rng, n, 2, 1.0);
    const KernelDual::Variables v = classes(rng, X, 1.0);
    const VectorSource<GaussianProfile> source(X.dense(), {30.0}, {});
    KernelDual machine(source, all_rows(n), v, 1, block), twin(source, all_rows(n), v, 1, block);
    // Says stop at the last of so many looks.
    int n_looks = 0;
    const auto watch = [&](int last) {
      n_looks = 0;
      return Watch([&n_looks, last] { return ++n_looks == last; }, Watch::Wait(0), 1);
    };
    machine.step(0.1, 60, 1);
    Watch patient = watch(-1);
    twin.step(0.1, 60, 1, &patient);
    CHECK(machine.beta() == twin.beta() && machine.F() == twin.F());
    const Numbers beta = machine.beta(), F = machine.F();
    const double doubt = machine.doubt();
    patient = watch(-1);
    twin.step(0.1, 60, 1, &patient);
    const int whole = n_looks;
    CHECK(whole > 20);
    for (const int last : {1, whole / 4, whole / 2, whole - 1, whole}) {
      Watch hasty = watch(last);
      CHECK(machine.step(0.1, 60, 1, &hasty).n_changed == 0);
      CHECK(hasty.is_over() && n_looks == last);
      CHECK(machine.beta() == beta && machine.F() == F && machine.doubt() == doubt);
    }
    for (int k = 0; k < 2; ++k) {
      Watch hasty = watch(1);
      k ? machine.refresh(1, &hasty) : void(machine.correct(1, &hasty));
      CHECK(hasty.is_over());
      CHECK(machine.beta() == beta && machine.F() == F && machine.doubt() == doubt);
    }
    Watch hasty = watch(1);
    CHECK(std::isnan(machine.exact_dual(1, &hasty)));
    machine.refresh(1);
    CHECK(machine.doubt() < doubt);
  }
}
