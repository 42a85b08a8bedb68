// The system of an interior-point step from the Gram matrices of few rows.
//
// A step's matrix is A'S theta A + L. After the first steps few rows have a theta that says much: those near
// a kink, where theta grows without end. The others together are about as many rows of their mean theta, and
// the Gram matrix of all rows with equal thetas never changes. So
//
//     mean X'SX + sum over far rows (theta_i - mean) s_i x_i x_i' + L
//
// takes the time of the far rows alone, and conjugate gradients that it preconditions solve the system of all
// rows in a few passes over X (reduction of constraints, Jung, O'Leary and Tits 2008, who leave the others
// out). Where most rows are far, or passes do not converge, the matrix is made of all rows. A joint loss has
// such a matrix for each edge (joint_system.h).
//
// Solutions are as exact as a step has use for: what is left of their right side is a small share of it, and
// worth less than the products that the step aims at. It is known, and so is A x, which saves the passes that
// would find them; and each system of a step begins where the last one ended.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lineal/epoch/column_system.h"
#include "lineal/epoch/interior_point.h"
#include "lineal/epoch/joint_system.h"
#include "lineal/gram.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// The Gram matrix of rows that are equally far from all kinks, and how much each has in it.
struct PlainGram {
  Numbers gram;      // [X 1]'S[X 1], of as many rows and columns as an output has weights
  Numbers leverage;  // of each row s |x|^2 in units of the columns; 1 in the mean
  double far = 0.0;  // rows whose theta differs by more than so many means, times 1 / leverage, are far

  // `s` are the weights of all rows of X, 0 for those that do not count.
  template <class Rows>
  static PlainGram of(const Rows& X, const double* s, bool has_constant, int n_threads) {
    const Index size = X.n_columns + (has_constant ? 1 : 0);
    PlainGram found;
    found.gram.resize(std::size_t(size * size));
    gram_pass(X, s, has_constant, found.gram.data(), n_threads);
    Numbers per_square(std::size_t(X.n_columns), 0.0);
    for (Index j = 0; j < X.n_columns; ++j)
      if (const double square = found.gram[std::size_t(j * size + j)]; square > 0.0)
        per_square[std::size_t(j)] = 1.0 / square;
    double total = 0.0;
    for (Index i = 0; i < X.n_rows; ++i) {
      if (!(s[i] > 0.0)) continue;
      const auto x = X[i];
      double own = 0.0;
      for (Index k = 0; k < x.size; ++k)
        own += double(x.value[k]) * double(x.value[k]) * per_square[std::size_t(column(x, k))];
      found.leverage.push_back(s[i] * own);
      total += s[i] * own;
    }
    for (double& each : found.leverage)
      each = total > 0.0 ? each * double(found.leverage.size()) / total : 1.0;
    // A row more costs as much as a share of a pass over all rows that grows with its numbers.
    const double n_numbers = double(X.stored(0, X.n_rows)) / double(X.n_rows);
    found.far = std::clamp(n_numbers / 8, 1.5, 16.0);
    return found;
  }
};

template <class Rows, class Map>
class ReducedSystem {
 public:
  // `used` are the rows of X that the programme has, none if it has all.
  ReducedSystem(const Rows& X, const Map& A, const std::vector<Index>& used, const PlainGram& plain,
                InteriorPoint& run, int n_threads)
      : X_(X), A_(A), used_(used), plain_(plain), run_(run), p_(run.programme()), n_threads_(n_threads) {}

  // False: not positive definite even when damped, or the watch said stop.
  bool factorise(Watch& watch) {
    watch_ = &watch;
    is_exact_ = true;
    const auto gram = [&](const double* h, double* G) { is_exact_ = near_gram(h, G) && is_exact_; };
    if (p_.n_outputs > 1) {
      if (!joint_.factorise(gram, run_, watch)) return false;
    } else {
      matrix_.resize(std::size_t(p_.n_weights() * p_.n_weights()));
      gram(run_.curvatures().data(), matrix_.data());
      if (watch.says_stop(X_.stored(0, X_.n_rows)) || !columns_.factorise(matrix_.data(), run_, watch))
        return false;
    }
    begin_at_zero();
    return true;
  }

