// What one row of a stream asks of the weights: how far to go along it, and how curved the loss is there.
//
// A step is implicit: with z = w.x and q = x'A^-1 x in the metric A, the slope u is that at the place the
// step arrives at,
//
//     u = loss'(z - q u),  so that  w - u A^-1 x  =  argmin_v  loss(v.x) + (v - w)'A (v - w) / 2,
//
// the step of dual ascent (loss.h, simplex.h) from u = 0. It never goes past the least loss of its row,
// however long the row is. A row of weight s has s times the loss.
//
// `curvature` is what the metric gains along the row: loss'' where the loss bends (log, squared), else one
// unit of it for each row that moves the weights. The unit of regression losses is the mean slope over the
// mean distance of all rows so far, 1 for the squared loss: targets in dollars and in cents take the same
// steps. `unit` is the most that a row may add, for columns that are new.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "lineal/loss.h"
#include "lineal/rows.h"
#include "lineal/simplex.h"

namespace lineal {

// Sums over a stream; they are part of what is saved.
struct OnlineTally {
  double rows, weight;     // met so far
  double right, loss;      // of predictions made before their row was learned from
  double slope, distance;  // of regression losses: |loss'| and |z - y|
  double refused;          // rows whose numbers are too large to be squared
  double scores;           // that a row has by now; 0 before the first row
  double places;           // columns in the whole metric; -1 once there were too many of them
};

struct Bend {
  double curvature, unit;
};

// How the scores of a joint loss bend: the one of the row's class, and all of them on average.
struct JointBend {
  double own, mean;
};

template <class Loss>
inline double implicit_slope(const Loss& loss, double y, double z, double q) {
  const double here = loss.derivative(y, z);
  if (here == 0.0 || !(q > 0.0)) return here;
  if constexpr (DualStepLoss<Loss>) {
    return loss.dual_step(y, z, 0.0, q);
  } else {
    // u - loss'(z - q u) rises with u and changes its sign between 0 and the slope at z.
    double low = std::min(0.0, here), high = std::max(0.0, here);
    for (int halving = 0; halving < 60 && low < high; ++halving) {
      const double u = 0.5 * (low + high), slope = loss.derivative(y, z - q * u);
      if (u == slope) return u;  // so that -y and -z give -u, to the bit
      (u > slope ? high : low) = u;
    }
    return 0.5 * (low + high);
  }
}

// How a margin loss bends where a step has arrived with slope u.
inline Bend margin_bend(const Log&, double u) noexcept {
  const double a = std::abs(u);
  return {a * (1.0 - a), 0.25};
}
inline Bend margin_bend(const Squared&, double) noexcept { return {1.0, 1.0}; }
template <class Loss>
inline Bend margin_bend(const Loss&, double u) noexcept {
  constexpr bool is_squared = std::is_same_v<Loss, SquaredHinge> || std::is_same_v<Loss, ModifiedHuber>;
  constexpr double unit = is_squared ? 2.0 : 1.0;
  return {u != 0.0 ? unit : 0.0, unit};
}

// The scores of a row, from the number alive to slopes; rows are numbered as the targets are.
struct RowSteps {
  virtual ~RowSteps() = default;
  // How many scores there are from row i on.
  virtual Index n_scores(Index i) const noexcept = 0;
  // Adds what the scores z, which have not met row i, are worth; false and nothing where the loss is
  // infinite.
  virtual bool judge(Index i, Index n, const double* z, double s, OnlineTally& tally) = 0;
  // The most that a row may bend; after judge(). 0 where no row has told it yet: none has asked for anything.
  virtual double unit(const OnlineTally& tally) const noexcept = 0;
  // Slopes u, times s, and what each score's metric gains. Scores with one metric have q[0]; it gains bend[0]
  // along a diagonal, where more holds rare columns back, and bend[1] where it is whole.
  virtual void step(Index i, Index n, const double* z, const double* q, double s, const OnlineTally& tally,
                    double* u, double* bend) = 0;
};

// Numbers as targets, `width` of them to a row, each with a score and a metric of its own.
template <class Loss>
class NumberSteps final : public RowSteps {
 public:
  NumberSteps(const Loss& loss, const double* Y, Index width) : loss_(loss), Y_(Y), width_(width) {}
  Index n_scores(Index) const noexcept override { return width_; }
  bool judge(Index i, Index n, const double* z, double s, OnlineTally& tally) override {
    double loss = 0, slope = 0, distance = 0;
    for (Index k = 0; k < n; ++k) {
      const double y = Y_[i * width_ + k];
      loss += s * loss_.value(y, z[k]);
      slope += s * std::abs(loss_.derivative(y, z[k]));
      distance += s * std::abs(z[k] - y);
    }
    if (!std::isfinite(loss) || !std::isfinite(slope) || !std::isfinite(distance)) return false;
    tally.loss += loss;
    tally.slope += slope;
    tally.distance += distance;
    return true;
  }
  double unit(const OnlineTally& tally) const noexcept override {
    if (tally.slope > 0 && tally.distance > 0) return tally.slope / tally.distance;
    return std::is_same_v<Loss, Squared> ? 1.0 : 0.0;
  }
  void step(Index i, Index n, const double* z, const double* q, double s, const OnlineTally& tally, double* u,
            double* bend) override {
    for (Index k = 0; k < n; ++k) {
      u[k] = s * implicit_slope(loss_, Y_[i * width_ + k], z[k], s * q[k]);
      // The squared loss bends where its slope is 0 as well.
      bend[k] = u[k] != 0.0 || std::is_same_v<Loss, Squared> ? s * unit(tally) : 0.0;
    }
  }

