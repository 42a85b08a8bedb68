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

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <variant>
#include <vector>

#include "lineal/duet.h"
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

// A fresh random order of all rows.
inline void shuffle_rows(Rng& rng, std::span<std::int32_t> order) noexcept {
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
}

// The rows an epoch visits: those that do not rest and that weigh something.
inline std::vector<std::int32_t> awake_rows(std::span<const std::int32_t> order, Rest* rest,
                                            const double* s) {
  std::vector<std::int32_t> awake;
  awake.reserve(order.size());
  for (const std::int32_t i : order)
    if (!rest[i].passes() && s[i] != 0.0) awake.push_back(i);
  return awake;
}

// What a run knows about its rows besides the weights, and the intercept. share[i] is what row i adds to the
// gap, as of its last visit. Either a view of the caller's arrays, or a copy that owns what it writes to.
struct DualState {
  const double *y, *s, *norm2;
  double* u;
  double* share;
  Rest* rest;
  double b;
  Index n_rows;
  // How far t has gone, as the sum of the lengths of its steps, and in how many of them. Each rounds the
  // weights that it meets by `unit`, and its own numbers by 5 of them; t was never longer than the way, so
  // that t is -X'(s u)/l2 up to an error of at most  1.01 unit (n_moves + 5) path,  in the norm of t.
  double path = 0;
  Index n_moves = 0;
  std::vector<double> own_numbers = {};
  std::vector<Rest> own_rest = {};

  LINEAL_HINT void hint(Index i) const noexcept {
    for (const double* numbers : {y, s, norm2, static_cast<const double*>(u)}) lineal::hint(numbers + i);
    lineal::hint(share + i);
    lineal::hint(rest + i);
  }
  DualState room() const {
    const std::size_t n = std::size_t(n_rows);
    DualState twin{y, s, norm2, nullptr, nullptr, nullptr, 0.0, n_rows};
    twin.own_numbers.resize(2 * n);
    twin.own_rest.resize(n);
    twin.u = twin.own_numbers.data();
    twin.share = twin.u + n_rows;
    twin.rest = twin.own_rest.data();
    return twin;
  }
  // What decides: shares are written only, and how rows rested is told by `order`.
  void copy_from(const DualState& other) noexcept {
    std::copy(other.u, other.u + n_rows, u);
    b = other.b;
  }
};

// Where a row's u goes, and its residual there.
struct Settled {
  double u, residual;
};

template <DualStepLoss Loss>
inline Settled settle(const Loss& loss, double y, double z, double u, double q) noexcept {
  const double wanted = q > 0 ? loss.dual_step(y, z, u, q) : loss.derivative(y, z);
  return {wanted, residual(loss, y, z, wanted)};
}

// One of several losses: a predictable jump a row, instead of as many epochs to compile as there are losses.
template <DualStepLoss... Losses>
inline Settled settle(const std::variant<Losses...>& any, double y, double z, double u, double q) {
  return std::visit([&](const auto& loss) { return settle(loss, y, z, u, q); }, any);
}

// One epoch in place; `order` is a permutation of the rows. Returns the sum of all shares: a free, slightly
// late estimate of the gap. Two threads while there is patience (duet.h); shorter when the watch says so.
template <class Loss, class Rows>
double dual_cd_epoch(const Loss& loss, const Halves<Rows>& rows, const DualSettings& set,
                     std::span<const std::int32_t> order, int& patience, Watch& watch, DualState& state,
                     double* t) {
  const double inverse = 1.0 / set.l2, threshold = set.l1 * inverse;
  visit_rows<double>(
      rows, awake_rows(order, state.rest, state.s), 1, patience, watch, state,
      [t, threshold](const auto& half, double* z) {
        const double* weights = t + half.offset;
        *z = threshold > 0 ? dot(half.x, Shrunk{weights, threshold}) : dot(half.x, weights);
      },
      [loss, set, inverse](DualState& row, Index i, const double* partial, double* step) {
        const double s = row.s[i], z = *partial + row.b, q = s * (row.norm2[i] + set.bias2) * inverse;
        const auto [wanted, residual] = settle(loss, row.y[i], z, row.u[i], q);
        row.share[i] = s * residual;
        const double moved = wanted - row.u[i];
        if (moved == 0.0) {
          row.rest[i].stayed();
          return false;
        }
        row.rest[i].moved();
        row.u[i] = wanted;
        *step = -s * moved * inverse;
        row.path += std::sqrt(row.norm2[i]) * std::abs(*step);
        ++row.n_moves;
        row.b += *step * set.bias2;
        return true;
      },
      [t](Index, const auto& half, const double* step) {
        axpy(*step, half.x, t + half.offset);
        return 0.0;
      });
  double gap = 0, sum = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    gap += state.share[i];
    sum += state.s[i] * state.u[i];
  }
  if (set.recentre) state.b -= set.bias2 * inverse * sum;
  return gap;
}

}  // namespace lineal
