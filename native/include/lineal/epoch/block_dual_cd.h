// Dual block-coordinate ascent: all K outputs of a row at once.
//
// The scheme of dual_cd.h with u_i in R^K: K scores from one walk over the row's columns (W is
// feature-major, its rows padded to `width` numbers), a tiny exact subproblem, one rank-one update.
// That walk costs a fraction of K separate ones, because the index and the cache line serve all classes.
//
// A block loss moves one row: it reads the scores and the row's state, writes the new state, and puts
// u_new - u_old into `moved`; `scratch` has room for 3 K numbers and `at`
// is the place of the row's first output in an (n_rows x K) array. It tells whether anything moved, and the
// row's residual at (z, u_new).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lineal/epoch/dual_cd.h"
#include "lineal/simplex.h"

namespace lineal {

struct Move {
  bool any;
  double residual;
};

// Any loss of one score, K targets to a row: one-vs-rest classes, or several regressions at once.
template <class Loss, class T>
struct Elementwise {
  static constexpr bool is_joint = false;
  Loss loss;
  const double* Y;  // n_rows x K

  Move move(Index, Index at, Index K, double q, const double* z, T* u, T*, double* moved,
            double*) const noexcept {
    int any = 0;
    double gap = 0;
#pragma omp simd reduction(+ : gap) reduction(| : any)
    for (Index k = 0; k < K; ++k) {
      const double y = Y[at + k], before = double(u[k]);
      const T after = T(q > 0 ? loss.dual_step(y, z[k], before, q) : loss.derivative(y, z[k]));
      u[k] = after;
      moved[k] = double(after) - before;
      any |= int(moved[k] != 0.0);
      gap += residual(loss, y, z[k], double(after));
    }
    return {any != 0, gap};
  }
};

// One of several losses, as in settle (dual_cd.h).
template <class T, DualStepLoss... Losses>
struct Elementwise<std::variant<Losses...>, T> {
  static constexpr bool is_joint = false;
  std::variant<Losses...> loss;
  const double* Y;

  Move move(Index i, Index at, Index K, double q, const double* z, T* u, T* extra, double* moved,
            double* scratch) const {
    return std::visit(
        [&]<class Loss>(const Loss& each) {
          return Elementwise<Loss, T>{each, Y}.move(i, at, K, q, z, u, extra, moved, scratch);
        },
        loss);
  }
};

// State: u holds p = u + e_y, `extra` holds log p.
template <class T>
struct SoftmaxBlock {
  static constexpr bool is_joint = true;
  Move move(Index, Index, Index K, double q, const double* z, T* u, T* extra, double* moved,
            double* scratch) const noexcept {
    double *c = scratch, *p = c + K, *t = p + K;
    for (Index k = 0; k < K; ++k) {
      p[k] = double(u[k]);
      t[k] = double(extra[k]);
      c[k] = z[k] + q * p[k];
    }
    double highest = z[0], sum = 0;
    for (Index k = 1; k < K; ++k) highest = std::max(highest, z[k]);
    if (q > 0) {
      softmax_step(K, q, c, p, t);
#pragma omp simd reduction(+ : sum)
      for (Index k = 0; k < K; ++k) sum += exp_nonpositive(z[k] - highest);
    } else {
      for (Index k = 0; k < K; ++k) sum += p[k] = exp_nonpositive(z[k] - highest);
      for (Index k = 0; k < K; ++k) {
        p[k] /= sum;
        t[k] = z[k] - highest - std::log(sum);
      }
    }
    // loss(z) + loss*(u) - z.u = logsumexp(z) - z_y + sum p log p - (z.p - z_y)
    int any = 0;
    double gap = highest + std::log(sum);
#pragma omp simd reduction(+ : gap) reduction(| : any)
    for (Index k = 0; k < K; ++k) {
      const T after = T(p[k]);
      gap += p[k] * (t[k] - z[k]);
      moved[k] = double(after) - double(u[k]);
      any |= int(moved[k] != 0.0);
      u[k] = after;
      extra[k] = T(t[k]);
    }
    return {any != 0, gap};
  }
};

// State: u holds p = u + e_y.
template <class T>
struct CrammerSingerBlock {
  static constexpr bool is_joint = true;
  const std::int32_t* code;

