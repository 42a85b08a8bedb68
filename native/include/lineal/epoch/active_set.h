// The penalised quadratic model of prox_cd.h by an active set: exact on the face of weights that are not
// zero, with one factorisation that is kept up to date as weights join and leave. Where columns are nearly
// collinear coordinate descent creeps for thousands of sweeps; this does not notice (Osborne, Presnell and
// Turlach 2000; Lee et al. 2007).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "lineal/cholesky.h"
#include "lineal/epoch/prox_cd.h"
#include "lineal/rows.h"

namespace lineal {

// L L' = G on some columns, in the order in which they joined; rows of L are contiguous, each where there
// was room for it. In float32 it is read in half of the time, and steps by it are near the right ones: for
// whoever asks again at their end.
template <class T = double>
class GrowingCholesky {
 public:
  // A column whose square keeps no more than this share beside the others depends on them.
  static constexpr double least = sizeof(T) < sizeof(double) ? 1e-5 : 1e-10;

  Index size() const noexcept { return size_; }
  void clear() noexcept { size_ = 0; }
  // Makes room for so many columns.
  void reserve(Index capacity) {
    if (capacity <= stride_) return;
    const Index stride = std::max(capacity, stride_ + stride_ / 2);
    std::vector<T> larger(std::size_t(stride * stride));
    for (Index r = 0; r < size_; ++r) std::copy(at(r), at(r) + r + 1, larger.data() + r * stride);
    L_ = std::move(larger);
    stride_ = stride;
    slot_.resize(std::size_t(stride));
    std::iota(slot_.begin(), slot_.end(), Index(0));
  }

  // Where the row of the `next`th new column goes: first G between it and those that are here and the new
  // ones up to itself.
  T* room(Index next) noexcept { return at(size_ + next); }
  // Makes so many rows in `room` rows of L. Returns how many: ends before the first that depends on those
  // before it. Those behind it are lost.
  Index extend(Index count) noexcept {
    const Index old = size_;
    Index end = old + count;
    for (Index first = 0; first < end; first += block) {
      for (Index i = std::max(old, first); first > 0 && i < end; i += product_tile)
        for (Index j = first; j < std::min({first + block, end, i + product_tile}); j += product_tile) {
          const T *down[product_tile], *across[product_tile];  // beyond the end the last stands in
          for (Index r = 0; r < product_tile; ++r) {
            down[r] = at(std::min(i + r, end - 1));
            across[r] = at(std::min(j + r, end - 1));
          }
          const TileProducts<T> products(down, across, first);
          for (Index r = 0; r < std::min(product_tile, end - i); ++r)
            for (Index c = 0; c < product_tile && j + c < first + block && j + c <= i + r; ++c)
              at(i + r)[j + c] -= products.of[r][c];
        }
      for (Index i = std::max(old, first); i < end; ++i) end = finish(i, first) ? end : i;
    }
    size_ = end;
    return end - old;
  }

  // `column` holds G between the new column and those that are here, and becomes the new row of L but for
  // its last number, whose square is returned: what is left of `whole`, the new diagonal of G. It is about
  // 0 where the new column depends on the others.
  double reduce(double* column, double whole) const noexcept {
    forward(column);
    return whole - dot(DenseRow<double>{column, size_}, column);
  }
  void join(const double* row, double rest) noexcept {
    for (Index r = 0; r < size_; ++r) at(size_)[r] = T(row[r]);
    at(size_)[size_] = T(std::sqrt(rest));
    ++size_;
  }
  // Takes columns out, whose places increase, and rotates what is left back to a triangle. All rotations of
  // a few rows are done while these are near.
  void leave(const std::vector<Index>& places) {
    const Index n_leaving = Index(places.size());
    if (n_leaving == 0) return;
    rotations_.resize(std::size_t(n_leaving * size_));
    std::vector<Index> freed;
    Index kept = places[0];
    for (Index place = 0, r = places[0]; r < size_;) {
      if (place < n_leaving && places[std::size_t(place)] == r) {
        freed.push_back(slot_[std::size_t(r++)]);
        ++place;
        continue;
      }
      const Index end = place < n_leaving ? places[std::size_t(place)] : size_;
      const Index count = std::min(rows_at_a_time, end - r);
      // The last of those before it left first: then an earlier one's row is as it was.
      for (Index l = place; l-- > 0;)
        rotate(r, count, places[std::size_t(l)], r - (place - l), rotations_.data() + l * size_);
      for (Index t = 0; t < count; ++t) slot_[std::size_t(kept++)] = slot_[std::size_t(r++)];
    }
    std::copy(freed.begin(), freed.end(), slot_.begin() + std::ptrdiff_t(kept));
    size_ = kept;
  }
  void forward(double* x) const noexcept {  // x becomes L^-1 x
    for (Index r = 0; r < size_; ++r) x[r] = (x[r] - dot(DenseRow<T>{at(r), r}, x)) / double(at(r)[r]);
  }
  void backward(double* x) const noexcept {  // x becomes L^-T x
    for (Index r = size_; r-- > 0;) {
      x[r] /= double(at(r)[r]);
      axpy(-x[r], DenseRow<T>{at(r), r}, x);
    }
  }

