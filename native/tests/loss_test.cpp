#include "lineal/loss.h"

#include <algorithm>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Domain;
using check::each_dual_loss;
using check::each_loss;
using check::uniform;

namespace {

// Targets worth trying: labels for a margin loss, numbers of every size for a regression.
std::vector<double> targets(const Domain& domain) {
  if (domain.is_margin) return {-1.0, 1.0};
  return {0.0, -1.5, 3.0, 1e4, -1e6};
}

// A dual variable inside the domain, often on its edge.
double inside(Rng& rng, const Domain& domain, double y) {
  const double low = std::max(domain.low, -3.0), high = std::min(domain.high, 3.0);
  const std::uint64_t kind = rng.below(5);
  const double a = kind == 0   ? low
                   : kind == 1 ? high
                   : kind == 2 ? std::clamp(0.0, low, high)
                               : uniform(rng, low, high);
  return domain.is_margin ? -y * a : a;
}

// Calls f(y, z, u0, q) over extremes: q from 1e-8 to 1e8, scores from far wrong to far right.
template <class F>
void each_step(Rng& rng, const Domain& domain, F&& f) {
  for (int power = -8; power <= 8; ++power)
    for (const double y : targets(domain))
      for (const double size : {0.0, 1e-8, 0.3, 1.0, 5.0, 40.0, 1e3, 1e6})
        for (const double sign : {-1.0, 1.0})
          for (int round = 0; round < 4; ++round) {
            const double noise = round == 0 ? 1.0 : uniform(rng, 0.5, 2.0);
            const double centre = domain.is_margin ? 0.0 : y;
            f(y, centre + sign * size * noise, inside(rng, domain, y), std::pow(10.0, power) * noise);
          }
}

// The one-row dual objective at u, less its value at u1, computed from differences so that what the two
// share does not drown what they do not; and how large its terms are.
struct Difference {
  double value, scale;
};

template <class Loss>
Difference difference(const Loss& loss, double y, double z, double u0, double q, double u1, double u) {
  const double here = loss.conjugate(y, u), there = loss.conjugate(y, u1);
  const double line = z * (u - u1), square = 0.5 * q * (u - u1) * (u - u0 + u1 - u0);
  // A conjugate is a sum of y u, u^2 and terms of order one, which cancel inside it.
  const double inner = 0.01 * (1 + std::abs(u)) * (1 + std::abs(y) + std::abs(u));
  return {here - there - line + square, inner + std::abs(here) + std::abs(line) + std::abs(square)};
}

// Golden-section search for the minimum of a convex function on [low, high].
template <class F>
double golden_section(F&& f, double low, double high) {
  constexpr double ratio = 0.6180339887498949;
  double a = high - ratio * (high - low), b = low + ratio * (high - low), fa = f(a), fb = f(b);
  for (int step = 0; step < 60; ++step) {
    if (fa < fb) {
      high = b;
      b = a;
      fb = fa;
      fa = f(a = high - ratio * (high - low));
    } else {
      low = a;
      a = b;
      fa = fb;
      fb = f(b = low + ratio * (high - low));
    }
  }
  return 0.5 * (low + high);
}

}  // namespace

THEOREM("loss(z) + loss*(u) >= z u, with equality at u = loss'(z)") {
  Rng rng(1);
  each_loss([&](const char*, const auto& loss, const Domain& domain) {
    for (const double y : targets(domain))
      for (int k = 0; k < 500; ++k) {
        const double z = (domain.is_margin ? 0.0 : y) + uniform(rng, -4, 4), u = inside(rng, domain, y);
        const double scale = 1.0 + std::abs(z) + std::abs(y);  // z u and y u nearly cancel for large y
        CHECK(residual(loss, y, z, u) >= -1e-14 * scale);
        CHECK(domain.contains(y, loss.derivative(y, z)));
        CHECK_NEAR(residual(loss, y, z, loss.derivative(y, z)), 0.0, 1e-14 * scale);
      }
  });
}

THEOREM("the derivative is the slope of the value where the value is smooth") {
  Rng rng(2);
  each_loss([&](const char*, const auto& loss, const Domain& domain) {
    for (int k = 0; k < 500; ++k) {
      const double y = domain.is_margin ? (k % 2 ? 1.0 : -1.0) : uniform(rng, -1, 1), z = uniform(rng, -4, 4);
      const double step = 1e-5, left = loss.derivative(y, z - step), right = loss.derivative(y, z + step);
      if (std::abs(right - left) > 3 * step) continue;  // a kink in between; curvatures are at most 2
      const double slope = (loss.value(y, z + step) - loss.value(y, z - step)) / (2 * step);
      CHECK_NEAR(loss.derivative(y, z), slope, 3e-5);
    }
  });
}

THEOREM("a dual step stays in the domain, and no point found by golden-section search is lower") {
  Rng rng(3);
  each_dual_loss([&](const char*, const auto& loss, const Domain& domain) {
    each_step(rng, domain, [&](double y, double z, double u0, double q) {
      const double u1 = loss.dual_step(y, z, u0, q);
      CHECK(domain.contains(y, u1));
      // Without the quadratic term the minimiser is a slope at z, at most 2 |z - y| + 2; u1 lies
      // between that slope and u0.
      const double reach = 2 * (std::abs(z) + std::abs(y)) + std::abs(u0) + 2;
      double low = std::max(domain.low, -reach), high = std::min(domain.high, reach);
      if (domain.is_margin && y > 0) std::swap(low = -low, high = -high);
      const double found =
          golden_section([&](double u) { return difference(loss, y, z, u0, q, u1, u).value; }, low, high);
      for (const double u : {found, u0, low, high, uniform(rng, low, high)}) {
        const Difference rise = difference(loss, y, z, u0, q, u1, u);
        CHECK(rise.value >= -1e-13 * rise.scale);
      }
    });
  });
}

