#include "lineal/pointer_loss.h"

#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "lineal/evaluate.h"
#include "samples.h"

using namespace lineal;
using check::Domain;
using check::each_loss;
using check::uniform;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A loss of the library behind pointers; the loss itself is the data.
template <class Loss>
PointerLoss behind_pointers(const Loss& loss) {
  PointerLoss made;
  made.value_at.with_data = [](double y, double z, void* data) {
    return static_cast<const Loss*>(data)->value(y, z);
  };
  made.derivative_at.with_data = [](double y, double z, void* data) {
    return static_cast<const Loss*>(data)->derivative(y, z);
  };
  made.value_at.data = made.derivative_at.data = const_cast<Loss*>(&loss);
  return made;
}

PointerLoss poisson() {
  PointerLoss made;
  made.value_at.plain = [](double y, double z) { return std::exp(z) - y * z; };
  made.derivative_at.plain = [](double y, double z) { return std::exp(z) - y; };
  return made;
}

}  // namespace

THEOREM("behind pointers a conjugate is the closed form, rounded up, and infinite outside the domain") {
  Rng rng(1);
  each_loss([&]<class Loss>(const char*, const Loss& loss, const Domain& domain) {
    const PointerLoss pointers = behind_pointers(loss);
    for (int k = 0; k < 2000; ++k) {
      const double y = domain.is_margin ? (rng.below(2) ? 1.0 : -1.0) : uniform(rng, -3, 3);
      const double slope = loss.derivative(y, uniform(rng, -6, 6)),
                   other = loss.derivative(y, uniform(rng, -6, 6));
      const double u = k % 3 == 0 ? slope : k % 3 == 1 ? slope + uniform(rng, 0, 1) * (other - slope) : 0.0;
      const double exact = loss.conjugate(y, u), found = pointers.conjugate(y, u);
      const double size = 1.0 + std::abs(exact) + std::abs(u);
      CHECK(found >= exact - 1e-15 * size);
      CHECK(found <= exact + 1e-12 * size);
    }
    const double y = 1.0;
    if (domain.high < infinity) {
      const double outside = domain.high + 0.25;
      CHECK(pointers.conjugate(y, domain.is_margin ? -y * outside : outside) == infinity);
    }
    if (domain.low > -infinity) {
      const double outside = domain.low - 0.25;
      CHECK(pointers.conjugate(y, domain.is_margin ? -y * outside : outside) == infinity);
    }
  });
}

THEOREM("slopes that overflow on one side: u log u - u for the loss exp(z) - y z") {
  Rng rng(2);
  const PointerLoss loss = poisson();
  for (int k = 0; k < 2000; ++k) {
    const double y = double(rng.below(6)), v = std::exp(uniform(rng, -30, 6)), u = v - y;
    const double exact = (u + y) * std::log(u + y) - (u + y), found = loss.conjugate(y, u);
    const double size = 1.0 + std::abs(exact) + std::abs(u) * 30;
    CHECK(found >= exact - 1e-15 * size && found <= exact + 1e-12 * size);
    CHECK_NEAR(loss.second_derivative(y, 0.5), std::exp(0.5), 1e-9);
  }
  CHECK(loss.conjugate(2.0, -2.5) == infinity && std::isfinite(loss.conjugate(2.0, -2.0)));
  CHECK(loss.conjugate(0.0, std::numeric_limits<double>::quiet_NaN()) == infinity);
}

THEOREM("threads call the pointers at once and change no bit") {
  Rng rng(3);
  const PointerLoss loss = poisson();
  const Index n = 2 * piece_length + 7;
  std::vector<double> y, s, z, u(static_cast<std::size_t>(n)), v(u);
  for (Index i = 0; i < n; ++i) {
    y.push_back(double(rng.below(4)));
    s.push_back(uniform(rng, 0, 2));
    z.push_back(uniform(rng, -2, 2));
  }
  const Scored at{n, 1, y.data(), s.data(), z.data()};
  slope_pass(loss, at, u.data(), 3);
  value_pass(loss, at, v.data(), 3);
  for (std::size_t i = 0; i < std::size_t(n); ++i) {
    CHECK(u[i] == loss.derivative(y[i], z[i]));
    CHECK(v[i] == loss.value(y[i], z[i]));
  }
  CHECK(loss_sum_pass(loss, at, 1) == loss_sum_pass(loss, at, 3));
  CHECK(conjugate_sum_pass(loss, at, u.data(), 1) == conjugate_sum_pass(loss, at, u.data(), 3));
}