 private:
  static constexpr Index block = 32, rows_at_a_time = 4;
  struct Rotation {
    T c, s;
  };

  T* at(Index r) noexcept { return L_.data() + slot_[std::size_t(r)] * stride_; }
  const T* at(Index r) const noexcept { return L_.data() + slot_[std::size_t(r)] * stride_; }

  // Entries first .. first + block of row i, whose products with earlier ones were subtracted; whether what
  // is left of its diagonal is a square.
  bool finish(Index i, Index first) noexcept {
    T* const x = at(i);
    const Index last = std::min(first + block, i);
    for (Index j = first; j < last; ++j) {
      const T* y = at(j);
      T sum = 0;  // no chain of numbers that wait for each other
#pragma omp simd reduction(+ : sum)
      for (Index k = first; k < j; ++k) sum += x[k] * y[k];
      x[j] = (x[j] - sum) / y[j];
    }
    if (i >= first + block) return true;
    T rest = 0, whole = 0;
#pragma omp simd reduction(+ : rest)
    for (Index k = first; k < i; ++k) rest += x[k] * x[k];
#pragma omp simd reduction(+ : whole)
    for (Index k = 0; k < first; ++k) whole += x[k] * x[k];
    whole += x[i], rest = x[i] - rest;
    if (!(double(rest) > least * double(whole))) return false;
    x[i] = std::sqrt(rest);
    return true;
  }

  // Rotates `count` rows from r on, the first of which is row `at_first` once the column at `place` left.
  void rotate(Index r, Index count, Index place, Index at_first, Rotation* rotations) noexcept {
    T* rows[rows_at_a_time];
    for (Index t = 0; t < rows_at_a_time; ++t) rows[t] = at(r + std::min(t, count - 1));
    if (count == rows_at_a_time) {
      // Four chains of numbers that wait for each other hide each other's latency.
      T a = rows[0][place], b = rows[1][place], c = rows[2][place], d = rows[3][place];
      const auto turn = [](Rotation by, T& carried, T* row, Index k) {
        const T next = row[k + 1];
        row[k] = by.c * carried + by.s * next;
        carried = by.c * next - by.s * carried;
      };
      for (Index k = place; k < at_first; ++k) {
        const Rotation by = rotations[k];
        turn(by, a, rows[0], k), turn(by, b, rows[1], k), turn(by, c, rows[2], k), turn(by, d, rows[3], k);
      }
      rows[0][at_first] = a, rows[1][at_first] = b, rows[2][at_first] = c, rows[3][at_first] = d;
    }
    for (Index t = 0; t < count; ++t) {
      T* row = rows[t];
      const Index end = at_first + t;
      for (Index k = count == rows_at_a_time ? at_first : place; k < end; ++k) {
        const T x = row[k], y = row[k + 1];
        row[k] = rotations[k].c * x + rotations[k].s * y;
        row[k + 1] = rotations[k].c * y - rotations[k].s * x;
      }
      const T x = row[end], y = row[end + 1], length = std::hypot(x, y);
      rotations[end] = {x / length, y / length};
      row[end] = length;
    }
  }

  Index stride_ = 0, size_ = 0;
  std::vector<T> L_;
  std::vector<Index> slot_;  // of L_ in which each row lies
  std::vector<Rotation> rotations_;
};

template <class T>
class ActiveSetOf {
 public:
  // Takes on a model as in gram_cd, whose gradient and w are kept up to date. What was factorised before
  // holds on where the model is the last one with more weights: new ones stand behind the old ones, but for
  // so many at the end, which stay there.
  void take(SquareOf<T> G, WeightPenalties penalties, double* gradient, double* w, Index n_last) {
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
    trial_.resize(std::size_t(m_));
    leaving_.clear();
    for (std::size_t r = 0; r < face_.size(); ++r) {
      const Index j = face_[r];
      if (has_corner(j) && w_[j] == 0.0) {
        leaving_.push_back(Index(r));
        continue;
      }
      sign_[std::size_t(j)] = has_corner(j) ? std::copysign(1.0, w_[j]) : 0.0;
      on_face_[std::size_t(j)] = true;
    }
    leave();
  }

