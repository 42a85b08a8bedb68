#include "lineal/epoch/joint_online.h"

#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Sample;

namespace {

using Numbers = std::vector<double>;

// Rows of whole numbers for n examples and K labels, so that sums are exact and ties are ties.
struct Case {
  Index n = 20, d = 9, K;
  Sample<double> Phi;
  std::vector<std::int32_t> code;
  std::vector<std::int64_t> order;

  Case(std::uint64_t seed, Index labels) : K(labels) {
    Rng rng(seed);
    Phi = check::whole_matrix(rng, n * K, d, 0.4);
    for (Index i = 0; i < n; ++i) code.push_back(std::int32_t(rng.below(std::uint64_t(K))));
    for (Index round = 0; round < 3 * n; ++round) order.push_back(Index(rng.below(std::uint64_t(n))));
  }
};

struct Outcome {
  Numbers theta, late;
  std::int64_t seen = 0, missed = 0;
  double suffered = 0.0;
};

template <class Step>
Outcome run(const Case& c, const Step& step, bool is_new, Watch& watch) {
  Outcome out;
  out.theta.assign(std::size_t(c.d), 0.0);
  out.late = out.theta;
  const JointState state{out.theta.data(), out.late.data(), &out.seen, &out.missed, &out.suffered};
  joint_pass(c.Phi.csr(), c.K, c.code.data(), c.order, is_new, step, state, watch);
  return out;
}

struct Literal {
  Numbers theta, sum;
  std::int64_t missed = 0;
  double suffered = 0.0;
};

// The algorithms with nothing clever; `size` says how far to go by (is a mistake, loss, |difference|^2).
template <class Size>
Literal literal(const Case& c, bool is_new, std::size_t n_examples, Size&& size) {
  Literal out{Numbers(std::size_t(c.d), 0.0), Numbers(std::size_t(c.d), 0.0)};
  for (std::size_t at = 0; at < n_examples; ++at) {
    const Index i = c.order[at], wanted = c.code[std::size_t(i)];
    Index predicted = -1, rival = -1;
    const auto score = [&](Index k) { return c.Phi.dot(i * c.K + k, out.theta.data()); };
    for (Index k = 0; k < c.K; ++k) {
      if (predicted < 0 || score(k) > score(predicted)) predicted = k;
      if (k != wanted && (rival < 0 || score(k) > score(rival))) rival = k;
    }
    const bool is_mistake = is_new || predicted != wanted;
    const double loss = std::max(0.0, 1.0 - (score(wanted) - score(rival)));
    Numbers difference;
    double squared = 0.0;
    for (Index j = 0; j < c.d; ++j) {
      difference.push_back(c.Phi.at(i * c.K + wanted, j) - c.Phi.at(i * c.K + rival, j));
      squared += difference.back() * difference.back();
    }
    const double amount = size(is_mistake, loss, squared);
    for (Index j = 0; j < c.d; ++j) out.theta[std::size_t(j)] += amount * difference[std::size_t(j)];
    for (std::size_t j = 0; j < out.sum.size(); ++j) out.sum[j] += out.theta[j];
    out.missed += is_mistake;
    out.suffered += loss;
  }
  return out;
}

template <class F>
void each_case(F&& f) {
  for (const Index labels : {2, 3, 6})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) f(Case(seed, labels));
}

bool near(const Numbers& a, const Numbers& b) {
  for (std::size_t j = 0; j < a.size(); ++j)
    if (std::abs(a[j] - b[j]) > 1e-9 * (1.0 + std::abs(b[j]))) return false;
  return a.size() == b.size();
}

}  // namespace