  // Whether the matrix is that of the step.
  bool is_exact() const { return is_exact_; }
  // Whether the watch said stop before a solution was found.
  bool is_broken_off() const { return watch_->is_over(); }
  // Of the last solution by conjugate gradients: A x, and what is left of its right side.
  const Numbers& scored() const { return scored_; }
  const Numbers& missed() const { return residue_; }

  // Where what is left of the right side may be worth so much.
  void solve(const double* right, double* x, double limit) {
    if (!is_exact_ && !iterate(right, limit) && !watch_->is_over()) is_exact_ = make_exact();
    if (is_exact_)
      solve_near(right, x);
    else
      std::copy(found_.begin(), found_.end(), x);
  }
  // The next solution has nothing to do with the last one.
  void begin_at_zero() {
    found_.assign(std::size_t(p_.n_weights()), 0.0);
    bent_.assign(found_.size(), 0.0);
    scored_.assign(std::size_t(p_.n_variables()), 0.0);
  }

 private:
  // The share of the right side, in the metric of the system, that may be left over; the most passes.
  static constexpr double accuracy = 0.1;
  static constexpr int most_passes = 12;
  // Multiplications of a Gram matrix beside which a thread begins at once, on a busy machine too.
  static constexpr double worth_a_thread = 2e6;

  std::size_t row(Index i) const { return std::size_t(used_.empty() ? i : used_[std::size_t(i)]); }

  void solve_near(const double* right, double* x) {
    if (p_.n_outputs > 1)
      joint_.solve(right, x);
    else
      columns_.solve(right, x);
  }
  // The same without refinement: a direction.
  void precondition(const Numbers& right, Numbers& x) {
    if (p_.n_outputs > 1)
      joint_.solve_once(right.data(), x.data());
    else
      columns_.solve_once(right.data(), x.data());
  }

  // The Gram matrix of weights h >= 0 of the programme's rows, or one near it; true if it is exact.
  bool near_gram(const double* h, double* G) {
    if (run_.has_begun() && run_.is_idle()) return whole_gram(h, G);
    const double mean = find_far(h);
    if (2 * far_.size() > std::size_t(p_.n_rows)) return whole_gram(h, G);
    rows_gram_pass(X_, far_, weight_, p_.has_constant, G, threads_for(double(far_.size())));
    for (std::size_t k = 0; k < plain_.gram.size(); ++k) G[k] += mean * plain_.gram[k];
    return is_even_;
  }
  bool whole_gram(const double* h, double* G) {
    const double* every = h;
    if (!used_.empty()) {
      every_.assign(std::size_t(X_.n_rows), 0.0);
      for (Index i = 0; i < p_.n_rows; ++i) every_[row(i)] = h[i];
      every = every_.data();
    }
    gram_pass(X_, every, p_.has_constant, G, threads_for(double(X_.n_rows)));
    return true;
  }
  // How many threads the Gram matrix of so many rows is worth.
  int threads_for(double n_rows) const {
    const double n_numbers = double(X_.stored(0, X_.n_rows)) / double(X_.n_rows);
    const double n_products = n_rows * n_numbers * double(p_.n_weights_of_output()) / 2;
    return int(std::clamp(n_products / worth_a_thread, 1.0, double(n_threads_)));
  }