  // An event is a step on the face, to its minimum with what would pass 0 on the way held there, or where
  // that does not pay to the first weight that reaches 0; or the joining of the weights at 0 that violate
  // their condition most. No event raises the model. Ends when no violation is above tol, after max_events
  // or when the watch says so; returns how many there were.
  Index run(double tol, Index max_events, Watch& watch) {
    joining_.clear();
    for (Index j = 0; j < m_; ++j)
      if (!on_face_[std::size_t(j)] && (w_[j] != 0.0 || !has_corner(j)))
        joining_.push_back({j, has_corner(j) ? std::copysign(1.0, w_[j]) : 0.0});
    join();
    batch_ = std::max<Index>(1, m_ / 8);
    Index full_steps = 0;
    bool is_first = true;  // whoever begins near the end knows already who joins
    for (Index event = 0; event < max_events; ++event) {
      if (watch.says_stop(m_ + 2 * factor_.size() * factor_.size())) return event;
      // After a few full steps what is left of the slope is rounding.
      const bool is_there = load_slopes() <= 0.5 * tol || full_steps >= 3;
      if (is_there || is_first) {
        if (!join_worst(tol) && is_there) return event;
        is_first = false;
        full_steps = 0;
        continue;
      }
      factor_.forward(step_.data());
      factor_.backward(step_.data());
      full_steps = step() ? full_steps + 1 : 0;
    }
    return max_events;
  }

 private:
  // Of the last model's bends, those that need not be compared.
  Index bends_last(Index n_last) const noexcept { return std::min(n_last, Index(bend_.size())); }
  // Those in leaving_, places that increase, leave the face.
  void leave() {
    if (leaving_.empty()) return;
    factor_.leave(leaving_);
    std::size_t kept = 0, next = 0;
    for (std::size_t r = 0; r < face_.size(); ++r) {
      if (next < leaving_.size() && leaving_[next] == Index(r)) {
        ++next;
        sign_[std::size_t(face_[r])] = 0.0;
        on_face_[std::size_t(face_[r])] = false;
      } else {
        face_[kept++] = face_[r];
      }
    }
    face_.resize(kept);
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
    joining_.clear();
    for (Index j = 0; j < m_; ++j)
      if (!on_face_[std::size_t(j)] && w_[j] == 0.0 && excess(j) > tol)
        joining_.push_back({j, gradient_[j] > 0 ? -1.0 : 1.0});
    std::stable_sort(joining_.begin(), joining_.end(),
                     [&](Joining a, Joining b) { return excess(a.column) > excess(b.column); });
    if (Index(joining_.size()) > batch_) joining_.resize(std::size_t(batch_));
    return join();
  }

  // Puts the weights in joining_ on the face, many at once where their columns are independent.
  bool join() {
    bool has_joined = false;
    Index most = many;
    for (std::size_t next = 0; next < joining_.size();) {
      const Index count = std::min(most, Index(joining_.size() - next)), size = factor_.size();
      for (Index t = 0; t < count; ++t) {
        const Index j = joining_[next + std::size_t(t)].column;
        const T* row = G_.row(j);
        T* room = factor_.room(t);
        for (Index r = 0; r < size; ++r) room[r] = row[face_[std::size_t(r)]];
        for (Index k = 0; k < t; ++k) room[size + k] = row[joining_[next + std::size_t(k)].column];
        room[size + t] = T(double(row[j]) + bend(j));
      }
      const Index n_joined = factor_.extend(count);
      for (Index t = 0; t < n_joined; ++t, ++next) put(joining_[next].column, joining_[next].sign);
      has_joined |= n_joined > 0;
      most = n_joined == count ? std::min(many, 2 * most) : std::max<Index>(1, most / 4);
      if (n_joined < count) {
        has_joined |= join(joining_[next].column, joining_[next].sign);
        ++next;
      }
    }
    return has_joined;
  }

  void put(Index j, double sign) {
    face_.push_back(j);
    sign_[std::size_t(j)] = sign;
    on_face_[std::size_t(j)] = true;
  }

