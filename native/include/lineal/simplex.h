// Steps on the probability simplex: the one-row subproblems of the joint losses.
//
//     minimise  loss*(p) - z.(p - p0) + (q/2) |p - p0|^2   over  p >= 0, sum p = 1.
//
// Hinge (Crammer-Singer): a Euclidean projection. Log (softmax): log p_k + q p_k = c_k + nu with
// c = z + q p0, by Newton in (log p, nu) together, warm-started from the last visit; when that has not
// converged, by Newton on nu alone, which descends monotonically from nu = q - max c.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "lineal/elementary.h"
#include "lineal/rows.h"

namespace lineal {

// x with x + log x = a, for any real a (the Wright omega function on the real line).
inline double wright(double a) noexcept {
  if (a < -40) return std::exp(a);  // x is below rounding of log x
  double x = a > 1 ? a - std::log(a) : std::exp(std::min(a, 0.5) - (a > -1 ? 0.4 : 0.0));
  for (int step = 0; step < 20; ++step) {
    const double f = x + std::log(x) - a;
    const double next = x - f * x / (1.0 + x);
    const double kept = next > 0 ? next : 0.5 * x;
    const bool done = std::abs(kept - x) <= 4e-16 * kept;
    x = kept;
    if (done) break;
  }
  return x;
}

// Newton on nu alone. Slow and sure; t receives log p.
inline void softmax_step_surely(Index K, double q, const double* c, double* p, double* t) noexcept {
  const double log_q = std::log(q);
  double highest = c[0];
  for (Index k = 1; k < K; ++k) highest = std::max(highest, c[k]);
  double nu = q - highest;  // there the largest p is exactly 1, so the sum is at least 1
  for (int step = 0; step < 100; ++step) {
    double sum = 0, slope = 0;
    for (Index k = 0; k < K; ++k) {
      p[k] = wright(c[k] + nu + log_q) / q;
      sum += p[k];
      slope += p[k] / (1.0 + q * p[k]);
    }
    const double change = (sum - 1.0) / slope;
    nu -= change;
    if (!(change > 1e-15 * (1.0 + std::abs(nu)))) break;
  }
  double sum = 0;
  for (Index k = 0; k < K; ++k) sum += p[k] = wright(c[k] + nu + log_q) / q;
  for (Index k = 0; k < K; ++k) {
    p[k] /= sum;
    t[k] = std::max(p[k] > 0 ? std::log(p[k]) : -700.0, -700.0);
  }
}

// p and t = log p enter as the last visit left them and leave as the solution. c = z + q p0. Progress is
// judged by how far p moves: a residual weighed by a tiny p says nothing about the p that is wanted.
inline void softmax_step(Index K, double q, const double* __restrict c, double* __restrict p,
                         double* __restrict t) noexcept {
  double nu = 0, mass = 0;
#pragma omp simd reduction(+ : nu, mass)
  for (Index k = 0; k < K; ++k) {
    p[k] = std::max(p[k], exp_nonpositive(t[k]));  // a p that was rounded to 0 still has its logarithm
    nu += p[k] * (t[k] + q * p[k] - c[k]);
    mass += p[k];
  }
  nu /= mass;
  for (int step = 0; step < 12; ++step) {
    double pull = 0, slope = 0;
#pragma omp simd reduction(+ : pull, slope)
    for (Index k = 0; k < K; ++k) {
      const double weight = p[k] / (1.0 + q * p[k]);
      pull += weight * (t[k] + q * p[k] - c[k] - nu);
      slope += weight;
    }
    nu += (1.0 - mass + pull) / slope;
    double moved = 0;
    mass = 0;
#pragma omp simd reduction(+ : mass) reduction(max : moved)
    for (Index k = 0; k < K; ++k) {
      const double residual = t[k] + q * p[k] - c[k] - nu;
      t[k] = std::min(std::max(t[k] - residual / (1.0 + q * p[k]), -700.0), 0.0);
      const double next = exp_nonpositive(t[k]);
      const double change = std::abs(next - p[k]);
      moved = change > moved ? change : moved;
      p[k] = next;
      mass += next;
    }
    if (moved <= 1e-8 && std::abs(mass - 1.0) <= 1e-8) {
      for (Index k = 0; k < K; ++k) p[k] /= mass;
      return;
    }
  }
  softmax_step_surely(K, q, c, p, t);
}

// Projection of v onto the simplex by Michelot's loop; p may be v. Finite, exact, O(K) a round.
inline void project_simplex(Index K, const double* v, double* p) noexcept {
  // The projection ignores a common shift; the largest entry at 0 keeps all digits of the rest.
  double highest = v[0], sum = 0;
  for (Index k = 1; k < K; ++k) highest = std::max(highest, v[k]);
  for (Index k = 0; k < K; ++k) sum += p[k] = v[k] - highest;
  double theta = (sum - 1.0) / double(K);
  for (;;) {
    double kept = 0;
    Index count = 0;
    for (Index k = 0; k < K; ++k)
      if (p[k] > theta) {
        kept += p[k];
        ++count;
      }
    const double next = (kept - 1.0) / double(count);
    if (!(next > theta)) break;
    theta = next;
  }
  for (Index k = 0; k < K; ++k) p[k] = std::max(0.0, p[k] - theta);
}

}  // namespace lineal
