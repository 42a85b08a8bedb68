#include "lineal/epoch/prox_cd.h"

#include "bind.h"
#include "lineal/epoch/active_set.h"

namespace lineal {

void bind_prox_cd(nb::module_& m) {
  m.def(
      "gram_cd",
      [](Array2<const double> G, Index n_free, double l1, double l2, Array1<double> gradient,
         Array1<double> w, double tol, Index max_sweeps) {
        require(G.shape(0) == G.shape(1) && gradient.shape(0) == G.shape(0) && w.shape(0) == G.shape(0),
                "gram_cd: lengths differ");
        Sweeps done;
        interruptible([&](Watch& watch) {
          done = gram_cd(G.data(), Index(G.shape(0)), n_free, CoordinatePenalty{l1, l2}, gradient.data(),
                         w.data(), tol, max_sweeps, watch);
        });
        return std::make_pair(done.count, done.violation);
      },
      "G"_a, "n_free"_a, "l1"_a, "l2"_a, "gradient"_a.noconvert(), "w"_a.noconvert(), "tol"_a, "max_sweeps"_a,
      "Coordinate descent on an explicit quadratic model, in place; returns (sweeps, violation).");
  m.def(
      "gram_active_set",
      [](Array2<const double> G, Index n_free, double l1, double l2, Array1<double> gradient,
         Array1<double> w, double tol, Index max_events) {
        require(G.shape(0) == G.shape(1) && gradient.shape(0) == G.shape(0) && w.shape(0) == G.shape(0),
                "gram_active_set: lengths differ");
        Index n_events = 0;
        interruptible([&](Watch& watch) {
          n_events = ActiveSet(G.data(), Index(G.shape(0)), n_free, CoordinatePenalty{l1, l2},
                               gradient.data(), w.data())
                         .run(tol, max_events, watch);
        });
        return n_events;
      },
      "G"_a, "n_free"_a, "l1"_a, "l2"_a, "gradient"_a.noconvert(), "w"_a.noconvert(), "tol"_a, "max_events"_a,
      "The same model by an active set, in place; returns how many events it took.");
  m.def(
      "column_cd",
      [](const Matrix& XT, Array1<const double> h, int n_free, bool has_intercept, double l1, double l2,
         Array1<const double> curvature, Array1<double> residual, Array1<double> w, double b, double tol,
         Index max_sweeps) {
        const auto* columns = std::get_if<Csr<double>>(&XT.rows);
        require(columns != nullptr, "column_cd needs float64 sparse columns");
        require(Index(h.shape(0)) == columns->n_columns && residual.shape(0) == h.shape(0) &&
                    Index(w.shape(0)) == columns->n_rows && curvature.shape(0) == w.shape(0),
                "column_cd: lengths differ");
        const Constant constant = !has_intercept ? Constant::none
                                  : n_free > 0   ? Constant::free
                                                 : Constant::penalised;
        Sweeps done;
        interruptible([&](Watch& watch) {
          done = column_cd(*columns, h.data(), constant, CoordinatePenalty{l1, l2}, curvature.data(),
                           residual.data(), w.data(), b, tol, max_sweeps, watch);
        });
        return std::make_tuple(b, done.count, done.violation);
      },
      "XT"_a, "h"_a, "n_free"_a, "has_intercept"_a, "l1"_a, "l2"_a, "curvature"_a, "residual"_a.noconvert(),
      "w"_a.noconvert(), "b"_a, "tol"_a, "max_sweeps"_a,
      "Coordinate descent on columns, in place; returns (b, sweeps, violation).");
}

}  // namespace lineal
