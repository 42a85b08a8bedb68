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
// A norm r |w_g| of a group of weights, over all outputs, is a ball |u_g| <= r of its unit rows. With m >=
// |x_g| and x_g = w_g at the optimum, (m, x_g) and (r, -u_g) lie in second-order cones and are orthogonal; x
// stands where beta - alpha does, and theta of the group is the inverse of the tail of W^2
// (second_order_cone.h).
//
// Cost of a step, beside that matrix and its factor: seven passes over the rows, and five divisions a row.
// Where the matrix is near that of the step alone (reduced_system.h), conjugate gradients take its place.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "lineal/epoch/interval_programme.h"
#include "lineal/epoch/second_order_cone.h"
#include "lineal/rows.h"

namespace lineal {

// Whether a system is solved by iterations that end where a step has no use for more.
template <class System>
inline constexpr bool is_iterative = requires(const System& system) { system.missed(); };
// Whether it knows of a watch that may end its solutions.
template <class System>
inline constexpr bool can_break_off = requires(const System& system) { system.is_broken_off(); };

class InteriorPoint {
 public:
  explicit InteriorPoint(IntervalProgramme programme) : p(std::move(programme)) {
    const std::size_t N = std::size_t(p.n_variables()), m = std::size_t(p.n_weights());
    for (Numbers* each : {&u_,        &z_,         &seen_,         &above_,     &below_,   &alpha_,
                          &beta_,     &theta_,     &dual_residue_, &g_,         &dz_,      &scored_,
                          &du_,       &da_,        &db_,           &on_low_,    &on_high_, &has_low_,
                          &has_high_, &per_above_, &per_below_,    &per_alpha_, &per_beta_})
      each->assign(N, 0.0);
    for (Numbers* each : {&w_, &primal_residue_, &dw_, &right_}) each->assign(m, 0.0);
    h_.assign(std::size_t(p.n_rows * p.n_outputs), 0.0);
    const std::size_t n_balls = std::size_t(p.n_balls()), n_in_balls = N - std::size_t(p.n_intervals());
    for (Numbers* each : {&m_, &dm_, &on_ball_, &moved_ball_}) each->assign(n_balls, 0.0);
    for (Numbers* each : {&minus_u_, &middle_, &lam_, &on_tail_, &moved_tail_}) each->assign(n_in_balls, 0.0);
    cones_.resize(n_balls);
    if (p.is_joint)
      for (Numbers* each : {&t_, &dt_}) each->assign(std::size_t(p.n_rows), 0.0);
    bool is_bent = false;
    for (std::size_t i = 0; i < N; ++i) {
      has_low_[i] = std::isfinite(p.low[i]) ? 1.0 : 0.0;
      has_high_[i] = std::isfinite(p.high[i]) ? 1.0 : 0.0;
      n_products_ += p.weight[i] * (has_low_[i] + has_high_[i]);
      is_bent = is_bent || p.bend[i] > 0.0;
    }
    for (Index g = 0; g < p.n_balls(); ++g) n_products_ += weight_of_ball(g);
    for (const double each : p.l2) is_bent = is_bent || each > 0.0;
    // Without curvature anywhere the steps of (w, alpha, beta) and of u do not meet: each has its length.
    // Those of joint rows stay together: apart they leave the centre and come to a halt.
    is_linear_ = !is_bent && !p.is_joint && p.n_balls() == 0;
  }

  const IntervalProgramme& programme() const { return p; }
  bool is_done() const { return is_done_; }
  const Numbers& weights() const { return w_; }

  // Whether the next system is for a step, and not for the start.
  bool has_begun() const { return has_begun_; }
  // Whether the last step gained nothing.
  bool is_idle() const { return n_idle_ > 0; }
  // The curvatures of rows and the diagonal of the system that `renew` asked for.
  const Numbers& curvatures() const { return h_; }
  // theta, of which joint rows have K that meet.
  const Numbers& thetas() const { return theta_; }
  const Numbers& diagonal() const { return diagonal_; }
  // The penalty's part of the system of columns, added to a matrix.
  void add_penalty(double* H) const {
    const Index size = Index(diagonal_.size());
    for (Index j = 0; j < size; ++j) H[j * size + j] += diagonal_[at(j)];
    if (!has_begun_) return;
    for (Index g = 0; g < p.n_balls(); ++g) {
      const ConeScaling& cone = cones_[at(g)];
      const Index* columns = p.corners.data() + p.ball_start[at(g)];
      const double factor = weight_of_ball(g) * cone.curvature() * cone.share();
      for (Index i = 0; i < p.size_of_ball(g); ++i)
        for (Index j = 0; j < p.size_of_ball(g); ++j)
          H[columns[i] * size + columns[j]] -= factor * cone.middle()[i] * cone.middle()[j];
    }
  }

