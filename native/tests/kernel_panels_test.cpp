#include <cmath>
#include <numeric>
#include <vector>

#include "check.h"
#include "lineal/kernel/panels.h"
#include "samples.h"

using namespace lineal;
using namespace lineal::kernel;
using check::Sample;
using check::whole;

namespace {

// Whole numbers: products are exact in float, so every layout must give the very same ones.
Sample<double> sample_of_whole(Rng& rng, Index n, Index d, double density) {
  auto X = check::sample_matrix<double>(rng, n, d, density);
  std::size_t at = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j) {
      double& entry = X.full[std::size_t(i * d + j)];
      if (entry == 0) continue;
      entry = whole(rng);
      X.value[at++] = entry;
    }
  return X;
}

template <class Real, class Rows>
void check_products(const Sample<double>& X, const Rows& rows, Index count, Index n_streamed) {
  const PackedRows<Real> packed(rows, {});
  Panel<Real> panel(packed);
  std::vector<Index> which, others;
  for (Index k = 0; k < count; ++k) which.push_back((3 * k + 1) % X.n_rows);
  for (Index k = 0; k < n_streamed; ++k) others.push_back((5 * k) % X.n_rows);
  which.shrink_to_fit();
  others.shrink_to_fit();
  for (int again = 0; again < 2; ++again) {  // a panel is packed many times: nothing is left of the last
    panel.pack(which.data(), count);
    std::vector<char> seen(std::size_t(n_streamed), 0);
    panel.stream(packed, others.data(), n_streamed, [&](Index k, const Vector<Real>* product) {
      ++seen[std::size_t(k)];
      for (Index lane = 0; lane < Panel<Real>::width; ++lane) {
        double wanted = 0;
        if (lane < count)
          for (Index j = 0; j < X.n_columns; ++j)
            wanted += X.at(which[std::size_t(lane)], j) * X.at(others[std::size_t(k)], j);
        CHECK(double(product[lane / Lanes<Real>::n][lane % Lanes<Real>::n]) == wanted);
      }
    });
    for (const char times : seen) CHECK(times == 1);
    std::reverse(which.begin(), which.end());
  }
}

}  // namespace

THEOREM("a panel's products are the plain ones: dense, sparse and compact, whatever is left over") {
  Rng rng(1);
  const auto of_type = [&](auto zero) {
    using Real = decltype(zero);
    for (const Index d : {1, 3, 17})
      for (const Index count : {1, 2, 7, Panel<Real>::width - 1, Panel<Real>::width})
        for (const Index n_streamed : {0, 1, 5, 6, 7, 12, 13}) {
          const auto X = sample_of_whole(rng, 40, d, 0.6);
          check_products<Real>(X, X.dense(), count, n_streamed);
          check_products<Real>(X, X.csr(), count, n_streamed);
        }
    // More columns than a whole panel of them holds: packed by the columns that occur.
    const Index wide = 32768 / Index(Panel<Real>::width * sizeof(Real)) + 1;
    for (const Index count : {1, 9, Panel<Real>::width}) {
      const auto X = sample_of_whole(rng, 40, wide, 0.05);
      check_products<Real>(X, X.csr(), count, 13);
      check_products<Real>(X, X.dense(), count, 13);
    }
  };
  of_type(0.0f);
  of_type(0.0);
}

THEOREM("packed rows know their lengths: squares, the greatest of them and the most entries") {
  Rng rng(2);
  const auto X = check::sample_matrix<double>(rng, 30, 9, 0.5);
  const PackedRows<double> dense(X.dense(), {}), sparse(X.csr(), {});
  double radius = 0;
  Index size = 0;
  for (Index i = 0; i < X.n_rows; ++i) {
    CHECK_NEAR(dense.squared(i), X.squared_norm(i), 1e-14 * 40);
    CHECK_NEAR(sparse.squared(i), X.squared_norm(i), 1e-14 * 40);
    radius = std::max(radius, std::sqrt(X.squared_norm(i)));
    size = std::max(size, X.csr()[i].size);
  }
  CHECK_NEAR(dense.radius(), radius, 1e-13);
  CHECK_NEAR(sparse.radius(), radius, 1e-13);
  CHECK(sparse.size() == size && dense.size() == X.n_columns);
  CHECK(sparse.is_sparse() && !dense.is_sparse());
}

THEOREM("dense rows are taken less their centre, and rounded once") {
  Rng rng(3);
  const auto X = check::sample_matrix<double>(rng, 10, 4, 1.0);
  const std::vector<double> centre{1000.25, -3.5, 0.0, 1e-3};
  const PackedRows<float> rows(X.dense(), centre);
  for (Index i = 0; i < X.n_rows; ++i)
    for (Index j = 0; j < X.n_columns; ++j)
      CHECK(rows.dense(i)[j] == float(X.at(i, j) - centre[std::size_t(j)]));
}
