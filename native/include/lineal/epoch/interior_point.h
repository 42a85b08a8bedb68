// Mehrotra's predictor-corrector steps for losses that are piecewise linear or quadratic: of one output, or
// of K whose dual variables meet in a sum for each row.
//
// The dual of such a loss under parts l1 |w_j| and l2 w_j^2 / 2 of a penalty is a quadratic programme over
// intervals: with A the rows, a constant and a unit row for each l1, s their weights and L the l2,
//
//     min  sum_i s_i (c_i u_i + q_i u_i^2 / 2) + |A'S u|^2 / 2 in the metric 1 / L,    l <= u <= h.
//
// With multipliers alpha, beta of the ends and z = A w its optimum is where
//
//     c + q u - z - alpha + beta = 0,    A'S u + L w = 0,    alpha (u - l) = 0,    beta (h - u) = 0,
//
// and Newton's method on these equations, mu > 0 in place of the last two zeros, needs one system a step,
// (A'S theta A + L) dw = right with theta = 1 / (q + alpha / (u - l) + beta / (h - u)), which is solved
// twice. The caller makes its matrix (a pass that BLAS or other threads may do); all else of a step is here.
//
// A joint hinge has for each row K variables u >= l with sum_k u_k = 0: those and the l of its class cut out
// a simplex. The sum's multiplier t joins the first equation, c + q u - z - alpha + beta + t = 0, and is
// eliminated row by row: where theta was, stands M = diag(theta) - theta theta' / sum theta
// (epoch/joint_system.h).
//
// Cost of a step, beside that matrix and its factor: six passes over the rows, and some 20 divisions a row.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "lineal/cholesky.h"
#include "lineal/passes.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

using Numbers = std::vector<double>;

// A programme. Its variables are `n_parts` runs of as many as there are rows (two with a tube, one that pulls
// up and one that pulls down; one for each output where they are joint), then one for each weight with an l1.
struct IntervalProgramme {
  Index n_rows = 0;
  int n_parts = 1;
  int n_outputs = 1;                       // joint, if there are more than one
  Numbers low, high, place, bend, weight;  // of each variable: l, h, c, q, s
  Numbers l2;                              // output by output, of each weight and, last, of an intercept
  std::vector<Index> corners;              // the weights with an l1
  Numbers corner_square;                   // the mean square of their columns
  bool has_constant = false;

  Index n_variables() const { return Index(place.size()); }
  Index n_weights() const { return Index(l2.size()); }
  Index n_of_rows() const { return n_rows * n_parts; }
  bool is_joint() const { return n_outputs > 1; }
  Index n_weights_of_output() const { return n_weights() / n_outputs; }
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
  void dot_rows(const double* w, double* z) const {
    if (used_.empty()) {
      dot_pass(X_, w, 1, 1, z, n_threads_);
    } else {
      for (Index i = 0; i < p_.n_rows; ++i) z[i] = dot(X_[used_[std::size_t(i)]], w);
    }
    if (p_.has_constant)
      for (Index i = 0; i < p_.n_rows; ++i) z[i] += w[X_.n_columns];
  }
  // v = X'g and, for a constant, the sum of g.
  void adjoint_rows(const double* g, double* v) const {
    if (used_.empty()) {
      adjoint_pass(X_, g, 1, v, n_threads_);
    } else {
      every_.assign(std::size_t(X_.n_rows), 0.0);
      for (Index i = 0; i < p_.n_rows; ++i) every_[std::size_t(used_[std::size_t(i)])] = g[i];
      adjoint_pass(X_, every_.data(), 1, v, n_threads_);
    }
    if (p_.has_constant) {
      double sum = 0.0;
#pragma omp simd reduction(+ : sum)
      for (Index i = 0; i < p_.n_rows; ++i) sum += g[i];
      v[X_.n_columns] = sum;
    }
  }
  // A w.
  void scores(const double* w, double* z) const {
    for (int k = 0; k < p_.n_outputs; ++k) dot_rows(w + k * p_.n_weights_of_output(), z + k * p_.n_rows);
    if (has_tube()) std::copy(z, z + p_.n_rows, z + p_.n_rows);
    double* unit = z + p_.n_of_rows();
    for (std::size_t c = 0; c < p_.corners.size(); ++c) unit[c] = w[p_.corners[c]];
  }
  // A'g.
  void back(const double* g, double* v) const {
    const double* rows = g;
    if (has_tube()) {
      both_.resize(std::size_t(p_.n_rows));
      for (Index i = 0; i < p_.n_rows; ++i) both_[std::size_t(i)] = g[i] + g[p_.n_rows + i];
      rows = both_.data();
    }
    for (int k = 0; k < p_.n_outputs; ++k)
      adjoint_rows(rows + k * p_.n_rows, v + k * p_.n_weights_of_output());
    const double* unit = g + p_.n_of_rows();
    for (std::size_t c = 0; c < p_.corners.size(); ++c) v[p_.corners[c]] += unit[c];
  }

 private:
  bool has_tube() const { return p_.n_parts > p_.n_outputs; }

