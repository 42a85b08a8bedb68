// How pairs of a ranking meet: the rows of a query, halved by grade, sorted by score and merged.
//
// Every pair of rows of different grades is shown once, as a row of the worse and a row of the better of two
// parts that are both sorted by score. So the partners of a row that are within reach of it are a window, and
// windows only ever move on. O(n log n) for a query of n rows, memory for its rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

// Who is compared with whom. Groups are runs of rows of one query and one grade.
struct Ranking {
  Index n_rows, n_queries;
  const Index* group_first;  // (n_groups + 1) the first row of each group
  const Index* query_first;  // (n_queries + 1) the first group of each query
  const double* s;           // (n_rows) weights of rows
  const double* c;           // (n_queries) weights of queries

  Index first_row(Index q) const noexcept { return group_first[query_first[q]]; }
};

// Sums over pairs, weighted.
struct PairSums {
  double value = 0.0;   // of the loss
  double hinge = 0.0;   // of max(0, t), whatever the loss; 0 for the logistic loss
  double slopes = 0.0;  // of -loss'(z_i - z_j)
};

// With t = margin - (z_i - z_j): 0 for t <= 0, (bend / 2) t^2 up to t = width, and straight from there on.
// bend = 1 / width rounds the hinge; bend = 2 and no end of the bend is the squared hinge.
struct BentHinge {
  double margin, bend, width;
  double t(double better, double worse) const noexcept { return margin - (better - worse); }
  double steepest() const noexcept { return std::isinf(width) ? 0.0 : bend * width; }
};

// A row of a query among those sorted by score.
struct Placed {
  double z;
  Index row;
};

// Up to so many rows a window is added up row by row: differences of long sums are less exact, and a steep
// bend multiplies what they lack. Then both rows of a pair see the very same slope of it.
inline std::size_t short_window(double bend) noexcept { return bend > 256.0 ? 256 : 64; }

// Sums of weights, and of weights times scores, over the first k rows for every k.
class Sums {
 public:
  void take(std::span<const Placed> rows, const double* s) {
    origin_ = rows[rows.size() / 2].z;  // scores from here: what is subtracted later is small
    rows_ = rows;
    s_ = s;
    weight_.assign(rows.size() + 1, 0.0);
    moment_.assign(rows.size() + 1, 0.0);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      weight_[k + 1] = weight_[k] + s[rows[k].row];
      moment_[k + 1] = moment_[k] + s[rows[k].row] * (rows[k].z - origin_);
    }
  }
  double weight(std::size_t first, std::size_t last) const noexcept { return weight_[last] - weight_[first]; }
  // The weighted sum of (z_row - z) over rows first .. last - 1.
  double above(std::size_t first, std::size_t last, double z) const noexcept {
    return moment_[last] - moment_[first] - (z - origin_) * weight(first, last);
  }
  // The weighted sum of t over worse rows first .. last - 1 of these, for a better row.
  double t_of_worse(const BentHinge& loss, std::size_t first, std::size_t last,
                    double better) const noexcept {
    if (last - first > short_window(loss.bend)) return above(first, last, better - loss.margin);
    double sum = 0.0;
    for (std::size_t k = first; k < last; ++k) sum += s_[rows_[k].row] * loss.t(better, rows_[k].z);
    return sum;
  }
  // The same over better rows, for a worse one.
  double t_of_better(const BentHinge& loss, std::size_t first, std::size_t last,
                     double worse) const noexcept {
    if (last - first > short_window(loss.bend)) return -above(first, last, worse + loss.margin);
    double sum = 0.0;
    for (std::size_t k = first; k < last; ++k) sum += s_[rows_[k].row] * loss.t(rows_[k].z, worse);
    return sum;
  }

 private:
  double origin_ = 0.0;
  std::span<const Placed> rows_;
  const double* s_ = nullptr;
  std::vector<double> weight_, moment_;
};

