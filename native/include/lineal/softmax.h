// The softmax loss, log sum_k exp(z_k) - z_y, over whole arrays of scores: its weighted sum, slopes, line
// searches, products with its Hessian, conjugates and residuals.
//
// Scores count from that of the true class, and slopes of the true class are minus the sum of the others:
// where a row's probability is nearly 1, loss, slopes and curvatures keep all their digits. A few rows are
// turned class by class, so that every loop runs over rows and vectorises whatever K is. Sums are taken over
// pieces of a fixed number of rows and added in order, so threads change no bit. The slow twin is `Softmax`
// in src/lineal/objective/joint.py.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "lineal/elementary.h"
#include "lineal/evaluate.h"
#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

// n_rows x n_outputs scores, and for each row the class it is of and its weight.
struct CodedScores {
  Index n_rows, n_outputs;
  const std::int32_t* code;
  const double* s;
  const double* z;
};

// Some rows, class by class: entry j of class k belongs to row first + j. Lanes beyond the last row hold 0.
class SoftmaxBlock {
 public:
  static constexpr Index widest = 64;
  static Index width(Index n_outputs) noexcept { return std::clamp<Index>(2048 / n_outputs, 8, widest) & ~7; }

  explicit SoftmaxBlock(Index n_outputs)
      : K_(n_outputs),
        width_(width(n_outputs)),
        share_(std::size_t(K_ * width_)),
        moves_(share_.size()),
        highest_(std::size_t(width_)),
        own_(highest_),
        others_(highest_) {}

  // exp(z_k - z_y - h) of all classes k but the true one, whose 1 is kept apart, where h is the largest
  // difference, at least 0, of the scores Z + t M.
  void take(const CodedScores& at, Range rows, const double* M = nullptr, double t = 0.0) {
    turn(at, rows, at.z, share_.data());
    if (M != nullptr) {
      turn(at, rows, M, moves_.data());
      for (std::size_t j = 0; j < share_.size(); ++j) share_[j] += t * moves_[j];
    }
    std::fill(highest_.begin(), highest_.end(), 0.0);
    for (Index k = 0; k < K_; ++k)
      for (Index j = 0; j < width_; ++j)
        highest_[std::size_t(j)] = std::max(highest_[std::size_t(j)], of_class(share_, k)[j]);
    for (Index k = 0; k < K_; ++k) {
      double* e = of_class(share_, k);
      for (Index j = 0; j < width_; ++j) e[j] = exp_nonpositive(e[j] - highest_[std::size_t(j)]);
    }
    for (Index i = rows.first; i < rows.last; ++i) of_class(share_, at.code[i])[i - rows.first] = 0.0;
    std::fill(others_.begin(), others_.end(), 0.0);
    for (Index k = 0; k < K_; ++k)
      for (Index j = 0; j < width_; ++j) others_[std::size_t(j)] += of_class(share_, k)[j];
    for (Index j = 0; j < width_; ++j) own_[std::size_t(j)] = exp_nonpositive(-highest_[std::size_t(j)]);
  }

  // The losses of the rows that were taken.
  void values(double* value) const {
    for (std::size_t j = 0; j < own_.size(); ++j) {
      const double far = highest_[j] + log_normal(own_[j] + others_[j]);
      const double near = log1p_unit(std::min(others_[j], 1.0));
      value[j] = highest_[j] == 0.0 && others_[j] <= 1.0 ? near : far;
    }
  }

  // From exponentials to probabilities.
  void divide() {
    for (std::size_t j = 0; j < own_.size(); ++j) {
      const double whole = own_[j] + others_[j];
      own_[j] /= whole;
      others_[j] /= whole;
      highest_[j] = 1.0 / whole;
    }
    for (Index k = 0; k < K_; ++k)
      for (Index j = 0; j < width_; ++j) of_class(share_, k)[j] *= highest_[std::size_t(j)];
  }

  // Slopes of the rows, once they are probabilities.
  void slopes(const CodedScores& at, Range rows, double* U) const {
    for (Index i = rows.first; i < rows.last; ++i) {
      const Index j = i - rows.first;
      double* u = U + i * K_;
      for (Index k = 0; k < K_; ++k) u[k] = of_class(share_, k)[j];
      u[at.code[i]] = -others_[std::size_t(j)];
    }
  }

  // Room for the numbers of the rows, while no moves are there.
  double* scratch() noexcept { return moves_.data(); }

  // The first and second derivatives of the losses along the moves, once they are probabilities.
  void along(double* slope, double* bend) const {
    std::fill(slope, slope + width_, 0.0);
    for (Index k = 0; k < K_; ++k)
      for (Index j = 0; j < width_; ++j) slope[j] += of_class(share_, k)[j] * of_class(moves_, k)[j];
    for (Index j = 0; j < width_; ++j) bend[j] = own_[std::size_t(j)] * slope[j] * slope[j];
    for (Index k = 0; k < K_; ++k)
      for (Index j = 0; j < width_; ++j) {
        const double off = of_class(moves_, k)[j] - slope[j];
        bend[j] += of_class(share_, k)[j] * off * off;
      }
  }