  // The next system; before the first step, the one that fits the places of the kinks by least squares.
  void renew() {
    const Index N = p.n_variables(), on_rows = p.n_of_rows(), n_scores = p.n_rows * p.n_outputs;
    const Index n_intervals = p.n_intervals();
    if (has_begun_) {
#pragma omp simd
      for (Index i = 0; i < n_intervals; ++i) {
        const bool low = has_low_[at(i)] > 0, high = has_high_[at(i)] > 0;
        per_above_[at(i)] = low ? 1.0 / above_[at(i)] : 0.0;
        per_below_[at(i)] = high ? 1.0 / below_[at(i)] : 0.0;
        per_alpha_[at(i)] = low ? 1.0 / alpha_[at(i)] : 0.0;
        per_beta_[at(i)] = high ? 1.0 / beta_[at(i)] : 0.0;
        theta_[at(i)] =
            1.0 / (p.bend[at(i)] + alpha_[at(i)] * per_above_[at(i)] + beta_[at(i)] * per_below_[at(i)]);
      }
      for (Index g = 0; g < p.n_balls(); ++g) {
        scale_ball(g);
        std::fill_n(theta_.begin() + p.first_of_ball(g), p.size_of_ball(g), cones_[at(g)].curvature());
      }
    } else {
      std::fill(theta_.begin(), theta_.begin() + on_rows, 1.0);
      // Unit rows need a positive weight where their column is empty or there are fewer rows than columns.
      for (Index c = 0; c < N - on_rows; ++c) {
        const double square = 1e-6 * p.corner_square[at(c)];
        theta_[at(on_rows + c)] = square > 0.0 ? square : 1.0;
      }
    }
    for (Index i = 0; i < n_scores; ++i) {
      double sum = p.weight[at(i)] * theta_[at(i)];
      if (has_tube()) sum += p.weight[at(n_scores + i)] * theta_[at(n_scores + i)];
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
      centre[at(i)] = has_tube() ? (p.place[at(i % n_scores)] + p.place[at(n_scores + i % n_scores)]) / 2
                                 : p.place[at(i)];
    respond(centre, g_);
    for (Index i = 0; i < on_rows; ++i) g_[at(i)] *= p.weight[at(i)];
    A.back(g_.data(), right_.data());
    aimed_ = std::numeric_limits<double>::infinity();
    if (!solve(A, system)) return;
    w_ = dw_;
    if (!is_finite(w_)) std::fill(w_.begin(), w_.end(), 0.0);
    // Groups that cost more than P at 0 would be far from the centre of all products.
    double cost = 0.0;
    for (Index g = 0; g < p.n_balls(); ++g) cost += weight_of_ball(g) * p.radius[at(g)] * norm_of_group(g);
    if (cost > p.value_at_zero)
      for (double& each : w_) each *= p.value_at_zero / cost;
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
    for (Index g = 0; g < p.n_balls(); ++g) {
      const Index first = p.first_of_ball(g), size = p.size_of_ball(g);
      for (Index i = first; i < first + size; ++i) {
        beta_[at(i)] = z_[at(i)];
        above_[at(i)] = below_[at(i)] = p.radius[at(g)];
      }
      // Well inside its cone: from its edge the first steps would be short.
      m_[at(g)] = 2 * norm_of_group(g) + start_size * product / p.radius[at(g)];
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
    for (Index g = 0; g < p.n_balls(); ++g)
      cones_[at(g)].aim(0.0, nullptr, nullptr, on_ball_[at(g)], tail_of(on_tail_, g));
    aimed_ = products_;
    if (!aim(A, system)) return give_up(system);
    Lengths t = lengths(1.0);
    const double moved = n_products_ > 0 ? products_after(t) / n_products_ : 0.0;
    const double share = mu > 0 ? moved / mu : 0.0, target = mu * share * share * share;
#pragma omp simd
    for (Index i = 0; i < N; ++i) {
      on_low_[at(i)] = has_low_[at(i)] * (target - alpha_[at(i)] * above_[at(i)] - da_[at(i)] * du_[at(i)]);
      on_high_[at(i)] = has_high_[at(i)] * (target - beta_[at(i)] * below_[at(i)] + db_[at(i)] * du_[at(i)]);
    }
    for (Index g = 0; g < p.n_balls(); ++g) {
      const Index first = p.first_of_ball(g), size = p.size_of_ball(g);
      double* minus_du = tail_of(minus_u_, g);
      for (Index i = 0; i < size; ++i) minus_du[i] = -du_[at(first + i)];
      cones_[at(g)].aim(dm_[at(g)], db_.data() + first, minus_du, on_ball_[at(g)], tail_of(on_tail_, g));
      on_ball_[at(g)] += target;
    }
    aimed_ = target * n_products_;
    if (!aim(A, system)) return give_up(system);
    t = correct(A, system, target);
    move(A, t);
    left_ *= 1.0 - t.least();
    // Where steps are short or lead nowhere, or the gap is rounding, there is nothing left to gain. A gap may
    // grow while there are residues of the start: weights that began too small make them worth more, by
    // thousands where a few rows lie that much further out than all others.
    const double here = gap();
    const bool is_led_away =
        left_ < met && !(here < 10 * least_.gap) && !(least_.gap > near * std::abs(value()));
    // Once nothing is left of the residues of the start, a small gap that grows is rounding.
    const bool is_floor = left_ < gone && !(here < least_.gap) && least_.gap < small * std::abs(value());
    const bool is_idle = std::max(t.u, t.m) < shortest || is_led_away || is_floor || !std::isfinite(here);
    n_idle_ = is_idle ? n_idle_ + 1 : 0;
    keep();
    if (n_products_ == 0.0 || n_idle_ >= patience || here <= rounding * std::abs(value())) end();
  }

  // (A'S M A + L) x, and A x on the way.
  template <class Map>
  void curve(const Map& A, const double* x, Numbers& scored, Numbers& product) {
    if (p.n_outputs == 1 && p.n_balls() == 0) {
      A.curve_rows(x, h_.data(), scored.data(), product.data());
      if (has_tube()) std::copy_n(scored.begin(), p.n_rows, scored.begin() + p.n_rows);
      for (std::size_t c = 0; c < p.corners.size(); ++c) scored[at(p.n_of_rows()) + c] = x[p.corners[c]];
      for (std::size_t j = 0; j < product.size(); ++j) product[j] += diagonal_[j] * x[j];
      return;
    }
    A.scores(x, scored.data());
    bent_.resize(scored.size());
    before_ = dt_;
    respond(scored, bent_);
    dt_.swap(before_);  // which is of another direction
    const Index N = p.n_variables();
#pragma omp simd
    for (Index i = 0; i < N; ++i) bent_[at(i)] *= p.weight[at(i)];
    A.back(bent_.data(), product.data());
    for (std::size_t j = 0; j < product.size(); ++j) product[j] += p.l2[j] * x[j];
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
    const std::size_t N = u_.size(), m = w_.size(), n_sums = t_.size(), n_balls = m_.size(), n_numbers = 6;
    const std::size_t n_point = 6 * N + 2 * m + n_sums + n_balls;
    const bool has_least = kept.size() > n_numbers && std::isfinite(kept[4]);
    if (kept.size() != n_numbers + (has_least ? 2 : 1) * n_point) return false;
    has_begun_ = kept[0] != 0.0, is_done_ = kept[1] != 0.0, n_idle_ = int(kept[2]), size_ = kept[3];
    auto from = kept.begin() + std::ptrdiff_t(n_numbers);
    const auto take = [&](const Vectors& point) {
      for (Numbers* each : point) {
        const std::size_t n = each == point.front() || each == point[1] ? m
                              : each == point[8]                        ? n_sums
                              : each == point.back()                    ? n_balls
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
    std::tie(primal_residue_, dual_residue_, t_, m_) =
        std::tie(least_.primal_residue, least_.dual_residue, least_.t, least_.m);
    judge();
  }

  // About P: the value of the dual, with the products between the two added.
  double value() const { return value_; }
  // About P - D: the products, and what the residues of the conditions are worth.
  double gap() const { return gap_; }

  // By what share V leaves the box |V_j| <= l1 of a weight without an l2: dual variables are divided by 1 and
  // that to be feasible, however small the weight. Where l1 is next to nothing beside the rounding of V
  // nobody can have V inside by that: dual variables are moved to where it is.
  double excess() const {
    double most = 0.0, square = 0.0, total = 0.0;
    for (std::size_t i = 0; i < at(p.n_of_rows()); ++i) {
      square += p.weight[i] * u_[i] * u_[i];
      total += p.weight[i];
    }
    const double size = std::sqrt(square * total);
    for (std::size_t i = at(p.n_of_rows()); i < at(p.n_intervals()); ++i) {
      const std::size_t c = i - at(p.n_of_rows()), j = at(p.corners[c]);
      if (p.l2[j] > 0.0) continue;
      const double v = std::abs(u_[i] - primal_residue_[j] / p.weight[i]);
      const double whole = size * std::sqrt(p.corner_square[c]) / p.weight[i];
      const double off = rounded * whole > tiny * p.high[i] ? movable * whole : 0.0;
      most = std::max(most, (v - off) / p.high[i] - 1.0);
    }
    for (Index g = 0; g < p.n_balls(); ++g) {
      double of_group = 0.0;
      for (Index i = p.first_of_ball(g); i < p.first_of_ball(g) + p.size_of_ball(g); ++i) {
        const double residue = primal_residue_[at(p.corners[at(i - p.n_of_rows())])];
        const double v = u_[at(i)] - residue / p.weight[at(i)];
        of_group += v * v;
      }
      most = std::max(most, std::sqrt(of_group) / p.radius[at(g)] - 1.0);
    }
    return most;
  }

  // The weights and the dual variables of rows, (n_rows, K). With `decided`, as
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
      u[i % n * K + i / n % K] += each;
    }
    if (p.is_joint)
      for (Index i = 0; i < n; ++i) balance_row(i, u + i * K, 1);
    if (!decided) return;
    for (Index i = on_rows; i < p.n_intervals(); ++i)
      if (is_tiny(multiplier_of_low(i), distance_to_low(i)) &&
          is_tiny(multiplier_of_high(i), distance_to_high(i)))
        w[p.corners[at(i - on_rows)]] = 0.0;
    for (Index g = 0; g < p.n_balls(); ++g) {
      const Index first = p.first_of_ball(g), size = p.size_of_ball(g);
      double square = 0.0, unit = HUGE_VAL;
      for (Index i = first; i < first + size; ++i) {
        square += u_[at(i)] * u_[at(i)];
        unit = std::min(unit, unit_of_score(i));
      }
      if (is_tiny(m_[at(g)] / unit, 1.0 - std::sqrt(square) / p.radius[at(g)]))
        for (Index i = first; i < first + size; ++i) w[p.corners[at(i - on_rows)]] = 0.0;
    }
  }

 private:
  struct Lengths {
    double u, m;  // of u, and of (w, alpha, beta)
    double least() const { return std::min(u, m); }
  };
  struct Point {
    Numbers w, primal_residue, u, above, below, alpha, beta, dual_residue, t, m;
    double gap = std::numeric_limits<double>::infinity();
  };
  // Of a point: two of weights, those of variables, and last the multipliers of sums and of balls.
  using Vectors = std::array<Numbers*, 10>;
  // How far a step goes towards the end of an interval; steps that count as short, and how many idle
  // ones in a row are enough; the share of the objective below which the gap is rounding.
  static constexpr double close = 0.995, shortest = 1e-6, rounding = 1e-15;
  // Of distances and multipliers in their units: so small a one is 0.
  static constexpr double tiny = 1e-6;
  static constexpr int patience = 3;
  // Rounds that solve again, steps of conjugate gradients in one, and the share of what was left that ends
  // them; the share of a direction's worth that is no error, and that of the products aimed at that is none
  // far from the optimum.
  static constexpr int most_refinements = 4, most_gradients = 30;
  static constexpr double near_enough = 1e-4, exact = 1e-22, spared = 1e-2;
  // The share of the residues of the start below which the equations count as met.
  static constexpr double met = 1e-3;
  static constexpr double gone = 1e-12;
  // The share of the products aimed at that what is left of a system may be worth.
  static constexpr double left_over = 0.5;
  // The share of the objective above which residues follow by what steps add to them.
  static constexpr double followed = 1e-4;
  // The share of its size that V is rounded by, and that it may be off by where that is more than l1 knows
  // of.
  static constexpr double rounded = 1e-14, movable = 1e-10;
  // The share of the objective at which a gap that grows again is at the floor of rounding.
  static constexpr double near = 1e-6, small = 1e-4;
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
  bool is_joint_row(Index i) const { return p.is_joint && i < p.n_of_rows(); }
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

  double norm_of_group(Index g) const {
    double square = 0.0;
    for (Index c = p.ball_start[at(g)]; c < p.ball_start[at(g) + 1]; ++c)
      square += w_[at(p.corners[at(c)])] * w_[at(p.corners[at(c)])];
    return std::sqrt(square);
  }
  double weight_of_ball(Index g) const { return p.weight[at(p.first_of_ball(g))]; }
  // Where the numbers of a ball begin among those of all variables in balls.
  double* tail_of(Numbers& numbers, Index g) const {
    return numbers.data() + (p.first_of_ball(g) - p.n_intervals());
  }
  void scale_ball(Index g) {
    const Index first = p.first_of_ball(g), size = p.size_of_ball(g);
    double* minus_u = tail_of(minus_u_, g);
    for (Index i = 0; i < size; ++i) minus_u[i] = -u_[at(first + i)];
    is_inside_ = cones_[at(g)].scale({m_[at(g)], beta_.data() + first}, {p.radius[at(g)], minus_u}, size,
                                     tail_of(middle_, g), tail_of(lam_, g)) &&
                 is_inside_;
  }
  // m r - x.u of a ball, after a step.
  double product_of_ball(Index g, Lengths t) const {
    double product = (m_[at(g)] + t.m * dm_[at(g)]) * p.radius[at(g)];
    for (Index i = p.first_of_ball(g); i < p.first_of_ball(g) + p.size_of_ball(g); ++i)
      product -= (beta_[at(i)] + t.m * db_[at(i)]) * (u_[at(i)] + t.u * du_[at(i)]);
    return product;
  }
  double products_after(Lengths t) const {
    double sum = 0.0;
    const Index n_intervals = p.n_intervals();
#pragma omp simd reduction(+ : sum)
    for (Index i = 0; i < n_intervals; ++i) {
      const double low =
          (alpha_[at(i)] + t.m * da_[at(i)]) * (above_[at(i)] + has_low_[at(i)] * t.u * du_[at(i)]);
      const double high =
          (beta_[at(i)] + t.m * db_[at(i)]) * (below_[at(i)] - has_high_[at(i)] * t.u * du_[at(i)]);
      sum += p.weight[at(i)] * (low + high);
    }
    for (Index g = 0; g < p.n_balls(); ++g) sum += weight_of_ball(g) * product_of_ball(g, t);
    return sum;
  }

  using Directions = std::array<Numbers*, 8>;
  Directions direction() { return {&dw_, &du_, &da_, &db_, &dt_, &dm_, &scored_, &missed_}; }
  Vectors present() {
    return {&w_, &primal_residue_, &u_, &above_, &below_, &alpha_, &beta_, &dual_residue_, &t_, &m_};
  }
  Vectors least() {
    return {&least_.w,    &least_.primal_residue, &least_.u, &least_.above, &least_.below, &least_.alpha,
            &least_.beta, &least_.dual_residue,   &least_.t, &least_.m};
  }

  // The value and the gap of the present point.
  void judge() {
    double dual = 0.0, ridge = 0.0, off = 0.0, products = 0.0;
    const Index n_intervals = p.n_intervals();
#pragma omp simd reduction(+ : dual, off, products)
    for (Index i = 0; i < n_intervals; ++i) {
      const double s = p.weight[at(i)], u = u_[at(i)], above = above_[at(i)], below = below_[at(i)];
      dual += s * (p.place[at(i)] + p.bend[at(i)] * 0.5 * u) * u;
      off += s * std::abs(dual_residue_[at(i)]) * (std::abs(u) + (above < below ? above : below));
      products += s * (alpha_[at(i)] * above + beta_[at(i)] * below);
    }
    for (std::size_t j = 0; j < w_.size(); ++j) {
      ridge += p.l2[j] * w_[j] * w_[j];
      off += std::abs(w_[j] * primal_residue_[j]);
    }
    // A group is worth r |w_g| - w_g.u_g whatever x is: near the edge of its cone that follows w less
    // closely.
    for (Index g = 0; g < p.n_balls(); ++g) {
      const double product = product_of_ball(g, {0.0, 0.0});
      double worth = p.radius[at(g)] * norm_of_group(g);
      for (Index i = p.first_of_ball(g); i < p.first_of_ball(g) + p.size_of_ball(g); ++i)
        worth -= w_[at(p.corners[at(i - p.n_of_rows())])] * u_[at(i)];
      products += weight_of_ball(g) * product;
      off += weight_of_ball(g) * (worth - product);
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
    if (p.is_joint)
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
    const Index N = p.n_variables(), n = p.n_rows, first = p.is_joint ? p.n_of_rows() : 0;
#pragma omp simd
    for (Index i = first; i < N; ++i) du[at(i)] = theta_[at(i)] * dz[at(i)];
    for (Index g = 0; has_begun_ && g < p.n_balls(); ++g) {
      const Index start = p.first_of_ball(g);
      std::copy_n(dz.begin() + start, p.size_of_ball(g), du.begin() + start);
      cones_[at(g)].respond(du.data() + start);
    }
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
    const int n_rounds = p.is_joint ? 2 : 1;  // a factor costs more there
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
      for (Index g = 0; g < p.n_balls(); ++g)
        on_ball_[at(g)] += back_inside(product_of_ball(g, {reach, reach}), target);
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
      dz_[at(i)] =
          on_low_[at(i)] * per_above_[at(i)] - on_high_[at(i)] * per_below_[at(i)] - dual_residue_[at(i)];
    }
    if (!is_inside_) return false;
    for (Index g = 0; g < p.n_balls(); ++g) {
      double* moved = tail_of(moved_tail_, g);
      cones_[at(g)].moved(on_ball_[at(g)], tail_of(on_tail_, g), moved_ball_[at(g)], moved);
      for (Index k = 0, i = p.first_of_ball(g); k < p.size_of_ball(g); ++k, ++i)
        dz_[at(i)] = -dual_residue_[at(i)] - moved[k];
    }
    respond(dz_, g_);
#pragma omp simd
    for (Index i = 0; i < N; ++i) g_[at(i)] *= p.weight[at(i)];
    A.back(g_.data(), right_.data());
    for (std::size_t j = 0; j < w_.size(); ++j) right_[j] = -primal_residue_[j] - right_[j];
    if (!solve(A, system) || !is_finite(dw_)) return false;
#pragma omp simd
    for (Index i = 0; i < N; ++i) g_[at(i)] = scored_[at(i)] + dz_[at(i)];
    respond(g_, du_);
    if (p.is_joint) refine(A, system);
#pragma omp simd
    for (Index i = 0; i < N; ++i) {
      const double du = du_[at(i)];
      da_[at(i)] = (on_low_[at(i)] - alpha_[at(i)] * du) * per_above_[at(i)];
      db_[at(i)] = (on_high_[at(i)] + beta_[at(i)] * du) * per_below_[at(i)];
    }
    for (Index g = 0; g < p.n_balls(); ++g) {
      const Index first = p.first_of_ball(g);
      std::copy_n(tail_of(moved_tail_, g), p.size_of_ball(g), db_.begin() + first);
      dm_[at(g)] = moved_ball_[at(g)];
      // dx = W (lam \ d) - W^2 dy with dy = -du.
      cones_[at(g)].add_squared(du_.data() + first, dm_[at(g)], db_.data() + first);
    }
    return true;
  }

  // dw and A dw; false where there was no time for them.
  template <class Map, class System>
  bool solve(const Map& A, System& system) {
    is_near_ = false;
    if constexpr (is_iterative<System>) {
      system.solve(right_.data(), dw_.data(), left_over * aimed_);
      if (system.is_broken_off()) return false;
      is_near_ = !system.is_exact();
      if (is_near_) scored_ = system.scored(), missed_ = system.missed();
    } else {
      system.solve(right_.data(), dw_.data());
    }
    if (!is_near_) A.scores(dw_.data(), scored_.data());
    return true;
  }
  // What has no direction has come to its end, unless somebody has broken it off.
  template <class System>
  void give_up(const System& system) {
    if constexpr (is_iterative<System>)
      if (system.is_broken_off()) return;
    end();
  }

  // Solves again for what rounding has left of A'S (u + du) + L (w + dw) = 0: thetas of joint rows on a kink
  // grow without end, and with them the errors of their du. Where columns lie sizes apart the factor is no
  // more than the larger part of the inverse, and to solve by it again comes to a halt: conjugate gradients
  // that it preconditions do not.
  template <class Map, class System>
  void refine(const Map& A, System& system) {
    step_.resize(w_.size());
    const double whole = inner(right_, dw_);
    double before = HUGE_VAL, left = what_is_left(A, system);
    for (int round = 0; left < before / 4; ++round) {
      if (round == most_refinements) return;
      A.scores(step_.data(), seen_.data());
      answer();
      go_along(step_, 1.0);
      before = left;
      left = what_is_left(A, system);
    }
    // What remains is worth more than the step can use only where columns lie sizes apart.
    for (int round = 0; round < most_refinements && left < HUGE_VAL; ++round) {
      const bool is_far = gap_ > followed * std::abs(value_);
      if (left <= exact * whole || (is_far && worth(right_) <= spared * aimed_)) return;
      for (std::size_t k = 0; k < saved_.size(); ++k) saved_[k] = *direction()[k];
      approach(A, system, left);
      before = left;
      left = what_is_left(A, system);
      if (left < before / 4) continue;
      for (std::size_t k = 0; k < saved_.size(); ++k) direction()[k]->swap(saved_[k]);
      return;
    }
  }

  // What is left of the equations of the weights, `right_`, its solution `step_`, and what that is worth, in
  // units that no column has a say in.
  template <class Map, class System>
  double what_is_left(const Map& A, System& system) {
    for (std::size_t i = 0; i < g_.size(); ++i) g_[i] = p.weight[i] * du_[i];
    A.back(g_.data(), right_.data());
    for (std::size_t j = 0; j < w_.size(); ++j)
      right_[j] = -primal_residue_[j] - right_[j] - p.l2[j] * dw_[j];
    if (is_near_ && worth(right_) <= left_over * aimed_) return HUGE_VAL;
    return solve_again(system) ? inner(right_, step_) : HUGE_VAL;
  }
  // The solution of `right_` by itself, `step_`; false where there is none.
  template <class System>
  bool solve_again(System& system) {
    if constexpr (is_iterative<System>) {
      system.begin_at_zero();
      system.solve(right_.data(), step_.data(), left_over * aimed_);
      system.begin_at_zero();
    } else {
      system.solve(right_.data(), step_.data());
    }
    if constexpr (can_break_off<System>)
      if (system.is_broken_off()) return false;
    return is_finite(step_);
  }
  static double inner(const Numbers& x, const Numbers& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  }
  // Of the scores `seen_` of a direction of weights, what dual variables and multipliers of sums answer.
  void answer() {
    answered_ = dt_;
    respond(seen_, dz_);
    answered_.swap(dt_);
  }
  void go_along(const Numbers& direction, double t) {
    for (std::size_t i = 0; i < du_.size(); ++i) scored_[i] += t * seen_[i], du_[i] += t * dz_[i];
    for (std::size_t i = 0; i < dt_.size(); ++i) dt_[i] += t * answered_[i];
    for (std::size_t j = 0; j < dw_.size(); ++j) dw_[j] += t * direction[j];
  }

  // Takes from a right side what rounding left of a shift of all outputs' weights of a column that costs
  // nothing: no loss knows it, so that it would be answered by any number.
  void balance_free(Numbers& right) const {
    const std::size_t m = at(p.n_weights_of_output()), K = at(p.n_outputs);
    for (std::size_t j = 0; j < m; ++j) {
      double sum = 0.0;
      bool is_free = true;
      for (std::size_t k = 0; k < K; ++k) {
        sum += right[k * m + j];
        is_free = is_free && diagonal_[k * m + j] == 0.0;
      }
      for (std::size_t k = 0; is_free && k < K; ++k) right[k * m + j] -= sum / double(K);
    }
  }

  // Conjugate gradients from (dw, du), with the residue `right_`, of worth `left`, and `step_` its solution.
  template <class Map, class System>
  void approach(const Map& A, System& system, double left) {
    const double enough = near_enough * left;
    balance_free(right_);
    if (!solve_again(system)) return;
    left = inner(right_, step_);
    along_ = step_;
    product_.resize(w_.size());
    for (int k = 0; k < most_gradients; ++k) {
      A.scores(along_.data(), seen_.data());
      answer();
      for (std::size_t i = 0; i < g_.size(); ++i) g_[i] = p.weight[i] * dz_[i];
      A.back(g_.data(), product_.data());
      for (std::size_t j = 0; j < w_.size(); ++j) product_[j] += p.l2[j] * along_[j];
      const double bent = inner(along_, product_);
      if (!(bent > 0.0) || !std::isfinite(bent)) return;
      go_along(along_, left / bent);
      for (std::size_t j = 0; j < w_.size(); ++j) right_[j] -= left / bent * product_[j];
      balance_free(right_);
      if (!solve_again(system)) return;
      const double now = inner(right_, step_);
      if (!(now > enough)) return;
      for (std::size_t j = 0; j < w_.size(); ++j) along_[j] = step_[j] + now / left * along_[j];
      left = now;
    }
  }

  // What a residue of the weights is worth in the gap where the present direction leads.
  double worth(const Numbers& residue) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < w_.size(); ++j) sum += std::abs((w_[j] + dw_[j]) * residue[j]);
    return sum;
  }