// Where the pairs of a row lie: those with t <= 0, those in the bend, those beyond. Rows of one side are
// asked for by rising score; the rows of the other side are sorted too, so that both ends only ever move on.
class WindowOfWorse {  // for a better row: [bent, beyond) is the bend, [beyond, n) is beyond it
 public:
  WindowOfWorse(const BentHinge& loss, std::span<const Placed> worse) : loss_(loss), worse_(worse) {}
  void move_to(double better) noexcept {
    while (bent < worse_.size() && !(loss_.t(better, worse_[bent].z) > 0)) ++bent;
    beyond = std::max(beyond, bent);
    while (beyond < worse_.size() && !(loss_.t(better, worse_[beyond].z) > loss_.width)) ++beyond;
  }
  std::size_t bent = 0, beyond = 0;

 private:
  BentHinge loss_;
  std::span<const Placed> worse_;
};
class WindowOfBetter {  // for a worse row: [0, bent) is beyond the bend, [bent, flat) is the bend
 public:
  WindowOfBetter(const BentHinge& loss, std::span<const Placed> better) : loss_(loss), better_(better) {}
  void move_to(double worse) noexcept {
    while (flat < better_.size() && loss_.t(better_[flat].z, worse) > 0) ++flat;
    while (bent < better_.size() && loss_.t(better_[bent].z, worse) > loss_.width) ++bent;
  }
  std::size_t bent = 0, flat = 0;

 private:
  BentHinge loss_;
  std::span<const Placed> better_;
};

// Sorts the rows of one query by score, group by group and then by merging, and shows each two parts to
// cross(worse, better) before they are merged: every pair of different grades meets exactly once.
class GradeMerge {
 public:
  template <class Cross>
  void walk(const Ranking& all, Index q, const double* z, Cross&& cross) {
    const Index first = all.first_row(q), last = all.first_row(q + 1);
    rows_.resize(std::size_t(last - first));
    merged_.resize(rows_.size());
    for (Index i = first; i < last; ++i) rows_[std::size_t(i - first)] = {z[i], i};
    part(all, all.query_first[q], all.query_first[q + 1], first, cross);
  }

 private:
  static bool is_before(const Placed& a, const Placed& b) noexcept {
    return a.z < b.z || (a.z == b.z && a.row < b.row);
  }
  template <class Cross>
  void part(const Ranking& all, Index first, Index last, Index origin, Cross& cross) {
    const auto at = [&](Index group) { return rows_.begin() + (all.group_first[group] - origin); };
    if (last - first <= 1) {
      if (last > first) std::sort(at(first), at(last), is_before);
      return;
    }
    const Index middle = first + (last - first) / 2;
    part(all, first, middle, origin, cross);
    part(all, middle, last, origin, cross);
    const std::span<const Placed> worse(at(first), at(middle)), better(at(middle), at(last));
    if (worse.empty() || better.empty()) return;
    cross(worse, better);
    const auto end = std::merge(at(first), at(middle), at(middle), at(last), merged_.begin(), is_before);
    std::copy(merged_.begin(), end, at(first));
  }
  std::vector<Placed> rows_, merged_;
};

// Runs body(part, first, last) over ranges of queries with about the same number of rows.
template <class Body>
void over_queries(const Ranking& all, int n_threads, Body&& body) {
  parallel(n_threads, [&](int part) {
    const auto cut = [&](int p) {
      const Index row = share(all.n_rows, p, n_threads).first;
      Index low = 0, high = all.n_queries;  // the first query that begins at this row or later
      while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (all.first_row(middle) < row)
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    };
    body(part, part == 0 ? 0 : cut(part), part + 1 == n_threads ? all.n_queries : cut(part + 1));
  });
}

inline PairSums added_up(const std::vector<PairSums>& each) noexcept {
  PairSums sum;
  for (const PairSums& one : each) {
    sum.value += one.value;
    sum.hinge += one.hinge;
    sum.slopes += one.slopes;
  }
  return sum;
}

}  // namespace lineal
