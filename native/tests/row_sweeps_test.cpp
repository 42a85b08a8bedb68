#include "lineal/row_sweeps.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "check.h"
#include "lineal/gram.h"
#include "samples.h"

using namespace lineal;
using check::Sample;
using check::sample_matrix;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

template <class V, class Rows>
void check_sweeps(Rng& rng, const Sample<V>& X, const Rows& rows) {
  const Index n = X.n_rows, d = X.n_columns;
  const Numbers w = uniforms(rng, d, -1, 1), h = uniforms(rng, n, 0, 2);
  const double b = check::uniform(rng, -1, 1), tolerance = 1e-13 * double(n + d + 1);
  Numbers z(std::size_t(n), b), of_given(std::size_t(d + 1), 0.0), of_curved(of_given);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) z[std::size_t(i)] += X.at(i, j) * w[std::size_t(j)];
    for (Index j = 0; j <= d; ++j) {
      const double x = j < d ? X.at(i, j) : 1.0;
      of_given[std::size_t(j)] += x * h[std::size_t(i)];
      of_curved[std::size_t(j)] += x * h[std::size_t(i)] * z[std::size_t(i)];
    }
  }
  Numbers first;
  for (const int n_threads : {1, 2, 3, 20}) {
    Numbers dots(z.size(), 7.0), both(z.size(), 7.0), given(of_given.size(), 7.0), curved(given);
    sweep_rows<Sweep::dots>(rows, w.data(), b, nullptr, dots.data(), nullptr, n_threads);
    sweep_rows<Sweep::adjoint>(rows, nullptr, 0.0, h.data(), nullptr, given.data(), n_threads);
    sweep_rows<Sweep::both>(rows, w.data(), b, h.data(), both.data(), curved.data(), n_threads);
    for (std::size_t i = 0; i < z.size(); ++i) {
      CHECK_NEAR(dots[i], z[i], tolerance);
      CHECK_NEAR(both[i], z[i], tolerance);
    }
    for (std::size_t j = 0; j < given.size(); ++j) {
      CHECK_NEAR(given[j], of_given[j], tolerance);
      CHECK_NEAR(curved[j], of_curved[j], 10 * tolerance);
    }
    Numbers all = given;
    all.insert(all.end(), curved.begin(), curved.end());
    if (first.empty()) first = all;
    CHECK(std::memcmp(all.data(), first.data(), all.size() * sizeof(double)) == 0);
  }
}

THEOREM("sweeps over rows are products with X and its transpose, the same bits for any number of threads") {
  Rng rng(3);
  for (const Index n : {0, 1, 3, 4, 7, 130, 1100})
    for (const Index d : {1, 3, 8, 13, 40}) {
      const auto full = sample_matrix<double>(rng, n, d, 1.0);
      check_sweeps(rng, full, full.dense());
      const auto small = sample_matrix<float>(rng, n, d, 1.0);
      check_sweeps(rng, small, small.dense());
      const auto sparse = sample_matrix<double>(rng, n, d, 0.3);
      check_sweeps(rng, sparse, sparse.csr());
    }
}

THEOREM("some rows of a matrix are swept as a matrix of those rows") {
  Rng rng(4);
  const auto X = sample_matrix<double>(rng, 50, 9, 1.0);
  std::vector<Index> wanted;
  for (Index i = 0; i < 50; i += 3) wanted.push_back(i);
  const auto rows = X.dense();
  const SomeRows some(rows, wanted);
  const Numbers w = uniforms(rng, 9, -1, 1);
  Numbers every(50), few(wanted.size());
  sweep_rows<Sweep::dots>(rows, w.data(), 0.5, nullptr, every.data(), nullptr, 1);
  sweep_rows<Sweep::dots>(some, w.data(), 0.5, nullptr, few.data(), nullptr, 1);
  for (std::size_t k = 0; k < few.size(); ++k) CHECK_NEAR(few[k], every[std::size_t(wanted[k])], 1e-14);
}

}  // namespace
