#include "lineal/epoch/smo.h"

#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::uniform;

namespace {

// A block problem: D(beta) = c.beta - beta'K beta / 2 in boxes, groups of `width` places each.
struct Block {
  Index width;
  std::vector<float> K;
  std::vector<double> c;
  std::vector<Smo::Group> groups;
  Smo smo;

  double dual() const {
    double value = 0;
    for (Index i = 0; i < width; ++i) {
      double f = 0;
      for (Index k = 0; k < width; ++k) f += double(at(i, k)) * smo.beta[std::size_t(k)];
      value += smo.beta[std::size_t(i)] * (c[std::size_t(i)] - 0.5 * f);
    }
    return value;
  }
  float at(Index i, Index k) const { return K[std::size_t(i * width + k)]; }
  void set_slopes() {
    for (Index i = 0; i < width; ++i) {
      double f = 0;
      for (Index k = 0; k < width; ++k) f += double(at(i, k)) * smo.beta[std::size_t(k)];
      smo.slope[std::size_t(i)] = float(c[std::size_t(i)] - f);
    }
  }
  Index run(double tol, Index max_steps) { return smo.run(K.data(), width, groups, tol, max_steps); }
};

Block sample_block(Rng& rng, Index width, int n_groups, Index n_empty = 0) {
  Block block;
  block.width = width;
  const auto X = check::sample_matrix<double>(rng, width, 4, 1.0);
  for (Index i = 0; i < width; ++i)
    for (Index k = 0; k < width; ++k) {
      double product = i == k ? 0.1 : 0.0;
      for (Index j = 0; j < 4; ++j) product += X.at(i, j) * X.at(k, j);
      block.K.push_back(float(product));
    }
  block.smo.resize(width);
  for (Index i = 0; i < width; ++i) {
    const bool is_empty = i >= width - n_empty;
    block.c.push_back(is_empty ? 0.0 : i % 2 ? 1.0 : -1.0);
    block.smo.lo[std::size_t(i)] = is_empty || i % 2 ? 0.0 : -1.5;
    block.smo.hi[std::size_t(i)] = is_empty || i % 2 == 0 ? 0.0 : 1.5;
    block.smo.beta[std::size_t(i)] = 0.0;
  }
  for (int g = 0; g < n_groups; ++g)
    block.groups.push_back({g * width / n_groups, (g + 1) * width / n_groups});
  block.set_slopes();
  return block;
}

double sum_of(const Block& block, Smo::Group group) {
  double sum = 0;
  for (Index k = group.first; k < group.last; ++k) sum += block.smo.beta[std::size_t(k)];
  return sum;
}

// By how much slopes of a group disagree, in double.
double violation(const Block& block, Smo::Group group) {
  double up = -std::numeric_limits<double>::infinity(), down = -up;
  for (Index i = group.first; i < group.last; ++i) {
    const std::size_t p = std::size_t(i);
    double f = 0;
    for (Index k = 0; k < block.width; ++k) f += double(block.at(i, k)) * block.smo.beta[std::size_t(k)];
    const double slope = block.c[p] - f;
    if (block.smo.beta[p] < block.smo.hi[p]) up = std::max(up, slope);
    if (block.smo.beta[p] > block.smo.lo[p]) down = std::min(down, slope);
  }
  return up - down;
}

}  // namespace

THEOREM("two rows: the machine by hand, alpha = 2 / |x1 - x2|^2") {
  Rng rng(1);
  Block block = sample_block(rng, 8, 1, 6);
  block.K.assign(64, 0.0f);
  block.K[0] = 1.0f;  // x = -1
  block.K[9] = 1.0f;  // x = +1
  block.K[1] = block.K[8] = -1.0f;
  block.set_slopes();
  block.run(1e-6, 100);
  CHECK_NEAR(block.smo.beta[0], -0.5, 1e-6);
  CHECK_NEAR(block.smo.beta[1], 0.5, 1e-6);
}

THEOREM("coefficients stay in their boxes, sums of groups stay, D never falls, and slopes agree at the end") {
  for (std::uint64_t seed = 0; seed < 12; ++seed)
    for (const int n_groups : {1, 2}) {
      Rng rng(seed);
      Block block = sample_block(rng, 32, n_groups, 3);
      double before = block.dual();
      for (int round = 0; round < 40; ++round) {
        const Index steps = block.run(1e-4, 5);
        const double after = block.dual();
        CHECK(after >= before - 1e-5);  // slopes are floats
        before = after;
        for (std::size_t k = 0; k < 32; ++k)
          CHECK(block.smo.lo[k] <= block.smo.beta[k] && block.smo.beta[k] <= block.smo.hi[k]);
        for (const auto group : block.groups) CHECK_NEAR(sum_of(block, group), 0.0, 1e-13 * 32);
        block.set_slopes();
        if (steps < 5) break;
      }
      block.run(1e-4, 10000);
      for (const auto group : block.groups) CHECK(violation(block, group) <= 1e-3);
    }
}

THEOREM("places that nothing stands on keep their 0") {
  Rng rng(5);
  Block block = sample_block(rng, 16, 1, 5);
  block.run(1e-5, 1000);
  for (std::size_t k = 11; k < 16; ++k) CHECK(block.smo.beta[k] == 0.0);
}

THEOREM("equal rows of two classes have no curvature between them: both go to their bounds") {
  Rng rng(1);
  Block block = sample_block(rng, 8, 1, 6);
  block.K.assign(64, 0.0f);
  block.K[0] = block.K[1] = block.K[8] = block.K[9] = 1.0f;
  block.set_slopes();
  block.run(1e-6, 100);
  CHECK(block.smo.beta[0] == -1.5 && block.smo.beta[1] == 1.5);
}

THEOREM("an infinite bound is no bound, and max_steps is kept") {
  Rng rng(7);
  Block block = sample_block(rng, 16, 1);
  for (std::size_t k = 0; k < 16; ++k) {
    if (block.smo.hi[k] > 0) block.smo.hi[k] = std::numeric_limits<double>::infinity();
    if (block.smo.lo[k] < 0) block.smo.lo[k] = -std::numeric_limits<double>::infinity();
  }
  CHECK(block.run(1e-9, 3) == 3);
  for (const double b : block.smo.beta) CHECK(std::isfinite(b));
}
