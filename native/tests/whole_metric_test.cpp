#include "lineal/epoch/whole_metric.h"

#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::uniform;

namespace {

using Numbers = std::vector<double>;
constexpr Index size = WholeMetric::size, width = WholeMetric::width;

// The metric itself beside the factor of its inverse. Places that were not begun have nothing.
struct Twins {
  Numbers S = Numbers(std::size_t(size * width), 0.0), A = Numbers(std::size_t(size * size), 0.0);
  WholeMetric metric{S.data()};

  double& at(Index j, Index k) { return A[std::size_t(j * size + k)]; }
  double inverse(Index j, Index k) const {
    double sum = 0;
    for (Index l = 0; l < size; ++l) sum += S[std::size_t(j * width + l)] * S[std::size_t(k * width + l)];
    return sum;
  }
  // |A^-1 A - 1|, at these places.
  double error(const std::vector<Index>& places) {
    double most = 0;
    for (const Index j : places)
      for (const Index k : places) {
        double sum = j == k ? -1.0 : 0.0;
        for (const Index l : places) sum += inverse(j, l) * at(l, k);
        most = std::max(most, std::abs(sum));
      }
    return most;
  }
};

}  // namespace

THEOREM("S S' is the inverse of D + sum of bend x x', of the places that were begun, whenever they were") {
  Rng rng(1);
  Twins both;
  const std::vector<Index> all{3, 0, WholeMetric::intercept, 17, 63, 40};
  Numbers x(std::size_t(size), 0.0), t(x), d(x);
  for (std::size_t row = 0; row < 60; ++row) {
    // Some of the places that have come so far, one more every tenth row.
    const std::vector<Index> come(all.begin(), all.begin() + std::ptrdiff_t(1 + row / 10));
    std::vector<Index> places;
    std::fill(x.begin(), x.end(), 0.0);
    for (const Index j : come)
      if (j == come.back() || rng.below(3) > 0) places.push_back(j);
    for (const Index j : places) {
      x[std::size_t(j)] = j == WholeMetric::intercept ? 1.0 : uniform(rng, -2, 2);
      if (both.metric.is_begun(j)) continue;
      const double precision = uniform(rng, 0.1, 3.0);
      both.metric.begin(j, precision);
      both.at(j, j) = precision;
    }
    const double q = both.metric.norm(places, x.data(), t.data()),
                 bend = row % 7 == 0 ? 0.0 : uniform(rng, 0, 2);
    both.metric.grow(t.data(), q, bend, d.data());
    // d = A^-1 x and q = x'A^-1 x, in the metric before it grew.
    double norm = 0;
    for (Index j = 0; j < size; ++j) {
      double back = 0;
      for (Index k = 0; k < size; ++k) back += both.at(j, k) * d[std::size_t(k)];
      CHECK_NEAR(back, x[std::size_t(j)], 1e-12);
      norm += x[std::size_t(j)] * d[std::size_t(j)];
      if (!both.metric.is_begun(j)) CHECK(d[std::size_t(j)] == 0.0);
    }
    CHECK_NEAR(norm, q, 1e-12 * (1.0 + q));
    for (const Index j : places)
      for (const Index k : places) both.at(j, k) += bend * x[std::size_t(j)] * x[std::size_t(k)];
    CHECK(both.error(come) < 1e-11);
  }
  CHECK(both.metric.is_begun(40) && !both.metric.is_begun(1));
}

THEOREM("a row that leads nowhere, or bends nothing, leaves the factor as it is") {
  Twins both;
  for (const Index j : {Index(1), Index(2)}) both.metric.begin(j, 2.0);
  Numbers x(std::size_t(size), 0.0), t(x), d(x);
  const std::vector<Index> places{1, 2};
  const Numbers before = both.S;
  CHECK(both.metric.norm(places, x.data(), t.data()) == 0.0);
  both.metric.grow(t.data(), 0.0, 1.0, d.data());
  CHECK(check::same_bits(both.S, before));
  x[1] = 3.0, x[2] = -1.0;
  both.metric.grow(t.data(), both.metric.norm(places, x.data(), t.data()), 0.0, d.data());
  CHECK(check::same_bits(both.S, before));
  CHECK_NEAR(d[1], 1.5, 1e-15);
  CHECK_NEAR(d[2], -0.5, 1e-15);
}

THEOREM("rows by the ten thousand, nearly alike and of all sizes, leave the inverse positive and finite") {
  Rng rng(3);
  Twins both;
  const std::vector<Index> places{0, 1};
  for (const Index j : places) both.metric.begin(j, 1e-8);
  Numbers x(std::size_t(size), 0.0), t(x), d(x);
  for (int row = 0; row < 10000; ++row) {
    x[0] = std::exp(uniform(rng, -20, 20));
    x[1] = x[0] * (1.0 + 1e-9 * uniform(rng, -1, 1));
    const double q = both.metric.norm(places, x.data(), t.data());
    both.metric.grow(t.data(), q, 1.0, d.data());
  }
  const double a = both.inverse(0, 0), b = both.inverse(0, 1), c = both.inverse(1, 1);
  CHECK(std::isfinite(a + b + c) && a > 0.0 && c > 0.0 && a * c >= b * b * (1.0 - 1e-12));
}