  const Rows& X_;
  const IntervalProgramme& p_;
  const std::vector<Index>& used_;
  int n_threads_;
  mutable Numbers every_, both_;
};

// (A'S theta A + L) x = right by its own matrix.
class ColumnSystem {
 public:
  // G = [X 1]'diag(h)[X 1]; the diagonal is added to it, in place.
  bool factorise(double* G, const Numbers& diagonal, Watch& watch) {
    const Index size = Index(diagonal.size());
    for (Numbers* each : {&scale_, &residue_, &step_}) each->resize(std::size_t(size));
    for (Index j = 0; j < size; ++j) {
      double& own = G[j * size + j];
      own += diagonal[std::size_t(j)];
      scale_[std::size_t(j)] = own > 0.0 ? 1.0 / std::sqrt(own) : 1.0;
    }
    G_ = G;
    return factor_.factorise(G, size, watch);
  }
  void solve(const double* right, double* x) {
    const Index size = Index(residue_.size());
    factor_.solve(right, x, 0);
    for (int round = 0; round < 2; ++round) {
      double most = 0.0, left = 0.0;
      for (Index i = 0; i < size; ++i) {
        const double* const row = G_ + i * size;
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (Index j = 0; j < size; ++j) sum += row[j] * x[j];
        const double each = right[i] - sum, scale = scale_[std::size_t(i)];
        residue_[std::size_t(i)] = each;
        most = std::max(most, scale * std::abs(right[i]));
        left = std::max(left, scale * std::abs(each));
      }
      if (left <= rounded * most) return;
      factor_.solve(residue_.data(), step_.data(), 0);
      for (Index j = 0; j < size; ++j) x[j] += step_[std::size_t(j)];
    }
  }

 private:
  // A solution with so small a share of the right side left over, in units of the columns, needs no second
  // look.
  static constexpr double rounded = 1e-12;

  Cholesky factor_;
  const double* G_ = nullptr;
  Numbers scale_, residue_, step_;
};

// The same by a system of as many unknowns as rows (Woodbury): with M the diagonal,
//
//     x = M^-1 (right - A'q),    (H^-1 + A M^-1 A') q = A M^-1 right.
//
// A free constant, whose M is 0, is eliminated from the rows by itself.
template <class Map>
class RowSystem {
 public:
  RowSystem(const Map& A, Index n_rows, bool has_constant) : A_(A), n_(n_rows), has_constant_(has_constant) {}

  // K = X M^-1 X'; 1 / h, and 1 / M of a constant that costs something, are added to it, in place.
  bool factorise(double* K, const Numbers& h, const Numbers& diagonal, Watch& watch) {
    h_ = &h;
    diagonal_ = &diagonal;
    const double edge = has_constant_ ? diagonal.back() : 0.0;
    is_free_ = has_constant_ && edge == 0.0;
    if (has_constant_ && !is_free_)
      for (Index k = 0; k < n_ * n_; ++k) K[k] += 1.0 / edge;
    for (Index i = 0; i < n_; ++i) K[i * n_ + i] += 1.0 / h[std::size_t(i)];
    if (!factor_.factorise(K, n_, watch)) return false;
    seen_.resize(std::size_t(n_));
    q_.resize(std::size_t(n_));
    step_.resize(diagonal.size());
    residue_.resize(diagonal.size());
    along_.resize(std::size_t(n_));
    if (is_free_) {
      std::fill(seen_.begin(), seen_.end(), 1.0);
      factor_.solve(seen_.data(), along_.data(), 0);
    }
    return true;
  }
  void solve(const double* right, double* x) {
    const std::size_t size = diagonal_->size();
    std::fill(x, x + size, 0.0);
    residue_.assign(right, right + size);
    double left = HUGE_VAL;
    for (int round = 0; round < most_rounds; ++round) {  // again for what rounding left
      once(residue_.data(), step_.data());
      for (std::size_t j = 0; j < size; ++j) x[j] += step_[j];
      if (round + 1 == most_rounds) break;
      // right - (A'H A + M) x
      A_.dot_rows(x, seen_.data());
      for (Index i = 0; i < n_; ++i) seen_[std::size_t(i)] *= (*h_)[std::size_t(i)];
      A_.adjoint_rows(seen_.data(), residue_.data());
      double now = 0.0;
      for (std::size_t j = 0; j < size; ++j) {
        residue_[j] = right[j] - residue_[j] - (*diagonal_)[j] * x[j];
        now += std::abs(residue_[j]);
      }
      if (round > 0 && !(now < left / 2)) break;
      left = now;
    }
  }

 private:
  static constexpr int most_rounds = 5;

