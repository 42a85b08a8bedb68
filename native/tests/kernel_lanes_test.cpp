#include <cmath>
#include <limits>

#include "check.h"
#include "lineal/kernel/lanes.h"
#include "samples.h"

using namespace lineal;
using namespace lineal::kernel;
using check::uniform;

namespace {

template <class Real>
Real power_of_one(Real x) {
  return power_of_two<Real>(in_all_lanes<Real>(x))[0];
}

// In units of the last place of what is wanted, which long double rounds to Real.
template <class Real>
double ulps(Real got, Real x) {
  const Real wanted = Real(std::exp2((long double)(x)));
  const Real unit = std::nextafter(wanted, std::numeric_limits<Real>::infinity()) - wanted;
  return double(std::abs(got - wanted) / unit);
}

template <class Real>
void check_power(double lowest) {
  Rng rng(1);
  double worst = 0;
  for (int k = 0; k < 20000; ++k) {
    const Real x = Real(k % 2 ? uniform(rng, lowest, 0) : uniform(rng, -3, 0));
    worst = std::max(worst, ulps(power_of_one(x), x));
  }
  for (double x = lowest; x <= 0; x += 0.5) worst = std::max(worst, ulps(power_of_one(Real(x)), Real(x)));
  CHECK(worst <= 1.5);  // "one unit in the last place or so"
}

}  // namespace

THEOREM("2^x is within an ulp or so over the range of normal numbers, in float and in double") {
  check_power<float>(-124.9);
  check_power<double>(-1020.9);
}

THEOREM("2^0 is 1 exactly, whole powers are exact, and nothing is above 1") {
  const auto of_type = [](auto zero) {
    using Real = decltype(zero);
    CHECK(power_of_one(Real(0)) == Real(1));
    CHECK(power_of_one(Real(-0.0)) == Real(1));
    for (int k = 0; k > -120; --k) CHECK(power_of_one(Real(k)) == Real(std::ldexp(1.0, k)));
    for (int k = 1; k < 200; ++k)
      CHECK(power_of_one(-Real(k) * std::numeric_limits<Real>::epsilon() / 8) <= Real(1));
  };
  of_type(0.0f);
  of_type(0.0);
}

THEOREM("far below the normal numbers 2^x is next to nothing, never negative, infinite or NaN") {
  for (const double x : {-126.0, -150.0, -1e4, -1e30, -1e38}) {
    const float got = power_of_one(float(x));
    CHECK(got >= 0.0f && got <= 0x1p-124f);
  }
  for (const double x : {-1022.0, -1100.0, -1e5, -1e300, -std::numeric_limits<double>::infinity()}) {
    const double got = power_of_one(x);
    CHECK(got >= 0.0 && got <= 0x1p-1020);
  }
}

THEOREM("lanes do not know each other: a vector's powers are those of its numbers") {
  Rng rng(2);
  for (int k = 0; k < 100; ++k) {
    Vector<float> x;
    for (int l = 0; l < Lanes<float>::n; ++l) x[l] = float(uniform(rng, -140, 0));
    const Vector<float> got = power_of_two<float>(x);
    for (int l = 0; l < Lanes<float>::n; ++l) CHECK(got[l] == power_of_one(x[l]));
  }
}

THEOREM("the sum of lanes is the sum of its numbers") {
  Vector<float> x;
  for (int l = 0; l < Lanes<float>::n; ++l) x[l] = float(1 << l);
  CHECK(sum_of_lanes<float>(x) == float((1 << Lanes<float>::n) - 1));
  Vector<double> y;
  for (int l = 0; l < Lanes<double>::n; ++l) y[l] = double(1 << l);
  CHECK(sum_of_lanes<double>(y) == double((1 << Lanes<double>::n) - 1));
}
