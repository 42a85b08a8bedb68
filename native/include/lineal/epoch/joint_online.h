// Learning example by example with a joint map: row i K + k of Phi is phi(x_i, label k), and w has one weight
// for each feature. With y the label of x_i and r the first of the highest scores among the others,
//
//     perceptron             where r is predicted:   w += eta (phi(x, y) - phi(x, r));
//     passive-aggressive     l = max(0, 1 - w.(phi(x, y) - phi(x, r))),
//                            w += tau (phi(x, y) - phi(x, r)),   tau = min(most, l / (|difference|^2 +
//                            softness))
//
// (Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006: PA has no limit and no softness, PA-I the limit C,
// PA-II the softness 1 / 2C). At a tie the first label is predicted. `late` is as in perceptron.h: the sum of
// t Delta_t.
//
// The difference is made before it meets w, so that features which both labels share leave no trace of
// rounding.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// Weights on their way. All of it is as after the last finished example, whenever the loop ends.
struct JointState {
  double* theta;       // a weight for each column
  double* late;        // the same, or null where no average is wanted
  std::int64_t* seen;  // examples met so far
  std::int64_t* missed;
  double* suffered;  // the sum of all losses
};

// Calls f(column, a_j - b_j) for every column that a or b stores.
template <class V, class F>
inline void each_difference(CsrRow<V> a, CsrRow<V> b, F&& f) {
  Index k = 0, l = 0;
  while (k < a.size && l < b.size) {
    if (a.index[k] == b.index[l]) {
      f(a.index[k], double(a.value[k]) - double(b.value[l]));
      ++k, ++l;
    } else if (a.index[k] < b.index[l]) {
      f(a.index[k], double(a.value[k]));
      ++k;
    } else {
      f(b.index[l], -double(b.value[l]));
      ++l;
    }
  }
  for (; k < a.size; ++k) f(a.index[k], double(a.value[k]));
  for (; l < b.size; ++l) f(b.index[l], -double(b.value[l]));
}

// How far to go along the difference, by the lead of the label's score over the other's.
struct MistakeStep {
  double rate;

  template <class Row>
  double operator()(double, bool is_mistake, Row, Row, double&) const noexcept {
    return is_mistake ? rate : 0.0;
  }
};

struct PassiveAggressiveStep {
  double most, softness;
  // Differences below this, squared, are none: a step along them would be beyond float64.
  static constexpr double least = 1e-280;

  template <class Row>
  double operator()(double lead, bool, Row x, Row other, double& suffered) const noexcept {
    const double loss = 1.0 - lead;
    if (!(loss > 0.0)) return 0.0;
    suffered += loss;
    double squared = 0.0;
    each_difference(x, other, [&](Index, double d) { squared += d * d; });
    return squared < least ? 0.0 : std::min(most, loss / (squared + softness));
  }
};

// The rows of all labels of one example, which lie side by side.
template <class V>
inline CsrRow<V> label_rows(const Csr<V>& Phi, Index i, Index K) noexcept {
  const Index first = Phi.start[i * K];
  return {Phi.index + first, Phi.value + first, Phi.start[(i + 1) * K] - first};
}

// The first of the highest of K >= 2 numbers but that at `left_out`.
inline Index highest_other(const double* z, Index K, Index left_out) noexcept {
  Index best = left_out == 0 ? 1 : 0;
  for (Index k = best + 1; k < K; ++k)
    if (k != left_out && z[k] > z[best]) best = k;
  return best;
}

// Meets the examples in `order` (which may name any, in any order, more than once); `code` holds the label of
// each, one of K >= 2. With `is_new` their labels were not there to be chosen, which is a mistake. When the
// watch says stop, the examples that are left are not met.
template <class V, class Step>
void joint_pass(const Csr<V>& Phi, Index K, const std::int32_t* code, std::span<const std::int64_t> order,
                bool is_new, const Step& step, const JointState& state, Watch& watch) {
  std::vector<double> z(static_cast<std::size_t>(K));
  const double* w = state.theta;
  for (std::size_t at = 0; at < order.size() && !watch.is_over(); ++at) {
    const Index i = order[at], wanted = code[i];
    if (at + 2 < order.size()) prefetch(label_rows(Phi, order[at + 2], K));
    if (at + 1 < order.size()) {
      const CsrRow<V> next = label_rows(Phi, order[at + 1], K);
      for (Index k = 0; k < next.size; ++k) __builtin_prefetch(w + next.index[k]);
    }
    for (Index k = 0; k < K; ++k) z[std::size_t(k)] = dot(Phi[i * K + k], w);
    const Index rival = highest_other(z.data(), K, wanted);
    const double lead = z[std::size_t(wanted)] - z[std::size_t(rival)];
    const bool is_mistake = is_new || lead < 0.0 || (lead == 0.0 && rival < wanted);
    const CsrRow<V> x = Phi[i * K + wanted], other = Phi[i * K + rival];
    const double amount = step(lead, is_mistake, x, other, *state.suffered);
    if (amount != 0.0) {
      each_difference(x, other, [&](Index j, double d) { state.theta[j] += amount * d; });
      const double t = double(*state.seen) * amount;
      if (state.late != nullptr && t != 0.0)
        each_difference(x, other, [&](Index j, double d) { state.late[j] += t * d; });
    }
    *state.missed += is_mistake;
    ++*state.seen;
    watch.says_stop(label_rows(Phi, i, K).size + K);
  }
}

}  // namespace lineal