  void once(const double* right, double* x) {
    const std::size_t d = diagonal_->size() - (has_constant_ ? 1 : 0);
    for (std::size_t j = 0; j < d; ++j) x[j] = right[j] / (*diagonal_)[j];
    if (has_constant_) x[d] = is_free_ ? 0.0 : right[d] / (*diagonal_)[d];
    A_.dot_rows(x, seen_.data());
    factor_.solve(seen_.data(), q_.data(), 0);
    double constant = 0.0;
    if (is_free_) {
      double sum = 0.0, total = 0.0;
      for (Index i = 0; i < n_; ++i) sum += q_[std::size_t(i)], total += along_[std::size_t(i)];
      constant = (right[d] - sum) / total;  // 1'q = right_b with q = K^-1 (seen + constant)
      for (Index i = 0; i < n_; ++i) q_[std::size_t(i)] += constant * along_[std::size_t(i)];
    }
    pulled_.resize(diagonal_->size());
    A_.adjoint_rows(q_.data(), pulled_.data());
    for (std::size_t j = 0; j < d; ++j) x[j] -= pulled_[j] / (*diagonal_)[j];
    if (has_constant_) x[d] = is_free_ ? constant : x[d] - pulled_[d] / (*diagonal_)[d];
  }

  const Map& A_;
  Index n_;
  bool has_constant_, is_free_ = false;
  Cholesky factor_;
  const Numbers* h_ = nullptr;
  const Numbers* diagonal_ = nullptr;
  Numbers seen_, q_, along_, step_, residue_, pulled_;
};

class InteriorPoint {
 public:
  explicit InteriorPoint(IntervalProgramme programme) : p(std::move(programme)) {
    const std::size_t N = std::size_t(p.n_variables()), m = std::size_t(p.n_weights());
    for (Numbers* each : {&u_, &z_, &above_, &below_, &alpha_, &beta_, &theta_, &dual_residue_, &g_, &dz_,
                          &scored_, &du_, &da_, &db_, &on_low_, &on_high_, &has_low_, &has_high_})
      each->assign(N, 0.0);
    for (Numbers* each : {&w_, &primal_residue_, &dw_, &right_}) each->assign(m, 0.0);
    h_.assign(std::size_t(p.n_rows), 0.0);
    if (p.is_joint())
      for (Numbers* each : {&t_, &dt_}) each->assign(std::size_t(p.n_rows), 0.0);
    bool is_bent = false;
    for (std::size_t i = 0; i < N; ++i) {
      has_low_[i] = std::isfinite(p.low[i]) ? 1.0 : 0.0;
      has_high_[i] = std::isfinite(p.high[i]) ? 1.0 : 0.0;
      n_products_ += p.weight[i] * (has_low_[i] + has_high_[i]);
      is_bent = is_bent || p.bend[i] > 0.0;
    }
    for (const double each : p.l2) is_bent = is_bent || each > 0.0;
    // Without curvature anywhere the steps of (w, alpha, beta) and of u do not meet: each has its length.
    // Those of joint rows stay together: apart they leave the centre and come to a halt.
    is_linear_ = !is_bent && !p.is_joint();
  }

  const IntervalProgramme& programme() const { return p; }
  bool is_done() const { return is_done_; }
  const Numbers& weights() const { return w_; }

  // Whether the next system is for a step, and not for the start.
  bool has_begun() const { return has_begun_; }
  // The curvatures of rows and the diagonal of the system that `renew` asked for.
  const Numbers& curvatures() const { return h_; }
  // theta, of which joint rows have K that meet.
  const Numbers& thetas() const { return theta_; }
  const Numbers& diagonal() const { return diagonal_; }

  // The next system; before the first step, the one that fits the places of the kinks by least squares.
  void renew() {
    const Index N = p.n_variables(), on_rows = p.n_of_rows();
    if (has_begun_) {
#pragma omp simd
      for (Index i = 0; i < N; ++i)
        theta_[at(i)] = 1.0 / (p.bend[at(i)] + alpha_[at(i)] / above_[at(i)] + beta_[at(i)] / below_[at(i)]);
    } else {
      std::fill(theta_.begin(), theta_.begin() + on_rows, 1.0);
      // Unit rows need a positive weight where their column is empty or there are fewer rows than columns.
      for (Index c = 0; c < N - on_rows; ++c) {
        const double square = 1e-6 * p.corner_square[at(c)];
        theta_[at(on_rows + c)] = square > 0.0 ? square : 1.0;
      }
    }
    for (Index i = 0; i < p.n_rows; ++i) {
      double sum = p.weight[at(i)] * theta_[at(i)];
      if (has_tube()) sum += p.weight[at(p.n_rows + i)] * theta_[at(p.n_rows + i)];
      h_[at(i)] = sum;
    }
    diagonal_ = p.l2;
    for (std::size_t c = 0; c < p.corners.size(); ++c) {
      const Index i = on_rows + Index(c);
      diagonal_[std::size_t(p.corners[c])] += p.weight[at(i)] * theta_[at(i)];
    }
  }