  // How far u, and (w, alpha, beta), may go; the same for both where they meet in a quadratic term.
  Lengths lengths(double share) const {
    const double none = std::numeric_limits<double>::infinity();
    double fastest_u = 0.0, fastest_m = 0.0;  // towards an end, in shares of what is left
    const Index n_intervals = p.n_intervals();
#pragma omp simd reduction(max : fastest_u, fastest_m)
    for (Index i = 0; i < n_intervals; ++i) {
      fastest_u = std::max(fastest_u, -du_[at(i)] * per_above_[at(i)]);
      fastest_u = std::max(fastest_u, du_[at(i)] * per_below_[at(i)]);
      fastest_m = std::max(fastest_m, -da_[at(i)] * per_alpha_[at(i)]);
      fastest_m = std::max(fastest_m, -db_[at(i)] * per_beta_[at(i)]);
    }
    double u = fastest_u > 0 ? 1.0 / fastest_u : none, m = fastest_m > 0 ? 1.0 / fastest_m : none;
    for (Index g = 0; g < p.n_balls(); ++g) {
      const Index first = p.first_of_ball(g), size = p.size_of_ball(g);
      u = std::min(u,
                   ConeScaling::longest(p.radius[at(g)], u_.data() + first, 0.0, du_.data() + first, size));
      m = std::min(
          m, ConeScaling::longest(m_[at(g)], beta_.data() + first, dm_[at(g)], db_.data() + first, size));
    }
    u = std::min(1.0, share * u);
    m = std::min(1.0, share * m);
    return is_linear_ ? Lengths{u, m} : Lengths{std::min(u, m), std::min(u, m)};
  }

