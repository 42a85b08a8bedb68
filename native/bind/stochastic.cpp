#include <algorithm>

#include "bind.h"
#include "lineal/epoch/sgd.h"
#include "lineal/epoch/svrg.h"

namespace lineal {
namespace {

using Parameters = Array1<double>;
using Order = Array1<const std::int64_t>;

// Slopes and the targets that they read.
struct BoundSlopes {
  std::unique_ptr<RowSlopes> slopes;
  nb::object targets;
  Index n_rows;
};

BoundSlopes of_scores(const AnyLoss& loss, Array2<const double> Y) {
  const Index K = Index(Y.shape(1));
  require(K >= 1, "a loss of one score needs a target");
  auto slopes = std::visit(
      [&]<class Loss>(const Loss& each) -> std::unique_ptr<RowSlopes> {
        return std::make_unique<ScoreSlopes<Loss>>(each, Y.data(), K);
      },
      loss);
  return {std::move(slopes), nb::cast(Y), Index(Y.shape(0))};
}

template <class Slopes, class... Parameter>
BoundSlopes of_codes(Array1<const std::int32_t> code, Index n_outputs, Parameter... parameter) {
  require(n_outputs >= 2, "a joint loss needs two outputs");
  const std::int32_t* first = code.data();
  require(std::all_of(first, first + code.shape(0), [&](auto y) { return y >= 0 && y < n_outputs; }),
          "no such class");
  return {std::make_unique<Slopes>(first, n_outputs, parameter...), nb::cast(code), Index(code.shape(0))};
}

// Whether `order` names existing rows; all of them where an epoch wants them all.
void require_rows(const Matrix& X, const Order& order) {
  const std::int64_t* first = order.data();
  require(std::all_of(first, first + order.shape(0), [&](auto i) { return i >= 0 && i < X.n_rows(); }),
          "no such row");
}

// The shape of an epoch's arrays; returns whether there is an intercept.
bool require_epoch(const BoundSlopes& bound, const Matrix& X, const Array1<const double>& s,
                   const Order& order, Index batch_size, const Parameters& theta) {
  const Index n = X.n_rows(), K = bound.slopes->n_outputs, size = X.n_columns() * K;
  require(bound.n_rows == n && Index(s.shape(0)) == n && Index(order.shape(0)) == n,
          "an epoch needs as many targets, weights and places in the order as X has rows");
  require(batch_size >= 1, "batch_size must be at least 1");
  require(Index(theta.shape(0)) == size || Index(theta.shape(0)) == size + K, "theta has the wrong length");
  require_rows(X, order);
  return Index(theta.shape(0)) != size;
}

void sgd(const BoundSlopes& bound, const Matrix& X, Array1<const double> s, Order order, Index batch_size,
         Array1<const double> steps, double ridge, double intercept_ridge, Parameters theta,
         std::optional<Parameters> sum, Array2<double> U) {
  const bool has_intercept = require_epoch(bound, X, s, order, batch_size, theta);
  require(Index(steps.shape(0)) == (X.n_rows() + batch_size - 1) / batch_size, "sgd needs a step per batch");
  require(!sum || sum->shape(0) == theta.shape(0), "sum has the wrong length");
  require(Index(U.shape(0)) == X.n_rows() && Index(U.shape(1)) == bound.slopes->n_outputs,
          "U has the wrong shape");
  const SgdSettings set{batch_size, ridge, intercept_ridge, has_intercept};
  interruptible([&](Watch& watch) {
    std::visit(
        [&](const auto& rows) {
          sgd_epoch(*bound.slopes, rows, s.data(), {order.data(), order.shape(0)}, steps.data(), set,
                    theta.data(), sum ? sum->data() : nullptr, U.data(), watch);
        },
        X.rows);
  });
}

void svrg(const BoundSlopes& bound, const Matrix& X, Array1<const double> s, Order order, Index batch_size,
          Array1<const double> rates, const StepPenalty& weights, const StepPenalty& intercept,
          std::optional<Array1<const double>> drift, std::optional<Array2<const double>> anchor,
          Parameters theta) {
  const bool has_intercept = require_epoch(bound, X, s, order, batch_size, theta);
  require(Index(rates.shape(0)) == X.n_columns() + 1, "svrg needs a rate per column and one for b");
  require(!drift || drift->shape(0) == theta.shape(0), "drift has the wrong length");
  require(!anchor ||
              (Index(anchor->shape(0)) == X.n_rows() && Index(anchor->shape(1)) == bound.slopes->n_outputs),
          "anchor has the wrong shape");
  const SvrgSettings set{batch_size, weights, intercept, has_intercept};
  interruptible([&](Watch& watch) {
    std::visit(
        [&](const auto& rows) {
          svrg_epoch(*bound.slopes, rows, s.data(), {order.data(), order.shape(0)}, rates.data(),
                     drift ? drift->data() : nullptr, anchor ? anchor->data() : nullptr, set, theta.data(),
                     watch);
        },
        X.rows);
  });
}

void batch_slopes(const BoundSlopes& bound, const Matrix& X, Order index, Array1<const double> theta,
                  Array2<double> U) {
  const Index K = bound.slopes->n_outputs, size = X.n_columns() * K;
  require(Index(theta.shape(0)) == size || Index(theta.shape(0)) == size + K, "theta has the wrong length");
  require(U.shape(0) == index.shape(0) && Index(U.shape(1)) == K, "U has the wrong shape");
  require_rows(X, index);
  const double* b = Index(theta.shape(0)) == size ? nullptr : theta.data() + size;
  const nb::gil_scoped_release unlocked;
  std::visit(
      [&](const auto& rows) {
        for (std::size_t at = 0; at < index.shape(0); ++at) {
          double* u = U.data() + Index(at) * K;
          for (Index k = 0; k < K; ++k) u[k] = b == nullptr ? 0.0 : b[k];
          add_scores(rows[index.data()[at]], theta.data(), K, u);
          bound.slopes->at(index.data()[at], u);
        }
      },
      X.rows);
}

void batch_adjoint(const Matrix& X, Order index, Array2<const double> U, Parameters gradient) {
  const Index K = Index(U.shape(1)), size = X.n_columns() * K;
  require(Index(gradient.shape(0)) == size || Index(gradient.shape(0)) == size + K,
          "gradient has the wrong length");
  require(U.shape(0) == index.shape(0), "U has the wrong shape");
  require_rows(X, index);
  double* b = Index(gradient.shape(0)) == size ? nullptr : gradient.data() + size;
  const nb::gil_scoped_release unlocked;
  std::fill(gradient.data(), gradient.data() + gradient.shape(0), 0.0);
  std::visit(
      [&](const auto& rows) {
        for (std::size_t at = 0; at < index.shape(0); ++at) {
          const double* u = U.data() + Index(at) * K;
          add_product<false>(rows[index.data()[at]], u, K, gradient.data());
          for (Index k = 0; b != nullptr && k < K; ++k) b[k] += u[k];
        }
      },
      X.rows);
}

// sum_j x_ij^2 w_j for each row.
void squared_dot(const Matrix& X, Array1<const double> w, Array1<double> z) {
  require(Index(w.shape(0)) == X.n_columns() && Index(z.shape(0)) == X.n_rows(),
          "squared_dot: lengths differ");
  const nb::gil_scoped_release unlocked;
  std::visit(
      [&](const auto& rows) {
        for (Index i = 0; i < rows.n_rows; ++i) {
          const auto x = rows[i];
          double sum = 0;
          for (Index k = 0; k < x.size; ++k)
            sum += double(x.value[k]) * double(x.value[k]) * w.data()[column(x, k)];
          z.data()[i] = sum;
        }
      },
      X.rows);
}

}  // namespace

void bind_stochastic(nb::module_& m) {
  nb::class_<BoundSlopes>(m, "RowSlopes", "The slopes of a loss, row by row, at the targets of a problem.")
      .def_static("of_scores", &of_scores, "loss"_a, "Y"_a)
      .def_static("softmax", &of_codes<SoftmaxSlopes>, "code"_a, "n_outputs"_a)
      .def_static("crammer_singer", &of_codes<CrammerSingerSlopes>, "code"_a, "n_outputs"_a)
      .def_static("smoothed_crammer_singer", &of_codes<SmoothedCrammerSingerSlopes, double>, "code"_a,
                  "n_outputs"_a, "width"_a);
  nb::class_<StepPenalty>(m, "StepPenalty", "What a step does about the penalty (epoch/svrg.h).")
      .def(
          "__init__",
          [](StepPenalty* self, double l2, double l1, bool is_proximal) {
            new (self) StepPenalty{l2, l1, is_proximal};
          },
          "l2"_a, "l1"_a, "is_proximal"_a);
  m.def("sgd_epoch", &sgd, "slopes"_a, "X"_a, "s"_a, "order"_a, "batch_size"_a, "steps"_a, "ridge"_a,
        "intercept_ridge"_a, "theta"_a.noconvert(), "sum"_a.noconvert().none(), "U"_a.noconvert(),
        "One epoch in place: theta moves, sum gains it after each step, U holds the slopes met.");
  m.def("svrg_epoch", &svrg, "slopes"_a, "X"_a, "s"_a, "order"_a, "batch_size"_a, "rates"_a, "weights"_a,
        "intercept"_a, "drift"_a.none(), "anchor"_a.none(), "theta"_a.noconvert(),
        "One epoch in place; without drift and anchor, of plain gradient steps.");
  m.def("batch_slopes", &batch_slopes, "slopes"_a, "X"_a, "index"_a, "theta"_a, "U"_a.noconvert(),
        "U = the slopes of the rows in `index` at theta.");
  m.def("batch_adjoint", &batch_adjoint, "X"_a, "index"_a, "U"_a, "gradient"_a.noconvert(),
        "gradient = sum_i x_i u_i' over the rows in `index`, the intercept's 1 included.");
  m.def("squared_dot", &squared_dot, "X"_a, "w"_a, "z"_a.noconvert(), "z_i = sum_j x_ij^2 w_j.");
}

}  // namespace lineal
