// The penalised quadratic model of prox_cd.h by an active set: exact on the face of weights that are not
// zero, with one factorisation that is kept up to date as weights join and leave. Where columns are nearly
// collinear coordinate descent creeps for thousands of sweeps; this does not notice (Osborne, Presnell and
// Turlach 2000; Lee et al. 2007).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lineal/epoch/prox_cd.h"
#include "lineal/rows.h"

namespace lineal {

// L L' = G on some columns, in the order in which they joined; rows of L are contiguous.
class GrowingCholesky {
 public:
  Index size() const noexcept { return size_; }
  void clear() noexcept { size_ = 0; }
  // Makes room for so many columns.
  void reserve(Index capacity) {
    if (capacity <= stride_) return;
    const Index stride = std::max(capacity, stride_ + stride_ / 2);
    std::vector<double> larger(std::size_t(stride * stride));
    for (Index r = 0; r < size_; ++r) std::copy(at(r), at(r) + r + 1, larger.data() + r * stride);
    L_ = std::move(larger);
    stride_ = stride;
  }

  // `column` holds G between the new column and those that are here, and becomes the new row of L but for
  // its last number, whose square is returned: what is left of `whole`, the new diagonal of G. It is about
  // 0 where the new column depends on the others.
  double reduce(double* column, double whole) const noexcept {
    forward(column);
    return whole - dot(DenseRow<double>{column, size_}, column);
  }
  void join(const double* row, double rest) noexcept {
    std::copy(row, row + size_, at(size_));
    at(size_)[size_] = std::sqrt(rest);
    ++size_;
  }
  // Takes a column out and rotates what is left back to a triangle.
  void leave(Index place) noexcept {
    --size_;
    for (Index r = place; r < size_; ++r) std::copy(at(r + 1), at(r + 1) + r + 2, at(r));
    for (Index k = place; k < size_; ++k) {
      const double a = at(k)[k], b = at(k)[k + 1], length = std::hypot(a, b), c = a / length, s = b / length;
      for (Index r = k; r < size_; ++r) {
        const double x = at(r)[k], y = at(r)[k + 1];
        at(r)[k] = c * x + s * y;
        at(r)[k + 1] = c * y - s * x;
      }
    }
  }
  void forward(double* x) const noexcept {  // x becomes L^-1 x
    for (Index r = 0; r < size_; ++r) x[r] = (x[r] - dot(DenseRow<double>{at(r), r}, x)) / at(r)[r];
  }
  void backward(double* x) const noexcept {  // x becomes L^-T x
    for (Index r = size_; r-- > 0;) {
      x[r] /= at(r)[r];
      axpy(-x[r], DenseRow<double>{at(r), r}, x);
    }
  }

 private:
  double* at(Index r) noexcept { return L_.data() + r * stride_; }
  const double* at(Index r) const noexcept { return L_.data() + r * stride_; }

  Index stride_ = 0, size_ = 0;
  std::vector<double> L_;
};

class ActiveSet {
 public:
  // Takes on a model as in gram_cd, whose gradient and w are kept up to date. What was factorised before
  // holds on where the model is the last one with more weights: new ones stand behind the old ones, but for
  // so many at the end, which stay there.
  void take(SquareView G, WeightPenalties penalties, double* gradient, double* w, Index n_last) {
    const Index added = G.size - m_;
    const bool is_same =
        added >= 0 &&
        std::equal(bend_.begin(), bend_.end() - std::ptrdiff_t(bends_last(n_last)), penalties.l2);
    G_ = G, penalties_ = penalties, gradient_ = gradient, w_ = w;
    if (!is_same || m_ < n_last) face_.clear(), factor_.clear();
    for (Index& j : face_)
      if (j >= m_ - n_last) j += added;
    m_ = G.size;
    bend_.assign(penalties.l2, penalties.l2 + m_);
    factor_.reserve(m_);
    sign_.assign(std::size_t(m_), 0.0);
    on_face_.assign(std::size_t(m_), false);
    step_.resize(std::size_t(m_) + 1);
    for (std::size_t r = face_.size(); r-- > 0;) {
      const Index j = face_[r];
      if (has_corner(j) && w_[j] == 0.0) {
        leave(r);
        continue;
      }
      sign_[std::size_t(j)] = has_corner(j) ? std::copysign(1.0, w_[j]) : 0.0;
      on_face_[std::size_t(j)] = true;
    }
  }

  // An event is a step on the face, to its minimum or to the first weight that reaches 0 and leaves, or the
  // joining of the weights at 0 that violate their condition most. No event raises the model. Ends when no
  // violation is above tol, after max_events or when the watch says so; returns how many there were.
  Index run(double tol, Index max_events, Watch& watch) {
    for (Index j = 0; j < m_; ++j)
      if (!on_face_[std::size_t(j)] && (w_[j] != 0.0 || !has_corner(j)))
        join(j, has_corner(j) ? std::copysign(1.0, w_[j]) : 0.0);
    batch_ = std::max<Index>(1, m_ / 8);
    Index full_steps = 0;
    for (Index event = 0; event < max_events; ++event) {
      if (watch.says_stop(m_ + 2 * factor_.size() * factor_.size())) return event;
      // After a few full steps what is left of the slope is rounding.
      if (load_slopes() <= 0.5 * tol || full_steps >= 3) {
        if (!join_worst(tol)) return event;
        full_steps = 0;
        continue;
      }
      factor_.forward(step_.data());
      factor_.backward(step_.data());
      full_steps = move(1.0) == 1.0 ? full_steps + 1 : 0;
    }
    return max_events;
  }