THEOREM("a dual step's slope and the score it leads to are a Fenchel pair: the step is exact") {
  Rng rng(4);
  each_dual_loss([&](const char*, const auto& loss, const Domain& domain) {
    each_step(rng, domain, [&](double y, double z, double u0, double q) {
      const double u1 = loss.dual_step(y, z, u0, q), z1 = z - q * (u1 - u0);
      // z1 carries the rounding of z, y and q u; the pair feels it through |u|, and a square through |z1|.
      const double blur = 1e-14 * (1 + std::abs(z) + std::abs(y) + q * (std::abs(u0) + std::abs(u1)));
      const double feels = 1 + std::abs(u1) + std::abs(loss.derivative(y, z1));
      CHECK_NEAR(residual(loss, y, z1, u1), 0.0, blur * feels);
    });
  });
}

THEOREM("a dual step from its own result with the new score does not move") {
  Rng rng(5);
  each_dual_loss([&](const char*, const auto& loss, const Domain& domain) {
    each_step(rng, domain, [&](double y, double z, double u0, double q) {
      if (std::abs(z) > 1e3 || std::abs(y) > 1e3) return;  // rounding of z would exceed what is tested
      const double u1 = loss.dual_step(y, z, u0, q), z1 = z - q * (u1 - u0);
      const double again = loss.dual_step(y, z1, u1, q);
      // Rounding of z1 over the curvature q, and rounding of u itself.
      const double blur =
          1e-13 * (1 + std::abs(z) + std::abs(y)) / q + 1e-12 * (1 + std::abs(u1) + std::abs(u0));
      CHECK_NEAR(again, u1, blur);
    });
  });
}

THEOREM("Log's step is the root of its stationarity equation, to 12 digits, by bisection in long double") {
  Rng rng(6);
  const Log loss;
  each_step(rng, Domain{true, 0, 1}, [&](double y, double z, double u0, double q) {
    const long double base = (long double)y * z + (long double)q * y * u0;
    long double low = base, high = base + q;
    const auto slope = [](long double t) {
      return t >= 0 ? std::exp(-t) / (1 + std::exp(-t)) : 1 / (1 + std::exp(t));
    };
    for (int step = 0; step < 120; ++step) {
      const long double middle = (low + high) / 2;
      (middle - q * slope(middle) - base > 0 ? high : low) = middle;
    }
    const double wanted = double(-y * slope((low + high) / 2)), got = loss.dual_step(y, z, u0, q);
    CHECK(std::isfinite(got));
    CHECK_NEAR(got, wanted, 1e-12);
  });
}

THEOREM("Log's step ends and stays in the domain on scores of any size") {
  const Log loss;
  for (const double y : {-1.0, 1.0})
    for (const double z : {-1e300, -1e16, -745.0, -0.0, 1e-300, 36.0, 745.0, 1e16, 1e300})
      for (const double q : {1e-300, 1e-8, 1.0, 1e8, 1e16})
        for (const double a : {0.0, 1e-300, 0.5, 1.0}) {
          const double u = loss.dual_step(y, z, -y * a, q);
          CHECK(-y * u >= 0.0 && -y * u <= 1.0);
        }
}

THEOREM("values, slopes and residuals stay finite on scores of any size") {
  each_loss([&](const char*, const auto& loss, const Domain& domain) {
    for (const double y : {-1.0, 1.0})
      for (const double z : {-1e100, -800.0, 0.0, 800.0, 1e100}) {
        CHECK(std::isfinite(loss.value(y, z)) && loss.value(y, z) >= 0.0);
        CHECK(domain.contains(y, loss.derivative(y, z)));
      }
  });
}

THEOREM("soft(t, e) is the nearest point to t after paying e for each unit: |t - soft| <= e, and 0 inside") {
  Rng rng(7);
  for (int k = 0; k < 1000; ++k) {
    const double t = uniform(rng, -3, 3), e = uniform(rng, 0, 2), w = soft(t, e);
    const auto cost = [&](double v) { return 0.5 * (v - t) * (v - t) + e * std::abs(v); };
    CHECK(std::abs(t) > e || w == 0.0);
    for (const double v : {0.0, w + 1e-3, w - 1e-3, t}) CHECK(cost(w) <= cost(v) + 1e-15);
  }
  CHECK(soft(2.0, 0.0) == 2.0 && soft(-2.0, 0.0) == -2.0 && soft(0.0, 0.0) == 0.0);
}

THEOREM("sigmoid(t) + sigmoid(-t) = 1, and neither overflows") {
  for (double t = -800; t <= 800; t += 0.37) {
    CHECK_NEAR(sigmoid(t) + sigmoid(-t), 1.0, 3e-16);
    CHECK(sigmoid(t) >= 0.0 && sigmoid(t) <= 1.0);
  }
}
