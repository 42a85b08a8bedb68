#include "lineal/constants.h"

#include <cmath>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::same_bits;
using check::uniform;

namespace {

struct Sampled {
  Index n_rows, n_outputs;
  std::vector<double> y, s, z;

  Scored at() const { return {n_rows, n_outputs, y.data(), s.data(), z.data()}; }
};

// Targets of +-1, or of any size; the first rows have both signs and a weight.
Sampled sampled(Rng& rng, bool is_margin, Index n_rows, Index n_outputs) {
  Sampled made{n_rows, n_outputs, {}, {}, {}};
  for (Index i = 0; i < n_rows; ++i)
    made.s.push_back(i > 1 && rng.below(5) == 0 ? 0.0 : uniform(rng, 0.1, 2));
  for (Index k = 0; k < n_rows * n_outputs; ++k) {
    const double sign = k / n_outputs == 0 ? 1.0 : k / n_outputs == 1 ? -1.0 : rng.below(2) ? 1.0 : -1.0;
    made.y.push_back(is_margin ? sign : uniform(rng, -2, 2));
    made.z.push_back(uniform(rng, -6, 6));
  }
  return made;
}

template <class F>
void each_smooth_loss(F&& f) {
  f(Log{}, true);
  f(SquaredHinge{1.0}, true);
  f(Squared{}, false);
  f(Huber{0.7}, false);
}

}  // namespace

THEOREM("at the shift that refit_pass finds the slopes of each output sum to 0, and U is those slopes") {
  Rng rng(1);
  each_smooth_loss([&](auto loss, bool is_margin) {
    for (const Index K : {1, 3}) {
      const Sampled made = sampled(rng, is_margin, 60, K);
      std::vector<double> shift(static_cast<std::size_t>(K)), U(made.z.size());
      refit_pass(loss, made.at(), shift.data(), U.data(), 1);
      for (Index j = 0; j < K; ++j) {
        double sum = 0, size = 0;
        for (Index i = 0; i < 60; ++i) {
          const auto k = std::size_t(i * K + j);
          const double u = loss.derivative(made.y[k], made.z[k] + shift[std::size_t(j)]);
          CHECK_NEAR(U[k], u, 1e-14);
          sum += made.s[std::size_t(i)] * u;
          size += made.s[std::size_t(i)] * std::abs(u);
        }
        CHECK(std::abs(sum) <= 1e-12 * size + 1e-12);
      }
    }
  });
}

THEOREM("a balanced point sums to 0 and lies between 0 and the point; what is left of balance is its sums") {
  Rng rng(2);
  for (const Index K : {1, 4}) {
    const Sampled made = sampled(rng, false, 50, K);
    const std::vector<double>& U = made.z;
    std::vector<double> out(U.size()), sums(static_cast<std::size_t>(K)), sizes(sums);
    balance_pass(U.data(), made.s.data(), 50, K, out.data(), 1);
    balance_left_pass(out.data(), made.s.data(), 50, K, sums.data(), sizes.data(), 1);
    for (std::size_t k = 0; k < U.size(); ++k)
      CHECK(out[k] * U[k] >= 0 && std::abs(out[k]) <= std::abs(U[k]));
    for (std::size_t j = 0; j < sums.size(); ++j) {
      CHECK_NEAR(sums[j], 0.0, 1e-13 * sizes[j]);
      double size = 0;
      for (std::size_t i = 0; i < 50; ++i) size += made.s[i] * std::abs(out[i * sums.size() + j]);
      CHECK_NEAR(sizes[j], size, 1e-13 * size);
      CHECK(size > 0);
    }
  }
}

THEOREM("threads change no bit of constants and balanced points") {
  Rng rng(3);
  const Index n = 3 * piece_length + 17;
  const Sampled made = sampled(rng, true, n, 1);
  std::vector<double> one(made.z.size()), many(one), shift(1), other(1);
  refit_pass(Log{}, made.at(), shift.data(), one.data(), 1);
  balance_pass(made.z.data(), made.s.data(), n, 1, many.data(), 1);
  std::vector<double> again(one.size()), balanced(one.size());
  for (const int n_threads : {2, 3, 5}) {
    refit_pass(Log{}, made.at(), other.data(), again.data(), n_threads);
    balance_pass(made.z.data(), made.s.data(), n, 1, balanced.data(), n_threads);
    CHECK(same_bits(shift, other) && same_bits(one, again) && same_bits(many, balanced));
  }
}