 private:
  // Of the last model's bends, those that need not be compared.
  Index bends_last(Index n_last) const noexcept { return std::min(n_last, Index(bend_.size())); }
  void leave(std::size_t place) {
    face_.erase(face_.begin() + std::ptrdiff_t(place));
    factor_.leave(Index(place));
  }
  bool has_corner(Index j) const noexcept { return penalties_.has_corner(j); }
  double bend(Index j) const noexcept { return penalties_.l2[j]; }
  // The model's slope at weight j, on the side of 0 that the sign says.
  double slope(Index j, double sign) const noexcept {
    return gradient_[j] + penalties_.l1[j] * sign + bend(j) * w_[j];
  }

  // step_ = minus the model's slope on the face; returns the largest.
  double load_slopes() noexcept {
    double worst = 0;
    for (std::size_t r = 0; r < face_.size(); ++r) {
      const Index j = face_[r];
      step_[r] = -slope(j, sign_[std::size_t(j)]);
      worst = std::max(worst, std::abs(step_[r]));
    }
    return worst;
  }

  bool join_worst(double tol) {
    const auto excess = [&](Index j) { return std::abs(gradient_[j]) - penalties_.l1[j]; };
    std::vector<Index> joining;
    for (Index j = 0; j < m_; ++j)
      if (!on_face_[std::size_t(j)] && w_[j] == 0.0 && excess(j) > tol) joining.push_back(j);
    std::stable_sort(joining.begin(), joining.end(), [&](Index a, Index b) { return excess(a) > excess(b); });
    Index n_joined = 0;
    const Index most = batch_;
    for (const Index j : joining)
      if (n_joined < most) n_joined += join(j, gradient_[j] > 0 ? -1.0 : 1.0);
    return n_joined > 0;
  }

  // Puts weight j on the face. Where its column depends on the face's there is a direction in which the
  // scores stay and the penalty does not rise: the weights follow it until one of them is 0.
  bool join(Index j, double sign) {
    const double whole = G_.row(j)[j] + bend(j);
    if (whole <= 0) return false;  // a column of zeros has nothing to say about its weight
    while (true) {
      const std::size_t n = face_.size();
      for (std::size_t r = 0; r < n; ++r) step_[r] = G_.row(j)[face_[r]];
      const double rest = factor_.reduce(step_.data(), whole);
      if (rest > 1e-10 * whole) {
        factor_.join(step_.data(), rest);
        face_.push_back(j);
        sign_[std::size_t(j)] = sign;
        on_face_[std::size_t(j)] = true;
        return true;
      }
      factor_.backward(step_.data());
      double incline = slope(j, sign);
      for (std::size_t r = 0; r < n; ++r) {
        const Index k = face_[r];
        step_[r] = -step_[r];
        incline += step_[r] * slope(k, sign_[std::size_t(k)]);
      }
      // A weight at 0 can only go its own way; another one goes downhill.
      double along = incline > 0 ? -1.0 : 1.0;
      if (w_[j] == 0.0 && has_corner(j)) {
        if (incline * sign >= 0) return false;
        along = sign;
      }
      for (std::size_t r = 0; r < n; ++r) step_[r] *= along;
      const double reach = along * sign < 0 ? std::abs(w_[j]) : std::numeric_limits<double>::infinity();
      const double length = move(reach);
      if (!(length < std::numeric_limits<double>::infinity())) return false;
      const double next = length == reach ? 0.0 : w_[j] + along * length;
      axpy(next - w_[j], DenseRow<double>{G_.row(j), m_}, gradient_);
      w_[j] = next;
      if (next == 0.0) return false;
    }
  }

  // Follows step_ as far as `longest` or until the first weight reaches 0; what reaches it leaves the face.
  double move(double longest) {
    double length = longest;
    for (std::size_t r = 0; r < face_.size(); ++r) {
      const double towards = -step_[r] * sign_[std::size_t(face_[r])], size = std::abs(w_[face_[r]]);
      if (towards > 0) length = std::min(length, size / towards);
    }
    if (!(length < std::numeric_limits<double>::infinity())) return length;
    // Of several that joined together some may be drawn the wrong way, for ever in turn; one alone never is.
    if (length == 0.0) batch_ = std::max<Index>(1, batch_ / 2);
    for (std::size_t r = face_.size(); r-- > 0;) {
      const Index j = face_[r];
      const double towards = -step_[r] * sign_[std::size_t(j)];
      const bool leaves = towards > 0 && std::abs(w_[j]) / towards <= length && length < longest;
      const double next = leaves ? 0.0 : w_[j] + length * step_[r];
      if (next != w_[j]) axpy(next - w_[j], DenseRow<double>{G_.row(j), m_}, gradient_);
      w_[j] = next;
      if (!leaves) continue;
      sign_[std::size_t(j)] = 0.0;
      on_face_[std::size_t(j)] = false;
      leave(r);
    }
    return length;
  }

  SquareView G_{nullptr, 0};
  Index m_ = 0, batch_ = 1;
  WeightPenalties penalties_{nullptr, nullptr};
  double *gradient_ = nullptr, *w_ = nullptr;
  GrowingCholesky factor_;
  std::vector<double> bend_;  // of the model that was factorised
  std::vector<Index> face_;
  std::vector<double> sign_;
  std::vector<bool> on_face_;
  std::vector<double> step_;
};

}  // namespace lineal