  template <class Map>
  void move(const Map& A, Lengths t) {
    for (std::size_t j = 0; j < w_.size(); ++j) w_[j] += t.m * dw_[j];
    for (std::size_t i = 0; i < t_.size(); ++i) t_[i] += t.m * dt_[i];
    for (std::size_t g = 0; g < m_.size(); ++g) m_[g] += t.m * dm_[g];
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
    if (p.is_joint) {  // what a row's balance moves is in no direction
      for (Index i = 0; i < p.n_rows; ++i) balance_row(i, u_.data() + i, p.n_rows);
      A.scores(w_.data(), z_.data());
      measure(A);
      return;
    }
    if (is_near_ && !(gap_ < followed * std::abs(value_))) {
      for (std::size_t j = 0; j < w_.size(); ++j)
        primal_residue_[j] -= t.u * (primal_residue_[j] + missed_[j]);
      judge();
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
  Numbers per_above_, per_below_, per_alpha_, per_beta_;  // their inverses, 0 where there is no such end
  Numbers on_low_, on_high_, has_low_, has_high_, h_;
  Numbers w_, primal_residue_, dw_, right_, diagonal_;
  Numbers scored_;                       // A dw
  std::array<Numbers, 8> kept_, saved_;  // the direction before a corrector
  Numbers t_, dt_;                       // of the sums of joint rows
  // Of balls: m, what is asked of lam o lam and what x moves by for that; and the tails of their points.
  Numbers m_, dm_, on_ball_, moved_ball_;
  Numbers minus_u_, middle_, lam_, on_tail_, moved_tail_;
  std::vector<ConeScaling> cones_;
  bool is_inside_ = true;
  Numbers step_, along_, product_, seen_, answered_;  // of a refinement
  Numbers before_;                                    // dt before it is asked for a curvature
  Numbers missed_, bent_;  // what the solution of a system has left of its right side; M A x
  bool is_near_ = false;   // whether it is by conjugate gradients
  double n_products_ = 0.0, size_ = 1.0;
  double aimed_ = 0.0;                               // what the products are to be after the step
  double products_ = 0.0, value_ = 0.0, gap_ = 0.0;  // of the present point
  double left_ = 1.0;  // the share of the residues of the start that steps have left
  bool is_linear_ = false, has_begun_ = false, is_done_ = false;
  int n_idle_ = 0;
  Point least_;
};

}  // namespace lineal
