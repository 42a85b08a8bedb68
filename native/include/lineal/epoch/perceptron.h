// The perceptron (Rosenblatt 1958), row by row:
//
//     one score    predict +1 where w.x + b >= 0, else -1;           on a mistake   w += eta y x, b += eta y;
//     K scores     predict the first of the highest w_k.x + b_k;     on a mistake   w_y += eta x, w_k -= eta
//     x.
//
// `late` is what averaging costs, and only at a mistake: with Delta_t the change at example t (counted from
// 0),
//
//     late = sum_t t Delta_t,    so that    (w after each of T examples, summed) / T = w - late / T.
//
// Parameters are W, feature-major, then b where there is an intercept. A row costs one pass over its stored
// numbers for the scores and, at a mistake, one for the change.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// Weights on their way. All of it is as after the last finished example, whenever the loop ends.
struct PerceptronState {
  Index n_scores;  // 1 for two classes, else the number of classes
  bool has_intercept;
  double rate;
  double* theta;       // (n_columns + has_intercept) x n_scores
  double* late;        // the same, or null where no average is wanted
  std::int64_t* seen;  // examples met so far
  std::int64_t* missed;
};

// What was changed: rows of (example, row, class predicted), as many as there were mistakes; or null.
using MistakeLog = std::int64_t*;

// theta += amount x in the column of one score, the 1 of an intercept included; late gains that times `seen`.
template <class Row>
inline void add_to_score(const PerceptronState& state, Row x, Index n_columns, Index score,
                         double amount) noexcept {
  const Index K = state.n_scores;
  const auto add = [&](double* to, double a) {
    for (Index k = 0; k < x.size; ++k) to[column(x, k) * K + score] += a * double(x.value[k]);
    if (state.has_intercept) to[n_columns * K + score] += a;
  };
  add(state.theta, amount);
  if (state.late != nullptr && *state.seen > 0) add(state.late, double(*state.seen) * amount);
}

// The class that a row's scores speak for; z has room for all of them.
template <class Row>
inline Index predicted_class(const PerceptronState& state, Row x, Index n_columns, double* z) noexcept {
  const Index K = state.n_scores;
  const double* b = state.has_intercept ? state.theta + n_columns * K : nullptr;
  if (K == 1) return dot(x, static_cast<const double*>(state.theta)) + (b == nullptr ? 0.0 : *b) >= 0.0;
  std::fill(z, z + K, 0.0);
  dot_block(x, static_cast<const double*>(state.theta), K, K, z);
  if (b != nullptr)
    for (Index k = 0; k < K; ++k) z[k] += b[k];
  return std::max_element(z, z + K) - z;
}

// Meets the rows in `order` (which may name any rows, in any order, more than once); `code` holds the class
// of each row of X. When the watch says stop, the rows that are left are not met.
template <class Rows>
void perceptron_pass(const Rows& X, const std::int32_t* code, std::span<const std::int64_t> order,
                     const PerceptronState& state, MistakeLog log, Watch& watch) {
  const Index K = state.n_scores;
  std::vector<double> z(static_cast<std::size_t>(K));
  for (std::size_t at = 0; at < order.size() && !watch.is_over(); ++at) {
    const Index i = order[at];
    const auto x = X[i];
    // The row's own numbers only: to hint at the weights that it will meet takes as long as to meet them.
    if (at + 4 < order.size()) prefetch(X[order[at + 4]]);
    const Index wanted = code[i], predicted = predicted_class(state, x, X.n_columns, z.data());
    if (predicted != wanted) {
      if (K == 1) {
        add_to_score(state, x, X.n_columns, 0, wanted == 1 ? state.rate : -state.rate);
      } else {
        add_to_score(state, x, X.n_columns, wanted, state.rate);
        add_to_score(state, x, X.n_columns, predicted, -state.rate);
      }
      ++*state.missed;
      if (log != nullptr) {
        log[0] = *state.seen;
        log[1] = i;
        log[2] = predicted;
        log += 3;
      }
    }
    ++*state.seen;
    watch.says_stop((x.size + 1) * K);
  }
}

}  // namespace lineal
