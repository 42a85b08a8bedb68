// Exponential and logarithm without branches or library calls, so that loops over them vectorise.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace lineal {

// The value of c[0] + c[1] x + ... + c[N - 1] x^(N - 1) by Horner's rule.
template <std::size_t N, std::size_t M>
constexpr double polynomial(const std::array<double, M>& c, double x) noexcept {
  static_assert(N <= M);
  double sum = c[N - 1];
  for (std::size_t k = N - 1; k-- > 0;) sum = sum * x + c[k];
  return sum;
}

// 1/0!, 1/1!, ... 1/13!: on |r| <= log(2)/2 the next term is below 2^-57.
inline constexpr std::array<double, 14> exponential_series = [] {
  std::array<double, 14> c{1.0};
  for (std::size_t k = 1; k < c.size(); ++k) c[k] = c[k - 1] / double(k);
  return c;
}();

// 2/3, 2/5, 2/7, ...: log((1 + s)/(1 - s)) = 2 s + s^3 (2/3 + 2/5 s^2 + ...).
inline constexpr std::array<double, 16> logarithm_series = [] {
  std::array<double, 16> c{};
  for (std::size_t k = 0; k < c.size(); ++k) c[k] = 2.0 / double(2 * k + 3);
  return c;
}();

// log(2) in two parts, the first with 24 zero bits at its end: a power of 2's exponent times it is exact.
inline constexpr double log2_high = 0x1.62e42fep-1, log2_low = 0x1.f473de6af278fp-30;

// exp(x) for x <= 0, within 2 units in the last place; 0 below -708, where results would be subnormal.
inline double exp_nonpositive(double x) noexcept {
  constexpr double per_log2 = 1.4426950408889634, to_whole = 0x1.8p52;
  constexpr auto one = std::bit_cast<std::uint64_t>(1.0);
  // Adding and taking away 1.5 * 2^52 rounds to a whole number, which the low bits of the sum hold.
  const double shifted = x * per_log2 + to_whole, whole = shifted - to_whole;
  const double r = (x - whole * log2_high) - whole * log2_low;
  const double power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) << 52) + one);
  const double scaled = polynomial<14>(exponential_series, r) * power;
  return x < -708.0 ? 0.0 : scaled;
}

// exp(x) - 1 for x <= 0 without branches, within 4 units in the last place: by its series near 0, where
// exp(x) would cancel.
inline double expm1_nonpositive(double x) noexcept {
  constexpr std::array<double, 13> series = [] {
    std::array<double, 13> c{1.0};
    for (std::size_t k = 1; k < c.size(); ++k) c[k] = c[k - 1] / double(k + 1);
    return c;
  }();
  const double near = x * polynomial<13>(series, x), far = exp_nonpositive(x) - 1.0;
  return x > -0.35 ? near : far;
}

// log(1 + f) by so many terms of the series: what is left out falls below 2^-55 of the whole with 10 terms
// for -0.3 <= f <= 0.42 and with 16 for 0 <= f <= 1. A shorter range would need a choice, and choices cost
// more than terms.
template <std::size_t n_terms>
inline double log1p_series(double f) noexcept {
  const double s = f / (2.0 + f), square = s * s, half = 0.5 * f * f;
  // 2 s = f - s f, and s f = f^2/2 - s f^2/2: f is exact, so only the small terms carry rounding.
  return f - (half - s * (half + square * polynomial<n_terms>(logarithm_series, square)));
}

// log(1 + e) for 0 <= e <= 1, within 2 units in the last place.
inline double log1p_unit(double e) noexcept { return log1p_series<16>(e); }

// log(t) for normal t > 0, within 2 units in the last place.
inline double log_normal(double t) noexcept {
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd, mantissa = 0x000fffffffffffff;
  // t = 2^k m with m in [sqrt(1/2), sqrt(2)). Counted from sqrt(1/2), t's bits are k above the mantissa and
  // m's own bits below; 1024 keeps k from being negative.
  const std::uint64_t counted = std::bit_cast<std::uint64_t>(t) - root_half + (std::uint64_t(1024) << 52);
  const double m = std::bit_cast<double>((counted & mantissa) + root_half);
  // A whole number in the low bits of 2^52 is 2^52 and that number.
  const double k =
      std::bit_cast<double>((counted >> 52) | std::bit_cast<std::uint64_t>(0x1p52)) - (0x1p52 + 1024);
  return k * log2_high + (log1p_series<10>(m - 1.0) + k * log2_low);
}

// log(t) for any t >= 0, subnormal ones too, within 2 units in the last place; -inf at 0.
inline double log_nonnegative(double t) noexcept {
  constexpr double least = 0x1p-1022, greatest = 0x1.fffffffffffffp1023, infinity = HUGE_VAL;
  const double lifted = t < least ? t * 0x1p54 : t, back = t < least ? 54 * (log2_high + log2_low) : 0.0;
  const double logarithm = log_normal(lifted) - back;
  return t <= greatest ? (t > 0.0 ? logarithm : -infinity) : t;
}

// t log t for 0 <= t <= 1, within 3 units in the last place; 0 below 1e-300, where t log t is nothing beside
// anything else.
inline double xlogx_unit(double t) noexcept {
  const double product = t * log_normal(t);
  return t > 1e-300 ? product : t == t ? 0.0 : t;
}

}  // namespace lineal
