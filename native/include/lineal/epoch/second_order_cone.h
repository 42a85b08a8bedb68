// Pairs x = (x_0, x_1), y = (y_0, y_1) inside second-order cones, x_0 > |x_1| and y_0 > |y_1|, as steps of an
// interior-point method meet them.
//
// Nesterov and Todd's scaling is the symmetric W with W y = x / W =: lam. With the unit points x' and y' of
// both (v_0^2 - |v_1|^2 = 1), J = diag(1, -1 ... -1) and
//
//     middle = (x' + J y') / root(2 (1 + x'.y')),     W^2 = beta^2 (2 middle middle' - J),
//
// it costs a few sums over the entries. The cone's product is x o y = (x.y, x_0 y_1 + y_0 x_1); on the way to
// the optimum lam o lam = mu (1, 0 ... 0).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "lineal/rows.h"

namespace lineal {

// A point of a cone: x_0, and its other entries wherever they lie.
struct ConePoint {
  double head = 0.0;
  double* tail = nullptr;
};

class ConeScaling {
 public:
  // Of a pair; `middle`, `lam`, `work`: room for the tails. False where one is not inside its cone.
  bool scale(ConePoint x, ConePoint y, Index size, double* middle, double* lam) {
    size_ = size, middle_.tail = middle, lam_.tail = lam;
    const double of_x = square(x, size), of_y = square(y, size);
    if (!(of_x > 0.0 && of_y > 0.0)) return false;
    const double root_x = std::sqrt(of_x), root_y = std::sqrt(of_y);
    double dot = x.head / root_x * (y.head / root_y);
    for (Index i = 0; i < size; ++i) dot += x.tail[i] / root_x * (y.tail[i] / root_y);
    const double inverse = 1.0 / std::sqrt(2.0 * (1.0 + dot));
    middle_.head = (x.head / root_x + y.head / root_y) * inverse;
    for (Index i = 0; i < size; ++i) middle_.tail[i] = (x.tail[i] / root_x - y.tail[i] / root_y) * inverse;
    tail_square_ = 0.0;
    for (Index i = 0; i < size; ++i) tail_square_ += middle_.tail[i] * middle_.tail[i];
    beta_ = std::sqrt(root_x / root_y);
    determinant_ = root_x * root_y;
    times(y.head, y.tail, lam_.head, lam_.tail);
    return true;
  }

  // The tail of W^2 is a (I + ...): its inverse is 1 / a (I - share middle_1 middle_1').
  double curvature() const { return 1.0 / (beta_ * beta_); }
  double share() const { return 2.0 / (1.0 + 2.0 * tail_square_); }
  const double* middle() const { return middle_.tail; }

  // du = (W^2)_11^-1 dz, in place.
  void respond(double* dz) const {
    double along = 0.0;
    for (Index i = 0; i < size_; ++i) along += middle_.tail[i] * dz[i];
    along *= share();
    for (Index i = 0; i < size_; ++i) dz[i] = curvature() * (dz[i] - along * middle_.tail[i]);
  }

  // W (lam \ d), what x moves by where y stays and lam o (W dy + dx / W) = d.
  void moved(double d_head, const double* d, double& out_head, double* out) const {
    double dot = 0.0;
    for (Index i = 0; i < size_; ++i) dot += lam_.tail[i] * d[i];
    const double head = (lam_.head * d_head - dot) / determinant_;
    for (Index i = 0; i < size_; ++i) out[i] = (d[i] - head * lam_.tail[i]) / lam_.head;
    times(head, out, out_head, out);
  }

  // W^2 (0, v), added to x.
  void add_squared(const double* v, double& x_head, double* x) const {
    double along = 0.0;
    for (Index i = 0; i < size_; ++i) along += middle_.tail[i] * v[i];
    const double square = beta_ * beta_;
    x_head += square * 2.0 * middle_.head * along;
    for (Index i = 0; i < size_; ++i) x[i] += square * (2.0 * middle_.tail[i] * along + v[i]);
  }

  // d = -lam o lam - (dx / W) o (W dy) with dy = (0, tail); without the second part where dx is null.
  void aim(double dx_head, const double* dx, const double* dy, double& d_head, double* d) const {
    double square = lam_.head * lam_.head;
    for (Index i = 0; i < size_; ++i) square += lam_.tail[i] * lam_.tail[i];
    d_head = -square;
    if (dx == nullptr) {
      for (Index i = 0; i < size_; ++i) d[i] = -2.0 * lam_.head * lam_.tail[i];
      return;
    }
    // With v = (middle + e) / root(2 (middle_0 + 1)): W = beta (2 v v' - J), and 1 / W the same of J v.
    const double root = std::sqrt(2.0 * (middle_.head + 1.0)), v_head = (middle_.head + 1.0) / root;
    double on_x = v_head * dx_head, on_y = 0.0;
    for (Index i = 0; i < size_; ++i) {
      on_x -= middle_.tail[i] / root * dx[i];
      on_y += middle_.tail[i] / root * dy[i];
    }
    const double x_head = (2.0 * v_head * on_x - dx_head) / beta_, y_head = beta_ * 2.0 * v_head * on_y;
    double dot = x_head * y_head;
    for (Index i = 0; i < size_; ++i) {
      const double v = middle_.tail[i] / root;
      const double one = (dx[i] - 2.0 * v * on_x) / beta_, other = beta_ * (2.0 * v * on_y + dy[i]);
      dot += one * other;
      d[i] = -2.0 * lam_.head * lam_.tail[i] - (x_head * other + y_head * one);
    }
    d_head -= dot;
  }

  // v_0^2 - |v_1|^2.
  static double square(ConePoint v, Index size) {
    double tail = 0.0;
    for (Index i = 0; i < size; ++i) tail += v.tail[i] * v.tail[i];
    const double norm = std::sqrt(tail);
    return (v.head - norm) * (v.head + norm);
  }

  // The least t > 0 at which x + t dx leaves the cone; infinity where it never does.
  static double longest(double head, const double* tail, double d_head, const double* d_tail, Index size) {
    double a = d_head * d_head, b = head * d_head, norm = 0.0;
    for (Index i = 0; i < size; ++i) {
      a -= d_tail[i] * d_tail[i];
      b -= tail[i] * d_tail[i];
      norm += tail[i] * tail[i];
    }
    norm = std::sqrt(norm);
    const double c = (head - norm) * (head + norm), none = std::numeric_limits<double>::infinity();
    const double inside = b * b - a * c;
    if (!(inside >= 0.0)) return none;
    const double q = -(b + std::copysign(std::sqrt(inside), b));  // of the roots q / a and c / q
    double least = none;
    for (const double t : {q / a, c / q})
      if (t > 0.0) least = std::min(least, t);
    return least;
  }

 private:
  // W v; `out` may be v.
  void times(double head, const double* tail, double& out_head, double* out) const {
    const double root = std::sqrt(2.0 * (middle_.head + 1.0)), v_head = (middle_.head + 1.0) / root;
    double dot = v_head * head;
    for (Index i = 0; i < size_; ++i) dot += middle_.tail[i] / root * tail[i];
    out_head = beta_ * (2.0 * v_head * dot - head);
    for (Index i = 0; i < size_; ++i) out[i] = beta_ * (2.0 * middle_.tail[i] / root * dot + tail[i]);
  }

  Index size_ = 0;
  ConePoint middle_, lam_;
  double beta_ = 1.0, tail_square_ = 0.0, determinant_ = 1.0;
};

}  // namespace lineal
