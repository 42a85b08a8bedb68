// A loss behind function pointers: the user's own, compiled.
//
// Value and derivative are all that is asked of it. The conjugate is bounded from above by two tangents that
// are brought together around a slope of u; src/lineal/objective/tangents.py says why that is a bound and is
// the slow twin, step by step. The functions are called from several threads at once, without Python's lock.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace lineal {

// double f(double y, double z), or the same with a pointer of the user's behind it.
struct PointerFunction {
  using Plain = double (*)(double, double);
  using WithData = double (*)(double, double, void*);
  Plain plain = nullptr;
  WithData with_data = nullptr;
  void* data = nullptr;

  explicit operator bool() const noexcept { return plain != nullptr || with_data != nullptr; }
  double operator()(double y, double z) const { return plain ? plain(y, z) : with_data(y, z, data); }
};

struct PointerLoss {
  PointerFunction value_at, derivative_at, second_derivative_at;  // the last one may be missing

  double value(double y, double z) const { return value_at(y, z); }
  double derivative(double y, double z) const { return derivative_at(y, z); }
  // By central differences where it is not stated; the step is the cube root of the unit of rounding.
  double second_derivative(double y, double z) const {
    if (second_derivative_at) return second_derivative_at(y, z);
    const double step = 6.055454452393343e-06 * (1.0 + std::abs(z));
    return std::max((derivative(y, z + step) - derivative(y, z - step)) / (2.0 * step), 0.0);
  }
  // The conjugate itself is +infinity outside the domain.
  bool contains(double, double) const noexcept { return true; }

  double conjugate(double y, double u) const {
    const End left = far_end(y, -1.0), right = far_end(y, 1.0);
    if (!(left.slope <= u && u <= right.slope)) return std::numeric_limits<double>::infinity();
    Bracket at{left.z, right.z, left.slope - u, right.slope - u};
    expand(y, u, at);
    narrow(y, u, at);
    return crossing(y, u, at);
  }

 private:
  static constexpr double far = 0x1p30, farthest = 0x1p1000;
  static constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();

  struct End {
    double z, slope;
  };

  struct Bracket {
    double a, b, fa, fb;  // loss' - u is fa <= 0 at a and fb >= 0 at b
  };

  End far_end(double y, double sign) const {
    double z = sign * far * (1.0 + std::abs(y)), slope = derivative(y, z);
    for (int retreat = 0; retreat < 20 && std::isnan(slope); ++retreat) slope = derivative(y, z /= 4.0);
    if (sign * slope < 0 && derivative(y, sign * farthest) == 0.0) return {sign * farthest, 0.0};
    return {z, slope};
  }

  void expand(double y, double u, Bracket& at) const {
    const double first = derivative(y, 0.0) - u;
    const bool is_right = first <= 0;
    if (is_right)
      at.a = 0.0, at.fa = first;
    else
      at.b = 0.0, at.fb = first;
    if (first == 0) return;
    for (double size = 1.0; size < (is_right ? at.b : -at.a); size *= size < far ? 4.0 : size) {
      const double z = is_right ? size : -size, f = derivative(y, z) - u;
      if (f <= 0) at.a = z, at.fa = f;
      if (f >= 0) at.b = z, at.fb = f;
      if (!(is_right ? f < 0 : f > 0)) return;
    }
  }

  void narrow(double y, double u, Bracket& at) const {
    const double enough = rounding * std::abs(value(y, 0.0));
    double pull_a = at.fa, pull_b = at.fb;
    int moved = 0;
    for (int step = 0; step < 250; ++step) {
      const double width = at.b - at.a, middle = at.a + width / 2;
      const double size = std::max(std::abs(at.a), std::abs(at.b));
      const bool is_loose = std::min(-at.fa, at.fb) * width > enough + rounding * std::abs(u) * size;
      if (!(is_loose && at.a < middle && middle < at.b)) return;
      const double secant = at.a - pull_a * (width / (pull_b - pull_a));
      const double z = at.a < secant && secant < at.b && step < 30 && step % 4 != 3 ? secant : middle;
      const double f = derivative(y, z) - u;
      if (f <= 0) {
        if (moved < 0) pull_b *= pulled(f / at.fa);
        at.a = z, at.fa = pull_a = f, moved = -1;
      } else if (f > 0) {
        if (moved > 0) pull_a *= pulled(f / at.fb);
        at.b = z, at.fb = pull_b = f, moved = 1;
      } else {
        return;  // no number: what is known so far is a bound
      }
    }
  }

  // How far an end that stays behind is pulled in when the other's f falls to this share of itself.
  static double pulled(double share) noexcept { return share < 1.0 ? 1.0 - share : 0.5; }

  double crossing(double y, double u, const Bracket& at) const {
    const double up = -at.fa, down = at.fb, share = up + down > 0 ? up / (up + down) : 0.0;
    double bound = up * (1.0 - share) * (at.b - at.a);
    if (1.0 - share > 0) bound += (1.0 - share) * below(y, u, at.a);
    if (share > 0) bound += share * below(y, u, at.b);
    return std::isnan(bound) ? std::numeric_limits<double>::infinity() : bound;
  }

  // u z - loss(z), rounded up.
  double below(double y, double u, double z) const {
    const double product = u * z, loss = value(y, z);
    return product - loss + rounding * (std::abs(product) + std::abs(loss));
  }
};

}  // namespace lineal
