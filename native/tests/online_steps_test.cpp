#include "lineal/epoch/online_steps.h"

#include <limits>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::uniform;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

double any_size(Rng& rng) { return std::exp(uniform(rng, std::log(1e-6), std::log(1e6))); }

// Rows of three or more classes that all are known from the start, with scores of all sizes.
struct JointCase {
  Index n;
  std::int32_t y;
  double q, s;
  Numbers z;
  std::vector<std::int64_t> from;
  std::vector<std::int32_t> order;

  explicit JointCase(Rng& rng)
      : n(3 + Index(rng.below(6))),
        y(std::int32_t(rng.below(std::uint64_t(n)))),
        q(any_size(rng)),
        s(uniform(rng, 0.1, 3.0)) {
    const double size = any_size(rng);
    z = uniforms(rng, n, -size, size);
    from.assign(std::size_t(n), -1);
    for (std::int32_t k = 0; k < n; ++k) order.push_back(k);
  }
  ArrivingClasses classes() const { return {&y, from, order}; }
  // The slopes of a unit of weight at the row's class and the others, and the scores they arrive at.
  template <class Loss>
  void step(const Loss& loss, Joint joint, Numbers& u, Numbers& bend, Numbers& arrived) const {
    ClassSteps<Loss> steps(loss, joint, classes());
    u.resize(z.size());
    bend.resize(z.size());
    arrived = z;
    steps.step(0, n, z.data(), &q, s, OnlineTally{}, u.data(), bend.data());
    for (std::size_t k = 0; k < z.size(); ++k) {
      arrived[k] -= q * u[k];
      u[k] /= s;
    }
  }
};

}  // namespace

THEOREM("a step's slope is one of the loss where the step arrives: u = loss'(z - q u), for every loss") {
  Rng rng(1);
  check::each_loss([&](const char*, const auto& loss, const check::Domain& domain) {
    for (int round = 0; round < 300; ++round) {
      const double y = domain.is_margin ? (rng.below(2) ? 1.0 : -1.0) : uniform(rng, -3, 3);
      const double q = any_size(rng), size = any_size(rng), z = uniform(rng, -size, size);
      const double u = implicit_slope(loss, y, z, q), at = z - q * u;
      // At a kink the slope is between those on both sides.
      const double near = 1e-12 * (1.0 + std::abs(z) + q * std::abs(u));
      const double low = loss.derivative(y, at - near), high = loss.derivative(y, at + near);
      CHECK(u >= low - 1e-12 * (1.0 + std::abs(low)) && u <= high + 1e-12 * (1.0 + std::abs(high)));
      CHECK(domain.contains(y, u));
      CHECK(implicit_slope(loss, y, z, 0.0) == loss.derivative(y, z));
    }
    // Where nothing is to be gained, nothing moves, however long the row is.
    const double still = domain.is_margin ? 100.0 : 1.0;
    CHECK(std::abs(implicit_slope(loss, 1.0, still, 1e6)) < 1e-6);
  });
}

THEOREM("softmax: u + e_y are the probabilities of the scores that the step arrives at") {
  Rng rng(2);
  for (int round = 0; round < 300; ++round) {
    const JointCase c(rng);
    Numbers u, bend, arrived;
    c.step(Log{}, Joint::softmax, u, bend, arrived);
    const double highest = *std::max_element(arrived.begin(), arrived.end());
    double sum = 0, squares = 0;
    for (const double z : arrived) sum += std::exp(z - highest);
    for (std::size_t k = 0; k < u.size(); ++k) {
      const double p = u[k] + (Index(k) == c.y), wanted = std::exp(arrived[k] - highest) / sum;
      // Scores of size t are rounded by t eps, which the exponential passes on.
      CHECK_NEAR(p, wanted, 1e-7 + 1e-14 * (c.s * c.q + std::abs(highest)));
      squares += p * p;
    }
    const double own = u[std::size_t(c.y)] + 1.0;
    CHECK_NEAR(bend[0], c.s * own * (1.0 - own), 1e-12);
    CHECK_NEAR(bend[1], c.s * 2.0 * (1.0 - squares) / double(c.n), 1e-12);
  }
}