  // Weights that fit the places of the kinks by least squares; u in the middle of its interval.
  template <class Map, class System>
  void begin(const Map& A, System& system) {
    const Index n = p.n_rows, on_rows = p.n_of_rows(), N = p.n_variables(), n_scores = n * p.n_outputs;
    Numbers& centre = dz_;
    std::fill(centre.begin(), centre.end(), 0.0);
    for (Index i = 0; i < on_rows; ++i)
      centre[at(i)] = has_tube() ? (p.place[at(i % n)] + p.place[at(n + i % n)]) / 2 : p.place[at(i)];
    respond(centre, g_);
    for (Index i = 0; i < on_rows; ++i) g_[at(i)] *= p.weight[at(i)];
    A.back(g_.data(), right_.data());
    system.solve(right_.data(), w_.data());
    if (!is_finite(w_)) std::fill(w_.begin(), w_.end(), 0.0);
    A.scores(w_.data(), z_.data());
    double total = 0.0, mean = 0.0, spread = 0.0, typical = 0.0, on = 0.0;
    for (Index i = 0; i < n_scores; ++i) total += p.weight[at(i)], mean += p.weight[at(i)] * centre[at(i)];
    mean /= total;
    for (Index i = 0; i < n_scores; ++i) spread += p.weight[at(i)] * std::abs(centre[at(i)] - mean);
    for (std::size_t i = 0; i < t_.size(); ++i) {
      t_[i] = 0.0;
      for (int k = 0; k < p.n_outputs; ++k) t_[i] += off_place(Index(i) + k * n) / p.n_outputs;
    }
    for (Index i = 0; i < on_rows; ++i) {
      typical += p.weight[at(i)] * std::abs(off_place(i) - multiplier_of_sum(i));
      on += p.weight[at(i)];
    }
    size_ = std::max(typical / on, 1e-3 * spread / total);
    if (!(size_ > 0.0)) size_ = 1.0;
    double product = 0.0;
    for (Index i = 0; i < N; ++i) {
      const double q = p.bend[at(i)], off = off_place(i);
      const bool low = has_low_[at(i)] > 0, high = has_high_[at(i)] > 0;
      double u = 0.0;
      if (is_joint_row(i)) {
        u = begin_at_centre(i);
      } else if (low && high) {
        u = (p.low[at(i)] + p.high[at(i)]) / 2;
      } else if (q > 0) {
        // On an unbounded side u stands where its slope leaves a multiplier of that size.
        if (low)
          u = p.low[at(i)] + std::max(off + size_, size_) / q;
        else if (high)
          u = p.high[at(i)] + std::min(off - size_, -size_) / q;
        else
          u = off / q;
      }
      u_[at(i)] = u;
      above_[at(i)] = low ? u - p.low[at(i)] : 1.0;
      below_[at(i)] = high ? p.high[at(i)] - u : 1.0;
      if (i < on_rows && (low || high))
        product += p.weight[at(i)] * std::min(above_[at(i)], below_[at(i)]) / on;
    }
    product = product > 0.0 ? size_ * product : size_;
    for (Index i = 0; i < N; ++i) {
      const bool low = has_low_[at(i)] > 0, high = has_high_[at(i)] > 0;
      const double slope = p.place[at(i)] + p.bend[at(i)] * u_[at(i)] - z_[at(i)] + multiplier_of_sum(i);
      // The products of unit rows begin where those of the data are.
      const double width = low && high ? above_[at(i)] + below_[at(i)] : 1.0;
      const double add = is_joint_row(i) ? 0.0 : start_size * (i < on_rows ? size_ : 2 * product / width);
      alpha_[at(i)] = low ? std::max(slope, 0.0) + add : 0.0;
      beta_[at(i)] = high ? std::max(-slope, 0.0) + add : 0.0;
    }
    has_begun_ = true;
    measure(A);
    keep();
  }

  // One step, with a system of the curvatures that `renew` made last; done where it gains nothing.
  template <class Map, class System>
  void step(const Map& A, System& system) {
    const Index N = p.n_variables();
    const double mu = n_products_ > 0 ? products_ / n_products_ : 0.0;
#pragma omp simd
    for (Index i = 0; i < N; ++i) {
      on_low_[at(i)] = -alpha_[at(i)] * above_[at(i)];
      on_high_[at(i)] = -beta_[at(i)] * below_[at(i)];
    }
    if (!aim(A, system)) return end();
    Lengths t = lengths(1.0);
    const double moved = n_products_ > 0 ? products_after(t) / n_products_ : 0.0;
    const double share = mu > 0 ? moved / mu : 0.0, target = mu * share * share * share;
#pragma omp simd
    for (Index i = 0; i < N; ++i) {
      on_low_[at(i)] = has_low_[at(i)] * (target - alpha_[at(i)] * above_[at(i)] - da_[at(i)] * du_[at(i)]);
      on_high_[at(i)] = has_high_[at(i)] * (target - beta_[at(i)] * below_[at(i)] + db_[at(i)] * du_[at(i)]);
    }
    if (!aim(A, system)) return end();
    t = correct(A, system, target);
    move(A, t);
    left_ *= 1.0 - t.least();
    // Where steps are short or lead nowhere, or the gap is rounding, there is nothing left to gain. A gap may
    // grow while there are residues of the start: weights that began too small make them worth more.
    const double here = gap();
    const bool is_led_away = left_ < met && !(here < 10 * least_.gap);
    const bool is_idle = std::max(t.u, t.m) < shortest || is_led_away || !std::isfinite(here);
    n_idle_ = is_idle ? n_idle_ + 1 : 0;
    keep();
    if (n_products_ == 0.0 || n_idle_ >= patience || here <= rounding * std::abs(value())) end();
  }

