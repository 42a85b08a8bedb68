#include "bind.h"
#include "lineal/epoch/craig.h"
#include "lineal/evaluate.h"
#include "lineal/gram.h"
#include "lineal/newton_step.h"
#include "lineal/passes.h"

namespace lineal {
namespace {

// Rows and their losses, as a step asks for them.
struct Table {
  const AnyLoss& loss;
  const Matrix& X;
  Index K;
  const double *y, *s;
  bool has_constant;
  int n_threads;

  Scored at(const double* Z) const { return {X.n_rows(), K, y, s, Z}; }

  template <class F>
  void smooth(F&& f) const {
    std::visit(
        [&]<class Loss>(const Loss& each) {
          if constexpr (SmoothLoss<Loss>)
            f(each);
          else
            throw std::invalid_argument("a loss with kinks has no curvature");
        },
        loss);
  }

  void dot(const double* W, double* Z) const {
    std::visit([&](const auto& rows) { dot_pass(rows, W, K, K, Z, n_threads); }, X.rows);
  }
  void adjoint(const double* G, double* V) const {
    std::visit([&](const auto& rows) { adjoint_pass(rows, G, K, V, n_threads); }, X.rows);
  }
  void grams(const double* H, Index n, double* G, Watch& watch) const {
    std::visit([&](const auto& rows) { grams_pass(rows, H, n, has_constant, G, n_threads, watch); }, X.rows);
  }
  void sums(const double* G, double* v) const { column_sum_pass(X.n_rows(), K, G, v, n_threads); }
  void weigh(const double* U, double* G) const {
    for (Index i = 0; i < X.n_rows(); ++i)
      for (Index k = 0; k < K; ++k) G[i * K + k] = s[i] * U[i * K + k];
  }
  void slopes(const double* Z, double* U) const {
    smooth([&](const auto& each) { slope_pass(each, at(Z), U, n_threads); });
  }
  void curvatures(const double* Z, double* H) const {
    smooth([&](const auto& each) { curvature_pass(each, at(Z), H, n_threads); });
  }
  void along(const double* Z, const double* M, const double* t, double* out) const {
    smooth([&](const auto& each) { line_by_output_pass(each, at(Z), M, t, out, n_threads); });
  }
};

using Numbers = nb::ndarray<double, nb::numpy>;
using Scores = Array2<const double>;
using Vector = Array1<const double>;

// The table of arrays that fit each other.
Table table_of(const AnyLoss& loss, const Scores& Y, const Vector& s, const Matrix& X, const Vector& theta,
               const Scores& Z, const Vector& ridges, int n_threads) {
  const Index n = Index(Z.shape(0)), K = Index(Z.shape(1)), n_all = Index(theta.shape(0));
  const bool has_constant = n_all != X.n_columns() * K;
  require(
      K >= 1 && n_all == (X.n_columns() + (has_constant ? 1 : 0)) * K && ridges.shape(0) == theta.shape(0),
      "theta and ridges need an entry per parameter");
  require(X.n_rows() == n && Index(s.shape(0)) == n, "X and s need an entry per row of Z");
  require(Y.shape(0) == Z.shape(0) && Y.shape(1) == Z.shape(1), "arrays of scores differ in shape");
  return {loss, X, K, Y.data(), s.data(), has_constant, worthwhile(n_threads, X.n_stored * K)};
}

// (theta, Z, direction, moved, ahead, bent, value), or nothing where there is no such step.
std::optional<nb::tuple> step(const AnyLoss& loss, Scores Y, Vector s, const Matrix& X, Vector theta,
                              Scores Z, Scores U, Vector gradient, Vector ridges, double enough,
                              double shortest, int n_threads) {
  require_ordered(X);
  const Table table = table_of(loss, Y, s, X, theta, Z, ridges, n_threads);
  const std::size_t n = Z.shape(0), K = Z.shape(1), n_all = theta.shape(0);
  require(U.shape(0) == n && U.shape(1) == K, "arrays of scores differ in shape");
  require(gradient.shape(0) == n_all, "the gradient needs an entry per parameter");
  Numbers there = new_array<double>({n_all}), scores = new_array<double>({n, K}),
          way = new_array<double>({n_all}), moved = new_array<double>({n, K}),
          ahead = new_array<double>({n, K}), bent = new_array<double>({n_all});
  NewtonStep to{there.data(), scores.data(), way.data(), moved.data(), ahead.data(), bent.data()};
  bool is_found = false;
  interruptible_pass([&](Watch& watch) {
    is_found = newton_step(table, {Index(n), X.n_columns(), Index(K), table.has_constant},
                           {theta.data(), Z.data(), U.data(), gradient.data()}, ridges.data(), enough,
                           shortest, to, watch);
  });
  if (!is_found) return std::nullopt;
  return nb::make_tuple(there, scores, way, moved, ahead, bent, to.value);
}

// (U, gradient) at theta, whose scores are Z.
std::pair<Numbers, Numbers> slopes_and_gradient(const AnyLoss& loss, Scores Y, Vector s, const Matrix& X,
                                                Vector theta, Scores Z, Vector ridges, int n_threads) {
  const Table table = table_of(loss, Y, s, X, theta, Z, ridges, n_threads);
  const std::size_t n_all = theta.shape(0);
  Numbers U = new_array<double>({Z.shape(0), Z.shape(1)}), gradient = new_array<double>({n_all});
  const nb::gil_scoped_release unlocked;
  std::vector<double> G(Z.shape(0) * Z.shape(1));
  table.slopes(Z.data(), U.data());
  table.weigh(U.data(), G.data());
  table.adjoint(G.data(), gradient.data());
  if (table.has_constant) table.sums(G.data(), gradient.data() + X.n_columns() * table.K);
  for (std::size_t j = 0; j < n_all; ++j) gradient.data()[j] += ridges.data()[j] * theta.data()[j];
  return {U, gradient};
}

// Moves the residual t and returns the sum of the next direction; see craig.h.
Numbers craig_step(const Matrix& X, Vector root, Vector level, Vector s, Vector p, Array1<double> t,
                   double length, double lean, double strength, int n_threads) {
  const std::size_t n = std::size_t(X.n_rows()), d = std::size_t(X.n_columns());
  require(root.shape(0) == n && level.shape(0) == n && s.shape(0) == n && t.shape(0) == n,
          "arrays need an entry per row");
  require(p.shape(0) == d, "p needs an entry per column");
  Numbers sum = new_array<double>({d});
  const CraigStep by{root.data(), level.data(), s.data(), p.data(), length, lean, strength};
  std::visit(
      [&]<class Rows>(const Rows& rows) {
        if constexpr (is_dense<Rows>) {
          const nb::gil_scoped_release unlocked;
          craig_pass(rows, by, t.data(), sum.data(), worthwhile(n_threads, 2 * X.n_stored));
        } else {
          throw std::invalid_argument("craig_step is for dense rows");
        }
      },
      X.rows);
  return sum;
}

}  // namespace

void bind_newton(nb::module_& m) {
  m.def("newton_step", &step, "loss"_a, "Y"_a, "s"_a, "X"_a, "theta"_a, "Z"_a, "U"_a, "gradient"_a,
        "ridges"_a, "enough"_a, "shortest"_a, "n_threads"_a = 1,
        "(theta, Z, direction, moved, ahead, bent, value) after a step of outputs that meet nowhere; None "
        "where "
        "one of them finds none.");
  m.def("slopes_and_gradient", &slopes_and_gradient, "loss"_a, "Y"_a, "s"_a, "X"_a, "theta"_a, "Z"_a,
        "ridges"_a, "n_threads"_a = 1, "(U, X'SU and its sums, plus ridges * theta) of scores Z.");
  m.def("craig_step", &craig_step, "X"_a, "root"_a, "level"_a, "s"_a, "p"_a, "t"_a.noconvert(), "length"_a,
        "lean"_a, "strength"_a, "n_threads"_a = 1,
        "Moves the residual t along s, whose A's is p; returns A't for A = diag(root) X.");
}

}  // namespace lineal
