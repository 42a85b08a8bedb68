#include "lineal/evaluate.h"

#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Domain;
using check::each_loss;
using check::uniform;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// How many units in the last place `got` is off.
double units_off(double got, long double wanted) {
  const double nearest = std::abs(double(wanted));
  return double(std::abs(got - wanted) / (std::nextafter(nearest, infinity) - nearest));
}

// Scores, targets, weights (some 0) and dual variables inside the domain.
struct Sampled {
  Index n_rows, n_outputs;
  std::vector<double> y, s, z, u;

  Scored at() const { return {n_rows, n_outputs, y.data(), s.data(), z.data()}; }
};

template <class Loss>
Sampled sampled(Rng& rng, const Loss& loss, const Domain& domain, Index n_rows, Index n_outputs) {
  Sampled made{n_rows, n_outputs, {}, {}, {}, {}};
  for (Index i = 0; i < n_rows; ++i) made.s.push_back(rng.below(5) == 0 ? 0.0 : uniform(rng, 0, 2));
  for (Index k = 0; k < n_rows * n_outputs; ++k) {
    made.y.push_back(domain.is_margin ? (rng.below(2) ? 1.0 : -1.0) : uniform(rng, -2, 2));
    made.z.push_back(uniform(rng, -6, 6));
    made.u.push_back(loss.derivative(made.y.back(), uniform(rng, -6, 6)));
  }
  return made;
}

}  // namespace

THEOREM("exp_nonpositive is exp to 2 units in the last place, and 0 where exp is nothing") {
  Rng rng(1);
  for (int k = 0; k < 20000; ++k) {
    const double x = k % 2 ? -uniform(rng, 0, 708) : -std::pow(10.0, uniform(rng, -17, 2));
    CHECK(units_off(exp_nonpositive(x), std::exp((long double)x)) <= 2.0);
  }
  CHECK(exp_nonpositive(0.0) == 1.0 && exp_nonpositive(-0.0) == 1.0);
  for (const double x : {-709.0, -800.0, -1e300, -infinity}) CHECK(exp_nonpositive(x) == 0.0);
  CHECK(std::isnan(exp_nonpositive(not_a_number)));
}

THEOREM("log1p_unit and xlogx_unit are log(1 + e) and t log t to 3 units in the last place") {
  Rng rng(2);
  for (int k = 0; k < 20000; ++k) {
    const double e = k % 2 ? uniform(rng, 0, 1) : std::pow(10.0, uniform(rng, -300, 0));
    CHECK(units_off(log1p_unit(e), std::log1p((long double)e)) <= 3.0);
    CHECK(e < 1e-299 || units_off(xlogx_unit(e), (long double)e * std::log((long double)e)) <= 3.0);
  }
  CHECK(log1p_unit(0.0) == 0.0 && xlogx_unit(0.0) == 0.0 && xlogx_unit(1.0) == 0.0);
  CHECK_NEAR(log1p_unit(1.0), std::log(2.0), 3e-16);
  CHECK(std::isnan(log1p_unit(not_a_number)) && std::isnan(xlogx_unit(not_a_number)));
}

THEOREM("FlatLog is Log: value, slope, curvature, conjugate") {
  Rng rng(3);
  const Log plain;
  const FlatLog flattened;
  for (int k = 0; k < 20000; ++k) {
    const double y = k % 2 ? 1.0 : -1.0, z = uniform(rng, -40, 40), u = -y * uniform(rng, 0, 1);
    CHECK_NEAR(flattened.value(y, z), plain.value(y, z), 1e-15 * plain.value(y, z));
    CHECK_NEAR(flattened.derivative(y, z), plain.derivative(y, z), 1e-15 * std::abs(plain.derivative(y, z)));
    CHECK_NEAR(flattened.second_derivative(y, z), plain.second_derivative(y, z),
               2e-15 * plain.second_derivative(y, z));
    CHECK_NEAR(flattened.conjugate(y, u), plain.conjugate(y, u), 1e-15);
  }
}