 private:
  double* of_class(std::vector<double>& from, Index k) const { return from.data() + k * width_; }
  const double* of_class(const std::vector<double>& from, Index k) const { return from.data() + k * width_; }

  // Numbers of rows, less that of the true class.
  void turn(const CodedScores& at, Range rows, const double* from, double* to) const {
    const Index count = rows.last - rows.first;
    for (Index j = 0; j < count; ++j) {
      const double* row = from + (rows.first + j) * K_;
      const double own = row[at.code[rows.first + j]];
      for (Index k = 0; k < K_; ++k) to[k * width_ + j] = row[k] - own;
    }
    for (Index k = 0; k < K_; ++k) std::fill(to + k * width_ + count, to + (k + 1) * width_, 0.0);
  }

  Index K_, width_;
  std::vector<double> share_, moves_;  // class by class
  std::vector<double> highest_, own_, others_;
};

// Calls body(piece, rows) for pieces of whole blocks of rows, each of some thousands of scores; start() makes
// what a thread needs and is handed on to its calls.
inline Index rows_of_piece(Index n_outputs) noexcept {
  const Index width = SoftmaxBlock::width(n_outputs);
  return width * std::max<Index>(1, piece_length / (width * n_outputs));
}

template <class Start, class Body>
Index in_row_pieces(Index n_rows, Index n_outputs, int n_threads, Start&& start, Body&& body) {
  const Index length = rows_of_piece(n_outputs), n_pieces = (n_rows + length - 1) / length;
  const int n_workers = int(std::clamp<Index>(n_pieces, 1, n_threads));
  parallel(n_workers, [&](int worker) {
    auto own = start();
    const Range mine = share(n_pieces, worker, n_workers);
    for (Index piece = mine.first; piece < mine.last; ++piece)
      body(own, piece, Range{piece * length, std::min(n_rows, (piece + 1) * length)});
  });
  return n_pieces;
}

// Calls body(block, piece, rows) for every few rows.
template <class Body>
void in_softmax_blocks(const CodedScores& at, int n_threads, Body&& body) {
  const Index width = SoftmaxBlock::width(at.n_outputs);
  in_row_pieces(
      at.n_rows, at.n_outputs, n_threads, [&] { return SoftmaxBlock(at.n_outputs); },
      [&](SoftmaxBlock& block, Index piece, Range rows) {
        for (Index first = rows.first; first < rows.last; first += width)
          body(block, piece, Range{first, std::min(rows.last, first + width)});
      });
}

// s_i f(i) for rows with weight, 0 for others, whatever is said of them.
inline double weighted_term(double s, double term) noexcept { return s > 0 ? s * term : 0.0; }

// sum_i s_i loss(y_i, z_i + t m_i) with its first and second derivative in t; the value alone without M.
inline std::array<double, 3> softmax_line_pass(const CodedScores& at, const double* M, double t,
                                               int n_threads) {
  const Index length = rows_of_piece(at.n_outputs);
  std::vector<std::array<double, 3>> sums(std::size_t((at.n_rows + length - 1) / length));
  in_softmax_blocks(at, n_threads, [&](SoftmaxBlock& block, Index piece, Range rows) {
    double value[SoftmaxBlock::widest], slope[SoftmaxBlock::widest], bend[SoftmaxBlock::widest];
    block.take(at, rows, M, t);
    block.values(value);
    if (M != nullptr) {
      block.divide();
      block.along(slope, bend);
    }
    std::array<double, 3>& sum = sums[std::size_t(piece)];
    for (Index i = rows.first; i < rows.last; ++i) {
      const Index j = i - rows.first;
      sum[0] += weighted_term(at.s[i], value[j]);
      if (M == nullptr) continue;
      sum[1] += weighted_term(at.s[i], slope[j]);
      sum[2] += weighted_term(at.s[i], bend[j]);
    }
  });
  std::array<double, 3> total{};
  for (const auto& sum : sums)
    for (std::size_t n = 0; n < 3; ++n) total[n] += sum[n];
  return total;
}

inline void softmax_slope_pass(const CodedScores& at, double* U, int n_threads) {
  in_softmax_blocks(at, n_threads, [&](SoftmaxBlock& block, Index, Range rows) {
    block.take(at, rows);
    block.divide();
    block.slopes(at, rows, U);
  });
}

// H M, row by row: how the slopes U change when the scores move by M. The scores themselves are not asked.
inline void softmax_curved_pass(Index n_rows, Index K, const std::int32_t* code, const double* U,
                                const double* M, double* out, int n_threads) {
  in_row_pieces(
      n_rows, K, n_threads, [] { return 0; },
      [&](int, Index, Range rows) {
        for (Index i = rows.first; i < rows.last; ++i) {
          const double *u = U + i * K, *m = M + i * K;
          double* to = out + i * K;
          const Index y = code[i];
          const double own = m[y], probability = 1.0 + u[y];
          double mean = 0.0;  // of m_k - m_y; the true class adds 0
          for (Index k = 0; k < K; ++k) mean += u[k] * (m[k] - own);
          for (Index k = 0; k < K; ++k) to[k] = u[k] * (m[k] - own - mean);
          to[y] = -probability * mean;
        }
      });
}

