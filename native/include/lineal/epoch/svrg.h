// Gradient steps on batches, plain or with reduced variance (Johnson and Zhang 2013; Xiao and Zhang 2014),
//
//     theta_j <- step of theta_j against  g_j(B, theta) - g_j(B, anchor) + drift_j,   drift = g(anchor),
//
// at a cost of the stored numbers of B. Every step moves every weight, but one that no row of B meets is
// moved by its drift and its penalty alone, by the same map each time: m such steps have a closed form, and
// are made when a row asks for the weight or the epoch ends.
//
// A step against a gradient p with rate t (each column has its own) is
//
//     theta - t (p + l2 theta)                          for L2 or no penalty,
//     soft(theta - t p, t l1) / (1 + t l2)              proximal: L1 and elastic net.
//
// Both are theta -> r theta - c while theta keeps its sign. Dense rows meet all columns: nothing is put off.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "lineal/elementary.h"
#include "lineal/loss.h"
#include "lineal/row_slopes.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// r^m - 1 and 1 + r + ... + r^(m - 1) for r = 1 - q, to full precision however small q is.
struct Powers {
  double less_one, sum;

  static Powers of(double q, double log_r, Index m) noexcept {
    const double steps = double(m);
    if (!(q < 0.5)) {  // r may be negative: a step that is far too long
      const double less_one = std::pow(1.0 - q, steps) - 1.0;
      return {less_one, -less_one / q};
    }
    const double less_one = expm1_nonpositive(steps * log_r);
    return {less_one, q > 0.0 ? -less_one / q : steps};
  }
};

struct StepPenalty {
  double l2, l1;
  bool is_proximal;

  double step(double theta, double rate, double pull) const noexcept {
    if (!is_proximal) return theta - rate * (pull + l2 * theta);
    return soft(theta - rate * pull, rate * l1) / (1.0 + rate * l2);
  }
  // 1 - r.
  double contraction(double rate) const noexcept {
    return is_proximal ? rate * l2 / (1.0 + rate * l2) : rate * l2;
  }
};

// A column between the steps that its rows ask for.
struct IdleColumn {
  double rate, q, log_r;
  Index since = 0;  // steps that its weights have made

  IdleColumn(const StepPenalty& penalty, double the_rate) noexcept
      : rate(the_rate), q(penalty.contraction(the_rate)), log_r(std::log1p(-q)) {}
  // m steps with the sign that theta has, or across 0 as if there were no kink; sign 0 where l1 is 0.
  double straight(const StepPenalty& penalty, double theta, double drift, double sign,
                  const Powers& powers) const noexcept {
    const double scale = penalty.is_proximal ? rate / (1.0 + rate * penalty.l2) : rate;
    return theta + powers.less_one * theta - powers.sum * scale * (drift + sign * penalty.l1);
  }
  // m >= 1 steps; `powers` are those of m.
  double after(const StepPenalty& penalty, double theta, double drift, Index m,
               const Powers& powers) const noexcept {
    if (!penalty.is_proximal || penalty.l1 == 0.0) return straight(penalty, theta, drift, 0.0, powers);
    Powers rest = powers;
    while (m > 0) {
      if (theta == 0.0) {
        if (std::abs(drift) <= penalty.l1) return 0.0;
        theta = penalty.step(0.0, rate, drift);  // and never back
      } else {
        // On one side of 0 theta moves one way, so if the last step is on that side all are.
        const double sign = theta > 0 ? 1.0 : -1.0;
        const double end = straight(penalty, theta, drift, sign, rest);
        if (!(sign * end <= 0.0)) return end;
        Index low = 0, high = m;  // the last step on this side is in [low, high)
        double edge = theta;
        while (high - low > 1) {
          const Index middle = low + (high - low) / 2;
          const double there = straight(penalty, theta, drift, sign, Powers::of(q, log_r, middle));
          if (sign * there > 0.0) {
            low = middle;
            edge = there;
          } else {
            high = middle;
          }
        }
        theta = penalty.step(edge, rate, drift);
        m -= low;
      }
      if (--m > 0) rest = Powers::of(q, log_r, m);
    }
    return theta;
  }
};

struct SvrgSettings {
  Index batch_size;
  StepPenalty weights, intercept;
  bool has_intercept;
};

template <class Rows>
struct SvrgEpoch {
  static constexpr bool is_dense = !requires(const Rows& rows) { rows.index; };
  static constexpr Index ahead = 12;  // stored numbers, as in rows.h

  const RowSlopes& slopes;
  const Rows& X;
  const double* s;
  const double* rate;    // of each column, and of the intercept
  const double* drift;   // as theta, or null: there is none
  const double* anchor;  // slopes at the anchor, n_rows x n_outputs, or null
  const SvrgSettings& set;
  double* theta;  // W, feature-major, then b where there is an intercept