  // All that later steps depend on: the present point, the one of the least gap, and a few numbers.
  Numbers state() {
    Numbers kept{has_begun_ ? 1.0 : 0.0, is_done_ ? 1.0 : 0.0, double(n_idle_), size_, least_.gap, left_};
    const auto put = [&](const Vectors& point) {
      for (const Numbers* each : point) kept.insert(kept.end(), each->begin(), each->end());
    };
    put(present());
    if (std::isfinite(least_.gap)) put(least());
    return kept;
  }
  // Goes on from there; false, with nothing changed, if it is the state of another programme.
  bool restore(const Numbers& kept) {
    const std::size_t N = u_.size(), m = w_.size(), n_sums = t_.size(), n_numbers = 6;
    const std::size_t n_point = 6 * N + 2 * m + n_sums;
    const bool has_least = kept.size() > n_numbers && std::isfinite(kept[4]);
    if (kept.size() != n_numbers + (has_least ? 2 : 1) * n_point) return false;
    has_begun_ = kept[0] != 0.0, is_done_ = kept[1] != 0.0, n_idle_ = int(kept[2]), size_ = kept[3];
    auto from = kept.begin() + std::ptrdiff_t(n_numbers);
    const auto take = [&](const Vectors& point) {
      for (Numbers* each : point) {
        const std::size_t n = each == point.front() || each == point[1] ? m
                              : each == point.back()                    ? n_sums
                                                                        : N;
        each->assign(from, from + std::ptrdiff_t(n));
        from += std::ptrdiff_t(n);
      }
    };
    take(present());
    least_ = {};
    if (has_least) take(least());
    least_.gap = kept[4], left_ = kept[5];
    judge();
    return true;
  }

  // The end, at the least gap: near the floor of rounding steps may lead away from it.
  void end() {
    is_done_ = true;
    if (!has_begun_ || !(least_.gap < gap())) return;
    std::tie(w_, u_, above_, below_, alpha_, beta_) =
        std::tie(least_.w, least_.u, least_.above, least_.below, least_.alpha, least_.beta);
    std::tie(primal_residue_, dual_residue_, t_) =
        std::tie(least_.primal_residue, least_.dual_residue, least_.t);
    judge();
  }

  // About P: the value of the dual, with the products between the two added.
  double value() const { return value_; }
  // About P - D: the products, and what the residues of the conditions are worth.
  double gap() const { return gap_; }

  // By what share V leaves the box |V_j| <= l1 of a weight without an l2: dual variables are divided by 1 and
  // that to be feasible, however small the weight.
  double excess() const {
    double most = 0.0;
    for (std::size_t c = 0; c < p.corners.size(); ++c) {
      const std::size_t i = at(p.n_of_rows()) + c, j = at(p.corners[c]);
      if (p.l2[j] > 0.0) continue;
      const double v = std::abs(u_[i] - primal_residue_[j] / p.weight[i]);
      most = std::max(most, v / p.high[i] - 1.0);
    }
    return most;
  }

  // The weights and the dual variables of rows, (n_rows), or (n_rows, K) of joint ones. With `decided`, as
  // they will be at the optimum: of a distance to an end and its multiplier one is 0 there, and where one is
  // tiny in its own unit, and smaller than the other, it is 0 in what is read.
  void read(bool decided, double* w, double* u) const {
    const Index n = p.n_rows, on_rows = p.n_of_rows(), K = p.n_outputs;
    std::copy(w_.begin(), w_.end(), w);
    std::fill(u, u + n * K, 0.0);
    for (Index i = 0; i < on_rows; ++i) {
      double each = u_[at(i)];
      if (decided && has_low_[at(i)] > 0 && is_tiny(distance_to_low(i), multiplier_of_low(i)))
        each = p.low[at(i)];
      if (decided && has_high_[at(i)] > 0 && is_tiny(distance_to_high(i), multiplier_of_high(i)))
        each = p.high[at(i)];
      u[p.is_joint() ? i % n * K + i / n : i % n] += each;
    }
    if (p.is_joint())
      for (Index i = 0; i < n; ++i) balance_row(i, u + i * K, 1);
    if (!decided) return;
    for (std::size_t c = 0; c < p.corners.size(); ++c) {
      const Index i = on_rows + Index(c);
      if (is_tiny(multiplier_of_low(i), distance_to_low(i)) &&
          is_tiny(multiplier_of_high(i), distance_to_high(i)))
        w[p.corners[c]] = 0.0;
    }
  }

