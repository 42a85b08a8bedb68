// Kernels that are functions of dot products: x.z, (gamma x.z + c)^degree, exp(-gamma |x - z|^2).
//
// Each turns lanes of dot products into lanes of kernel values, given what its rows bring along (`own`: a
// number of each row), and bounds the error that rounding to Real leaves in a value.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "lineal/kernel/lanes.h"
#include "lineal/rows.h"

namespace lineal::kernel {

template <class Real>
inline constexpr double unit_roundoff = std::is_same_v<Real, float> ? 0x1p-24 : 0x1p-53;

// A bound on |computed x.z - x.z| for rows of `size` entries and lengths up to `radius` that were rounded to
// Real: one rounding of each factor, and the sum's (Higham 2002, 3.1, with operations to spare).
template <class Real>
inline double product_error(Index size, double radius) noexcept {
  const double all = double(size + 8) * unit_roundoff<Real>;
  return all < 0.25 ? all / (1 - all) * radius * radius : std::numeric_limits<double>::infinity();
}

struct LinearProfile {
  static constexpr bool is_centred = false;
  bool is_far(double) const noexcept { return false; }
  double own(double) const noexcept { return 0; }
  double diagonal(double squared) const noexcept { return squared; }
  template <class Real>
  Vector<Real> value(Vector<Real> product, Vector<Real>, Real) const noexcept {
    return product;
  }
  template <class Real>
  double error(Index size, double radius) const noexcept {
    return product_error<Real>(size, radius);
  }
  double largest(double radius) const noexcept { return radius * radius; }
};

struct PolynomialProfile {
  static constexpr bool is_centred = false;
  double gamma, c;
  int degree;
  bool is_far(double) const noexcept { return false; }
  double own(double) const noexcept { return 0; }
  double diagonal(double squared) const noexcept { return std::pow(gamma * squared + c, degree); }
  template <class Real>
  Vector<Real> value(Vector<Real> product, Vector<Real>, Real) const noexcept {
    const Vector<Real> base = product * Real(gamma) + Real(c);
    Vector<Real> power = base;
    for (int k = 1; k < degree; ++k) power *= base;
    return power;
  }
  template <class Real>
  double error(Index size, double radius) const noexcept {
    const double base = std::abs(gamma) * radius * radius + std::abs(c);
    const double of_base =
        std::abs(gamma) * product_error<Real>(size, radius) + 4 * unit_roundoff<Real> * base;
    return degree * std::pow(base + of_base, degree - 1) * of_base +
           degree * unit_roundoff<Real> * std::pow(base, degree);
  }
  double largest(double radius) const noexcept {
    return std::pow(std::abs(gamma) * radius * radius + std::abs(c), degree);
  }
};

// exp(-gamma |x - z|^2) = 2^(g (2 x.z - |x|^2 - |z|^2)) with g = gamma / ln 2; a row brings -g |x|^2 along.
struct GaussianProfile {
  static constexpr bool is_centred = true;  // distances stay, and products lose fewer digits
  double gamma;
  // Rows so far from each other that products of float32 say little about those that are near: then values
  // come from differences.
  bool is_far(double radius) const noexcept { return gamma * radius * radius > 0x1p14; }
  double of_distance(double squared) const noexcept { return std::exp(-gamma * squared); }
  double rate() const noexcept { return gamma * 0x1.71547652b82fep0; }
  double own(double squared) const noexcept { return -rate() * squared; }
  double diagonal(double) const noexcept { return 1; }
  template <class Real>
  Vector<Real> value(Vector<Real> product, Vector<Real> lane_own, Real row_own) const noexcept {
    const Vector<Real> exponent = product * Real(2 * rate()) + (lane_own + row_own);
    return power_of_two<Real>(exponent > 0 ? Vector<Real>{} : exponent);
  }
  // |d exp(-t)| <= |dt| for t >= 0; the exponent's error is that of the product, of the two squared lengths
  // (rounded once, and computed from rounded rows) and of three operations.
  template <class Real>
  double error(Index size, double radius) const noexcept {
    return gamma * (2 * product_error<Real>(size, radius) + 16 * unit_roundoff<Real> * radius * radius) +
           4 * unit_roundoff<Real>;
  }
  // Of differences: t e^-t is at most 0.37, with t off by its roundings.
  template <class Real>
  double error_by_differences(Index size) const noexcept {
    return double(size + 8) * unit_roundoff<double> + 4 * unit_roundoff<Real>;
  }
  double largest(double) const noexcept { return 1; }
};

}  // namespace lineal::kernel
