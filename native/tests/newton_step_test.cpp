#include "lineal/newton_step.h"

#include "check.h"
#include "lineal/evaluate.h"
#include "lineal/gram.h"
#include "lineal/loss.h"
#include "lineal/passes.h"
#include "samples.h"

using namespace lineal;

namespace {

constexpr Index n = 40, d = 5, K = 3, size = d + 1;

// Least squares on dense rows, with a constant and row weights.
struct Least {
  std::vector<double> x, y, s;

  explicit Least(Rng& rng)
      : x(check::uniforms(rng, n * d, -1, 1)),
        y(check::uniforms(rng, n * K, -1, 1)),
        s(check::uniforms(rng, n, 0.5, 2)) {}

  Dense<double> rows() const { return {n, d, x.data()}; }
  Scored at(const double* Z) const { return {n, K, y.data(), s.data(), Z}; }
  void dot(const double* W, double* Z) const { dot_pass(rows(), W, K, K, Z, 1); }
  void grams(const double* H, Index n_outputs, double* G, Watch& watch) const {
    grams_pass(rows(), H, n_outputs, true, G, 1, watch);
  }
  void weigh(const double* U, double* G) const {
    for (Index i = 0; i < n * K; ++i) G[i] = s[std::size_t(i / K)] * U[i];
  }
  void curvatures(const double* Z, double* H) const { curvature_pass(Squared{}, at(Z), H, 1); }
  void along(const double* Z, const double* M, const double* t, double* out) const {
    line_by_output_pass(Squared{}, at(Z), M, t, out, 1);
  }

  // The slopes at Z, and the gradient of P at theta by its definition.
  void differentiate(const std::vector<double>& theta, const std::vector<double>& Z, double ridge,
                     std::vector<double>& U, std::vector<double>& gradient) const {
    slope_pass(Squared{}, at(Z.data()), U.data(), 1);
    for (std::size_t j = 0; j < theta.size(); ++j) gradient[j] = ridge * theta[j];
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < K; ++k)
        for (Index j = 0; j < size; ++j)
          gradient[std::size_t(j * K + k)] +=
              s[std::size_t(i)] * U[std::size_t(i * K + k)] * (j < d ? x[std::size_t(i * d + j)] : 1.0);
  }
};

double worth(const std::vector<double>& gradient, Index k) {
  double sum = 0.0;
  for (Index j = 0; j < size; ++j) sum += gradient[std::size_t(j * K + k)] * gradient[std::size_t(j * K + k)];
  return sum;
}

}  // namespace

THEOREM("a Newton step of least squares ends at the minimum of each output that moves; the others stay") {
  Rng rng(3);
  const Least table(rng);
  const double ridge = 0.7;
  const NewtonShape shape{n, d, K, true};
  std::vector<double> theta(std::size_t(size * K), 0.0), Z(std::size_t(n * K), 0.0), U(Z.size()),
      gradient(theta.size());
  const std::vector<double> ridges(theta.size(), ridge);
  table.differentiate(theta, Z, ridge, U, gradient);
  std::vector<double> there(theta.size()), scores(Z.size()), way(theta.size()), moved(Z.size()),
      ahead(Z.size()), bent(theta.size()), slopes(Z.size()), left(theta.size());
  NewtonStep to{there.data(), scores.data(), way.data(), moved.data(), ahead.data(), bent.data()};
  Watch watch;
  const NewtonPoint from{theta.data(), Z.data(), U.data(), gradient.data()};

  CHECK(newton_step(table, shape, from, ridges.data(), 0.0, 1e-3, to, watch));
  table.differentiate(there, scores, ridge, slopes, left);
  for (Index k = 0; k < K; ++k) CHECK(worth(left, k) <= 1e-24 * worth(gradient, k));
  for (std::size_t i = 0; i < Z.size(); ++i) CHECK_NEAR(ahead[i], slopes[i], 1e-12);

  // There nothing falls any more, beyond rounding: no step.
  std::vector<double> again(theta.size()), further(Z.size());
  NewtonStep beyond{again.data(), further.data(), way.data(), moved.data(), ahead.data(), bent.data()};
  CHECK(!newton_step(table, shape, {there.data(), scores.data(), slopes.data(), left.data()}, ridges.data(),
                     0.0, 1e-3, beyond, watch));

  // The output of the least gradient rests.
  Index least = 0;
  for (Index k = 1; k < K; ++k)
    if (worth(gradient, k) < worth(gradient, least)) least = k;
  CHECK(newton_step(table, shape, from, ridges.data(), 1.000001 * worth(gradient, least), 1e-3, to, watch));
  for (Index j = 0; j < size; ++j) CHECK(there[std::size_t(j * K + least)] == 0.0);
  table.differentiate(there, scores, ridge, slopes, left);
  for (Index k = 0; k < K; ++k)
    CHECK(k == least ? worth(left, k) == worth(gradient, k) : worth(left, k) <= 1e-24 * worth(gradient, k));

  Watch over;
  over.end();
  CHECK(!newton_step(table, shape, from, ridges.data(), 0.0, 1e-3, to, over));
}
