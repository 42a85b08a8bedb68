// A kd-tree (Bentley 1975; Friedman, Bentley and Finkel 1977) over dense rows under the Euclidean distance.
//
// A node knows the box around its points. Its bound is the distance to the box, computed by the operations of
// the distance itself in the same order: rounding is monotone, so the bound never exceeds the computed
// distance of a point inside, and pruning by it loses nothing, not even a tie. Ties are pruned too where
// every row of a node comes after the worst kept one, so many equal points cost no more than different ones.
//
// Points lie in their leaves side by side, so that a register holds the sums of several.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "lineal/near/exact.h"
#include "lineal/near/nearest.h"

namespace lineal::near {

class KdTree {
 public:
  static constexpr Index lanes = 8, leaf_size = 24;

  KdTree(const double* points, Index n, Index d) : n_(n), d_(d), rows_(std::size_t(n)) {
    std::iota(rows_.begin(), rows_.end(), Index(0));
    build(points, 0, n);
  }

  Index n_rows() const noexcept { return n_; }
  Index n_columns() const noexcept { return d_; }

  // How many nodes a search for the k nearest visits, in the mean over some queries: what columns there are
  // says little of it, the dimension of what the points lie near to does.
  double n_visits(const double* queries, Index n_queries, Index k) const {
    Nearest nearest(k);
    std::vector<Visit> stack;
    Index work = 0;
    for (Index i = 0; i < n_queries; ++i) {
      work += find(queries + i * d_, nearest, stack);
      nearest.clear();
    }
    return double(work) / double(std::max<Index>(n_queries * d_ * leaf_size, 1));
  }

  void search(const double* queries, Index n_queries, const Answers& answers, int n_threads,
              Watch& watch) const {
    struct Scratch {
      Nearest nearest;
      std::vector<Visit> stack;
    };
    Ending ending(watch);
    each_block(
        n_queries, 16, n_threads, ending, [&] { return Scratch{Nearest(answers.k), {}}; },
        [&](Scratch& scratch, int part, Index first, Index last) {
          for (Index i = first; i < last; ++i) {
            const Index work = find(queries + i * d_, scratch.nearest, scratch.stack);
            answers.take(scratch.nearest, i);
            if (ending.is_near(part, work)) return;
          }
        });
  }

 private:
  struct Node {
    Index first, last;  // of rows_
    Index right;        // the left child follows its parent; 0: a leaf
    Index panel;        // where a leaf's points begin in panels_
    Index least_row;    // of the node's rows
  };
  struct Visit {
    double bound;
    Index node;
  };

  // The node over [first, last) and all below it; returns its place.
  Index build(const double* points, Index first, Index last) {
    const Index at = Index(nodes_.size());
    nodes_.push_back({first, last, 0, 0, *std::min_element(rows_.begin() + first, rows_.begin() + last)});
    const Index widest = add_box(points, first, last);
    if (last - first <= leaf_size) {
      nodes_[std::size_t(at)].panel = add_panels(points, first, last);
      return at;
    }
    // Whole panels on the left. Equal values are split by their rows: the order is total.
    const Index middle = first + ((last - first) / 2 + lanes - 1) / lanes * lanes;
    std::nth_element(rows_.begin() + first, rows_.begin() + middle, rows_.begin() + last,
                     [&](Index a, Index b) {
                       const double x = points[a * d_ + widest], y = points[b * d_ + widest];
                       return x < y || (x == y && a < b);
                     });
    build(points, first, middle);
    const Index right = build(points, middle, last);
    nodes_[std::size_t(at)].right = right;
    return at;
  }

  // Low and high corner of the box; returns the column in which it is widest.
  Index add_box(const double* points, Index first, Index last) {
    const std::size_t at = boxes_.size();
    boxes_.resize(at + std::size_t(2 * d_));
    double *low = boxes_.data() + at, *high = low + d_;
    const double* start = points + rows_[std::size_t(first)] * d_;
    std::copy(start, start + d_, low);
    std::copy(start, start + d_, high);
    for (Index i = first + 1; i < last; ++i) {
      const double* x = points + rows_[std::size_t(i)] * d_;
      for (Index j = 0; j < d_; ++j) low[j] = std::min(low[j], x[j]), high[j] = std::max(high[j], x[j]);
    }
    Index widest = 0;
    for (Index j = 1; j < d_; ++j)
      if (high[j] - low[j] > high[widest] - low[widest]) widest = j;
    return widest;
  }

  Index add_panels(const double* points, Index first, Index last) {
    std::sort(rows_.begin() + first, rows_.begin() + last);
    const Index begin = Index(panels_.size());
    for (Index i = first; i < last; i += lanes) {
      const std::size_t at = panels_.size();
      panels_.resize(at + std::size_t(d_ * lanes), 0.0);
      for (Index l = 0; l < std::min(lanes, last - i); ++l)
        for (Index j = 0; j < d_; ++j)
          panels_[at + std::size_t(j * lanes + l)] = points[rows_[std::size_t(i + l)] * d_ + j];
    }
    return begin;
  }

  double bound(const double* q, Index node) const noexcept {
    const double *low = boxes_.data() + node * 2 * d_, *high = low + d_;
    double sum = 0;
    for (Index j = 0; j < d_; ++j) {
      const double outside = std::max(std::max(low[j] - q[j], q[j] - high[j]), 0.0);
      sum += outside * outside;
    }
    return sum;
  }

  // Returns about how many numbers were looked at.
  Index find(const double* q, Nearest& nearest, std::vector<Visit>& stack) const {
    Index work = 0;
    stack.assign(1, {0.0, 0});
    while (!stack.empty()) {
      const Visit visit = stack.back();
      stack.pop_back();
      const Node& node = nodes_[std::size_t(visit.node)];
      if (!(Neighbor{Euclidean::distance(visit.bound), node.least_row} < nearest.worst())) continue;
      work += d_ * leaf_size;
      if (node.right == 0) {
        scan(q, node, nearest);
        continue;
      }
      const double left = bound(q, visit.node + 1), right = bound(q, node.right);
      const bool is_left_first = left <= right;
      stack.push_back(is_left_first ? Visit{right, node.right} : Visit{left, visit.node + 1});
      stack.push_back(is_left_first ? Visit{left, visit.node + 1} : Visit{right, node.right});
    }
    return work;
  }

  void scan(const double* q, const Node& node, Nearest& nearest) const {
    const double* panel = panels_.data() + node.panel;
    for (Index i = node.first; i < node.last; i += lanes, panel += d_ * lanes) {
      double sum[lanes] = {};
      for (Index j = 0; j < d_; ++j)
        for (Index l = 0; l < lanes; ++l) sum[l] += Euclidean::term(q[j], panel[j * lanes + l]);
      const double limit = highest_sum(nearest.worst().distance);
      for (Index l = 0; l < std::min(lanes, node.last - i); ++l)
        if (sum[l] <= limit) nearest.offer(Euclidean::distance(sum[l]), rows_[std::size_t(i + l)]);
    }
  }

  Index n_, d_;
  std::vector<Index> rows_;  // in the order of the leaves
  std::vector<Node> nodes_;
  std::vector<double> boxes_;   // 2 d to a node
  std::vector<double> panels_;  // d x lanes to a panel
};

}  // namespace lineal::near
