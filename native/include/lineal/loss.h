// Losses of one score.
//
// Each struct states value and derivative in z, where it is smooth the second derivative, the conjugate in u
// (for u inside its domain: the steps never leave it), the domain, and, unless its kinks are rounded, the
// exact maximiser of the dual over one coordinate under an L2 penalty (docs/objective.md, "One dual
// coordinate"):
//
//     dual_step(y, z, u0, q) = argmin_u  loss*(u) - z (u - u0) + (q/2) (u - u0)^2,   q > 0.
//
// The slow twins are in src/lineal/objective/losses.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

namespace lineal {

template <class L>
concept ScoreLoss = requires(const L& loss, double x) {
  { loss.value(x, x) } -> std::same_as<double>;
  { loss.derivative(x, x) } -> std::same_as<double>;
  { loss.conjugate(x, x) } -> std::same_as<double>;
  { loss.contains(x, x) } -> std::same_as<bool>;
};

template <class L>
concept DualStepLoss = ScoreLoss<L> && requires(const L& loss, double x) {
  { loss.dual_step(x, x, x, x) } -> std::same_as<double>;
};

template <class L>
concept SmoothLoss = ScoreLoss<L> && requires(const L& loss, double x) {
  { loss.second_derivative(x, x) } -> std::same_as<double>;
};

inline double soft(double t, double e) noexcept { return t > e ? t - e : t < -e ? t + e : 0.0; }

inline double sigmoid(double t) noexcept {
  if (t >= 0) return 1.0 / (1.0 + std::exp(-t));
  const double e = std::exp(t);
  return e / (1.0 + e);
}

inline double xlogx(double t) noexcept { return t > 0 ? t * std::log(t) : 0.0; }

// loss(z) + loss*(u) - z u >= 0: what a row adds to the duality gap, 0 when u is a slope at z.
template <class L>
inline double residual(const L& loss, double y, double z, double u) noexcept {
  return loss.value(y, z) + loss.conjugate(y, u) - z * u;
}

struct Hinge {
  double margin = 1.0;
  double value(double y, double z) const noexcept { return std::max(0.0, margin - y * z); }
  double derivative(double y, double z) const noexcept { return y * z < margin ? -y : 0.0; }
  double conjugate(double y, double u) const noexcept { return margin * y * u; }
  bool contains(double y, double u) const noexcept { return -y * u >= 0.0 && -y * u <= 1.0; }
  double dual_step(double y, double z, double u0, double q) const noexcept {
    return -y * std::clamp(-y * u0 + (margin - y * z) / q, 0.0, 1.0);
  }
};

struct SquaredHinge {
  double margin = 1.0;
  double value(double y, double z) const noexcept {
    const double slack = std::max(0.0, margin - y * z);
    return slack * slack;
  }
  double derivative(double y, double z) const noexcept { return -2.0 * y * std::max(0.0, margin - y * z); }
  double conjugate(double y, double u) const noexcept { return margin * y * u + 0.25 * u * u; }
  double second_derivative(double y, double z) const noexcept { return y * z < margin ? 2.0 : 0.0; }
  bool contains(double y, double u) const noexcept { return -y * u >= 0.0; }
  double dual_step(double y, double z, double u0, double q) const noexcept {
    return -y * std::max(0.0, (-q * y * u0 + margin - y * z) / (q + 0.5));
  }
};

struct ModifiedHuber {
  double value(double y, double z) const noexcept {
    const double m = y * z, slack = std::max(0.0, 1.0 - m);
    return m >= -1.0 ? slack * slack : -4.0 * m;
  }
  double derivative(double y, double z) const noexcept {
    return -y * std::clamp(2.0 * (1.0 - y * z), 0.0, 4.0);
  }
  double conjugate(double y, double u) const noexcept { return y * u + 0.25 * u * u; }
  double second_derivative(double y, double z) const noexcept { return std::abs(y * z) < 1.0 ? 2.0 : 0.0; }
  bool contains(double y, double u) const noexcept { return -y * u >= 0.0 && -y * u <= 4.0; }
  double dual_step(double y, double z, double u0, double q) const noexcept {
    return -y * std::clamp((-q * y * u0 + 1.0 - y * z) / (q + 0.5), 0.0, 4.0);
  }
};

struct Log {
  double value(double y, double z) const noexcept {
    const double m = y * z;
    return std::max(0.0, -m) + std::log1p(std::exp(-std::abs(m)));
  }
  double derivative(double y, double z) const noexcept { return -y * sigmoid(-y * z); }