THEOREM("a joint perceptron is the printed algorithm, bit for bit on whole numbers, averages included") {
  each_case([](const Case& c) {
    for (const bool is_new : {false, true}) {
      Watch watch;
      const Outcome got = run(c, MistakeStep{1.0}, is_new, watch);
      const Literal wanted = literal(c, is_new, c.order.size(),
                                     [](bool is_mistake, double, double) { return is_mistake ? 1.0 : 0.0; });
      CHECK(got.theta == wanted.theta);
      CHECK(got.missed == wanted.missed);
      CHECK(got.seen == Index(c.order.size()));
      for (std::size_t j = 0; j < got.theta.size(); ++j)
        CHECK(double(got.seen) * got.theta[j] - got.late[j] == wanted.sum[j]);
    }
  });
}

THEOREM("a joint passive-aggressive pass has the published steps against the highest wrong label") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  each_case([](const Case& c) {
    for (const PassiveAggressiveStep step :
         {PassiveAggressiveStep{inf, 0.0}, PassiveAggressiveStep{0.01, 0.0},
          PassiveAggressiveStep{inf, 5.0}}) {
      Watch watch;
      const Outcome got = run(c, step, false, watch);
      const Literal wanted = literal(c, false, c.order.size(), [&](bool, double loss, double squared) {
        return squared > 0.0 ? std::min(step.most, loss / (squared + step.softness)) : 0.0;
      });
      CHECK(near(got.theta, wanted.theta));
      CHECK(got.missed == wanted.missed);
      CHECK(std::abs(got.suffered - wanted.suffered) <= 1e-9 * wanted.suffered);
      Numbers sum;
      for (std::size_t j = 0; j < got.theta.size(); ++j)
        sum.push_back(double(got.seen) * got.theta[j] - got.late[j]);
      CHECK(near(sum, wanted.sum));
    }
  });
}

THEOREM("features that two labels share alike do not move, whatever their weights") {
  const Index start[] = {0, 2, 4};
  const std::int32_t index[] = {0, 1, 0, 2};
  const double value[] = {0.1, 1.0, 0.1, 1.0};
  const Csr<double> Phi{2, 3, start, index, value};
  const std::int32_t code[] = {1};
  const std::int64_t order[] = {0};
  Numbers theta{1e17, 0.0, 0.0}, late(3, 0.0);
  std::int64_t seen = 0, missed = 0;
  double suffered = 0.0;
  Watch watch;
  joint_pass(Phi, 2, code, order, false, MistakeStep{1.0},
             JointState{theta.data(), late.data(), &seen, &missed, &suffered}, watch);
  CHECK((theta == Numbers{1e17, -1.0, 1.0}));
  CHECK(missed == 1);
}

THEOREM("labels whose features are the same, or all but the same, cannot be told apart and change nothing") {
  for (const double small : {0.0, 1e-200}) {
    const Index start[] = {0, 1, 2};
    const std::int32_t index[] = {0, 0};
    const double value[] = {small, 2.0 * small};
    const Csr<double> Phi{2, 1, start, index, value};
    const std::int32_t code[] = {1};
    const std::int64_t order[] = {0};
    double theta = 0.0, suffered = 0.0;
    std::int64_t seen = 0, missed = 0;
    Watch watch;
    joint_pass(Phi, 2, code, order, false, PassiveAggressiveStep{1e300, 0.0},
               JointState{&theta, nullptr, &seen, &missed, &suffered}, watch);
    CHECK(theta == 0.0 && suffered == 1.0 && missed == 1);
  }
}

THEOREM("a joint pass that is told to stop is as after the last example it finished") {
  const Case c(7, 4);
  int asked = 0;
  Watch watch([&] { return ++asked == 5; }, Watch::Wait(0), 1);
  const Outcome got = run(c, MistakeStep{1.0}, false, watch);
  CHECK(got.seen > 0 && got.seen < Index(c.order.size()));
  const Literal wanted = literal(c, false, std::size_t(got.seen),
                                 [](bool is_mistake, double, double) { return is_mistake ? 1.0 : 0.0; });
  CHECK(got.theta == wanted.theta);
  CHECK(got.missed == wanted.missed);
}
