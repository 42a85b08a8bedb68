// Rows of codes under the Hamming distance: in how many columns two rows differ, or the sum of those columns'
// weights in their order.
//
// Codes lie side by side, a panel of rows at a time, so that a register compares many rows in one column. A
// panel is given up as soon as all its rows differ in too many columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "lineal/near/nearest.h"

namespace lineal::near {

template <class Code>
class CodeIndex {
 public:
  static constexpr Index lanes = 32;

  // One weight for each column, or none: then each counts 1.
  CodeIndex(const Code* codes, Index n, Index d, const double* weights, Index n_weights)
      : n_(n), d_(d), weights_(weights, weights + n_weights) {
    panels_.assign(std::size_t((n + lanes - 1) / lanes * lanes * d), Code(0));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < d; ++j)
        panels_[std::size_t((i / lanes * d + j) * lanes + i % lanes)] = codes[i * d + j];
  }

  Index n_rows() const noexcept { return n_; }
  Index n_columns() const noexcept { return d_; }

  void search(const Code* queries, Index n_queries, const Answers& answers, int n_threads,
              Watch& watch) const {
    Ending ending(watch);
    each_block(
        n_queries, 1, n_threads, ending, [&] { return Nearest(answers.k); },
        [&](Nearest& nearest, int part, Index i, Index) {
          double distance[lanes];
          for (Index first = 0; first < n_; first += lanes) {
            if (differences(queries + i * d_, first, nearest.worst().distance, distance))
              for (Index l = 0; l < std::min(lanes, n_ - first); ++l) nearest.offer(distance[l], first + l);
            if (ending.is_near(part, d_)) return;
          }
          answers.take(nearest, i);
        });
  }

  void all_distances(const Code* queries, Index n_queries, double* out, int n_threads, Watch& watch) const {
    Ending ending(watch);
    each_block(
        n_queries, 1, n_threads, ending, [] { return 0; },
        [&](int, int part, Index i, Index) {
          double distance[lanes];
          for (Index first = 0; first < n_; first += lanes) {
            differences(queries + i * d_, first, std::numeric_limits<double>::infinity(), distance);
            std::copy(distance, distance + std::min(lanes, n_ - first), out + i * n_ + first);
            if (ending.is_near(part, d_)) return;
          }
        });
  }

 private:
  using Count = std::make_unsigned_t<Code>;
  static constexpr Index stretch = 128;  // columns between looks; no count overflows within

  // False if every row of the panel differs by more than `limit`; the distances are then not complete.
  bool differences(const Code* q, Index first, double limit, double* out) const noexcept {
    std::fill(out, out + lanes, 0.0);
    for (Index start = 0; start < d_; start += stretch) {
      const Index stop = std::min(start + stretch, d_);
      const Code* panel = panels_.data() + (first / lanes * d_ + start) * lanes;
      weights_.empty() ? count(q, start, stop, panel, out) : weigh(q, start, stop, panel, out);
      if (*std::min_element(out, out + lanes) > limit) return false;
    }
    return true;
  }
  static void count(const Code* q, Index start, Index stop, const Code* panel, double* out) noexcept {
    Count n_different[lanes] = {};
    for (Index j = start; j < stop; ++j, panel += lanes)
      for (Index l = 0; l < lanes; ++l) n_different[l] = Count(n_different[l] + Count(panel[l] != q[j]));
    for (Index l = 0; l < lanes; ++l) out[l] += double(n_different[l]);
  }
  void weigh(const Code* q, Index start, Index stop, const Code* panel, double* out) const noexcept {
    for (Index j = start; j < stop; ++j, panel += lanes)
      for (Index l = 0; l < lanes; ++l) out[l] += panel[l] != q[j] ? weights_[std::size_t(j)] : 0.0;
  }

  Index n_, d_;
  std::vector<double> weights_;
  std::vector<Code> panels_;
};

}  // namespace lineal::near