 private:
  struct Lengths {
    double u, m;  // of u, and of (w, alpha, beta)
    double least() const { return std::min(u, m); }
  };
  struct Point {
    Numbers w, primal_residue, u, above, below, alpha, beta, dual_residue, t;
    double gap = std::numeric_limits<double>::infinity();
  };
  // Of a point: two of weights, those of variables, and last the multipliers of sums.
  using Vectors = std::array<Numbers*, 9>;
  // How far a step goes towards the end of an interval; steps that count as short, and how many idle
  // ones in a row are enough; the share of the objective below which the gap is rounding.
  static constexpr double close = 0.995, shortest = 1e-6, rounding = 1e-15;
  // Of distances and multipliers in their units: so small a one is 0.
  static constexpr double tiny = 1e-6;
  static constexpr int patience = 3;
  // The share of the residues of the start below which the equations count as met.
  static constexpr double met = 1e-3;
  // Multipliers begin at so many typical residuals. From 3 to 30 the number of steps hardly changes; from 1,
  // classes that are nearly separable take twice as many. Those of joint rows share the work of one.
  static constexpr double start_size = 5.0, joint_start_size = 30.0;
  // Steps that need no corrector; how much longer one tries to make the others, and the share of it that
  // makes it worth another (Gondzio 1996).
  static constexpr double long_enough = 0.9, longer = 0.3, gained = 0.1;

  static constexpr std::size_t at(Index i) { return std::size_t(i); }

  static bool is_finite(const Numbers& x) {
    return std::all_of(x.begin(), x.end(), [](double each) { return std::isfinite(each); });
  }

  bool has_tube() const { return p.n_parts > p.n_outputs; }
  double off_place(Index i) const { return z_[at(i)] - p.place[at(i)]; }
  // t at a variable.
  double multiplier_of_sum(Index i) const { return is_joint_row(i) ? t_[at(i % p.n_rows)] : 0.0; }
  bool is_joint_row(Index i) const { return p.is_joint() && i < p.n_of_rows(); }
  // The u of a joint row at the start: t is so large that its K multipliers are positive without a residue,
  // and u is where all of their products with distances are the same.
  double begin_at_centre(Index i) {
    const Index n = p.n_rows, row = i % n, end = p.n_of_rows();
    double most = off_place(row), total = 0.0;
    for (Index v = row + n; v < end; v += n) most = std::max(most, off_place(v));
    t_[at(row)] = most + joint_start_size * size_;
    for (Index v = row; v < end; v += n) total += 1.0 / (t_[at(row)] - off_place(v));
    return p.low[at(i)] + 1.0 / (total * (t_[at(row)] - off_place(i)));
  }

  // The units of u and of scores at a variable.
  double unit_of_u(Index i) const {
    if (has_low_[at(i)] > 0 && has_high_[at(i)] > 0) return p.high[at(i)] - p.low[at(i)];
    return p.bend[at(i)] > 0 ? size_ / p.bend[at(i)] : 1.0;
  }
  double unit_of_score(Index i) const {
    if (i < p.n_of_rows()) return size_;
    const double square = p.corner_square[at(i - p.n_of_rows())];
    return square > 0 ? size_ / std::sqrt(square) : size_;
  }
  double distance_to_low(Index i) const { return above_[at(i)] / unit_of_u(i); }
  double distance_to_high(Index i) const { return below_[at(i)] / unit_of_u(i); }
  double multiplier_of_low(Index i) const { return alpha_[at(i)] / unit_of_score(i); }
  double multiplier_of_high(Index i) const { return beta_[at(i)] / unit_of_score(i); }
  static bool is_tiny(double one, double other) { return one < tiny && one < other; }