  Move move(Index i, Index, Index K, double q, const double* z, T* u, T*, double* moved,
            double* scratch) const noexcept {
    double* v = scratch;
    // An empty row (q = 0) has scores that no u can change: a tiny q picks the best vertex.
    const double inverse = 1.0 / std::max(q, 1e-12);
    for (Index k = 0; k < K; ++k) v[k] = double(u[k]) + (z[k] + (k == code[i] ? 0.0 : 1.0)) * inverse;
    project_simplex(K, v, v);
    // loss(z) + loss*(u) - z.u = max_k (z_k + [k != y]) - sum_k p_k (z_k + [k != y])
    bool any = false;
    double worst = -HUGE_VAL, mean = 0;
    for (Index k = 0; k < K; ++k) {
      const T after = T(v[k]);
      const double rival = z[k] + (k == code[i] ? 0.0 : 1.0);
      worst = std::max(worst, rival);
      mean += v[k] * rival;
      moved[k] = double(after) - double(u[k]);
      any |= moved[k] != 0.0;
      u[k] = after;
    }
    return {any, worst - mean};
  }
};

// Some of the K outputs: `count` of them from `first` on, in rows of U of length K. Their weights are a
// matrix of their own, with rows of length `width`.
struct Outputs {
  Index first, count, K, width;

  Index lanes(Index size) const noexcept { return std::min((count + size - 1) / size * size, width); }
};

// What a run knows about its rows besides the weights W: U and extra (n_rows x K), b (K), and the resting and
// share of each row for one group of outputs. Either a view of the caller's arrays, or a copy that owns its
// own.
template <class T>
struct BlockState {
  T *U, *extra;  // extra may be null
  double *b, *share;
  Rest* rest;
  Index n_rows, K;
  std::vector<T> own_states = {};
  std::vector<double> own_numbers = {};
  std::vector<Rest> own_rest = {};
  std::vector<double> z = {}, moved = {}, scratch = {};

  LINEAL_HINT void hint(Index i) const noexcept {
    for (Index byte = 0; byte < K * Index(sizeof(T)); byte += 64) {
      lineal::hint(reinterpret_cast<const char*>(U + i * K) + byte);
      if (extra) lineal::hint(reinterpret_cast<const char*>(extra + i * K) + byte);
    }
    lineal::hint(share + i);
    lineal::hint(rest + i);
  }
  BlockState room() const {
    const std::size_t size = std::size_t(n_rows * K), n = std::size_t(n_rows);
    BlockState twin{nullptr, nullptr, nullptr, nullptr, nullptr, n_rows, K};
    twin.own_states.resize(extra ? 2 * size : size);
    twin.own_numbers.resize(std::size_t(K) + n);
    twin.own_rest.resize(n);
    twin.U = twin.own_states.data();
    twin.extra = extra ? twin.U + size : nullptr;
    twin.b = twin.own_numbers.data();
    twin.share = twin.b + K;
    twin.rest = twin.own_rest.data();
    twin.make_room();
    return twin;
  }
  void copy_from(const BlockState& other) noexcept {
    std::copy(other.U, other.U + n_rows * K, U);
    if (extra) std::copy(other.extra, other.extra + n_rows * K, extra);
    std::copy(other.b, other.b + K, b);
  }
  void make_room() {
    const std::size_t padded = std::size_t((K + 15) / 16 * 16);
    z.assign(padded, 0.0);
    moved.assign(padded, 0.0);
    scratch.assign(3 * padded, 0.0);
  }
};

// Moves the outputs `of` of row i, whose scores are `score` without intercepts. Says whether anything moved;
// then `step` is what the weights change by for a 1 in a column.
template <class Block, class T>
inline bool settle_block(const Block& block, const double* s, const double* norm2, const DualSettings& set,
                         Outputs of, BlockState<T>& row, Index i, const T* score, T* step) {
  const double inverse = 1.0 / set.l2;
  double* b = row.b + of.first;
  for (Index j = 0; j < of.count; ++j) row.z[std::size_t(j)] = double(score[j]) + b[j];
  const double q = s[i] * (norm2[i] + set.bias2) * inverse;
  const Index at = i * of.K + of.first;
  const Move move = block.move(i, at, of.count, q, row.z.data(), row.U + at,
                               row.extra ? row.extra + at : nullptr, row.moved.data(), row.scratch.data());
  row.share[i] = s[i] * move.residual;
  if (!move.any) {
    row.rest[i].stayed();
    return false;
  }
  row.rest[i].moved();
  const double scale = -s[i] * inverse;
  for (Index j = 0; j < of.count; ++j) step[j] = T(scale * row.moved[std::size_t(j)]);
  // Without an intercept b is left alone: another thread may be reading its neighbours.
  if (set.bias2 > 0)
    for (Index j = 0; j < of.count; ++j) b[j] += scale * row.moved[std::size_t(j)] * set.bias2;
  return true;
}

// How far an update may take weights from what U says. W is kept up to date by additions that round, so it is
// -X'(sU)/l2 up to some E. An update rounds, in each entry that it meets, the sum by `unit` of the new
// weight, and the product, the step and the row's value by `unit` of x d, d being the step; in Frobenius
// norms E grows by at most
//
//     unit (|W of the row's columns| + 3 |x| |d|)
//
// and terms of second order, which a hundredth more covers; a floor covers what is too small for T. The sum
// of this over all updates bounds |E|, by the triangle inequality; `squares` are those of the weights met.
template <class T>
inline double drift_of_update(Outputs of, const T* step, double squares, Index n_stored,
                              double norm2) noexcept {
  constexpr double unit = std::numeric_limits<T>::epsilon() / 2, tiny = std::numeric_limits<T>::min();
  double size = 0;
  for (Index j = 0; j < of.count; ++j) size += double(step[j]) * double(step[j]);
  // The squares were added in T, which may have lost a little of them, or all of those that T cannot hold.
  const double n_weights = double(n_stored * of.width);
  const double met = std::sqrt(squares * (1.0 + 4.0 * unit * n_weights) + tiny * n_weights);
  return 1.01 * unit * (met + 3.0 * (std::sqrt(norm2) + std::sqrt(tiny)) * std::sqrt(size));
}

// One epoch for the outputs `of`, in place; `order` is a permutation of the rows, W is n_columns x width.
// Returns how far the weights of each half of the columns may have drifted, for joint losses nothing.
// Re-centring a free intercept is left to the caller.
template <class Block, class Rows, class T>
std::array<double, 2> block_dual_cd_epoch(const Block& block, const Halves<Rows>& rows, const double* s,
                                          const double* norm2, const DualSettings& set, Outputs of,
                                          std::span<const std::int32_t> order, int& patience, Watch& watch,
                                          BlockState<T> state, T* W) {
  const Index lanes = of.lanes(Lane<T>::size);
  state.make_room();
  return visit_rows<T>(
      rows, awake_rows(order, state.rest, s), lanes, patience, watch, state,
      [W, of, lanes](const auto& half, T* score) {
        std::fill(score, score + lanes, T(0));
        dot_block(half.x, static_cast<const T*>(W + half.offset * of.width), of.width, lanes, score);
      },
      [block, s, norm2, set, of](BlockState<T>& row, Index i, const T* score, T* step) {
        return settle_block(block, s, norm2, set, of, row, i, score, step);
      },
      [W, of, lanes, norm2](Index i, const auto& half, const T* step) {
        T* const weights = W + half.offset * of.width;
        if constexpr (Block::is_joint) {
          update_block(half.x, step, of.width, lanes, weights);
          return 0.0;
        } else {
          const double squares = measured_update_block(half.x, step, of.width, lanes, weights);
          return drift_of_update(of, step, squares, half.x.size, norm2[i]);
        }
      });
}

// ---- groups of outputs ------------------------------------------------------------------------
//
// Outputs without a joint loss are problems of their own. A group of them has its own weights, resting rows
// and shares, so that threads with different groups never meet; and what happens to a group does not depend
// on who works on it, or beside which others.

// One group, and how far its weights may have drifted (drift_of_update).
template <class T>
struct OutputGroup {
  Outputs of;
  BlockState<T> state;
  T* W;  // n_columns x of.width
  double drift;
  std::vector<T> score = {}, step = {};

