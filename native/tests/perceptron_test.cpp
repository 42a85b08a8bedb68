#include "lineal/epoch/perceptron.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Sample;

namespace {

using Numbers = std::vector<double>;

// Whole numbers in both layouts, so that sums are exact in any order and ties are ties.
struct Case {
  Index n = 25, d = 13, n_classes;
  Sample<double> X;
  std::vector<std::int32_t> code;
  std::vector<std::int64_t> order;

  Case(std::uint64_t seed, Index classes) : n_classes(classes) {
    Rng rng(seed);
    X = check::whole_matrix(rng, n, d, 0.3);
    for (Index i = 0; i < n; ++i) code.push_back(std::int32_t(rng.below(std::uint64_t(classes))));
    for (Index round = 0; round < 3; ++round)
      for (Index i = 0; i < n; ++i) order.push_back(Index(rng.below(std::uint64_t(n))));
  }
  Index n_scores() const { return n_classes == 2 ? 1 : n_classes; }
};

struct Outcome {
  Numbers theta, late;
  std::int64_t seen = 0, missed = 0;
  std::vector<std::int64_t> log;
};

template <class Rows>
Outcome run(const Case& c, const Rows& rows, bool has_intercept, Watch& watch) {
  Outcome out;
  out.theta.assign(std::size_t((c.d + has_intercept) * c.n_scores()), 0.0);
  out.late = out.theta;
  out.log.assign(c.order.size() * 3, -1);
  const PerceptronState state{c.n_scores(),    has_intercept, 1.0,        out.theta.data(),
                              out.late.data(), &out.seen,     &out.missed};
  perceptron_pass(rows, c.code.data(), c.order, state, out.log.data(), watch);
  return out;
}

// The algorithm with nothing clever: every score by a loop, the sum of the weights after each example.
struct Literal {
  Numbers theta, sum;
  std::int64_t missed = 0;
};

Literal literal(const Case& c, bool has_intercept, std::size_t n_examples) {
  const Index K = c.n_scores(), width = c.d + has_intercept;
  Literal out{Numbers(std::size_t(width * K), 0.0), Numbers(std::size_t(width * K), 0.0)};
  for (std::size_t at = 0; at < n_examples; ++at) {
    const Index i = c.order[at];
    const auto x = [&](Index j) { return j < c.d ? c.X.at(i, j) : 1.0; };
    Numbers z(std::size_t(K), 0.0);
    for (Index k = 0; k < K; ++k)
      for (Index j = 0; j < width; ++j) z[std::size_t(k)] += x(j) * out.theta[std::size_t(j * K + k)];
    Index predicted = 0;
    if (K == 1) predicted = z[0] >= 0.0 ? 1 : 0;
    for (Index k = 1; k < K; ++k)
      if (z[std::size_t(k)] > z[std::size_t(predicted)]) predicted = k;
    const Index wanted = c.code[std::size_t(i)];
    if (predicted != wanted) {
      ++out.missed;
      for (Index j = 0; j < width; ++j) {
        if (K == 1) {
          out.theta[std::size_t(j)] += (wanted == 1 ? 1.0 : -1.0) * x(j);
        } else {
          out.theta[std::size_t(j * K + wanted)] += x(j);
          out.theta[std::size_t(j * K + predicted)] -= x(j);
        }
      }
    }
    for (std::size_t j = 0; j < out.sum.size(); ++j) out.sum[j] += out.theta[j];
  }
  return out;
}

template <class F>
void each_case(F&& f) {
  for (const Index classes : {2, 3, 5, 9})
    for (const bool has_intercept : {false, true})
      for (std::uint64_t seed = 1; seed <= 4; ++seed) f(Case(seed, classes), has_intercept);
}

}  // namespace

THEOREM("a perceptron pass is the printed algorithm, bit for bit on whole numbers, in both layouts") {
  each_case([](const Case& c, bool has_intercept) {
    Watch watch;
    const Literal wanted = literal(c, has_intercept, c.order.size());
    for (const Outcome& got :
         {run(c, c.X.csr(), has_intercept, watch), run(c, c.X.dense(), has_intercept, watch)}) {
      CHECK(got.theta == wanted.theta);
      CHECK(got.missed == wanted.missed);
      CHECK(got.seen == Index(c.order.size()));
    }
  });
}

THEOREM("T w - late is the sum of the weights after each example") {
  each_case([](const Case& c, bool has_intercept) {
    Watch watch;
    const Outcome got = run(c, c.X.csr(), has_intercept, watch);
    const Literal wanted = literal(c, has_intercept, c.order.size());
    for (std::size_t j = 0; j < got.theta.size(); ++j)
      CHECK(double(got.seen) * got.theta[j] - got.late[j] == wanted.sum[j]);
  });
}

THEOREM("the log of mistakes rebuilds the weights, and nothing is written after its end") {
  each_case([](const Case& c, bool has_intercept) {
    Watch watch;
    const Outcome got = run(c, c.X.dense(), has_intercept, watch);
    const Index K = c.n_scores();
    Numbers rebuilt(got.theta.size(), 0.0);
    for (std::int64_t m = 0; m < got.missed; ++m) {
      const std::int64_t* entry = got.log.data() + 3 * m;
      CHECK(entry[1] == c.order[std::size_t(entry[0])]);
      const Index wanted = c.code[std::size_t(entry[1])];
      CHECK(entry[2] != wanted);
      for (Index j = 0; j < c.d + has_intercept; ++j) {
        const double x = j < c.d ? c.X.at(entry[1], j) : 1.0;
        if (K == 1) {
          rebuilt[std::size_t(j)] += wanted == 1 ? x : -x;
        } else {
          rebuilt[std::size_t(j * K + wanted)] += x;
          rebuilt[std::size_t(j * K + entry[2])] -= x;
        }
      }
    }
    CHECK(rebuilt == got.theta);
    for (std::size_t k = std::size_t(3 * got.missed); k < got.log.size(); ++k) CHECK(got.log[k] == -1);
  });
}

THEOREM("a perceptron pass that is told to stop is as after the last example it finished") {
  const Case c(7, 4);
  int asked = 0;
  Watch watch([&] { return ++asked == 5; }, Watch::Wait(0), 1);
  const Outcome got = run(c, c.X.csr(), true, watch);
  CHECK(got.seen > 0 && got.seen < Index(c.order.size()));
  const Literal wanted = literal(c, true, std::size_t(got.seen));
  CHECK(got.theta == wanted.theta);
  CHECK(got.missed == wanted.missed);
}
