// What epochs that meet rows one by one ask of a row: its scores and the slopes of its losses there.
//
// Each is behind a call. A row costs its stored numbers several times over, so the call is nothing beside it,
// and an epoch is compiled once for each layout instead of once for each loss and layout. The slow twins of
// the slopes are the `derivative` methods in src/lineal/objective.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "lineal/elementary.h"
#include "lineal/loss.h"
#include "lineal/rows.h"
#include "lineal/simplex.h"

namespace lineal {

// z += W'x for K outputs.
template <class Row>
[[gnu::noinline]] void add_scores(Row x, const double* W, Index K, double* z) noexcept {
  if (K == 1)
    *z += dot(x, W);
  else
    dot_block(x, W, K, K, z);
}

struct RowSlopes {
  Index n_outputs;

  explicit RowSlopes(Index the_n_outputs) : n_outputs(the_n_outputs) {}
  virtual ~RowSlopes() = default;
  // z enters as the scores of row i and leaves as a subgradient of its loss there.
  virtual void at(Index i, double* z) const noexcept = 0;
};

// A loss of one score, applied to each of a row's targets; Y is n_rows x n_outputs.
template <ScoreLoss Loss>
struct ScoreSlopes final : RowSlopes {
  Loss loss;
  const double* Y;

  ScoreSlopes(const Loss& the_loss, const double* targets, Index outputs)
      : RowSlopes(outputs), loss(the_loss), Y(targets) {}
  void at(Index i, double* z) const noexcept override {
    const double* y = Y + i * n_outputs;
    for (Index k = 0; k < n_outputs; ++k) z[k] = loss.derivative(y[k], z[k]);
  }
};

// The joint losses; code[i] is the class of row i.
struct SoftmaxSlopes final : RowSlopes {
  const std::int32_t* code;

  SoftmaxSlopes(const std::int32_t* codes, Index outputs) : RowSlopes(outputs), code(codes) {}
  void at(Index i, double* z) const noexcept override {
    double highest = z[0], sum = 0;
    for (Index k = 1; k < n_outputs; ++k) highest = std::max(highest, z[k]);
    for (Index k = 0; k < n_outputs; ++k) sum += z[k] = exp_nonpositive(z[k] - highest);
    for (Index k = 0; k < n_outputs; ++k) z[k] /= sum;
    z[code[i]] -= 1.0;
  }
};

// e_k - e_y for the worst rival k of the true class y, if its margin is broken; ties to the lowest k.
struct CrammerSingerSlopes final : RowSlopes {
  const std::int32_t* code;

  CrammerSingerSlopes(const std::int32_t* codes, Index outputs) : RowSlopes(outputs), code(codes) {}
  void at(Index i, double* z) const noexcept override {
    const Index y = code[i];
    const double own = z[y];
    Index rival = -1;
    double worst = -std::numeric_limits<double>::infinity();
    for (Index k = 0; k < n_outputs; ++k)
      if (k != y && z[k] > worst) worst = z[rival = k];
    const bool is_active = rival >= 0 && worst - own + 1.0 > 0;
    std::fill(z, z + n_outputs, 0.0);
    if (!is_active) return;
    z[rival] = 1.0;
    z[y] = -1.0;
  }
};

// The same with its kinks rounded over a width: p - e_y for p the projection of e_y + (z + 1 - e_y) / width.
struct SmoothedCrammerSingerSlopes final : RowSlopes {
  const std::int32_t* code;
  double width;

  SmoothedCrammerSingerSlopes(const std::int32_t* codes, Index outputs, double the_width)
      : RowSlopes(outputs), code(codes), width(the_width) {}
  void at(Index i, double* z) const noexcept override {
    const Index y = code[i];
    for (Index k = 0; k < n_outputs; ++k) z[k] = k == y ? 1.0 + z[k] / width : (z[k] + 1.0) / width;
    project_simplex(n_outputs, z, z);
    z[y] -= 1.0;
  }
};

}  // namespace lineal