  void make_room() {
    state.make_room();
    score.assign(std::size_t(of.width), T(0));
    step = score;
  }
};

// One epoch for some groups, in place: all of them at a row before the next row, whose entries are then in a
// cache. What it leaves in one group does not depend on the others.
template <class Block, class Rows, class T>
void grouped_dual_cd_epoch(const Block& block, const Rows& X, const double* s, const double* norm2,
                           const DualSettings& set, std::span<OutputGroup<T>> groups,
                           std::span<const std::int32_t> order, Watch& watch) {
  Index width = 0;
  for (OutputGroup<T>& group : groups) {
    group.make_room();
    width += group.of.width;
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Index i = order[k];
    const auto x = X[i];
    if (watch.says_stop(x.size * width)) return;
    if (k + 2 < order.size()) prefetch(X[order[k + 2]]);
    for (OutputGroup<T>& group : groups) {
      const Outputs& of = group.of;
      if (group.state.rest[i].passes() || s[i] == 0.0) continue;
      const Index lanes = of.lanes(Lane<T>::size);
      std::fill(group.score.begin(), group.score.end(), T(0));
      dot_block(x, static_cast<const T*>(group.W), of.width, lanes, group.score.data());
      if (!settle_block(block, s, norm2, set, of, group.state, i, static_cast<const T*>(group.score.data()),
                        group.step.data()))
        continue;
      const double squares = measured_update_block(x, group.step.data(), of.width, lanes, group.W);
      group.drift += drift_of_update(of, static_cast<const T*>(group.step.data()), squares, x.size, norm2[i]);
    }
  }
}

}  // namespace lineal
