#include "lineal/monomials.h"

#include <limits>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::same_bits;
using check::whole;

namespace {

// Runs of all products x_a x_b with a <= b, then of all x_a x_b x_c with a <= b <= c.
std::vector<Run> cubic_runs(Index d) {
  std::vector<Run> runs;
  for (Index a = 0; a < d; ++a) runs.push_back({a, a, d - a});
  Index tails = 0;  // before the pairs that begin with a
  const Index n_pairs = d * (d + 1) / 2;
  for (Index a = 0; a < d; ++a) {
    runs.push_back({a, d + tails, n_pairs - tails});
    tails += d - a;
  }
  return runs;
}

std::vector<double> plain(const std::vector<double>& X, Index n, Index d) {
  std::vector<double> all;
  for (Index i = 0; i < n; ++i) {
    const double* const x = X.data() + i * d;
    all.push_back(1.0);
    for (Index a = 0; a < d; ++a) all.push_back(x[a]);
    for (Index a = 0; a < d; ++a)
      for (Index b = a; b < d; ++b) all.push_back(x[a] * x[b]);
    for (Index a = 0; a < d; ++a)
      for (Index b = a; b < d; ++b)
        for (Index c = b; c < d; ++c) all.push_back(x[a] * (x[b] * x[c]));
  }
  return all;
}

}  // namespace

THEOREM(
    "monomials_pass writes the products of plain loops, whole or the last degree of them, by any threads") {
  Rng rng(7);
  for (const Index d : {1, 2, 5}) {
    const Index n = 23, width = Index(plain(std::vector<double>(std::size_t(d)), 1, d).size());
    std::vector<double> X(std::size_t(n * d));
    for (double& x : X) x = whole(rng);
    const auto runs = cubic_runs(d);
    const auto wanted = plain(X, n, d);
    const Index first = d + d * (d + 1) / 2, n_cubes = width - 1 - first;
    std::vector<double> twice(std::size_t(n_cubes), 2.0);
    for (int n_threads = 1; n_threads <= 3; ++n_threads) {
      std::vector<double> made(wanted.size(), -1.0), cubes(std::size_t(n * n_cubes), -1.0);
      CHECK(monomials_pass<double>({n, d, X.data()}, runs, {0, true, {}}, made.data(), width, n_threads));
      CHECK(same_bits(made, wanted));
      CHECK(monomials_pass<double>({n, d, X.data()}, runs, {first, false, twice}, cubes.data(), n_cubes,
                                   n_threads));
      for (Index i = 0; i < n; ++i)
        for (Index t = 0; t < n_cubes; ++t)
          CHECK(cubes[std::size_t(i * n_cubes + t)] ==
                2.0 * wanted[std::size_t(i * width + width - n_cubes + t)]);
    }
  }
}

THEOREM("monomials_pass tells products beyond the precision") {
  const std::vector<double> X{1.0, 2.0, 1e200, 0.0, 3.0, -1.0};
  const auto runs = cubic_runs(2);
  std::vector<double> out(30);
  CHECK(!monomials_pass<double>({3, 2, X.data()}, runs, {0, true, {}}, out.data(), 10, 1));
  CHECK(!monomials_pass<double>({3, 2, X.data()}, runs, {0, true, {}}, out.data(), 10, 3));
  const std::vector<float> small{1e30f};
  std::vector<float> square(1);
  CHECK(!monomials_pass<float>({1, 1, small.data()}, std::vector<Run>{{0, 0, 1}}, {1, false, {}},
                               square.data(), 1, 1));
}