THEOREM(
    "Crammer-Singer: u + e_y weigh the classes of the highest z + 1 (their own: z) where the step arrives") {
  Rng rng(3);
  int n_still = 0;
  for (int round = 0; round < 300; ++round) {
    const JointCase c(rng);
    Numbers u, bend, arrived;
    c.step(Hinge{}, Joint::crammer_singer, u, bend, arrived);
    double sum = 0, highest = -HUGE_VAL, size = 1.0;
    for (std::size_t k = 0; k < u.size(); ++k) {
      arrived[k] += Index(k) != c.y;
      highest = std::max(highest, arrived[k]);
      size = std::max(size, std::abs(c.z[k]));
    }
    for (std::size_t k = 0; k < u.size(); ++k) {
      const double p = u[k] + (Index(k) == c.y);
      CHECK(p >= 0.0);
      sum += p;
      if (p > 1e-9) CHECK_NEAR(arrived[k], highest, 1e-10 * (size + c.q * c.s));
    }
    CHECK_NEAR(sum, 1.0, 1e-9);
    const bool is_still = u[std::size_t(c.y)] == 0.0;
    n_still += is_still;
    CHECK(bend[0] == (is_still ? 0.0 : c.s) && bend[1] == (is_still ? 0.0 : c.s * (2.0 / double(c.n))));
  }
  CHECK(n_still > 0 && n_still < 300);
}

THEOREM("a row of weight s has s times the loss: u = s loss'(z - q u), and s times the curvature") {
  Rng rng(4);
  for (int round = 0; round < 100; ++round) {
    const double q = any_size(rng), s = any_size(rng), y = uniform(rng, -3, 3), z = uniform(rng, -5, 5);
    double u, bend;
    OnlineTally tally{};
    NumberSteps<Squared> number(Squared{}, &y, 1);
    CHECK(number.judge(0, 1, &z, s, tally));
    number.step(0, 1, &z, &q, s, tally, &u, &bend);
    CHECK_NEAR(u, s * (z - q * u - y), 1e-12 * (std::abs(u) + s));
    CHECK(number.unit(tally) == 1.0 && bend == s);

    const std::int32_t code = std::int32_t(rng.below(2)), order[] = {0, 1};
    const std::int64_t from[] = {-1, -1};
    ClassSteps<Log> of_class(Log{}, Joint::none, {&code, from, order});
    of_class.step(0, 1, &z, &q, s, tally, &u, &bend);
    const double sign = code == 0 ? 1.0 : -1.0, slope = Log{}.derivative(sign, z - q * u);
    CHECK_NEAR(u, s * slope, 1e-9 * s);
    CHECK_NEAR(bend, s * Log{}.second_derivative(sign, z - q * u), 1e-9 * s);
  }
}

THEOREM("the unit of a regression loss is mean slope over mean distance: it divides by the targets' unit") {
  Rng rng(5);
  const Numbers y = uniforms(rng, 40, -5, 5), z = uniforms(rng, 40, -5, 5);
  double unit[2];
  for (const bool is_cents : {false, true}) {
    const double by = is_cents ? 128.0 : 1.0;
    Numbers scaled(y);
    for (double& each : scaled) each *= by;
    NumberSteps<EpsilonInsensitive> steps(EpsilonInsensitive{0.25 * by}, scaled.data(), 2);
    OnlineTally tally{};
    CHECK(steps.unit(tally) == 0.0);
    double slope = 0, distance = 0;
    for (Index i = 0; i < 20; ++i) {
      double at[] = {z[std::size_t(2 * i)] * by, z[std::size_t(2 * i + 1)] * by};
      CHECK(steps.judge(i, 2, at, 1.5, tally));
      for (Index k = 0; k < 2; ++k) {
        const double error = std::abs(at[k] - scaled[std::size_t(2 * i + k)]);
        slope += error > 0.25 * by ? 1.5 : 0.0;
        distance += 1.5 * error;
      }
    }
    CHECK_NEAR(tally.slope, slope, 1e-12);
    CHECK_NEAR(tally.distance, distance, 1e-12 * distance);
    unit[is_cents] = steps.unit(tally);
  }
  CHECK(unit[0] == 128.0 * unit[1] && unit[0] > 0.0);
}