  // The rows that are far from the mean theta of the others, which it gives.
  double find_far(const double* h) {
    const Index n = p_.n_rows;
    const double *s = p_.weight.data(), *leverage = plain_.leverage.data();
    theta_.resize(std::size_t(n));
    double* const theta = theta_.data();
    double mean = 0.0, total = 0.0;
#pragma omp simd reduction(+ : mean, total)
    for (Index i = 0; i < n; ++i) {
      theta[i] = h[i] / s[i];
      mean += leverage[i] * theta[i];
      total += leverage[i];
    }
    mean /= total;
    is_even_ = std::all_of(theta, theta + n, [&](double each) { return each == theta[0]; });
    far_.clear(), weight_.clear();
    if (is_even_) return theta[0];
    for (int round = 0; round < most_rounds; ++round) {
      double sum = 0.0, near = 0.0;
      const double limit = plain_.far * mean;
#pragma omp simd reduction(+ : sum, near)
      for (Index i = 0; i < n; ++i) {
        const double share = std::abs(theta[i] - mean) * leverage[i] > limit ? 0.0 : leverage[i];
        sum += share * theta[i];
        near += share;
      }
      if (!(near > 0.0)) break;
      mean = sum / near;
    }
    for (Index i = 0; i < n; ++i)
      if (std::abs(theta[i] - mean) * leverage[i] > plain_.far * mean) {
        far_.push_back(Index(row(i)));
        weight_.push_back((theta[i] - mean) * s[i]);
      }
    return mean;
  }

  bool make_exact() {
    const auto gram = [&](const double* h, double* G) { whole_gram(h, G); };
    if (p_.n_outputs > 1) return joint_.factorise(gram, run_, *watch_);
    gram(run_.curvatures().data(), matrix_.data());
    return columns_.factorise(matrix_.data(), run_, *watch_);
  }

  static double product(const Numbers& x, const Numbers& y) {
    double sum = 0.0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += x[j] * y[j];
    return sum;
  }
  // What the residue is worth at the weights that the solution leads to, as in the gap of a point.
  double worth_of_residue() const {
    double worth = 0.0;
    const Numbers& w = run_.weights();
    for (std::size_t j = 0; j < w.size(); ++j) worth += std::abs((w[j] + found_[j]) * residue_[j]);
    return worth;
  }

  // Conjugate gradients from the last solution; false if they do not converge.
  bool iterate(const double* right, double limit) {
    const std::size_t size = found_.size();
    for (Numbers* each : {&step_, &ahead_, &bend_}) each->resize(size);
    residue_.assign(right, right + size);
    precondition(residue_, step_);
    const double enough = accuracy * accuracy * product(residue_, step_);
    for (std::size_t j = 0; j < size; ++j) residue_[j] -= bent_[j];
    precondition(residue_, step_);
    double left = product(residue_, step_);
    ahead_ = step_;
    ahead_scored_.resize(scored_.size());
    for (int k = 0; left > enough || worth_of_residue() > limit; ++k) {
      if (k == most_passes || watch_->says_stop(2 * X_.stored(0, X_.n_rows) * p_.n_outputs)) return false;
      run_.curve(A_, ahead_.data(), ahead_scored_, bend_);
      const double curvature = product(ahead_, bend_);
      if (!(curvature > 0.0)) return false;
      const double t = left / curvature;
      for (std::size_t j = 0; j < size; ++j) {
        found_[j] += t * ahead_[j];
        bent_[j] += t * bend_[j];
        residue_[j] -= t * bend_[j];
      }
      for (std::size_t i = 0; i < scored_.size(); ++i) scored_[i] += t * ahead_scored_[i];
      precondition(residue_, step_);
      const double now = product(residue_, step_), share = now / left;
      for (std::size_t j = 0; j < size; ++j) ahead_[j] = step_[j] + share * ahead_[j];
      left = now;
    }
    return std::isfinite(left);
  }

  static constexpr int most_rounds = 4;

  const Rows& X_;
  const Map& A_;
  const std::vector<Index>& used_;
  const PlainGram& plain_;
  InteriorPoint& run_;
  const IntervalProgramme& p_;
  int n_threads_;
  Watch* watch_ = nullptr;
  bool is_exact_ = true, is_even_ = false;
  ColumnSystem columns_;
  JointSystem joint_;
  std::vector<Index> far_;  // rows of X
  Numbers weight_;          // of those, what they have beside the mean
  Numbers matrix_, every_, theta_;
  Numbers found_, bent_, scored_;  // x, its product with the matrix, and A x
  Numbers residue_, step_, ahead_, bend_, ahead_scored_;
};

}  // namespace lineal