 private:
  Loss loss_;
  const double* Y_;
  Index width_;
};

enum class Joint { none, softmax, crammer_singer };

// Classes in the order in which they came, the first of them from the start. Up to two have one score, which
// speaks for the first; more have one each.
struct ArrivingClasses {
  const std::int32_t* code;             // of each row
  std::span<const std::int64_t> from;   // the row from which each class is known, rising
  std::span<const std::int32_t> order;  // the classes as ties are decided: sorted

  Index n_known(Index i) const noexcept {
    return std::upper_bound(from.begin(), from.end(), i) - from.begin();
  }
  bool is_new(Index i) const noexcept { return from[std::size_t(code[i])] == i; }
  // Two classes: the second in order from 0 on. More: the first of the highest.
  Index predicted(Index i, Index n, const double* z) const noexcept {
    const Index known = n_known(i);
    if (n == 1) {
      if (known < 2) return 0;
      const bool first_is_upper = above(0, 1);
      return z[0] > 0.0 || (z[0] == 0.0 && first_is_upper) ? 0 : 1;
    }
    Index best = -1;
    for (const std::int32_t k : order)
      if (k < n && (best < 0 || z[k] > z[best])) best = k;
    return best;
  }

 private:
  // Whether class a comes behind class b in order.
  bool above(std::int32_t a, std::int32_t b) const noexcept {
    return std::find(order.begin(), order.end(), a) > std::find(order.begin(), order.end(), b);
  }
};

// Classes as targets. Each score has a metric of its own (one-vs-rest), or all have one (joint losses, of
// more than two classes).
template <class Loss>
class ClassSteps final : public RowSteps {
 public:
  ClassSteps(const Loss& loss, Joint joint, const ArrivingClasses& classes)
      : loss_(loss), joint_(joint), classes_(classes) {}
  Index n_scores(Index i) const noexcept override {
    const Index known = classes_.n_known(i);
    return known <= 2 ? 1 : known;
  }
  bool judge(Index i, Index n, const double* z, double s, OnlineTally& tally) override {
    // What was never seen cannot have been predicted.
    const bool is_right = !classes_.is_new(i) && classes_.predicted(i, n, z) == classes_.code[i];
    double loss = 0;
    if (n == 1 || joint_ == Joint::none) {
      for (Index k = 0; k < n; ++k) loss += loss_.value(sign(i, k), z[k]);
    } else {
      const Index y = classes_.code[i];
      double highest = z[0], rival = 0, sum = 0;
      for (Index k = 0; k < n; ++k) {
        highest = std::max(highest, z[k]);
        rival = std::max(rival, z[k] - z[y] + (k == y ? 0.0 : 1.0));
      }
      for (Index k = 0; k < n; ++k) sum += std::exp(z[k] - highest);
      loss = joint_ == Joint::softmax ? highest + std::log(sum) - z[y] : rival;
    }
    if (!std::isfinite(s * loss)) return false;
    tally.right += is_right ? s : 0.0;
    tally.loss += s * loss;
    return true;
  }
  double unit(const OnlineTally&) const noexcept override { return margin_bend(loss_, 0.0).unit; }
  void step(Index i, Index n, const double* z, const double* q, double s, const OnlineTally&, double* u,
            double* bend) override {
    if (n == 1 || joint_ == Joint::none) {
      for (Index k = 0; k < n; ++k) {
        const double slope = implicit_slope(loss_, sign(i, k), z[k], s * q[k]);
        u[k] = s * slope;
        bend[k] = s * margin_bend(loss_, slope).curvature;
      }
      return;
    }
    const JointBend all =
        joint_ == Joint::softmax ? softmax(i, n, z, s * q[0], u) : crammer_singer(i, n, z, s * q[0], u);
    for (Index k = 0; k < n; ++k) u[k] *= s;
    bend[0] = s * all.own;
    bend[1] = s * all.mean;
  }

