#include "lineal/softmax.h"

#include <cmath>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::uniform;

namespace {

struct CodedSample {
  Index n_rows, n_outputs;
  std::vector<std::int32_t> code;
  std::vector<double> s, z, m;

  CodedScores at() const { return {n_rows, n_outputs, code.data(), s.data(), z.data()}; }
};

CodedSample coded_sample(Rng& rng, Index n_rows, Index n_outputs, double size) {
  CodedSample made{n_rows, n_outputs, {}, {}, {}, {}};
  for (Index i = 0; i < n_rows; ++i) {
    made.code.push_back(std::int32_t(rng.below(std::uint32_t(n_outputs))));
    made.s.push_back(rng.below(5) == 0 ? 0.0 : uniform(rng, 0, 2));
  }
  made.z = check::uniforms(rng, n_rows * n_outputs, -size, size);
  made.m = check::uniforms(rng, n_rows * n_outputs, -1, 1);
  return made;
}

// The loss of a row at z + t m, its slope and bend along m, in long double, and its slopes in u.
std::array<long double, 3> slow_row(const CodedSample& of, Index i, double t, std::vector<long double>& u) {
  const Index K = of.n_outputs, y = of.code[std::size_t(i)];
  std::vector<long double> z, m;
  for (Index k = 0; k < K; ++k) {
    m.push_back(of.m[std::size_t(i * K + k)]);
    z.push_back((long double)of.z[std::size_t(i * K + k)] + (long double)t * m.back());
  }
  const long double high = *std::max_element(z.begin(), z.end());
  long double whole = 0, mean = 0, square = 0;
  for (Index k = 0; k < K; ++k) whole += std::exp(z[std::size_t(k)] - high);
  u.clear();
  for (Index k = 0; k < K; ++k) {
    u.push_back(std::exp(z[std::size_t(k)] - high) / whole);
    mean += u.back() * m[std::size_t(k)];
    square += u.back() * m[std::size_t(k)] * m[std::size_t(k)];
  }
  u[std::size_t(y)] -= 1;
  return {high + std::log(whole) - z[std::size_t(y)], mean - m[std::size_t(y)], square - mean * mean};
}

}  // namespace

THEOREM("softmax: sums, slopes and lines are those of long double, for few classes and many") {
  Rng rng(5);
  for (const Index K : {2, 3, 7, 10, 33, 400})
    for (const Index n : {1, 9, 65, 300}) {
      const CodedSample sample = coded_sample(rng, n, K, 9.0);
      const double t = 0.4;
      std::array<long double, 3> wanted{};
      std::vector<long double> u;
      std::vector<double> U(sample.z.size());
      softmax_slope_pass(sample.at(), U.data(), 1);
      double off = 0;
      for (Index i = 0; i < n; ++i) {
        const auto row = slow_row(sample, i, t, u);
        for (std::size_t c = 0; c < 3; ++c) wanted[c] += (long double)sample.s[std::size_t(i)] * row[c];
        slow_row(sample, i, 0.0, u);
        for (Index k = 0; k < K; ++k)
          off = std::max(off, std::abs(double(u[std::size_t(k)] - (long double)U[std::size_t(i * K + k)])));
      }
      CHECK(off <= 1e-15);
      const auto found = softmax_line_pass(sample.at(), sample.m.data(), t, 1);
      for (std::size_t c = 0; c < 3; ++c)
        CHECK(std::abs(found[c] - double(wanted[c])) <= 1e-13 * (double(n) + std::abs(double(wanted[c]))));
      // The value needs no direction.
      const double value = softmax_line_pass(sample.at(), nullptr, 0.0, 1)[0];
      const std::vector<double> still(sample.z.size(), 0.0);
      CHECK(softmax_line_pass(sample.at(), still.data(), 1.0, 1)[0] == value);
    }
}

THEOREM("softmax: the product with the Hessian is the change of the slopes") {
  Rng rng(6);
  for (const Index K : {2, 3, 10, 40}) {
    const CodedSample sample = coded_sample(rng, 50, K, 5.0);
    std::vector<double> U(sample.z.size()), after(U.size()), before(U.size()), bent(U.size()),
        moved = sample.z;
    softmax_slope_pass(sample.at(), U.data(), 1);
    softmax_curved_pass(50, K, sample.code.data(), U.data(), sample.m.data(), bent.data(), 1);
    constexpr double t = 1e-5;
    for (std::size_t j = 0; j < moved.size(); ++j) moved[j] = sample.z[j] + t * sample.m[j];
    softmax_slope_pass({50, K, sample.code.data(), nullptr, moved.data()}, after.data(), 1);
    for (std::size_t j = 0; j < moved.size(); ++j) moved[j] = sample.z[j] - t * sample.m[j];
    softmax_slope_pass({50, K, sample.code.data(), nullptr, moved.data()}, before.data(), 1);
    for (std::size_t j = 0; j < moved.size(); ++j)
      CHECK(std::abs((after[j] - before[j]) / (2 * t) - bent[j]) <= 1e-9);
  }
}

THEOREM("softmax: Fenchel and Young hold with equality at the slopes, and with a residue elsewhere") {
  Rng rng(7);
  for (const Index K : {2, 5, 20}) {
    CodedSample sample = coded_sample(rng, 30, K, 4.0);
    std::vector<double> U(sample.z.size());
    softmax_slope_pass(sample.at(), U.data(), 1);
    CHECK(softmax_residual_pass(sample.at(), U.data(), 1) <= 1e-13);
    const CodedScores dual{30, K, sample.code.data(), sample.s.data(), U.data()};
    double product = 0;
    for (std::size_t j = 0; j < U.size(); ++j) product += sample.s[j / std::size_t(K)] * U[j] * sample.z[j];
    const double value = softmax_line_pass(sample.at(), nullptr, 0.0, 1)[0];
    CHECK(std::abs(value + softmax_conjugate_pass(dual, 1) - product) <= 1e-11);
    for (double& z : sample.z) z = uniform(rng, -4, 4);
    CHECK(softmax_residual_pass(sample.at(), U.data(), 1) > 1e-3);
  }
}

THEOREM("softmax: threads change no bit") {
  Rng rng(8);
  for (const Index K : {3, 50}) {
    const CodedSample sample = coded_sample(rng, 120000 / K, K, 6.0);
    std::vector<double> one(sample.z.size()), many(one.size());
    softmax_slope_pass(sample.at(), one.data(), 1);
    softmax_slope_pass(sample.at(), many.data(), 3);
    CHECK(check::same_bits(one, many));
    CHECK(softmax_line_pass(sample.at(), sample.m.data(), 0.3, 1) ==
          softmax_line_pass(sample.at(), sample.m.data(), 0.3, 3));
    const CodedScores dual{sample.n_rows, K, sample.code.data(), sample.s.data(), one.data()};
    CHECK(softmax_conjugate_pass(dual, 1) == softmax_conjugate_pass(dual, 3));
    CHECK(softmax_residual_pass(sample.at(), one.data(), 1) ==
          softmax_residual_pass(sample.at(), one.data(), 3));
    std::vector<double> bent(one.size()), bent_too(one.size());
    softmax_curved_pass(sample.n_rows, K, sample.code.data(), one.data(), sample.m.data(), bent.data(), 1);
    softmax_curved_pass(sample.n_rows, K, sample.code.data(), one.data(), sample.m.data(), bent_too.data(),
                        3);
    CHECK(check::same_bits(bent, bent_too));
  }
}