  double conjugate(double y, double u) const noexcept { return xlogx(-y * u) + xlogx(1.0 + y * u); }
  double second_derivative(double, double z) const noexcept { return sigmoid(z) * sigmoid(-z); }
  bool contains(double y, double u) const noexcept { return -y * u >= 0.0 && -y * u <= 1.0; }
  // Solves h(t) = t - q sigmoid(-t) - base = 0 for the new margin t; the new slope is sigmoid(-t).
  // h increases and its root lies in [base, base + q]. Newton starts from the margin that u0 belongs to,
  // and is safeguarded by that bracket and by bisection whenever |h| fails to halve: a bracket alone still
  // cycles for large q.
  double dual_step(double y, double z, double u0, double q) const noexcept {
    const double a0 = -y * u0, base = y * z - q * a0;
    double low = base, high = base + q;
    double t = a0 > 0 && a0 < 1       ? std::log((1.0 - a0) / a0)
               : base < 0 && high > 0 ? std::log(high / -base)
                                      : (base >= 0 ? low : high);
    t = std::clamp(t, low, high);
    double before = HUGE_VAL, a = 0;
    for (int step = 0; step < 100; ++step) {
      a = sigmoid(-t);
      const double h = t - q * a - base, slope = 1.0 + q * a * (1.0 - a);
      if (h > 0)
        high = t;
      else
        low = t;
      if (std::abs(h) <= 1e-15 * (1.0 + q + std::abs(base))) break;  // rounding: h can fall no further
      double next = t - h / slope;
      if (!(next > low && next < high) || std::abs(h) > 0.5 * before) next = 0.5 * (low + high);
      const double change = next - t;
      before = std::abs(h);
      // So near, the quadratic term is below rounding: one first-order correction of a ends it.
      if (std::abs(change) <= 1e-8) {
        a = std::clamp(a - a * (1.0 - a) * change, 0.0, 1.0);
        break;
      }
      t = next;
    }
    return -y * a;
  }
};

struct Squared {
  double value(double y, double z) const noexcept { return 0.5 * (z - y) * (z - y); }
  double derivative(double y, double z) const noexcept { return z - y; }
  double conjugate(double y, double u) const noexcept { return u * y + 0.5 * u * u; }
  double second_derivative(double, double) const noexcept { return 1.0; }
  bool contains(double, double) const noexcept { return true; }
  double dual_step(double y, double z, double u0, double q) const noexcept {
    return (q * u0 + z - y) / (q + 1.0);
  }
};

struct Huber {
  double delta = 1.0;
  double value(double y, double z) const noexcept {
    const double r = std::abs(z - y);
    return r <= delta ? 0.5 * r * r : delta * (r - 0.5 * delta);
  }
  double derivative(double y, double z) const noexcept { return std::clamp(z - y, -delta, delta); }
  double conjugate(double y, double u) const noexcept { return u * y + 0.5 * u * u; }
  double second_derivative(double y, double z) const noexcept { return std::abs(z - y) < delta ? 1.0 : 0.0; }
  bool contains(double, double u) const noexcept { return std::abs(u) <= delta; }
  double dual_step(double y, double z, double u0, double q) const noexcept {
    return std::clamp((q * u0 + z - y) / (q + 1.0), -delta, delta);
  }
};

struct EpsilonInsensitive {
  double epsilon = 0.0;
  double value(double y, double z) const noexcept { return std::max(0.0, std::abs(z - y) - epsilon); }
  double derivative(double y, double z) const noexcept {
    const double r = z - y;
    return r > epsilon ? 1.0 : r < -epsilon ? -1.0 : 0.0;
  }
  double conjugate(double y, double u) const noexcept { return u * y + epsilon * std::abs(u); }
  bool contains(double, double u) const noexcept { return std::abs(u) <= 1.0; }
  double dual_step(double y, double z, double u0, double q) const noexcept {
    return std::clamp(soft(q * u0 + z - y, epsilon) / q, -1.0, 1.0);
  }
};

struct SquaredEpsilonInsensitive {
  double epsilon = 0.0;
  double value(double y, double z) const noexcept {
    const double excess = std::max(0.0, std::abs(z - y) - epsilon);
    return excess * excess;
  }
  double derivative(double y, double z) const noexcept { return 2.0 * soft(z - y, epsilon); }
  double conjugate(double y, double u) const noexcept { return u * y + epsilon * std::abs(u) + 0.25 * u * u; }
  double second_derivative(double y, double z) const noexcept {
    return std::abs(z - y) > epsilon ? 2.0 : 0.0;
  }
  bool contains(double, double) const noexcept { return true; }
  double dual_step(double y, double z, double u0, double q) const noexcept {
    return soft(q * u0 + z - y, epsilon) / (q + 0.5);
  }
};

struct Quantile {
  double q = 0.5;
  double value(double y, double z) const noexcept {
    const double r = z - y;
    return r < 0 ? -q * r : (1.0 - q) * r;
  }
  double derivative(double y, double z) const noexcept {
    const double r = z - y;
    return r < 0 ? -q : r > 0 ? 1.0 - q : 0.0;
  }
  double conjugate(double y, double u) const noexcept { return u * y; }
  bool contains(double, double u) const noexcept { return u >= -q && u <= 1.0 - q; }
  double dual_step(double y, double z, double u0, double curvature) const noexcept {
    return std::clamp((curvature * u0 + z - y) / curvature, -q, 1.0 - q);
  }
};

// ---- kinks rounded over a width mu: loss_mu(z) = max_u  u z - loss*(u) - mu u^2 / 2 --------------
//
// They are for the primal solvers: dual ascent takes the sharp losses themselves.

struct SmoothedHinge {
  double margin, width;
  double slope(double y, double z) const noexcept { return std::clamp((margin - y * z) / width, 0.0, 1.0); }
  double value(double y, double z) const noexcept {
    const double a = slope(y, z);
    return a * (margin - y * z) - 0.5 * width * a * a;
  }
  double derivative(double y, double z) const noexcept { return -y * slope(y, z); }
  double second_derivative(double y, double z) const noexcept {
    const double slack = margin - y * z, bend = 1.0 / width;
    return slack > 0 && slack < width ? bend : 0.0;
  }
  double conjugate(double y, double u) const noexcept { return margin * y * u + 0.5 * width * u * u; }
  bool contains(double y, double u) const noexcept { return -y * u >= 0.0 && -y * u <= 1.0; }
};

struct SmoothedEpsilonInsensitive {
  double epsilon, width;
  double value(double y, double z) const noexcept {
    const double excess = std::max(0.0, std::abs(z - y) - epsilon), a = std::min(excess / width, 1.0);
    return a * excess - 0.5 * width * a * a;
  }
  double derivative(double y, double z) const noexcept {
    return std::clamp(soft(z - y, epsilon) / width, -1.0, 1.0);
  }
  double second_derivative(double y, double z) const noexcept {
    // Without a tube there is no flat part inside.
    const double excess = std::abs(z - y) - epsilon, bend = 1.0 / width;
    return excess < width && (excess > 0 || epsilon == 0) ? bend : 0.0;
  }
  double conjugate(double y, double u) const noexcept {
    return u * y + epsilon * std::abs(u) + 0.5 * width * u * u;
  }
  bool contains(double, double u) const noexcept { return std::abs(u) <= 1.0; }
};

struct SmoothedQuantile {
  double q, width;
  double value(double y, double z) const noexcept {
    const double u = derivative(y, z);
    return u * (z - y) - 0.5 * width * u * u;
  }
  double derivative(double y, double z) const noexcept { return std::clamp((z - y) / width, -q, 1.0 - q); }
  double second_derivative(double y, double z) const noexcept {
    const double scaled = (z - y) / width, bend = 1.0 / width;
    return scaled > -q && scaled < 1.0 - q ? bend : 0.0;
  }
  double conjugate(double y, double u) const noexcept { return u * y + 0.5 * width * u * u; }
  bool contains(double, double u) const noexcept { return u >= -q && u <= 1.0 - q; }
};

}  // namespace lineal
