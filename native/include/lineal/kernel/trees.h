// Kernels of trees (Collins and Duffy 2001): how many fragments two trees share, each weighed by its size.
//
// For nodes u, v with the same production, C(u, v) = decay prod_c (sigma + C(u_c, v_c)) over their children
// with brackets, else 0; k is the sum of C over all pairs. sigma = 1 counts subset trees, whose fragments may
// end at any node, sigma = 0 subtrees, which reach down to the words. In O(pairs with the same production).
//
// The nodes of z are met children first. Of each, C with all nodes of x that have its production is kept
// until its parent was met, on a stack: memory grows with the width of z, not with the number of pairs.
#pragma once

#include <vector>

#include "lineal/kernel/forest.h"
#include "lineal/kernel/table.h"

namespace lineal::kernel {

class TreeMeter {
 public:
  TreeMeter(const Forest& X, double decay, double sigma)
      : X_(X), decay_(decay), sigma_(sigma), found_(X.grammar->n_productions(), none) {}

  // The tree that others are compared with.
  void set(Index x) {
    if (x == x_) return;
    if (x_ >= 0)
      for (Index g = X_.group_start[at(x_)]; g < X_.group_start[at(x_) + 1]; ++g)
        found_[X_.group[at(g)].production] = none;
    x_ = x;
    for (Index g = X_.group_start[at(x)]; g < X_.group_start[at(x) + 1]; ++g)
      found_[X_.group[at(g)].production] = g;
  }

  // The sum of C over all pairs; productions of Z are called name[...] here. Any number where the watch ended
  // it.
  double operator()(const Forest& Z, Index z, const std::vector<std::uint32_t>* name, int part,
                    SharedWatch& watch) {
    values_.clear();
    segments_.clear();
    double total = 0;
    for (Index v = Z.start[at(z)]; v < Z.start[at(z) + 1]; ++v) {
      const Node& node = Z.node[at(v)];
      const std::uint32_t production = name == nullptr ? node.production : (*name)[node.production];
      const Index g = production == Grammar::unknown ? none : found_[production];
      const std::size_t first = segments_.size() - node.n_children;
      fresh_.clear();
      if (g != none) total += compare(X_.group[at(g)], segments_.data() + first, node.n_children);
      // The children's values make room for those of their parent.
      if (node.n_children > 0) values_.resize(segments_[first].begin);
      segments_.resize(first);
      segments_.push_back({production, values_.size()});
      values_.insert(values_.end(), fresh_.begin(), fresh_.end());
      if (watch.says_stop(part, 4 + fresh_.size() * (1 + node.n_children))) return 0;
    }
    return total;
  }

 private:
  static constexpr Index none = -1;
  struct Segment {
    std::uint32_t production;
    std::size_t begin;  // in values_
  };
  static std::size_t at(Index i) noexcept { return std::size_t(i); }

  // C of one node of z with every node of x in the group.
  double compare(const Group& group, const Segment* segment, std::uint32_t n_children) {
    const Index begin = X_.start[at(x_)];
    double total = 0;
    for (Index k = group.first; k < group.first + group.size; ++k) {
      const Node& node = X_.node[at(begin + X_.grouped[at(k)])];
      double value = decay_;
      for (std::uint32_t c = 0; c < n_children; ++c) {
        const Node& child = X_.node[at(begin + X_.child[at(node.first_child + c)])];
        const bool is_same = child.production == segment[c].production;
        value *= sigma_ + (is_same ? values_[segment[c].begin + child.rank] : 0.0);
      }
      fresh_.push_back(value);
      total += value;
    }
    return total;
  }

  const Forest& X_;
  double decay_, sigma_;
  Index x_ = none;
  std::vector<Index> found_;  // by production: the group of x's nodes
  std::vector<double> values_, fresh_;
  std::vector<Segment> segments_;
};

// All pairs of X and Z; with is_symmetric Z is X, and a pair is computed once.
inline void tree_table(const Forest& X, const Forest& Z, const Table& table, double decay, double sigma,
                       int n_threads, Watch& watch) {
  SharedWatch shared(watch);
  const bool is_shared = X.grammar == Z.grammar;
  const std::vector<std::uint32_t> names =
      is_shared ? std::vector<std::uint32_t>() : X.grammar->names_of(*Z.grammar);
  each_tile(
      table, n_threads, shared, [&] { return TreeMeter(X, decay, sigma); },
      [&](TreeMeter& meter, int part, Index i, Index first, Index last) {
        meter.set(i);
        for (Index j = first; j < last && !shared.is_over(); ++j)
          table.put(i, j, meter(Z, j, is_shared ? nullptr : &names, part, shared));
      });
}

// Every tree with itself.
inline void tree_diagonal(const Forest& X, double* out, double decay, double sigma, int n_threads,
                          Watch& watch) {
  SharedWatch shared(watch);
  each_unit(
      X.size(), n_threads, shared, [&] { return TreeMeter(X, decay, sigma); },
      [&](TreeMeter& meter, int part, Index i) {
        meter.set(i);
        out[i] = meter(X, i, nullptr, part, shared);
      });
}

}  // namespace lineal::kernel
