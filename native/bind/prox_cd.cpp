#include "lineal/epoch/prox_cd.h"

#include "bind.h"
#include "lineal/epoch/active_set.h"
#include "lineal/epoch/group_cd.h"

namespace lineal {
namespace {

// Parts of the penalty of as many weights as a model has.
WeightPenalties penalties_of(const Array1<const double>& l1, const Array1<const double>& l2,
                             Index n_weights) {
  require(Index(l1.shape(0)) == n_weights && Index(l2.shape(0)) == n_weights,
          "l1 and l2 must have an entry for each weight");
  return {l1.data(), l2.data()};
}

// A matrix whose rows are runs of numbers, however far apart.
template <class T>
SquareOf<T> square_of(const StridedArray2<const T>& G) {
  const Index m = Index(G.shape(0)), apart = m > 1 ? Index(G.stride(0)) : m;
  require(Index(G.shape(1)) == m && (m <= 1 || (G.stride(1) == 1 && apart >= m)),
          "a square matrix must have rows that are runs of numbers");
  return {G.data(), m, apart};
}

// Groups that have each of m columns once.
ColumnGroups groups_of(const Array1<const Index>& order, const Array1<const Index>& start,
                       const Array1<const double>& strength, Index m) {
  const Index count = Index(strength.shape(0));
  require(Index(order.shape(0)) == m && Index(start.shape(0)) == count + 1 && start.data()[0] == 0 &&
              start.data()[count] == m,
          "groups must have each column once");
  for (Index g = 0; g < count; ++g)
    require(start.data()[g] < start.data()[g + 1], "a group must have a column");
  for (Index c = 0; c < m; ++c)
    require(0 <= order.data()[c] && order.data()[c] < m, "a column of a group is out of range");
  return {order.data(), start.data(), strength.data(), count};
}

// How many numbers the matrices of all groups have.
Index squares_of(const ColumnGroups& groups) {
  Index squares = 0;
  for (Index g = 0; g < groups.count; ++g) squares += groups.size(g) * groups.size(g);
  return squares;
}

template <class T>
void bind_gram(nb::module_& m, const char* name, const char* said) {
  m.def(
      "gram_cd",
      [](StridedArray2<const T> G, Array1<const double> l1, Array1<const double> l2, Array1<double> gradient,
         Array1<double> w, double tol, Index max_sweeps) {
        require(gradient.shape(0) == G.shape(0) && w.shape(0) == G.shape(0), "gram_cd: lengths differ");
        const SquareOf<T> square = square_of(G);
        const WeightPenalties penalties = penalties_of(l1, l2, square.size);
        Sweeps done;
        interruptible([&](Watch& watch) {
          done = gram_cd<T>(square, penalties, gradient.data(), w.data(), tol, max_sweeps, watch);
        });
        return std::make_pair(done.count, done.violation);
      },
      "G"_a.noconvert(), "l1"_a, "l2"_a, "gradient"_a.noconvert(), "w"_a.noconvert(), "tol"_a, "max_sweeps"_a,
      "Coordinate descent on an explicit quadratic model, in place; returns (sweeps, violation).");
  nb::class_<ActiveSetOf<T>>(m, name, said)
      .def(nb::init<>())
      .def(
          "run",
          [](ActiveSetOf<T>& self, StridedArray2<const T> G, Array1<const double> l1, Array1<const double> l2,
             Array1<double> gradient, Array1<double> w, Index n_last, double tol, Index max_events) {
            require(gradient.shape(0) == G.shape(0) && w.shape(0) == G.shape(0),
                    "ActiveSet.run: lengths differ");
            const SquareOf<T> square = square_of(G);
            require(0 <= n_last && n_last <= square.size, "ActiveSet.run: n_last is out of range");
            const WeightPenalties penalties = penalties_of(l1, l2, square.size);
            Index n_events = 0;
            interruptible([&](Watch& watch) {
              self.take(square, penalties, gradient.data(), w.data(), n_last);
              n_events = self.run(tol, max_events, watch);
            });
            return n_events;
          },
          "G"_a.noconvert(), "l1"_a, "l2"_a, "gradient"_a.noconvert(), "w"_a.noconvert(), "n_last"_a, "tol"_a,
          "max_events"_a,
          "Minimises the model of gram_cd, in place; returns how many events it took. What was factorised "
          "before holds on where the model is the last one with more weights before its last n_last.");
}

}  // namespace

void bind_prox_cd(nb::module_& m) {
  bind_gram<double>(m, "ActiveSet",
                    "The weights of a quadratic model that are not 0, and the factor of their matrix.");
  bind_gram<float>(m, "NarrowActiveSet", "The same where matrix and factor are float32.");
  m.def(
      "gram_group_cd",
      [](Array2<const double> G, Array1<const Index> order, Array1<const Index> start,
         Array1<const double> strength, Array2<const double> values, Array2<const double> vectors,
         Array2<double> gradient, Array2<double> w, double tol, Index max_sweeps) {
        const Index m = Index(G.shape(1)), n_outputs = Index(w.shape(0)), n_matrices = Index(values.shape(0));
        require(Index(w.shape(1)) == m && gradient.shape(0) == w.shape(0) &&
                    gradient.shape(1) == w.shape(1) && Index(values.shape(1)) == m &&
                    Index(G.shape(0)) == n_matrices * m && (n_matrices == 1 || n_matrices == n_outputs) &&
                    vectors.shape(0) == values.shape(0),
                "gram_group_cd: lengths differ");
        const ColumnGroups groups = groups_of(order, start, strength, m);
        require(Index(vectors.shape(1)) == squares_of(groups), "gram_group_cd: lengths differ");
        Sweeps done;
        interruptible([&](Watch& watch) {
          const GramSlopes slopes{G.data(), n_matrices, m, gradient.data()};
          done = GroupDescent(slopes, n_outputs, groups, {values.data(), vectors.data()}, w.data())
                     .run(tol, max_sweeps, watch);
        });
        return std::make_pair(done.count, done.violation);
      },
      "G"_a, "order"_a, "start"_a, "strength"_a, "values"_a, "vectors"_a, "gradient"_a.noconvert(),
      "w"_a.noconvert(), "tol"_a, "max_sweeps"_a,
      "Block coordinate descent on an explicit quadratic model, in place; returns (sweeps, violation). G has "
      "a "
      "matrix for all outputs or one for each, one below the other.");
  m.def(
      "column_group_cd",
      [](const Matrix& XT, Array2<const double> h, Array1<const Index> order, Array1<const Index> start,
         Array1<const double> strength, Array2<const double> values, Array2<const double> vectors,
         Array2<double> residual, Array2<double> w, double tol, Index max_sweeps) {
        const Index m = Index(w.shape(1)), n_outputs = Index(w.shape(0)), n_matrices = Index(h.shape(0));
        require((m == XT.n_rows() || m == XT.n_rows() + 1) && Index(h.shape(1)) == XT.n_columns() &&
                    residual.shape(0) == w.shape(0) && residual.shape(1) == h.shape(1) &&
                    Index(values.shape(1)) == m && values.shape(0) == h.shape(0) &&
                    (n_matrices == 1 || n_matrices == n_outputs) && vectors.shape(0) == h.shape(0),
                "column_group_cd: lengths differ");
        const ColumnGroups groups = groups_of(order, start, strength, m);
        require(Index(vectors.shape(1)) == squares_of(groups), "column_group_cd: lengths differ");
        std::vector<double> gradient(std::size_t(m * n_outputs));
        Sweeps done;
        interruptible([&](Watch& watch) {
          std::visit(
              [&](const auto& rows) {
                const ColumnSlopes slopes{rows, h.data(), n_matrices, m, residual.data(), gradient.data()};
                done = GroupDescent(slopes, n_outputs, groups, {values.data(), vectors.data()}, w.data())
                           .run(tol, max_sweeps, watch);
              },
              XT.rows);
        });
        return std::make_pair(done.count, done.violation);
      },
      "XT"_a, "h"_a, "order"_a, "start"_a, "strength"_a, "values"_a, "vectors"_a, "residual"_a.noconvert(),
      "w"_a.noconvert(), "tol"_a, "max_sweeps"_a,
      "The same on columns, in place; returns (sweeps, violation). A column more than XT has is a constant "
      "1.");
  m.def(
      "group_blocks",
      [](const Matrix& XT, Array1<const double> h, Array1<const Index> order, Array1<const Index> start,
         Array1<const double> strength, Array1<double> blocks) {
        const Index m = Index(order.shape(0));
        require((m == XT.n_rows() || m == XT.n_rows() + 1) && Index(h.shape(0)) == XT.n_columns(),
                "group_blocks: lengths differ");
        const ColumnGroups groups = groups_of(order, start, strength, m);
        require(Index(blocks.shape(0)) == squares_of(groups), "group_blocks: lengths differ");
        if (m > XT.n_rows())
          require(groups.size(groups.count - 1) == 1 && order.data()[m - 1] == m - 1,
                  "group_blocks: the constant must be the last group");
        const nb::gil_scoped_release unlocked;
        std::vector<double> column(std::size_t(XT.n_columns()));
        std::visit(
            [&](const auto& rows) { group_blocks(rows, h.data(), groups, column.data(), blocks.data()); },
            XT.rows);
      },
      "XT"_a, "h"_a, "order"_a, "start"_a, "strength"_a, "blocks"_a.noconvert(),
      "X_g'diag(h)X_g of each group of columns, row by row, group after group.");
  m.def(
      "column_cd",
      [](const Matrix& XT, Array1<const double> h, bool has_intercept, Array1<const double> l1,
         Array1<const double> l2, Array1<const double> curvature, Array1<double> residual, Array1<double> w,
         double b, double tol, Index max_sweeps) {
        require(Index(h.shape(0)) == XT.n_columns() && residual.shape(0) == h.shape(0) &&
                    Index(w.shape(0)) == XT.n_rows() && curvature.shape(0) == w.shape(0),
                "column_cd: lengths differ");
        const WeightPenalties penalties = penalties_of(l1, l2, XT.n_rows() + has_intercept);
        Sweeps done;
        interruptible([&](Watch& watch) {
          std::visit(
              [&](const auto& columns) {
                done = column_cd(columns, h.data(), has_intercept, penalties, curvature.data(),
                                 residual.data(), w.data(), b, tol, max_sweeps, watch);
              },
              XT.rows);
        });
        return std::make_tuple(b, done.count, done.violation);
      },
      "XT"_a, "h"_a, "has_intercept"_a, "l1"_a, "l2"_a, "curvature"_a, "residual"_a.noconvert(),
      "w"_a.noconvert(), "b"_a, "tol"_a, "max_sweeps"_a,
      "Coordinate descent on columns, in place; returns (b, sweeps, violation).");
}

}  // namespace lineal
