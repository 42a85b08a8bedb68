// Sequential minimal optimisation inside a block of kernel values that is held in memory.
//
//   maximise  sum_v c_v beta_v - beta'K beta / 2   over  lo <= beta <= hi,  sum of beta fixed in every group,
//
// two coefficients at a time: i, which may grow and has the largest slope v_i = c_i - (K beta)_i of its
// group, and j, which may fall and promises the largest gain (v_i - v_j)^2 / (K_ii + K_jj - 2 K_ij) (Fan,
// Chen and Lin 2005). A step costs two passes over the block's width in float32; coefficients are kept in
// float64.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lineal/kernel/lanes.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

class Smo {
 public:
  static constexpr int lanes = kernel::Lanes<float>::n;
  static constexpr float none = std::numeric_limits<float>::infinity();
  // Pairs of rows that are (nearly) equal have no curvature between them; a step is then cut by its bounds.
  static constexpr float flattest = 1e-6f;

  // A group is a range of places whose coefficients keep their sum; it begins and ends at a multiple of
  // lanes.
  struct Group {
    Index first, last;
  };

  void resize(Index width) {
    for (auto* each : {&up_, &down_, &diagonal_}) each->resize(std::size_t(width));
    for (auto* each : {&beta, &lo, &hi}) each->resize(std::size_t(width));
    slope.resize(std::size_t(width));
  }

  std::vector<double> beta, lo, hi;  // by place; a place that nothing stands on has lo = hi
  std::vector<float> slope;          // less a common number that keeps it small

  // Steps until no group's slopes disagree by more than tol; at most max_steps. How many were made.
  Index run(const float* K, Index stride, const std::vector<Group>& groups, double tol, Index max_steps,
            Watch* watch = nullptr) {
    const Index width = groups.back().last;
    for (Index k = 0; k < width; ++k) {
      diagonal_[std::size_t(k)] = K[k * stride + k];
      open(k, slope[std::size_t(k)]);
    }
    tops_.clear();
    for (const Group& group : groups) tops_.push_back(shifted(group, nullptr, nullptr, 0));
    Index steps = 0;
    for (; steps < max_steps && !(watch && watch->says_stop(2 * width)); ++steps) {
      Pair best;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const Pair pair = choose(K, stride, groups[g], tops_[g]);
        if (pair.violation > float(tol) && pair.gain > best.gain) best = pair;
      }
      if (best.i < 0 || !move(K, stride, groups, best)) break;
    }
    return steps;
  }

 private:
  struct Pair {
    Index i = -1, j = -1;
    float violation = 0, gain = 0;
  };
  using V = kernel::Vector<float>;
  using Bits = kernel::Lanes<float>::Bits;

  // up_ holds slopes of what may grow, down_ of what may fall; the others are out of reach.
  void open(Index k, float v) {
    const std::size_t p = std::size_t(k);
    up_[p] = beta[p] < hi[p] ? v : -none;
    down_[p] = beta[p] > lo[p] ? v : none;
  }

  // What may grow with the largest slope, the first of equals.
  struct Top {
    Index i = -1;
    float slope = -none;
  };

  Pair choose(const float* K, Index stride, const Group& group, const Top& top) const {
    Pair pair;
    pair.i = top.i;
    if (pair.i < 0) return pair;
    const float largest = top.slope;
    const float* row = K + pair.i * stride;
    const float own = diagonal_[std::size_t(pair.i)];
    V best = {}, farthest = {};
    Bits at = Bits{} - 1, place = first_places(group.first);
    for (Index k = group.first; k < group.last; k += lanes, place += lanes) {
      const V ahead = largest - load(&down_[std::size_t(k)]);
      V curvature = (own + load(&diagonal_[std::size_t(k)])) - 2.0f * kernel::load(row + k);
      curvature = curvature > flattest ? curvature : kernel::in_all_lanes<float>(flattest);
      const V gain = ahead > 0 ? ahead * ahead / curvature : V{};
      const auto is_better = gain > best;
      best = is_better ? gain : best;
      at = is_better ? place : at;
      farthest = ahead > farthest ? ahead : farthest;
    }
    for (int l = 0; l < lanes; ++l) {
      pair.violation = std::max(pair.violation, farthest[l]);
      if (at[l] >= 0 && (best[l] > pair.gain || (best[l] == pair.gain && at[l] < pair.j))) {
        pair.gain = best[l];
        pair.j = at[l];
      }
    }
    if (pair.j < 0) pair.i = -1;
    return pair;
  }

  // Slopes of a group less step * (row_i - row_j), where there are rows; and the top of them then.
  Top shifted(const Group& group, const float* row_i, const float* row_j, float step) {
    V best = kernel::in_all_lanes<float>(-none);
    Bits at = Bits{} - 1, place = first_places(group.first);
    for (Index k = group.first; k < group.last; k += lanes, place += lanes) {
      V up = load(&up_[std::size_t(k)]);
      if (row_i) {
        const V change = step * (kernel::load(row_i + k) - kernel::load(row_j + k));
        up -= change;
        kernel::store(&up_[std::size_t(k)], up);
        kernel::store(&down_[std::size_t(k)], load(&down_[std::size_t(k)]) - change);
      }
      const auto is_better = up > best;
      best = is_better ? up : best;
      at = is_better ? place : at;
    }
    Top top;
    for (int l = 0; l < lanes; ++l)
      if (at[l] >= 0 && (best[l] > top.slope || (best[l] == top.slope && at[l] < top.i)))
        top = {at[l], best[l]};
    return top;
  }

  // Whether anything moved: a step too small for float64 is the end of what a block can do.
  bool move(const float* K, Index stride, const std::vector<Group>& groups, const Pair& pair) {
    const std::size_t i = std::size_t(pair.i), j = std::size_t(pair.j);
    const float* row_i = K + pair.i * stride;
    const float* row_j = K + pair.j * stride;
    const float curvature = std::max(diagonal_[i] + diagonal_[j] - 2.0f * row_i[pair.j], flattest);
    double step = double(up_[i] - down_[j]) / double(curvature);
    const double room_i = hi[i] - beta[i], room_j = beta[j] - lo[j];
    step = std::min({step, room_i, room_j});
    const double before_i = beta[i], before_j = beta[j];
    beta[i] = step == room_i ? hi[i] : beta[i] + step;
    beta[j] = step == room_j ? lo[j] : beta[j] - step;
    if (beta[i] == before_i && beta[j] == before_j) return false;
    const float slope_i = up_[i], slope_j = down_[j], moved = float(step);
    open(pair.i, slope_i);
    open(pair.j, slope_j);
    for (std::size_t g = 0; g < groups.size(); ++g) tops_[g] = shifted(groups[g], row_i, row_j, moved);
    return true;
  }

  static V load(const float* from) noexcept { return kernel::load(from); }
  static Bits first_places(Index first) noexcept {
    Bits place;
    for (int l = 0; l < lanes; ++l) place[l] = std::int32_t(first + l);
    return place;
  }

  std::vector<float> up_, down_, diagonal_;
  std::vector<Top> tops_;  // of the groups
};

}  // namespace lineal