THEOREM("classes are known from their row on; ties go to the second of two in order, to the first of more") {
  // Arrival: "b", "a", then "c" at row 3; in order they are a (1), b (0), c (2).
  const std::int32_t code[] = {0, 1, 0, 2, 1}, order[] = {1, 0, 2};
  const std::int64_t from[] = {0, 1, 3};
  const ArrivingClasses classes{code, from, order};
  const Index known[] = {1, 2, 2, 3, 3}, scores[] = {1, 1, 1, 3, 3};
  const bool is_new[] = {true, true, false, true, false};
  const ClassSteps<Hinge> steps(Hinge{}, Joint::none, classes);
  for (Index i = 0; i < 5; ++i) {
    CHECK(classes.n_known(i) == known[i] && steps.n_scores(i) == scores[i]);
    CHECK(classes.is_new(i) == is_new[i]);
  }
  const auto one = [&](Index i, double z) { return classes.predicted(i, 1, &z); };
  CHECK(one(0, -5.0) == 0);
  CHECK(one(2, 0.5) == 0 && one(2, -0.5) == 1 && one(2, 0.0) == 0);  // b comes behind a
  const double ties[][3] = {{0, 0, 0}, {1, 0, 1}, {1, 1, 0}, {0, 1, 2}};
  const Index first[] = {1, 0, 1, 2};
  for (int tie = 0; tie < 4; ++tie) CHECK(classes.predicted(4, 3, ties[tie]) == first[tie]);
}

THEOREM("judging adds a row's own loss and whether it was foretold; of a new class it never was") {
  const std::int32_t code[] = {0, 1, 2, 2}, order[] = {0, 1, 2};
  const std::int64_t from[] = {-1, -1, 2};
  const ArrivingClasses classes{code, from, order};
  const double z[] = {1.0, -2.0, 3.0};
  for (const Joint joint : {Joint::none, Joint::softmax, Joint::crammer_singer}) {
    ClassSteps<Hinge> steps(Hinge{}, joint, classes);
    OnlineTally tally{};
    CHECK(steps.judge(2, 3, z, 2.0, tally) && tally.right == 0.0);  // the highest, but new
    const double rivals = std::log(std::exp(-2.0) + std::exp(-5.0) + 1.0);
    const double wanted = joint == Joint::none ? 2.0 : joint == Joint::softmax ? rivals : 0.0;
    CHECK_NEAR(tally.loss, 2.0 * wanted, 1e-14);
    CHECK(steps.judge(3, 3, z, 2.0, tally) && tally.right == 2.0);
    CHECK_NEAR(tally.loss, 4.0 * wanted, 1e-14);
  }
  // An infinite loss is no loss: nothing is added.
  const double huge[] = {1e308, -1e308, 0.0};
  ClassSteps<SquaredHinge> steps(SquaredHinge{}, Joint::none, classes);
  OnlineTally tally{};
  CHECK(!steps.judge(3, 3, huge, 1.0, tally) && tally.loss == 0.0 && tally.right == 0.0);
  const double y = 1e200, far = -1e200;
  NumberSteps<Squared> number(Squared{}, &y, 1);
  CHECK(!number.judge(0, 1, &far, 1.0, tally) && tally.loss == 0.0 && tally.slope == 0.0);
}
