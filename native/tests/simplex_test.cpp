#include "lineal/simplex.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::uniform;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

double sum_of(const Numbers& p) { return std::accumulate(p.begin(), p.end(), 0.0); }

// How far p is from solving log p_k + q p_k = c_k + nu on the simplex: the Newton correction that the
// worst coordinate would still receive, measured in p.
double stationarity(Index K, double q, const Numbers& c, const Numbers& p) {
  double nu = 0, slope = 0;
  for (std::size_t k = 0; k < std::size_t(K); ++k) {
    if (p[k] <= 0) continue;
    const double weight = p[k] / (1.0 + q * p[k]);
    nu += weight * (std::log(p[k]) + q * p[k] - c[k]);
    slope += weight;
  }
  nu /= slope;
  double worst = 0;
  for (std::size_t k = 0; k < std::size_t(K); ++k)
    if (p[k] > 0)
      worst = std::max(worst, p[k] / (1.0 + q * p[k]) * std::abs(std::log(p[k]) + q * p[k] - c[k] - nu));
  return worst;
}

// A state as an earlier visit may have left it: p and t = log p.
struct State {
  Numbers p, t;
};

// Every kind of start: inside, on a vertex with logarithms floored at -700 or at log 1e-9, p rounded to 0
// while its logarithm is kept, and everything lost.
std::vector<State> starts(Rng& rng, Index K) {
  const std::size_t n = std::size_t(K);
  State uniform_start{Numbers(n, 1.0 / double(K)), Numbers(n, -std::log(double(K)))};
  State inside{uniforms(rng, K, 0.0, 1.0), Numbers(n)};
  const double total = sum_of(inside.p);
  for (std::size_t k = 0; k < n; ++k) inside.t[k] = std::log(inside.p[k] /= total);
  const std::size_t corner = std::size_t(rng.below(std::uint64_t(K)));
  State vertex{Numbers(n, 0.0), Numbers(n, -700.0)};
  vertex.p[corner] = 1.0;
  vertex.t[corner] = 0.0;
  State floored = vertex, rounded = vertex;
  for (std::size_t k = 0; k < n; ++k) {
    if (k == corner) continue;
    floored.t[k] = std::log(1e-9);
    rounded.t[k] = uniform(rng, -60, -40);
  }
  return {uniform_start, inside, vertex, floored, rounded, State{Numbers(n, 0.0), Numbers(n, -700.0)}};
}

// Calls f(K, q, c, state) for 2 to 300 classes, q from 1e-6 to 1e6, and scores of several sizes.
template <class F>
void each_subproblem(F&& f) {
  Rng rng(1);
  for (const Index K : {2, 3, 10, 129, 300})
    for (int power = -6; power <= 6; ++power)
      for (const double size : {0.0, 1.0, 30.0, 2000.0}) {
        const double q = std::pow(10.0, power);
        const Numbers z = uniforms(rng, K, -size, size);
        for (const State& state : starts(rng, K)) {
          Numbers c(z);
          for (std::size_t k = 0; k < c.size(); ++k) c[k] += q * state.p[k];
          f(K, q, c, state);
        }
      }
}

}  // namespace

THEOREM("wright(a) + log wright(a) = a for any a") {
  Rng rng(3);
  const auto check_at = [](double a) {
    const double x = wright(a);
    CHECK(x > 0.0);
    CHECK_NEAR(x + std::log(x), a, 1e-15 * (2 + std::abs(a)));
  };
  for (int k = 0; k < 20000; ++k) check_at(uniform(rng, -50, 50));
  for (int k = 0; k < 5000; ++k) check_at(uniform(rng, -3, 3));
  for (const double a : {-700.0, -40.0 - 1e-12, -40.0, -1.0, 0.0, 0.5, 1.0, 1e3, 1e6, 1e9, 1e15}) check_at(a);
  CHECK(wright(1.0) == 1.0);
  CHECK(wright(-1e6) == 0.0);  // exp underflows: the nearest double
}