  double products_after(Lengths t) const {
    double sum = 0.0;
    const Index N = p.n_variables();
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < N; ++i) {
      const double low =
          (alpha_[at(i)] + t.m * da_[at(i)]) * (above_[at(i)] + has_low_[at(i)] * t.u * du_[at(i)]);
      const double high =
          (beta_[at(i)] + t.m * db_[at(i)]) * (below_[at(i)] - has_high_[at(i)] * t.u * du_[at(i)]);
      sum += p.weight[at(i)] * (low + high);
    }
    return sum;
  }

  using Directions = std::array<Numbers*, 6>;
  Directions direction() { return {&dw_, &du_, &da_, &db_, &dt_, &scored_}; }
  Vectors present() {
    return {&w_, &primal_residue_, &u_, &above_, &below_, &alpha_, &beta_, &dual_residue_, &t_};
  }
  Vectors least() {
    return {&least_.w,    &least_.primal_residue, &least_.u, &least_.above, &least_.below, &least_.alpha,
            &least_.beta, &least_.dual_residue,   &least_.t};
  }

  // The value and the gap of the present point.
  void judge() {
    double dual = 0.0, ridge = 0.0, off = 0.0, products = 0.0;
    const Index N = p.n_variables();
#pragma omp simd reduction(+ : dual, off, products)
    for (Index i = 0; i < N; ++i) {
      const double s = p.weight[at(i)], u = u_[at(i)], above = above_[at(i)], below = below_[at(i)];
      dual += s * (p.place[at(i)] + p.bend[at(i)] * 0.5 * u) * u;
      off += s * std::abs(dual_residue_[at(i)]) * (std::abs(u) + (above < below ? above : below));
      products += s * (alpha_[at(i)] * above + beta_[at(i)] * below);
    }
    for (std::size_t j = 0; j < w_.size(); ++j) {
      ridge += p.l2[j] * w_[j] * w_[j];
      off += std::abs(w_[j] * primal_residue_[j]);
    }
    products_ = products;
    value_ = products - dual - ridge / 2;
    const double beyond = excess();
    gap_ = products + off + beyond / (1.0 + beyond) * std::abs(value_);
  }

  // Remembers this point if its gap is the least so far.
  void keep() {
    if (!(gap_ < least_.gap)) return;
    const Vectors from = present(), to = least();
    for (std::size_t k = 0; k < from.size(); ++k) *to[k] = *from[k];
    least_.gap = gap_;
  }

  // The residues of the conditions at the present point.
  template <class Map>
  void measure(const Map& A) {
    const Index N = p.n_variables();
#pragma omp simd
    for (Index i = 0; i < N; ++i) {
      dual_residue_[at(i)] =
          p.place[at(i)] + p.bend[at(i)] * u_[at(i)] - z_[at(i)] - alpha_[at(i)] + beta_[at(i)];
      g_[at(i)] = p.weight[at(i)] * u_[at(i)];
    }
    if (p.is_joint())
      for (Index i = 0; i < p.n_of_rows(); ++i) dual_residue_[at(i)] += multiplier_of_sum(i);
    pull(A);
  }
  // Those of the weights, from g = s u, and what the point is worth.
  template <class Map>
  void pull(const Map& A) {
    A.back(g_.data(), primal_residue_.data());
    for (std::size_t j = 0; j < w_.size(); ++j) primal_residue_[j] += p.l2[j] * w_[j];
    judge();
  }

  // du for changes of the scores: theta dz; of joint rows M dz, so that their sums stay, which moves t by dt.
  //
  // Of K thetas one may be larger than all others by the inverse of rounding: in differences from its class
  // nothing is lost.
  void respond(const Numbers& dz, Numbers& du) {
    const Index N = p.n_variables(), n = p.n_rows, first = p.is_joint() ? p.n_of_rows() : 0;
#pragma omp simd
    for (Index i = first; i < N; ++i) du[at(i)] = theta_[at(i)] * dz[at(i)];
    for (Index i = 0; i < Index(dt_.size()); ++i) {
      Index m = i;
      for (Index v = i + n; v < first; v += n)
        if (theta_[at(v)] > theta_[at(m)]) m = v;
      double total = theta_[at(m)], mean = 0.0, sum = 0.0;
      for (Index v = i; v < first; v += n)
        if (v != m) total += theta_[at(v)], mean += theta_[at(v)] * (dz[at(v)] - dz[at(m)]);
      mean /= total;
      for (Index v = i; v < first; v += n)
        if (v != m) {
          du[at(v)] = theta_[at(v)] * (dz[at(v)] - dz[at(m)] - mean);
          sum += du[at(v)];
        }
      du[at(m)] = -sum;
      dt_[at(i)] = dz[at(m)] + mean;
    }
  }

  // How far the present direction may go, bettered by Gondzio's correctors: where products would be far from
  // the target on a step that is a little longer, the direction is asked to bring them nearer.
  template <class Map, class System>
  Lengths correct(const Map& A, System& system, double target) {
    const Index N = p.n_variables();
    const int n_rounds = p.is_joint() ? 2 : 1;  // a factor costs more there
    Lengths t = lengths(close);
    for (int round = 0; round < n_rounds && t.least() < long_enough; ++round) {
      const double reach = std::min(1.0, t.least() + longer);
      const Directions now = direction();
      for (std::size_t k = 0; k < now.size(); ++k) kept_[k] = *now[k];
#pragma omp simd
      for (Index i = 0; i < N; ++i) {
        const double low = (alpha_[at(i)] + reach * da_[at(i)]) * (above_[at(i)] + reach * du_[at(i)]);
        const double high = (beta_[at(i)] + reach * db_[at(i)]) * (below_[at(i)] - reach * du_[at(i)]);
        on_low_[at(i)] += has_low_[at(i)] * back_inside(low, target);
        on_high_[at(i)] += has_high_[at(i)] * back_inside(high, target);
      }
      const bool is_found = aim(A, system);
      const Lengths next = is_found ? lengths(close) : Lengths{0.0, 0.0};
      if (next.least() < t.least() + gained * longer) {
        for (std::size_t k = 0; k < now.size(); ++k) now[k]->swap(kept_[k]);
        break;
      }
      t = next;
    }
    return t;
  }
  // What brings a product to between a tenth of the target and ten times it, or nearer.
  static double back_inside(double product, double target) {
    const double least = target / 10.0, most = 10.0 * target;
    return product < least ? least - product : product > most ? std::max(most - product, -most) : 0.0;
  }

  // (dw, du, dalpha, dbeta) that change products by on_low_, on_high_ and residues to 0; false where the
  // system had no solution.
  template <class Map, class System>
  bool aim(const Map& A, System& system) {
    const Index N = p.n_variables();
#pragma omp simd
    for (Index i = 0; i < N; ++i) {
      dz_[at(i)] = on_low_[at(i)] / above_[at(i)] - on_high_[at(i)] / below_[at(i)] - dual_residue_[at(i)];
    }
    respond(dz_, g_);
#pragma omp simd
    for (Index i = 0; i < N; ++i) g_[at(i)] *= p.weight[at(i)];
    A.back(g_.data(), right_.data());
    for (std::size_t j = 0; j < w_.size(); ++j) right_[j] = -primal_residue_[j] - right_[j];
    system.solve(right_.data(), dw_.data());
    if (!is_finite(dw_)) return false;
    A.scores(dw_.data(), scored_.data());
#pragma omp simd
    for (Index i = 0; i < N; ++i) g_[at(i)] = scored_[at(i)] + dz_[at(i)];
    respond(g_, du_);
#pragma omp simd
    for (Index i = 0; i < N; ++i) {
      const double du = du_[at(i)];
      da_[at(i)] = has_low_[at(i)] * (on_low_[at(i)] - alpha_[at(i)] * du) / above_[at(i)];
      db_[at(i)] = has_high_[at(i)] * (on_high_[at(i)] + beta_[at(i)] * du) / below_[at(i)];
    }
    return true;
  }

  // How far u, and (w, alpha, beta), may go; the same for both where they meet in a quadratic term.
  Lengths lengths(double share) const {
    const double none = std::numeric_limits<double>::infinity();
    double u = none, m = none;
    const Index N = p.n_variables();
#pragma omp simd reduction(min : u, m)
    for (Index i = 0; i < N; ++i) {
      const double down = has_low_[at(i)] * du_[at(i)], up = has_high_[at(i)] * du_[at(i)];
      u = std::min(u, down < 0 ? -above_[at(i)] / down : none);
      u = std::min(u, up > 0 ? below_[at(i)] / up : none);
      m = std::min(m, da_[at(i)] < 0 ? -alpha_[at(i)] / da_[at(i)] : none);
      m = std::min(m, db_[at(i)] < 0 ? -beta_[at(i)] / db_[at(i)] : none);
    }
    u = std::min(1.0, share * u);
    m = std::min(1.0, share * m);
    return is_linear_ ? Lengths{u, m} : Lengths{std::min(u, m), std::min(u, m)};
  }

  template <class Map>
  void move(const Map& A, Lengths t) {
    for (std::size_t j = 0; j < w_.size(); ++j) w_[j] += t.m * dw_[j];
    for (std::size_t i = 0; i < t_.size(); ++i) t_[i] += t.m * dt_[i];
    const Index N = p.n_variables();
    // Residues follow by what a step adds to them: their scores need no pass.
#pragma omp simd
    for (Index i = 0; i < N; ++i) {
      const bool low = has_low_[at(i)] > 0, high = has_high_[at(i)] > 0;
      const double du = t.u * du_[at(i)], da = t.m * da_[at(i)], db = t.m * db_[at(i)];
      const double above = above_[at(i)] + (low ? du : 0.0), below = below_[at(i)] - (high ? du : 0.0);
      const double free = u_[at(i)] + du, from_low = p.low[at(i)] + above, from_high = p.high[at(i)] - below;
      dual_residue_[at(i)] += p.bend[at(i)] * du - t.m * scored_[at(i)] - da + db;
      alpha_[at(i)] += da;
      beta_[at(i)] += db;
      above_[at(i)] = above;
      below_[at(i)] = below;
      // u by its nearer end: a difference of numbers near h would lose what is left of it.
      u_[at(i)] = low && (!high || above <= below) ? from_low : high ? from_high : free;
    }
    if (p.is_joint()) {  // what a row's balance moves is in no direction
      for (Index i = 0; i < p.n_rows; ++i) balance_row(i, u_.data() + i, p.n_rows);
      A.scores(w_.data(), z_.data());
      measure(A);
      return;
    }
#pragma omp simd
    for (Index i = 0; i < N; ++i) g_[at(i)] = p.weight[at(i)] * u_[at(i)];
    pull(A);
  }

  // The u of a joint row, `stride` apart, whose sum is 0: that of its own class is known best as what the
  // others leave, unless it is at its end. 1 - p of a tiny p has lost most of its digits.
  void balance_row(Index i, double* u, Index stride) const {
    double others = 0.0;
    Index own = 0;
    for (Index k = 0; k < p.n_outputs; ++k)
      if (p.low[at(i + k * p.n_rows)] < 0.0)
        own = k;
      else
        others += u[k * stride];
    if (others < 0.5) u[own * stride] = -others;
  }

  IntervalProgramme p;
  Numbers u_, z_, above_, below_, alpha_, beta_, theta_, dual_residue_, g_, dz_, du_, da_, db_;
  Numbers on_low_, on_high_, has_low_, has_high_, h_;
  Numbers w_, primal_residue_, dw_, right_, diagonal_;
  Numbers scored_;               // A dw
  std::array<Numbers, 6> kept_;  // the direction before a corrector
  Numbers t_, dt_;               // of the sums of joint rows
  double n_products_ = 0.0, size_ = 1.0;
  double products_ = 0.0, value_ = 0.0, gap_ = 0.0;  // of the present point
  double left_ = 1.0;  // the share of the residues of the start that steps have left
  bool is_linear_ = false, has_begun_ = false, is_done_ = false;
  int n_idle_ = 0;
  Point least_;
};

}  // namespace lineal
