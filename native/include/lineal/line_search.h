// How far to go along lines that have nothing to do with each other: the lowest of a few points on each, by
// Newton's method in one dimension from t = 1 inside a bracket. The slow twin is `lengths` in
// src/lineal/solvers/newton_line.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lineal/rows.h"

namespace lineal {

// A search is content when the slope has fallen to this share, or after so many trials; so many more halve or
// double until there is a step at all.
inline constexpr double flat_enough = 0.05;
inline constexpr int line_trials = 4, line_rescues = 40;

// probe(t, out) gives values, slopes and bends of n lines at t, n numbers each; `quadratic` holds the
// constant, linear and second-order coefficients of what is added to them, value = c + l t + q t^2 / 2.
// `start` and `incline` are values and slopes at 0. Length 0 stands for no step: on a line that does not fall
// beyond rounding, or none lower down to `shortest`.
template <class Probe>
void line_lengths(Index n, Probe&& probe, const double* start, const double* incline, const double* quadratic,
                  double shortest, double* length, double* value) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::size_t size = static_cast<std::size_t>(n);
  std::vector<double> t(size, 1.0), low(size, 0.0), high(size, infinity), out(3 * size);
  std::vector<char> is_open(size);
  bool is_any = false;
  for (std::size_t k = 0; k < size; ++k) {
    length[k] = 0.0;
    value[k] = start[k];
    is_open[k] = incline[k] < 0.0;
    is_any = is_any || is_open[k];
  }
  for (int trial = 0; trial < line_trials + line_rescues && is_any; ++trial) {
    probe(t.data(), out.data());
    is_any = false;
    for (std::size_t k = 0; k < size; ++k) {
      if (!is_open[k]) continue;
      const double linear = quadratic[size + k], square = quadratic[2 * size + k];
      const double there = out[k] + quadratic[k] + t[k] * (linear + 0.5 * square * t[k]);
      const double slope = out[size + k] + linear + square * t[k], bend = out[2 * size + k] + square;
      const double noise = 1e-15 * std::abs(start[k]);
      const bool is_lower = there <= start[k] + 1e-4 * t[k] * incline[k] + noise;
      if (is_lower && (length[k] == 0.0 || there < value[k])) {
        length[k] = t[k];
        value[k] = there;
      }
      const bool is_content = std::abs(slope) <= flat_enough * std::abs(incline[k]) || trial >= line_trials;
      if (length[k] > 0.0 && is_content) {
        is_open[k] = false;
        continue;
      }
      (is_lower && slope < 0.0 ? low : high)[k] = t[k];
      if (high[k] < shortest) {
        is_open[k] = false;
        continue;
      }
      is_any = true;
      const double newton = bend > 0.0 ? t[k] - slope / bend : -1.0;
      const bool is_inside = low[k] < newton && newton < std::min(high[k], 4 * t[k]);
      t[k] = is_inside ? newton : high[k] == infinity ? 2 * t[k] : 0.5 * (low[k] + high[k]);
    }
  }
}

}  // namespace lineal
