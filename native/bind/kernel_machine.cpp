#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "lineal/epoch/kernel_dual.h"
#include "lineal/kernel/equal_rows.h"
#include "lineal/kernel/expand.h"

namespace lineal {
namespace {

using kernel::Expansion;
using kernel::PackedRows;

using AnySource =
    std::variant<kernel::VectorSource<kernel::LinearProfile>, kernel::VectorSource<kernel::PolynomialProfile>,
                 kernel::VectorSource<kernel::GaussianProfile>, kernel::GramSource>;

// A source of kernel values, and the Python objects whose arrays it borrows.
struct KernelValues {
  std::unique_ptr<AnySource> source;
  nb::object owner;
  Index n_columns;
  bool is_sparse;

  const kernel::Source& get() const {
    return std::visit([](const auto& each) -> const kernel::Source& { return each; }, *source);
  }
};

template <class Rows>
std::vector<double> column_means(const Rows& X) {
  std::vector<double> mean;
  if constexpr (!requires { X.index; }) {
    mean.assign(std::size_t(X.n_columns), 0.0);
    for (Index i = 0; i < X.n_rows; ++i)
      for (Index j = 0; j < X.n_columns; ++j)
        mean[std::size_t(j)] += double(X.value[i * X.n_columns + j]) / double(X.n_rows);
  }
  return mean;
}

KernelValues from_rows(nb::object matrix, const std::string& kind, double gamma, double c, int degree) {
  const Matrix& X = nb::cast<const Matrix&>(matrix);
  KernelValues values{nullptr, matrix, X.n_columns(), X.rows.index() < 2};
  const nb::gil_scoped_release unlocked;
  std::visit(
      [&](const auto& rows) {
        if (kind == "linear") {
          values.source = std::make_unique<AnySource>(std::in_place_index<0>, rows, kernel::LinearProfile{},
                                                      std::vector<double>{});
        } else if (kind == "polynomial") {
          require(degree >= 1, "degree must be at least 1");
          values.source =
              std::make_unique<AnySource>(std::in_place_index<1>, rows,
                                          kernel::PolynomialProfile{gamma, c, degree}, std::vector<double>{});
        } else {
          require(kind == "gaussian", "no such kernel");
          values.source = std::make_unique<AnySource>(std::in_place_index<2>, rows,
                                                      kernel::GaussianProfile{gamma}, column_means(rows));
        }
      },
      X.rows);
  return values;
}

KernelValues from_gram(Array2<const double> G, nb::object owner) {
  require(G.shape(0) == G.shape(1), "a Gram matrix is square");
  return {std::make_unique<AnySource>(std::in_place_index<3>, G.data(), Index(G.shape(0))), std::move(owner),
          Index(G.shape(0)), false};
}

void require_rows(const Index* row, std::size_t n, Index n_rows) {
  for (std::size_t k = 0; k < n; ++k) require(row[k] >= 0 && row[k] < n_rows, "no such row");
}

// Sums of kernel values of rows of Z with blocks of expansions: out[i, s, o] is the sum over the rows of
// segment s of coefficient[o, .] k(z_i, .).
nb::ndarray<double, nb::numpy> expand(const KernelValues& values, const Matrix& Z, Array1<const Index> row,
                                      Array2<const double> coefficient, Array1<const Index> segment,
                                      int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  require(Z.n_columns() == values.n_columns, "Z has another number of columns");
  require((Z.rows.index() < 2) == values.is_sparse, "Z has another layout");
  require(coefficient.shape(1) == row.shape(0), "one coefficient a row and output");
  require(segment.shape(0) >= 2 && segment.data()[0] == 0 &&
              segment.data()[segment.shape(0) - 1] == Index(row.shape(0)) &&
              std::is_sorted(segment.data(), segment.data() + segment.shape(0)),
          "segments must cover the rows");
  require_rows(row.data(), row.shape(0), values.get().n_rows());
  const Index n = Z.n_rows(), n_outputs = Index(coefficient.shape(0)),
              n_segments = Index(segment.shape(0)) - 1;
  auto out = new_array<double>({std::size_t(n), std::size_t(n_segments), std::size_t(n_outputs)}, true);
  interruptible([&](Watch& watch) {
    std::visit(
        [&]<class S>(const S& source) {
          if constexpr (requires { source.exact(); }) {
            const PackedRows<double> others = std::visit(
                [&](const auto& rows) { return PackedRows<double>(rows, source.centre()); }, Z.rows);
            const kernel::SupportSums support{row.data(), coefficient.data(), Index(row.shape(0)),
                                              n_outputs,  segment.data(),     n_segments};
            kernel::expand(source, others, support, out.data(), n_threads, watch);
          } else {
            throw std::invalid_argument("a Gram matrix has no rows to meet others with");
          }
        },
        *values.source);
  });
  return out;
}

nb::ndarray<double, nb::numpy> copied(const std::vector<double>& from) {
  auto to = new_array<double>({from.size()});
  std::copy(from.begin(), from.end(), to.data());
  return to;
}

// The machine, and the values it borrows.
struct Machine {
  std::unique_ptr<KernelDual> dual;
  nb::object owner;
};

template <class T, class From>
std::vector<T> taken(const From& from) {
  return std::vector<T>(from.data(), from.data() + from.shape(0));
}

Machine machine(nb::object owner, Array1<const Index> rows, Array1<const Index> place,
                Array1<const std::int32_t> group, Array1<const double> c, Array1<const double> lo,
                Array1<const double> hi, Array1<const double> beta, Index block_size) {
  const KernelValues& values = nb::cast<const KernelValues&>(owner);
  const std::size_t m = c.shape(0);
  require(m >= 1 && place.shape(0) == m && group.shape(0) == m && lo.shape(0) == m && hi.shape(0) == m &&
              beta.shape(0) == m,
          "variables differ in number");
  require(block_size >= 16, "a block has at least 16 variables");
  require_rows(rows.data(), rows.shape(0), values.get().n_rows());
  require_rows(place.data(), m, Index(rows.shape(0)));
  int n_groups = 1;
  for (std::size_t v = 0; v < m; ++v) {
    require(group.data()[v] >= 0 && group.data()[v] < 64, "no such group");
    require(lo.data()[v] <= beta.data()[v] && beta.data()[v] <= hi.data()[v],
            "a coefficient is out of bounds");
    n_groups = std::max(n_groups, group.data()[v] + 1);
  }
  KernelDual::Variables variables{taken<Index>(place), taken<std::int32_t>(group), taken<double>(c),
                                  taken<double>(lo),   taken<double>(hi),          taken<double>(beta)};
  return {std::make_unique<KernelDual>(values.get(), taken<Index>(rows), std::move(variables), n_groups,
                                       block_size),
          std::move(owner)};
}

using GapResult = std::tuple<nb::ndarray<double, nb::numpy>, double, double>;

GapResult told(const KernelDual::Gap& gap) { return {copied(gap.b), gap.gap, gap.dual}; }

}  // namespace

void bind_kernel_machine(nb::module_& m) {
  m.def(
      "first_equal_rows",
      [](const Matrix& X) {
        auto first = new_array<Index>({std::size_t(X.n_rows())});
        const nb::gil_scoped_release unlocked;
        const std::vector<Index> found =
            std::visit([](const auto& rows) { return kernel::first_equal_rows(rows); }, X.rows);
        std::copy(found.begin(), found.end(), first.data());
        return first;
      },
      "X"_a, "For each row the first one that is equal to it.");
  nb::class_<KernelValues>(m, "KernelValues",
                           "Values of a kernel between rows, computed when they are needed.")
      .def_static("from_rows", &from_rows, "X"_a, "kind"_a, "gamma"_a = 1.0, "c"_a = 0.0, "degree"_a = 1)
      .def_static("from_gram", &from_gram, "G"_a.noconvert(), "owner"_a)
      .def_prop_ro("n_rows", [](const KernelValues& values) { return values.get().n_rows(); })
      .def("expand", &expand, "Z"_a, "row"_a, "coefficient"_a, "segment"_a, "n_threads"_a = 1,
           "out[i, s, o]: the sum over the rows of segment s of coefficient[o] times the kernel with row i "
           "of Z.");
  nb::class_<Machine>(m, "KernelDual", "The dual of a kernel machine, block by block.")
      .def_static("make", &machine, "values"_a, "rows"_a, "place"_a, "group"_a, "c"_a, "lo"_a, "hi"_a,
                  "beta"_a, "block_size"_a)
      .def_prop_ro(
          "beta", [](const Machine& self) { return copied(self.dual->beta()); }, nb::rv_policy::move)
      .def_prop_ro(
          "F", [](const Machine& self) { return copied(self.dual->F()); }, nb::rv_policy::move)
      .def_prop_ro("n_free", [](const Machine& self) { return self.dual->n_free(); })
      .def_prop_ro("n_values", [](const Machine& self) { return self.dual->n_values(); })
      .def(
          "set_block_size",
          [](Machine& self, Index size) {
            require(size >= 16, "a block has at least 16 variables");
            self.dual->set_block_size(size);
          },
          "size"_a)
      .def(
          "step",
          [](Machine& self, double share, Index max_inner, int n_threads) {
            const nb::gil_scoped_release unlocked;
            const KernelDual::Step done = self.dual->step(share, max_inner, n_threads);
            return std::tuple(done.violation, done.n_inner, done.n_changed);
          },
          "share"_a, "max_inner"_a, "n_threads"_a = 1,
          "Solves in one block: (violation before, steps inside, coefficients changed).")
      .def(
          "gap",
          [](Machine& self, bool doubting) {
            KernelDual::Gap gap;
            {
              const nb::gil_scoped_release unlocked;
              gap = doubting ? self.dual->gap() : self.dual->likely_gap();
            }
            return told(gap);
          },
          "doubting"_a = true,
          "(thresholds, gap, D): an upper bound of the gap, whatever float32 lost; without doubts a guess.")
      .def(
          "gap_at",
          [](const Machine& self, const std::vector<double>& b) {
            require(Index(b.size()) == self.dual->n_groups(), "a threshold a group");
            return told(self.dual->gap_at(b, true));
          },
          "b"_a)
      .def(
          "exact_dual",
          [](Machine& self, int n_threads) {
            const nb::gil_scoped_release unlocked;
            return self.dual->exact_dual(n_threads);
          },
          "n_threads"_a = 1, "D in float64.")
      .def(
          "correct",
          [](Machine& self, int n_threads) {
            const nb::gil_scoped_release unlocked;
            return self.dual->correct(n_threads);
          },
          "n_threads"_a = 1, "Recomputes in float64 what the gap may depend on; how many rows that were.")
      .def(
          "refresh",
          [](Machine& self, bool exactly, int n_threads) {
            const nb::gil_scoped_release unlocked;
            exactly ? self.dual->refresh(n_threads) : self.dual->refresh_fast(n_threads);
          },
          "exactly"_a = true, "n_threads"_a = 1)
      .def("scale", [](Machine& self, double factor) { self.dual->scale(factor); }, "factor"_a);
}

}  // namespace lineal