THEOREM("every pass is its formula summed or filled, with the same bits for any number of threads") {
  Rng rng(4);
  each_loss([&]<class Loss>(const char*, const Loss& loss, const Domain& domain) {
    for (const Index n_outputs : {1, 3})
      for (const Index n_rows : {Index(0), Index(1), Index(700), 3 * piece_length / n_outputs + 5}) {
        if (n_rows > 1000 && domain.is_margin != (n_outputs == 1)) continue;  // one of each is enough
        const Sampled data = sampled(rng, loss, domain, n_rows, n_outputs);
        const Scored at = data.at();
        const std::size_t size = std::size_t(at.size());
        double sum = 0, conjugates = 0, worst = 0;
        for (Index k = 0; k < at.size(); ++k) {
          const double weight = at.s[k / n_outputs];
          sum += weight * loss.value(at.y[k], at.z[k]);
          conjugates += weight * loss.conjugate(at.y[k], data.u[std::size_t(k)]);
          worst = std::max(worst, weight * residual(loss, at.y[k], at.z[k], data.u[std::size_t(k)]));
        }
        const double blur = 1e-12 * double(at.size() + 1);  // terms below 200, in another order
        std::vector<double> U(size, not_a_number), H(size, not_a_number);
        double first[3] = {};
        for (int n_threads = 1; n_threads <= 3; ++n_threads) {
          const double found[3] = {loss_sum_pass(loss, at, n_threads),
                                   conjugate_sum_pass(loss, at, data.u.data(), n_threads),
                                   worst_residual_pass(loss, at, data.u.data(), n_threads)};
          CHECK_NEAR(found[0], sum, blur);
          CHECK_NEAR(found[1], conjugates, blur);
          CHECK_NEAR(found[2], worst, 1e-12);
          for (int k = 0; k < 3; ++k) {
            if (n_threads == 1) first[k] = found[k];
            CHECK(found[k] == first[k]);
          }
          slope_pass(loss, at, U.data(), n_threads);
          for (std::size_t k = 0; k < size; ++k) CHECK_NEAR(U[k], loss.derivative(at.y[k], at.z[k]), 1e-14);
          if constexpr (SmoothLoss<Loss>) {
            curvature_pass(loss, at, H.data(), n_threads);
            const double t = 0.75;
            double wanted[3] = {};
            for (Index k = 0; k < at.size(); ++k) {
              const double y = at.y[k], z = at.z[k] + t * data.u[std::size_t(k)], m = data.u[std::size_t(k)];
              CHECK_NEAR(H[std::size_t(k)], loss.second_derivative(y, at.z[k]), 1e-14);
              const double weight = at.s[k / n_outputs];
              wanted[0] += weight * loss.value(y, z);
              wanted[1] += weight * loss.derivative(y, z) * m;
              wanted[2] += weight * loss.second_derivative(y, z) * m * m;
            }
            const auto along = line_pass(loss, at, data.u.data(), t, n_threads);
            for (int k = 0; k < 3; ++k) CHECK_NEAR(along[std::size_t(k)], wanted[k], 100 * blur);
            CHECK(along == line_pass(loss, at, data.u.data(), t, 1));
          }
        }
      }
  });
}

THEOREM("a conjugate is infinite outside the domain, unless the row has no weight") {
  each_loss([&](const char*, const auto& loss, const Domain& domain) {
    if (domain.high == infinity && domain.low == -infinity) return;
    const double outside = domain.low == 0 ? -0.25 : domain.high + 0.25;
    const double y = 1.0, z = 0.0, u = domain.is_margin ? -y * outside : outside;
    for (const double s : {0.0, 1.0}) {
      const double sum = conjugate_sum_pass(loss, Scored{1, 1, &y, &s, &z}, &u, 1);
      CHECK(sum == (s > 0 ? infinity : 0.0));
    }
  });
}

THEOREM("no pass makes a NaN of a score of any size") {
  each_loss([&]<class Loss>(const char*, const Loss& loss, const Domain&) {
    for (const double y : {-1.0, 1.0})
      for (const double z :
           {-1e300, -1e154, -800.0, -709.0, -36.0, -0.0, 0.0, 1e-320, 36.0, 800.0, 1e154, 1e300}) {
        const double s = 1.0;
        const Scored at{1, 1, &y, &s, &z};
        double u = not_a_number, h = not_a_number;
        slope_pass(loss, at, &u, 1);
        CHECK(loss_sum_pass(loss, at, 1) >= 0.0);
        CHECK(!std::isnan(u) && flat(loss).contains(y, u));
        CHECK(!std::isnan(conjugate_sum_pass(loss, at, &u, 1)));
        if constexpr (SmoothLoss<Loss>) {
          curvature_pass(loss, at, &h, 1);
          CHECK(h >= 0.0);
        }
      }
  });
}

THEOREM("line_by_output_pass is line_pass of each output at its own t, with the same bits for any threads") {
  each_loss([]<class Loss>(const char*, const Loss& loss, const Domain& domain) {
    if constexpr (SmoothLoss<Loss>) {
      Rng rng(11);
      for (const Index K : {1, 3, 20}) {
        const Index n = 40000 / K;  // more than a piece
        const Sampled all = sampled(rng, loss, domain, n, K);
        const auto t = check::uniforms(rng, K, 0, 2);
        std::vector<double> out(std::size_t(3 * K)), again(out.size());
        line_by_output_pass(loss, all.at(), all.u.data(), t.data(), out.data(), 1);
        line_by_output_pass(loss, all.at(), all.u.data(), t.data(), again.data(), 3);
        CHECK(check::same_bits(out, again));
        for (Index k = 0; k < K; ++k) {
          std::vector<double> y, z, m;
          for (Index i = 0; i < n; ++i) {
            y.push_back(all.y[std::size_t(i * K + k)]);
            z.push_back(all.z[std::size_t(i * K + k)]);
            m.push_back(all.u[std::size_t(i * K + k)]);
          }
          const auto own =
              line_pass(loss, {n, 1, y.data(), all.s.data(), z.data()}, m.data(), t[std::size_t(k)], 1);
          for (std::size_t c = 0; c < 3; ++c)
            CHECK_NEAR(out[c * std::size_t(K) + std::size_t(k)], own[c],
                       1e-11 * (double(n) + std::abs(own[c])));
        }
      }
    }
  });
}
