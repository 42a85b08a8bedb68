// Losses over whole arrays of scores: their weighted sum, slopes, curvatures, conjugates and residuals.
//
// The loops are written so that they vectorise: no branches that cannot become a selection, no library
// calls. Sums are taken over pieces of a fixed length and the pieces added in order, so threads change no
// bit. The slow twins are the methods of `Problem` (src/lineal/objective/problem.py).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "lineal/elementary.h"
#include "lineal/loss.h"
#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

// ---- losses without branches ------------------------------------------------------------------

// Log (loss.h) from the functions above.
struct FlatLog {
  static double decay(double y, double z) noexcept { return exp_nonpositive(-std::abs(y * z)); }
  double value(double y, double z) const noexcept { return std::max(0.0, -y * z) + log1p_unit(decay(y, z)); }
  double derivative(double y, double z) const noexcept {
    const double e = decay(y, z);
    return -y * ((y * z > 0 ? e : 1.0) / (1.0 + e));
  }
  double second_derivative(double y, double z) const noexcept {
    const double e = decay(y, z), whole = 1.0 + e;
    return e / (whole * whole);
  }
  double conjugate(double y, double u) const noexcept { return xlogx_unit(-y * u) + xlogx_unit(1.0 + y * u); }
  bool contains(double y, double u) const noexcept { return -y * u >= 0.0 && -y * u <= 1.0; }
};

template <class Loss>
Loss flat(const Loss& loss) noexcept {
  return loss;
}
inline FlatLog flat(const Log&) noexcept { return {}; }

// ---- passes -----------------------------------------------------------------------------------

// Entries of one piece: long enough to pay for a thread, and a whole number of blocks that stay in cache.
inline constexpr Index piece_length = 1 << 15, block_length = 1 << 9;

inline Index n_pieces(Index size) noexcept { return (size + piece_length - 1) / piece_length; }

// n_rows x n_outputs targets and scores, and one weight for each row.
struct Scored {
  Index n_rows, n_outputs;
  const double* y;
  const double* s;
  const double* z;

  Index size() const noexcept { return n_rows * n_outputs; }
};

// Calls body(piece, range of entries) for every piece.
template <class Body>
void in_pieces(Index size, int n_threads, Body&& body) {
  const int n_workers = int(std::clamp<Index>(n_pieces(size), 1, n_threads));
  parallel(n_workers, [&](int part) {
    const Range mine = share(n_pieces(size), part, n_workers);
    for (Index piece = mine.first; piece < mine.last; ++piece)
      body(piece, Range{piece * piece_length, std::min(size, (piece + 1) * piece_length)});
  });
}

// out[k] = f(k) for every entry.
template <class F>
void fill_pass(Index size, double* out, int n_threads, F&& f) {
  in_pieces(size, n_threads, [&](Index, Range range) {
    for (Index k = range.first; k < range.last; ++k) out[k] = f(k);
  });
}

// N numbers for each piece, from N terms an entry times the weight of its row, block by block: fill(k, term)
// sets term[0 .. N) of entry k, reduce(number, terms, count) takes a block in. Entries of weight 0 give 0,
// whatever is said of them.
template <std::size_t N, class Fill, class Reduce>
std::vector<std::array<double, N>> weighted_terms_pass(const Scored& at, int n_threads, Fill&& fill,
                                                       Reduce&& reduce) {
  std::vector<std::array<double, N>> results(std::size_t(n_pieces(at.size())));
  in_pieces(at.size(), n_threads, [&](Index piece, Range range) {
    std::array<double, N> result{};
    double terms[N][block_length], weights[block_length];
    for (Index first = range.first; first < range.last; first += block_length) {
      const Index count = std::min(block_length, range.last - first);
      const double* s = at.s + first;
      if (at.n_outputs > 1) {
        for (Index j = 0, row = first / at.n_outputs, k = first % at.n_outputs; j < count; ++j) {
          weights[j] = at.s[row];
          if (++k == at.n_outputs) ++row, k = 0;
        }
        s = weights;
      }
      for (Index j = 0; j < count; ++j) {
        const std::array<double, N> term = fill(first + j);
        for (std::size_t n = 0; n < N; ++n) {
          const double weighted = s[j] * term[n];
          terms[n][j] = s[j] > 0 ? weighted : 0.0;
        }
      }
      for (std::size_t n = 0; n < N; ++n) result[n] = reduce(result[n], terms[n], count);
    }
    results[std::size_t(piece)] = result;
  });
  return results;
}

// sum_k s[row of k] term(k), for N terms at once.
template <std::size_t N, class Fill>
std::array<double, N> weighted_sums_pass(const Scored& at, int n_threads, Fill&& fill) {
  const auto add = [](double sum, const double* terms, Index count) {
    // Sixteen chains hide the latency of the adds; their order is fixed, so the bits are too.
    double chain[16] = {};
    Index j = 0;
    for (; j + 16 <= count; j += 16)
      for (Index c = 0; c < 16; ++c) chain[c] += terms[j + c];
    for (; j < count; ++j) chain[0] += terms[j];
    for (const double part : chain) sum += part;
    return sum;
  };
  std::array<double, N> total{};
  for (const auto& sums : weighted_terms_pass<N>(at, n_threads, fill, add))
    for (std::size_t n = 0; n < N; ++n) total[n] += sums[n];
  return total;
}

