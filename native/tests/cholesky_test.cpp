#include "lineal/cholesky.h"

#include <cmath>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;

namespace {

// M'M of a made-up M with as many rows as wanted: singular where they are fewer than columns.
std::vector<double> products(Rng& rng, Index n_rows, Index size, double unit) {
  const auto M = check::sample_matrix<double>(rng, n_rows, size, 1.0);
  std::vector<double> A(static_cast<std::size_t>(size * size));
  for (Index i = 0; i < size; ++i)
    for (Index j = 0; j < size; ++j) {
      double sum = 0;
      for (Index r = 0; r < n_rows; ++r) sum += M.at(r, i) * M.at(r, j);
      // Columns of very different units.
      A[std::size_t(i * size + j)] = sum * std::pow(unit, double(i % 5)) * std::pow(unit, double(j % 5));
    }
  return A;
}

double largest_residue(const std::vector<double>& A, const std::vector<double>& x,
                       const std::vector<double>& right) {
  const std::size_t size = right.size();
  double largest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    double sum = 0, total = std::abs(right[i]);
    for (std::size_t j = 0; j < size; ++j) {
      sum += A[i * size + j] * x[j];
      total += std::abs(A[i * size + j] * x[j]);
    }
    largest = std::max(largest, std::abs(sum - right[i]) / total);
  }
  return largest;
}

THEOREM(
    "solutions of positive definite systems leave nothing but rounding, whatever the units and the size") {
  Rng rng(1);
  Watch watch;
  for (const Index size : {1, 2, 3, 4, 5, 31, 32, 33, 64, 70})
    for (const double unit : {1.0, 1e-3}) {
      const auto A = products(rng, 2 * size + 3, size, unit);
      std::vector<double> right(static_cast<std::size_t>(size)), x(right.size());
      for (auto& each : right) each = check::uniform(rng, 0, 1) - 0.5;
      Cholesky factor;
      CHECK(factor.factorise(A.data(), size, watch));
      factor.solve(right.data(), x.data(), 2);
      CHECK(largest_residue(A, x, right) <= 1e-13);
    }
}

THEOREM("a singular system whose right side it can reach is solved, too: damping is refined away") {
  Rng rng(2);
  Watch watch;
  for (const Index size : {4, 20, 50}) {
    const auto A = products(rng, size / 2, size, 1.0);
    std::vector<double> right(static_cast<std::size_t>(size), 0.0), x(right.size());
    for (std::size_t i = 0; i < right.size(); ++i)
      for (std::size_t j = 0; j < right.size(); ++j) right[i] += A[i * right.size() + j];  // A times ones
    Cholesky factor;
    CHECK(factor.factorise(A.data(), size, watch));
    factor.solve(right.data(), x.data(), 3);
    CHECK(largest_residue(A, x, right) <= 1e-9);
  }
}

THEOREM("the upper half is never read, empty columns take no step, and what is no number is refused") {
  Watch watch;
  Cholesky factor;
  std::vector<double> A = {4.0, std::nan(""), 1.0, 9.0}, right = {1.0, 2.0}, x(2);
  CHECK(factor.factorise(A.data(), 2, watch));
  A = {4.0, 0.0, 0.0, 0.0};
  right = {2.0, 0.0};
  CHECK(factor.factorise(A.data(), 2, watch));
  factor.solve(right.data(), x.data(), 2);
  CHECK_NEAR(x[0], 0.5, 1e-12);
  CHECK_NEAR(x[1], 0.0, 0.0);
  for (const double bad : {std::nan(""), HUGE_VAL, -1.0}) {
    A = {1.0, 0.0, 0.0, 1.0};
    A[bad == -1.0 ? 2 : 3] = bad == -1.0 ? 2.0 : bad;  // indefinite: off the diagonal lies more than on it
    CHECK(!factor.factorise(A.data(), 2, watch));
  }
}

}  // namespace

THEOREM(
    "factors of blocks solve each column with its own matrix; one that is not definite has its diagonal's") {
  Rng rng(9);
  Watch watch;
  constexpr Index size = 13, K = 3;
  std::vector<double> A;
  for (Index k = 0; k < K; ++k) {
    auto own = products(rng, 3 * size, size, 1e-2);
    if (k == 1) own[std::size_t(size)] = own[1] = 1e6;  // an entry beyond what its diagonal allows
    A.insert(A.end(), own.begin(), own.end());
  }
  const auto right = check::uniforms(rng, size * K, -1, 1);
  std::vector<double> x(right.size()), column(static_cast<std::size_t>(size)), found(column.size());
  BlockFactors factors;
  CHECK(factors.factorise(A.data(), K, size, watch));
  CHECK(factors.size() == size && factors.n_blocks() == K);
  factors.solve(right.data(), x.data(), 1);
  for (Index k = 0; k < K; ++k) {
    const double* own = A.data() + k * size * size;
    for (Index i = 0; i < size; ++i) {
      column[std::size_t(i)] = right[std::size_t(i * K + k)];
      found[std::size_t(i)] = x[std::size_t(i * K + k)];
    }
    if (k == 1)
      for (Index i = 0; i < size; ++i)
        CHECK(found[std::size_t(i)] == 1.0 / own[i * size + i] * column[std::size_t(i)]);
    else
      CHECK(largest_residue(std::vector<double>(own, own + size * size), found, column) <= 1e-13);
  }
  Watch over;
  over.end();
  CHECK(!BlockFactors().factorise(A.data() + size * size, 1, size, over));
}
