// Dual coordinate ascent over rows, one output (Hsieh et al. 2008; Shalev-Shwartz and Zhang 2013).
//
// Maximises D(u) one u_i at a time, exactly, in a fresh random order each epoch, keeping
// t = -X'(s u)/l2 so that a row costs one sparse dot and one sparse update. Under L2 the weights are
// w = t; under an elastic net w = soft(t, l1/l2), read through Shrunk, and the step maximises the
// usual quadratic lower bound of D instead of D itself.
//
// Guarantees: u stays in its domain; D never falls (with no intercept). Cost: O(stored entries) an
// epoch, less the rows that rest. A row whose u did not move rests for 1, 3, then 7 epochs and any
// move resets it: simpler than shrinking, with no threshold and no reactivation phase.
//
// A free intercept is an augmented-Lagrangian multiplier: a constant feature of size bias whose weight
// is re-centred after each epoch by bias^2 sum(s u)/l2, which drives sum(s u) to 0.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>

#include "lineal/loss.h"
#include "lineal/rng.h"
#include "lineal/rows.h"

namespace lineal {

struct DualSettings {
  double l2;      // strength of the quadratic part, > 0
  double l1;      // strength of the absolute part, >= 0
  double bias2;   // squared size of the constant feature; 0: no intercept
  bool recentre;  // true: the intercept is free; false: it is penalised as a weight
};

struct Rest {
  std::uint8_t wait = 0, level = 0;

  bool passes() noexcept {  // true when the row rests in this epoch
    if (wait == 0) return false;
    --wait;
    return true;
  }
  void stayed() noexcept {
    level = level < 3 ? std::uint8_t(level + 1) : level;
    wait = std::uint8_t((1u << level) - 1);
  }
  void moved() noexcept { wait = level = 0; }
};

// w_j = soft(t_j, threshold), computed as it is read.
struct Shrunk {
  const double* t;
  double threshold;
  double operator[](Index j) const noexcept { return soft(t[j], threshold); }
};

// u, t, b and share are updated in place; `order` is scratch of n_rows. share[i] is what row i adds to the
// gap, as of its last visit; the returned sum over all rows is a free, slightly late estimate of the gap.
template <ScoreLoss Loss, class Rows>
double dual_cd_epoch(const Loss& loss, const Rows& X, const double* y, const double* s, const double* norm2,
                     const DualSettings& set, Rng& rng, std::span<std::int32_t> order, Rest* rest, double* u,
                     double* share, double* t, double& b) noexcept {
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  const double inverse = 1.0 / set.l2;
  const Shrunk shrunk{t, set.l1 * inverse};
  const std::size_t n = order.size();
  for (std::size_t k = 0; k < n; ++k) {
    // Two rows ahead: one row of work hides the latency of memory, not of memory and page tables.
    if (k + 2 < n) prefetch(X[order[k + 2]]);
    const Index i = order[k];
    if (rest[i].passes() || s[i] == 0.0) continue;
    const auto x = X[i];
    const double z = (set.l1 > 0 ? dot(x, shrunk) : dot(x, static_cast<const double*>(t))) + b;
    const double q = s[i] * (norm2[i] + set.bias2) * inverse;
    const double wanted = q > 0 ? loss.dual_step(y[i], z, u[i], q) : loss.derivative(y[i], z);
    share[i] = s[i] * residual(loss, y[i], z, wanted);
    const double moved = wanted - u[i];
    if (moved == 0.0) {
      rest[i].stayed();
      continue;
    }
    rest[i].moved();
    u[i] = wanted;
    axpy(-s[i] * moved * inverse, x, t);
    b -= s[i] * moved * inverse * set.bias2;
  }
  if (set.recentre) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += s[i] * u[i];
    b -= set.bias2 * inverse * sum;
  }
  double gap = 0;
  for (std::size_t i = 0; i < n; ++i) gap += share[i];
  return gap;
}

}  // namespace lineal