THEOREM("softmax_step solves its conditions on the simplex, from any start") {
  each_subproblem([](Index K, double q, const Numbers& c, const State& state) {
    Numbers p = state.p, t = state.t;
    softmax_step(K, q, c.data(), p.data(), t.data());
    CHECK(*std::min_element(p.begin(), p.end()) >= 0.0);
    CHECK_NEAR(sum_of(p), 1.0, 1e-13);
    // It stops when a step moves p by less than 1e-8; Newton then has about twice as many digits, and
    // the sum is brought to 1 by a factor within 1e-8 of it.
    CHECK(stationarity(K, q, c, p) <= 2e-8);
    for (std::size_t k = 0; k < p.size(); ++k) CHECK_NEAR(std::exp(t[k]), p[k], 2e-8);
  });
}

THEOREM("softmax_step_surely solves the same conditions to rounding, and both roads meet") {
  each_subproblem([](Index K, double q, const Numbers& c, const State& state) {
    Numbers p = state.p, t = state.t, sure(p.size()), log_sure(p.size());
    softmax_step(K, q, c.data(), p.data(), t.data());
    softmax_step_surely(K, q, c.data(), sure.data(), log_sure.data());
    // c has about |c| rounding units of 1e-16, felt by p through at most min(1/4, 1/q).
    double largest = 1;
    for (const double each : c) largest = std::max(largest, std::abs(each));
    CHECK_NEAR(sum_of(sure), 1.0, 1e-13);
    CHECK(stationarity(K, q, c, sure) <= 1e-15 * largest + 1e-13);
    for (std::size_t k = 0; k < p.size(); ++k) {
      CHECK_NEAR(p[k], sure[k], 2e-8);
      CHECK(log_sure[k] >= -700.0 && log_sure[k] <= 1e-15);
    }
  });
}

THEOREM("softmax_step is at rest in its own solution") {
  each_subproblem([](Index K, double q, const Numbers& c, const State& state) {
    Numbers p = state.p, t = state.t;
    softmax_step(K, q, c.data(), p.data(), t.data());
    const Numbers before = p;
    softmax_step(K, q, c.data(), p.data(), t.data());
    for (std::size_t k = 0; k < p.size(); ++k) CHECK_NEAR(p[k], before[k], 3e-8);
  });
}

THEOREM("project_simplex gives the nearest point of the simplex: (v - p).(e_k - p) <= 0 for every vertex") {
  Rng rng(4);
  for (const Index K : {1, 2, 3, 10, 129, 300})
    for (const double size : {0.0, 1e-3, 1.0, 1e3, 1e6})
      for (int round = 0; round < 20; ++round) {
        Numbers v = uniforms(rng, K, -size, size);
        if (round % 4 == 0)  // ties
          for (double& each : v) each = std::round(each);
        if (round % 5 == 0) v[rng.below(v.size())] += 10 * size;  // one far ahead: a vertex
        Numbers p(v.size());
        project_simplex(K, v.data(), p.data());
        const double blur = 1e-15 * double(K) * (1 + 20 * size);  // rounding of a sum of K numbers
        CHECK(*std::min_element(p.begin(), p.end()) >= 0.0);
        CHECK_NEAR(sum_of(p), 1.0, double(K) * blur);
        double along = 0;
        for (std::size_t k = 0; k < v.size(); ++k) along += (v[k] - p[k]) * p[k];
        for (std::size_t k = 0; k < v.size(); ++k)
          CHECK(v[k] - p[k] <= along + double(K) * blur * (1 + 20 * size));
        Numbers in_place = v, again = p;
        project_simplex(K, in_place.data(), in_place.data());
        CHECK(in_place == p);
        project_simplex(K, again.data(), again.data());
        for (std::size_t k = 0; k < v.size(); ++k) CHECK_NEAR(again[k], p[k], double(K) * blur);
      }
}

THEOREM("project_simplex ignores a shift common to all numbers, however large") {
  Rng rng(5);
  for (const Index K : {1, 2, 3, 10, 130})
    for (const double shift : {0.0, -1e3, 1e6, 0x1p40, -0x1p40, 0x1p48}) {
      Numbers v(std::size_t(K), 0.0), p(v.size()), shifted(v), wanted(v.size());
      // Sixteenths are exact next to 2^48, so the shift itself loses nothing.
      for (std::size_t k = 0; k < v.size(); ++k) shifted[k] = shift + (v[k] = double(rng.below(32)) / 16);
      project_simplex(K, v.data(), wanted.data());
      project_simplex(K, shifted.data(), p.data());
      for (std::size_t k = 0; k < v.size(); ++k) CHECK_NEAR(p[k], wanted[k], 1e-12);
    }
}