// sum_k p_k log p_k of some rows for p = u + e_y; +infinity where p leaves the simplex by more than rounding.
// `p` has room for a block.
inline void softmax_conjugates(const CodedScores& dual, Range rows, double* p, double* value) {
  const Index K = dual.n_outputs, count = rows.last - rows.first;
  std::copy(dual.z + rows.first * K, dual.z + rows.last * K, p);
  for (Index j = 0; j < count; ++j) {
    double* row = p + j * K;
    row[dual.code[rows.first + j]] += 1.0;
    double least = 0.0, whole = 0.0;
    for (Index k = 0; k < K; ++k) {
      least = std::min(least, row[k]);
      whole += row[k];
    }
    value[j] =
        least >= -1e-15 && std::abs(whole - 1.0) <= 1e-12 ? 0.0 : std::numeric_limits<double>::infinity();
  }
  for (Index e = 0; e < count * K; ++e) p[e] = xlogx_unit(std::clamp(p[e], 0.0, 1.0));
  for (Index j = 0; j < count; ++j)
    for (Index k = 0; k < K; ++k) value[j] += p[j * K + k];
}

// sum_i s_i loss*(y_i, u_i); the dual point takes the place of the scores.
inline double softmax_conjugate_pass(const CodedScores& at, int n_threads) {
  const Index K = at.n_outputs, width = SoftmaxBlock::width(K), length = rows_of_piece(K);
  std::vector<double> sums(std::size_t((at.n_rows + length - 1) / length));
  in_row_pieces(
      at.n_rows, K, n_threads, [&] { return std::vector<double>(std::size_t(width * K)); },
      [&](std::vector<double>& p, Index piece, Range rows) {
        double value[SoftmaxBlock::widest];
        for (Index first = rows.first; first < rows.last; first += width) {
          const Range some{first, std::min(rows.last, first + width)};
          softmax_conjugates(at, some, p.data(), value);
          for (Index i = first; i < some.last; ++i)
            sums[std::size_t(piece)] += weighted_term(at.s[i], value[i - first]);
        }
      });
  double total = 0.0;
  for (const double sum : sums) total += sum;
  return total;
}

// The largest s_i (loss(y_i, z_i) + loss*(y_i, u_i) - z_i . u_i), at least 0.
inline double softmax_residual_pass(const CodedScores& at, const double* U, int n_threads) {
  const Index K = at.n_outputs, length = rows_of_piece(K);
  const CodedScores dual{at.n_rows, K, at.code, at.s, U};
  std::vector<double> found(std::size_t((at.n_rows + length - 1) / length));
  in_softmax_blocks(at, n_threads, [&](SoftmaxBlock& block, Index piece, Range rows) {
    double value[SoftmaxBlock::widest], conjugate[SoftmaxBlock::widest];
    block.take(at, rows);
    block.values(value);
    softmax_conjugates(dual, rows, block.scratch(), conjugate);
    for (Index i = rows.first; i < rows.last; ++i) {
      const double *u = U + i * K, *z = at.z + i * K, own = z[at.code[i]];
      double product = 0.0;  // slopes sum to 0
      for (Index k = 0; k < K; ++k) product += u[k] * (z[k] - own);
      const double term = weighted_term(at.s[i], value[i - rows.first] + conjugate[i - rows.first] - product);
      found[std::size_t(piece)] = std::max(found[std::size_t(piece)], term);
    }
  });
  return found.empty() ? 0.0 : *std::max_element(found.begin(), found.end());
}

// A dual point near U in the simplex, row by row: what is below it is cut off, and the rest scaled. Nothing
// is left of a row that is below it in every class: 0 is feasible.
inline void softmax_domain_pass(Index n_rows, Index K, const std::int32_t* code, const double* U, double* out,
                                int n_threads) {
  in_row_pieces(
      n_rows, K, n_threads, [] { return 0; },
      [&](int, Index, Range rows) {
        for (Index i = rows.first; i < rows.last; ++i) {
          const double* u = U + i * K;
          double* to = out + i * K;
          const Index y = code[i];
          const double own = std::max(u[y] + 1.0, 0.0);
          double others = 0.0, below = std::min(u[y] + 1.0, 0.0);
          for (Index k = 0; k < K; ++k) {
            to[k] = k == y ? 0.0 : std::max(u[k], 0.0);
            below = std::min(below, k == y ? 0.0 : u[k]);
            others += to[k];
          }
          const double whole = own + others;
          if (below == 0.0 && std::abs(whole - 1.0) <= 1e-15 * double(K)) {
            std::copy(u, u + K, to);  // it is there
            continue;
          }
          const double scale = whole > 0.0 ? 1.0 / whole : 0.0;
          for (Index k = 0; k < K; ++k) to[k] *= scale;
          to[y] = -others * scale;
        }
      });
}

}  // namespace lineal