 private:
  // The target of score k; two classes have one score, the first's.
  double sign(Index i, Index k) const noexcept { return classes_.code[i] == k ? 1.0 : -1.0; }

  // Both find p = u + e_y on the simplex.
  JointBend softmax(Index i, Index n, const double* z, double q, double* u) {
    const Index y = classes_.code[i];
    room_.resize(std::size_t(2 * n));
    double *const c = room_.data(), *const log_p = c + n;
    double highest = z[0], sum = 0;
    for (Index k = 1; k < n; ++k) highest = std::max(highest, z[k]);
    for (Index k = 0; k < n; ++k) sum += u[k] = exp_nonpositive(z[k] - highest);
    for (Index k = 0; k < n; ++k) {
      u[k] /= sum;
      log_p[k] = std::max(z[k] - highest - std::log(sum), -700.0);
      c[k] = z[k] + (k == y ? q : 0.0);
    }
    if (q > 0.0) softmax_step(n, q, c, u, log_p);
    const double curvature = u[y] * (1.0 - u[y]);
    double spread = 0;  // 1 - |p|^2, never below 0
    for (Index k = 0; k < n; ++k) spread += u[k] * (1.0 - u[k]);
    u[y] -= 1.0;
    return {curvature, 2.0 * spread / double(n)};
  }
  JointBend crammer_singer(Index i, Index n, const double* z, double q, double* u) {
    const Index y = classes_.code[i];
    // Where a step changes no score a tiny q picks the best vertex.
    const double inverse = 1.0 / std::max(q, 1e-12);
    double worst = 0;
    for (Index k = 0; k < n; ++k) {
      const double rival = z[k] - z[y] + (k == y ? 0.0 : 1.0);
      worst = std::max(worst, rival);
      u[k] = (k == y ? 1.0 : 0.0) + rival * inverse;
    }
    if (worst > 0.0)
      project_simplex(n, u, u);
    else
      for (Index k = 0; k < n; ++k) u[k] = k == y ? 1.0 : 0.0;
    u[y] -= 1.0;
    return worst > 0.0 ? JointBend{1.0, 2.0 / double(n)} : JointBend{0.0, 0.0};
  }

  Loss loss_;
  Joint joint_;
  ArrivingClasses classes_;
  std::vector<double> room_;
};

}  // namespace lineal
