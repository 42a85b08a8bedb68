// What an interior-point method minimises (interior_point.h): a quadratic programme over intervals, and
// products with the rows that it is about.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lineal/gram.h"
#include "lineal/row_sweeps.h"
#include "lineal/rows.h"

namespace lineal {

using Numbers = std::vector<double>;

// A programme. Its variables are `n_parts` runs of as many as there are rows (one for each output, or two
// with a tube: all that pull up, then all that pull down), then one for each weight with an l1 or in a group.
struct IntervalProgramme {
  Index n_rows = 0;
  int n_parts = 1;
  int n_outputs = 1;
  bool is_joint = false;                   // whether the variables of a row sum to 0, one for each output
  Numbers low, high, place, bend, weight;  // of each variable: l, h, c, q, s
  Numbers l2;                              // output by output, of each weight and, last, of an intercept
  std::vector<Index> corners;              // the weights with an l1, then those in groups, group by group
  Numbers corner_square;                   // the mean square of their columns
  Numbers radius;                          // of each group
  std::vector<Index> ball_start;           // where each begins among the corners, and the end of the last
  double value_at_zero = 0.0;              // P where all weights are 0, of a programme with groups
  bool has_constant = false;

  Index n_variables() const { return Index(place.size()); }
  Index n_weights() const { return Index(l2.size()); }
  Index n_of_rows() const { return n_rows * n_parts; }
  Index n_weights_of_output() const { return n_weights() / n_outputs; }
  Index n_balls() const { return Index(radius.size()); }
  // The variables that lie in intervals; those in balls follow.
  Index n_intervals() const { return radius.empty() ? n_variables() : n_of_rows() + ball_start.front(); }
  Index first_of_ball(Index g) const { return n_of_rows() + ball_start[std::size_t(g)]; }
  Index size_of_ball(Index g) const { return ball_start[std::size_t(g) + 1] - ball_start[std::size_t(g)]; }
};

// A: those rows of X that count, a constant and unit rows.
template <class Rows>
class ProgrammeMap {
 public:
  // `used` are the rows of X that the programme has, none if it has all.
  ProgrammeMap(const Rows& X, const IntervalProgramme& programme, const std::vector<Index>& used,
               int n_threads)
      : X_(X), p_(programme), used_(used), n_threads_(n_threads) {}

  // z = X w + b at the rows.
  void dot_rows(const double* w, double* z) const { sweep<Sweep::dots>(w, nullptr, z, nullptr); }
  // v = X'g and, for a constant, the sum of g.
  void adjoint_rows(const double* g, double* v) const { sweep<Sweep::adjoint>(nullptr, g, nullptr, v); }
  // The same of g = h z at z = X w + b, which it leaves in z.
  void curve_rows(const double* w, const double* h, double* z, double* v) const {
    sweep<Sweep::both>(w, h, z, v);
  }
  // A w.
  void scores(const double* w, double* z) const {
    for (int k = 0; k < p_.n_outputs; ++k) dot_rows(w + k * p_.n_weights_of_output(), z + k * p_.n_rows);
    if (has_tube()) std::copy(z, z + n_scores(), z + n_scores());
    double* unit = z + p_.n_of_rows();
    for (std::size_t c = 0; c < p_.corners.size(); ++c) unit[c] = w[p_.corners[c]];
  }
  // A'g.
  void back(const double* g, double* v) const {
    const double* rows = g;
    if (has_tube()) {
      both_.resize(std::size_t(n_scores()));
      for (Index i = 0; i < n_scores(); ++i) both_[std::size_t(i)] = g[i] + g[n_scores() + i];
      rows = both_.data();
    }
    for (int k = 0; k < p_.n_outputs; ++k)
      adjoint_rows(rows + k * p_.n_rows, v + k * p_.n_weights_of_output());
    const double* unit = g + p_.n_of_rows();
    for (std::size_t c = 0; c < p_.corners.size(); ++c) v[p_.corners[c]] += unit[c];
  }

 private:
  template <Sweep what>
  void sweep(const double* w, const double* h, double* z, double* v) const {
    if (what != Sweep::dots) summed_.resize(std::size_t(X_.n_columns) + 1);
    const double b = what != Sweep::adjoint && p_.has_constant ? w[X_.n_columns] : 0.0;
    if (used_.empty())
      sweep_rows<what>(X_, w, b, h, z, summed_.data(), n_threads_);
    else
      sweep_rows<what>(SomeRows<Rows>(X_, used_), w, b, h, z, summed_.data(), n_threads_);
    if (what != Sweep::dots) std::copy_n(summed_.begin(), X_.n_columns + (p_.has_constant ? 1 : 0), v);
  }
  bool has_tube() const { return p_.n_parts > p_.n_outputs; }
  Index n_scores() const { return p_.n_rows * p_.n_outputs; }

  const Rows& X_;
  const IntervalProgramme& p_;
  const std::vector<Index>& used_;
  int n_threads_;
  mutable Numbers summed_, both_;
};

}  // namespace lineal