  // Puts weight j on the face. Where its column depends on the face's there is a direction in which the
  // scores stay and the penalty does not rise: the weights follow it until one of them is 0.
  bool join(Index j, double sign) {
    const double whole = double(G_.row(j)[j]) + bend(j);
    if (whole <= 0) return false;  // a column of zeros has nothing to say about its weight
    while (true) {
      const std::size_t n = face_.size();
      for (std::size_t r = 0; r < n; ++r) step_[r] = double(G_.row(j)[face_[r]]);
      const double rest = factor_.reduce(step_.data(), whole);
      if (rest > GrowingCholesky<T>::least * whole) {
        factor_.join(step_.data(), rest);
        put(j, sign);
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
      axpy(next - w_[j], DenseRow<T>{G_.row(j), m_}, gradient_);
      w_[j] = next;
      if (next == 0.0) return false;
    }
  }

  // Goes as far as step_ leads, with what would pass 0 held there, if that pays; else to the first weight
  // that reaches 0. Whether it went all the way.
  bool step() {
    leaving_.clear();
    const auto next = [&](std::size_t r) { return w_[face_[r]] + step_[r]; };
    bool is_drawn_back = false;
    for (std::size_t r = 0; r < face_.size(); ++r) {
      const double sign = sign_[std::size_t(face_[r])];
      if (sign == 0.0 || next(r) * sign > 0.0) continue;
      leaving_.push_back(Index(r));
      is_drawn_back |= w_[face_[r]] == 0.0;
    }
    if (leaving_.empty()) return move(1.0) == 1.0;
    for (const Index r : leaving_) step_[std::size_t(r)] = -w_[face_[std::size_t(r)]];
    std::copy(gradient_, gradient_ + m_, trial_.begin());
    follow(1.0, trial_.data());
    double change = 0;
    for (std::size_t r = 0, held = 0; r < face_.size(); ++r) {
      const Index j = face_[r];
      const bool is_held = held < leaving_.size() && leaving_[held] == Index(r);
      held += is_held;
      const double w = w_[j], after = is_held ? 0.0 : next(r);
      change += 0.5 * step_[r] * (gradient_[j] + trial_[std::size_t(j)]) +
                penalties_.l1[j] * (std::abs(after) - std::abs(w)) + 0.5 * bend(j) * (after * after - w * w);
    }
    if (!(change < 0)) {
      // The step is lost; from the same slopes it is found again.
      load_slopes();
      factor_.forward(step_.data());
      factor_.backward(step_.data());
      return move(1.0) == 1.0;
    }
    // Of several that joined together some may be drawn the wrong way, for ever in turn; one alone never is.
    if (is_drawn_back) batch_ = std::max<Index>(1, batch_ / 2);
    for (std::size_t r = 0; r < face_.size(); ++r) w_[face_[r]] = next(r);
    for (const Index r : leaving_) w_[face_[std::size_t(r)]] = 0.0;
    std::copy(trial_.begin(), trial_.end(), gradient_);
    leave();
    return false;
  }

  // Adds the change of the gradient along step_.
  void follow(double length, double* gradient) const noexcept {
    std::size_t r = 0;
    for (; r + 4 <= face_.size(); r += 4) {
      const double a = length * step_[r], b = length * step_[r + 1], c = length * step_[r + 2],
                   d = length * step_[r + 3];
      const T *x = G_.row(face_[r]), *y = G_.row(face_[r + 1]), *u = G_.row(face_[r + 2]),
              *v = G_.row(face_[r + 3]);
      for (Index k = 0; k < m_; ++k)
        gradient[k] += (a * double(x[k]) + b * double(y[k])) + (c * double(u[k]) + d * double(v[k]));
    }
    for (; r < face_.size(); ++r) axpy(length * step_[r], DenseRow<T>{G_.row(face_[r]), m_}, gradient);
  }

  // Follows step_ as far as `longest` or until the first weight reaches 0; what reaches it leaves the face.
  double move(double longest) {
    double length = longest;
    for (std::size_t r = 0; r < face_.size(); ++r) {
      const double towards = -step_[r] * sign_[std::size_t(face_[r])], size = std::abs(w_[face_[r]]);
      if (towards > 0) length = std::min(length, size / towards);
    }
    if (!(length < std::numeric_limits<double>::infinity())) return length;
    if (length == 0.0) batch_ = std::max<Index>(1, batch_ / 2);
    leaving_.clear();
    for (std::size_t r = 0; r < face_.size(); ++r) {
      const Index j = face_[r];
      const double towards = -step_[r] * sign_[std::size_t(j)];
      if (towards > 0 && std::abs(w_[j]) / towards <= length && length < longest)
        leaving_.push_back(Index(r));
    }
    follow(length, gradient_);
    for (std::size_t r = 0; r < face_.size(); ++r) w_[face_[r]] += length * step_[r];
    for (const Index r : leaving_) w_[face_[std::size_t(r)]] = 0.0;
    leave();
    return length;
  }

  static constexpr Index many = 64;  // columns that join at once
  struct Joining {
    Index column;
    double sign;
  };

  SquareOf<T> G_{nullptr, 0};
  Index m_ = 0, batch_ = 1;
  WeightPenalties penalties_{nullptr, nullptr};
  double *gradient_ = nullptr, *w_ = nullptr;
  GrowingCholesky<T> factor_;
  std::vector<double> bend_;  // of the model that was factorised
  std::vector<Index> face_;
  std::vector<double> sign_;
  std::vector<bool> on_face_;
  std::vector<double> step_, trial_;  // trial_: the gradient at the end of a step that may not pay
  std::vector<Index> leaving_;        // places on the face
  std::vector<Joining> joining_;
};
using ActiveSet = ActiveSetOf<double>;

}  // namespace lineal