  Index K = slopes.n_outputs, size = X.n_columns * K;
  Index made = 0;  // steps so far
  std::vector<IdleColumn> idle = {};
  // Of the batch: 0 but inside a step.
  std::vector<double> gradient = std::vector<double>(std::size_t(size + K), 0.0);

  double drift_of(Index parameter) const noexcept { return drift == nullptr ? 0.0 : drift[parameter]; }

  LINEAL_HINT void prefetch_column(Index j) const noexcept {
    __builtin_prefetch(&idle[std::size_t(j)], 1);
    __builtin_prefetch(theta + j * K, 1);
    if (drift != nullptr) __builtin_prefetch(drift + j * K);
    __builtin_prefetch(&gradient[std::size_t(j * K)], 1);
  }
  void catch_up(Index j) noexcept {
    IdleColumn& column = idle[std::size_t(j)];
    const Index m = made - column.since;
    if (m == 0) return;
    column.since = made;
    const Powers powers = Powers::of(column.q, column.log_r, m);
    for (Index k = j * K; k < (j + 1) * K; ++k)
      theta[k] = column.after(set.weights, theta[k], drift_of(k), m, powers);
  }
  // The present step of one column, and its gradient cleared.
  void step(Index j) noexcept {
    for (Index k = j * K; k < (j + 1) * K; ++k) {
      theta[k] = set.weights.step(theta[k], rate[j], gradient[std::size_t(k)] + drift_of(k));
      gradient[std::size_t(k)] = 0.0;
    }
  }
  // Slopes of row i less those at the anchor, times its weight and the share, into the gradient.
  void meet(Index i, double share, double* u) noexcept {
    const auto x = X[i];
    if constexpr (!is_dense)
      for (Index k = 0; k < x.size; ++k) {
        if (k + ahead < x.size) prefetch_column(column(x, k + ahead));
        catch_up(column(x, k));
      }
    std::fill(u, u + K, 0.0);
    if (set.has_intercept) std::copy(theta + size, theta + size + K, u);
    add_scores(x, theta, K, u);
    slopes.at(i, u);
    bool is_flat = true;
    for (Index k = 0; k < K; ++k) {
      u[k] = share * s[i] * (u[k] - (anchor == nullptr ? 0.0 : anchor[i * K + k]));
      gradient[std::size_t(size + k)] += u[k];
      is_flat = is_flat && u[k] == 0.0;
    }
    if (!is_flat) add_product<false>(x, u, K, gradient.data());
  }
  // Ends after the present batch when the watch says so.
  void run(std::span<const std::int64_t> order, Watch& watch) {
    const Index n = X.n_rows;
    if constexpr (!is_dense) {
      idle.reserve(std::size_t(X.n_columns));
      for (Index j = 0; j < X.n_columns; ++j) idle.emplace_back(set.weights, rate[j]);
    }
    std::vector<double> u(static_cast<std::size_t>(K));
    for (Index first = 0; first < n && !watch.is_over(); first += set.batch_size) {
      const Index last = std::min(n, first + set.batch_size);
      // theta holds still while the batch is met: the scores of its rows do not see each other.
      for (Index at = first; at < last; ++at) {
        if (at + 1 < n) prefetch(X[order[std::size_t(at + 1)]]);
        meet(order[std::size_t(at)], double(n) / double(last - first), u.data());
        watch.says_stop(X[order[std::size_t(at)]].size * K);
      }
      ++made;
      if constexpr (is_dense) {
        for (Index j = 0; j < X.n_columns; ++j) step(j);
      } else {
        for (Index at = first; at < last; ++at) {
          const auto x = X[order[std::size_t(at)]];
          for (Index k = 0; k < x.size; ++k) {
            const Index j = column(x, k);
            if (std::exchange(idle[std::size_t(j)].since, made) != made) step(j);
          }
        }
      }
      for (Index k = size; k < size + K; ++k) {
        if (set.has_intercept)
          theta[k] = set.intercept.step(theta[k], rate[X.n_columns], gradient[std::size_t(k)] + drift_of(k));
        gradient[std::size_t(k)] = 0.0;
      }
    }
    if constexpr (!is_dense)
      for (Index j = 0; j < X.n_columns; ++j) catch_up(j);
  }
};

// One epoch in place; `order` is a permutation of the rows.
template <class Rows>
void svrg_epoch(const RowSlopes& slopes, const Rows& X, const double* s, std::span<const std::int64_t> order,
                const double* rate, const double* drift, const double* anchor, const SvrgSettings& set,
                double* theta, Watch& watch) {
  SvrgEpoch<Rows>{slopes, X, s, rate, drift, anchor, set, theta}.run(order, watch);
}

}  // namespace lineal
