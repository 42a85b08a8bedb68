// Constants added to scores, and the sums that a free one asks to be 0.
//
// Each output is looked at by itself. Sums are those of evaluate.h: pieces of a fixed length, added in order,
// so that threads change no bit. The slow twins are in objective/intercept_refit.py and loss_sums.py.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lineal/evaluate.h"

namespace lineal {

// sum_i s_i f(i) for N terms f of a row, and 0 for rows of weight 0.
template <std::size_t N, class Fill>
std::array<double, N> sums_over_rows(Index n_rows, const double* s, int n_threads, Fill&& fill) {
  return weighted_sums_pass<N>(Scored{n_rows, 1, nullptr, s, nullptr}, n_threads, fill);
}

// The shift of each output's scores that minimises sum_i s_i loss(y_i, z_i + shift): Newton on the monotone
// sum of slopes, inside a bracket that shrinks. U becomes the slopes there.
template <SmoothLoss Loss>
void refit_pass(const Loss& loss, const Scored& at, double* shifts, double* U, int n_threads) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto form = flat(loss);
  const Index K = at.n_outputs;
  for (Index output = 0; output < K; ++output) {
    double shift = 0, low = -infinity, high = infinity, reach = 1;
    for (int round = 0; round < 100; ++round) {
      const auto [slope, size, bend] = sums_over_rows<3>(at.n_rows, at.s, n_threads, [=](Index i) {
        const double y = at.y[i * K + output], z = at.z[i * K + output] + shift;
        const double u = form.derivative(y, z);
        return std::array{u, std::abs(u), form.second_derivative(y, z)};
      });
      if (std::abs(slope) <= 1e-14 * size + 1e-300) break;
      (slope < 0 ? low : high) = shift;
      const double step = bend > 0 ? -slope / bend : infinity;
      const double newton = shift + step;
      const bool is_inside =
          std::abs(step) <= 4 * reach + 4 * std::abs(shift) && newton > low && newton < high;
      // Where the losses are flat Newton knows nothing: walk, doubling, until the bracket closes.
      const bool is_closed = std::isfinite(low) && std::isfinite(high);
      const double walk = slope < 0 ? shift + reach : shift - reach;
      const double next = is_inside ? newton : is_closed ? (low + high) / 2 : walk;
      if (!is_inside) reach *= 2;
      if (std::abs(next - shift) <= 1e-16 * std::abs(shift) || !std::isfinite(next)) break;
      shift = next;
    }
    shifts[output] = shift;
  }
  fill_pass(at.size(), U, n_threads,
            [=](Index k) { return form.derivative(at.y[k], at.z[k] + shifts[K == 1 ? 0 : k % K]); });
}

// U with every positive or every negative entry of an output shrunk, so that sum_i s_i u_i is 0.
inline void balance_pass(const double* U, const double* s, Index n_rows, Index K, double* out,
                         int n_threads) {
  for (Index output = 0; output < K; ++output) {
    const auto [up, down] = sums_over_rows<2>(n_rows, s, n_threads, [=](Index i) {
      const double u = U[i * K + output];
      return std::array{std::max(u, 0.0), std::max(-u, 0.0)};
    });
    const double lighter = std::min(up, down);
    const double keep_up = up > 0 ? lighter / up : 1.0, keep_down = down > 0 ? lighter / down : 1.0;
    in_pieces(n_rows, n_threads, [=](Index, Range rows) {
      for (Index i = rows.first; i < rows.last; ++i) {
        const double u = U[i * K + output];
        out[i * K + output] = u * (u > 0 ? keep_up : keep_down);
      }
    });
  }
}

// sum_i s_i u_i of each output, and sum_i s_i |u_i|: what is left of balance, and what it is to be compared
// with.
inline void balance_left_pass(const double* U, const double* s, Index n_rows, Index K, double* sums,
                              double* sizes, int n_threads) {
  for (Index output = 0; output < K; ++output) {
    const auto [sum, size] = sums_over_rows<2>(n_rows, s, n_threads, [=](Index i) {
      const double u = U[i * K + output];
      return std::array{u, std::abs(u)};
    });
    sums[output] = sum, sizes[output] = size;
  }
}

}  // namespace lineal