// The sums of the columns of G, (n_rows x K).
inline void column_sum_pass(Index n_rows, Index K, const double* G, double* sums, int n_threads) {
  std::fill(sums, sums + K, 0.0);
  if (n_rows == 0 || K == 0) return;
  const Index length = std::max<Index>(1, piece_length / K), n_parts = (n_rows + length - 1) / length;
  std::vector<double> partial(std::size_t(n_parts * K), 0.0);
  const int n_workers = int(std::clamp<Index>(n_parts, 1, n_threads));
  parallel(n_workers, [&](int worker) {
    const Range mine = share(n_parts, worker, n_workers);
    for (Index part = mine.first; part < mine.last; ++part) {
      double* const own = partial.data() + part * K;
      for (Index i = part * length; i < std::min(n_rows, (part + 1) * length); ++i)
        for (Index k = 0; k < K; ++k) own[k] += G[i * K + k];
    }
  });
  for (std::size_t j = 0; j < partial.size(); ++j) sums[Index(j) % K] += partial[j];
}

// sum_i s_i loss(y_i, z_i).
template <class Loss>
double loss_sum_pass(const Loss& loss, const Scored& at, int n_threads) {
  const auto form = flat(loss);
  return weighted_sums_pass<1>(at, n_threads,
                               [=](Index k) { return std::array{form.value(at.y[k], at.z[k])}; })[0];
}

// V = loss(Y, Z), entry by entry.
template <class Loss>
void value_pass(const Loss& loss, const Scored& at, double* V, int n_threads) {
  const auto form = flat(loss);
  fill_pass(at.size(), V, n_threads, [=](Index k) { return form.value(at.y[k], at.z[k]); });
}

template <class Loss>
void slope_pass(const Loss& loss, const Scored& at, double* U, int n_threads) {
  const auto form = flat(loss);
  fill_pass(at.size(), U, n_threads, [=](Index k) { return form.derivative(at.y[k], at.z[k]); });
}

template <SmoothLoss Loss>
void curvature_pass(const Loss& loss, const Scored& at, double* H, int n_threads) {
  const auto form = flat(loss);
  fill_pass(at.size(), H, n_threads, [=](Index k) { return form.second_derivative(at.y[k], at.z[k]); });
}

// sum_i s_i loss(y_i, z_i + t m_i) with its first and second derivative in t: a line search's whole question.
template <SmoothLoss Loss>
std::array<double, 3> line_pass(const Loss& loss, const Scored& at, const double* M, double t,
                                int n_threads) {
  const auto form = flat(loss);
  return weighted_sums_pass<3>(at, n_threads, [=](Index k) {
    const double y = at.y[k], z = at.z[k] + t * M[k], m = M[k];
    return std::array{form.value(y, z), form.derivative(y, z) * m, form.second_derivative(y, z) * m * m};
  });
}

// The same for each output by itself, at a t of its own: out holds n_outputs values, slopes and bends.
template <SmoothLoss Loss>
void line_by_output_pass(const Loss& loss, const Scored& at, const double* M, const double* t, double* out,
                         int n_threads) {
  const auto form = flat(loss);
  const Index K = at.n_outputs;
  std::vector<double> partial(std::size_t(n_pieces(at.size()) * 3 * K), 0.0);
  in_pieces(at.size(), n_threads, [&](Index piece, Range range) {
    double* const sums = partial.data() + piece * 3 * K;
    double terms[3][block_length], step[block_length], weight[block_length];
    for (Index first = range.first; first < range.last; first += block_length) {
      const Index count = std::min(block_length, range.last - first);
      for (Index j = 0, row = first / K, k = first % K; j < count; ++j) {
        step[j] = t[k];
        weight[j] = at.s[row];
        if (++k == K) ++row, k = 0;
      }
      for (Index j = 0; j < count; ++j) {
        const Index e = first + j;
        const double y = at.y[e], m = M[e], z = at.z[e] + step[j] * m, s = weight[j];
        const double value = s * form.value(y, z), slope = s * (form.derivative(y, z) * m);
        const double bend = s * (form.second_derivative(y, z) * m * m);
        terms[0][j] = s > 0 ? value : 0.0;
        terms[1][j] = s > 0 ? slope : 0.0;
        terms[2][j] = s > 0 ? bend : 0.0;
      }
      for (int n = 0; n < 3; ++n) {
        double* const sum = sums + n * K;
        for (Index j = 0, k = first % K; j < count; ++j) {
          sum[k] += terms[n][j];
          if (++k == K) k = 0;
        }
      }
    }
  });
  std::fill(out, out + 3 * K, 0.0);
  for (std::size_t j = 0; j < partial.size(); ++j) out[Index(j) % (3 * K)] += partial[j];
}

// sum_i s_i loss*(y_i, u_i), +infinity where a row with weight leaves the domain.
template <class Loss>
double conjugate_sum_pass(const Loss& loss, const Scored& at, const double* U, int n_threads) {
  const auto form = flat(loss);
  return weighted_sums_pass<1>(at, n_threads, [=](Index k) {
    const double conjugate = form.conjugate(at.y[k], U[k]);
    return std::array{form.contains(at.y[k], U[k]) ? conjugate : std::numeric_limits<double>::infinity()};
  })[0];
}

// The largest s_i (loss(y_i, z_i) + loss*(y_i, u_i) - z_i u_i), at least 0: what one row adds to the gap.
template <class Loss>
double worst_residual_pass(const Loss& loss, const Scored& at, const double* U, int n_threads) {
  const auto form = flat(loss);
  const auto largest = [](double worst, const double* terms, Index count) {
    for (Index j = 0; j < count; ++j) worst = std::max(worst, terms[j]);
    return worst;
  };
  double worst = 0;
  const auto term = [=](Index k) { return std::array{residual(form, at.y[k], at.z[k], U[k])}; };
  for (const auto& each : weighted_terms_pass<1>(at, n_threads, term, largest))
    worst = std::max(worst, each[0]);
  return worst;
}

}  // namespace lineal
