#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "lineal/epoch/class_pairs.h"
#include "lineal/epoch/kernel_dual.h"
#include "lineal/kernel/equal_rows.h"
#include "lineal/kernel/expand.h"
#include "lineal/kernel/gram_source.h"
#include "lineal/kernel/product_table.h"

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
  require_ordered(X);
  KernelValues values{nullptr, matrix, X.n_columns(), X.is_sparse()};
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

std::unique_ptr<kernel::ProductTable> product_table(const Matrix& X, int n_threads) {
  require_ordered(X);
  require(n_threads >= 1, "n_threads must be at least 1");
  std::unique_ptr<kernel::ProductTable> table;
  interruptible_pass([&](Watch& watch) {
    std::visit(
        [&](const auto& rows) {
          table = std::make_unique<kernel::ProductTable>(rows, column_means(rows), n_threads, watch);
        },
        X.rows);
  });
  return table;
}

// Values for a gamma, written to K: good until something else is.
KernelValues gaussian_of(const kernel::ProductTable& table, double gamma, Array2<double> K, nb::object owner,
                         int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  const Index n = table.n_rows();
  require(Index(K.shape(0)) == n && Index(K.shape(1)) == n, "K has room for every two rows");
  const kernel::GaussianProfile profile{gamma};
  std::unique_ptr<AnySource> source;
  {
    const nb::gil_scoped_release unlocked;
    table.fill(profile, K.data(), n_threads);
    source = std::make_unique<AnySource>(std::in_place_index<3>, K.data(), n, table.error(profile));
  }
  return {std::move(source), std::move(owner), n, false};
}

void require_rows(const Index* row, std::size_t n, Index n_rows) {
  for (std::size_t k = 0; k < n; ++k) require(row[k] >= 0 && row[k] < n_rows, "no such row");
}

// Calls run(source, others, support) with the rows of Z and the blocks of expansions that they are to meet.
template <class Run>
void meet(const KernelValues& values, const Matrix& Z, Array1<const Index> row,
          Array2<const double> coefficient, Array1<const Index> segment, const Run& run) {
  require(Z.n_columns() == values.n_columns, "Z has another number of columns");
  require_ordered(Z);
  require(Z.is_sparse() == values.is_sparse, "Z has another layout");
  require(coefficient.shape(1) == row.shape(0), "one coefficient a row and output");
  require(segment.shape(0) >= 2 && segment.data()[0] == 0 &&
              segment.data()[segment.shape(0) - 1] == Index(row.shape(0)) &&
              std::is_sorted(segment.data(), segment.data() + segment.shape(0)),
          "segments must cover the rows");
  require_rows(row.data(), row.shape(0), values.get().n_rows());
  const kernel::SupportSums support{row.data(),          coefficient.data(),
                                    Index(row.shape(0)), Index(coefficient.shape(0)),
                                    segment.data(),      Index(segment.shape(0)) - 1};
  interruptible_pass([&](Watch& watch) {
    std::visit(
        [&]<class S>(const S& source) {
          if constexpr (requires { source.exact(); }) {
            const PackedRows<double> others = std::visit(
                [&](const auto& rows) { return PackedRows<double>(rows, source.centre()); }, Z.rows);
            run(source, others, support, watch);
          } else {
            throw std::invalid_argument("a Gram matrix has no rows to meet others with");
          }
        },
        *values.source);
  });
}

// Sums of kernel values of rows of Z with blocks of expansions: out[i, s, o] is the sum over the rows of
// segment s of coefficient[o, .] k(z_i, .).
nb::ndarray<double, nb::numpy> expand(const KernelValues& values, const Matrix& Z, Array1<const Index> row,
                                      Array2<const double> coefficient, Array1<const Index> segment,
                                      int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  require(segment.shape(0) >= 2, "segments must cover the rows");
  auto out = new_array<double>({std::size_t(Z.n_rows()), segment.shape(0) - 1, coefficient.shape(0)}, true);
  meet(values, Z, row, coefficient, segment,
       [&](const auto& source, const auto& others, const auto& support, Watch& watch) {
         kernel::expand(source, others, support, out.data(), n_threads, watch);
       });
  return out;
}

nb::ndarray<Index, nb::numpy> votes(const KernelValues& values, const Matrix& Z, Array1<const Index> row,
                                    Array2<const double> coefficient, Array1<const Index> segment,
                                    Array1<const double> intercept, int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  const std::size_t K = coefficient.shape(0) + 1;
  require(segment.shape(0) == K + 1 && intercept.shape(0) == K * (K - 1) / 2,
          "a segment a class and an intercept a pair");
  auto winner = new_array<Index>({std::size_t(Z.n_rows())}, true);
  meet(values, Z, row, coefficient, segment,
       [&](const auto& source, const auto& others, const auto& support, Watch& watch) {
         kernel::votes(source, others, support, intercept.data(), winner.data(), n_threads, watch);
       });
  return winner;
}

// out[i]: the sum of coefficient[k] times the kernel of row at[i] with row[k], in float64.
nb::ndarray<double, nb::numpy> sums(const KernelValues& values, Array1<const Index> at,
                                    Array1<const Index> row, Array1<const double> coefficient,
                                    int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  require(coefficient.shape(0) == row.shape(0), "one coefficient a row");
  require_rows(at.data(), at.shape(0), values.get().n_rows());
  require_rows(row.data(), row.shape(0), values.get().n_rows());
  auto out = new_array<double>({at.shape(0)}, true);
  interruptible_pass([&](Watch& watch) {
    values.get().add_exact(at.data(), Index(at.shape(0)),
                           Expansion{row.data(), coefficient.data(), Index(row.shape(0))}, out.data(),
                           n_threads, &watch);
  });
  return out;
}

using PairsResult = std::tuple<nb::ndarray<double, nb::numpy>, nb::ndarray<double, nb::numpy>>;

// The machines of all pairs of classes: coefficients in LIBSVM's layout, (K - 1, rows), and for each pair
// (is_certified, b, gap, D, worst, epochs, seconds). At the end of the token all are told as they stand.
PairsResult class_pairs(const KernelValues& values, Array1<const Index> rows, Array1<const Index> start,
                        Array1<const double> bound, double tol, double claim, Array1<const Index> block,
                        Array1<const double> share, Array1<const Index> max_inner, Index largest_block,
                        int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  require(start.shape(0) >= 3 && start.data()[0] == 0 &&
              start.data()[start.shape(0) - 1] == Index(rows.shape(0)) &&
              std::adjacent_find(start.data(), start.data() + start.shape(0), std::greater_equal<>()) ==
                  start.data() + start.shape(0),
          "every class needs rows");
  require(bound.shape(0) == rows.shape(0), "a bound a row");
  require_rows(rows.data(), rows.shape(0), values.get().n_rows());
  for (std::size_t k = 0; k < bound.shape(0); ++k)
    require(bound.data()[k] >= 0 && std::isfinite(bound.data()[k]), "bounds are finite and not below 0");
  const RowsByClass classes{rows.data(), start.data(), bound.data(), Index(start.shape(0)) - 1};
  const std::size_t n_pairs = std::size_t(classes.n_pairs()), n = rows.shape(0);
  require(block.shape(0) == n_pairs && share.shape(0) == n_pairs && max_inner.shape(0) == n_pairs,
          "a block, a share and a limit a pair");
  for (std::size_t p = 0; p < n_pairs; ++p)
    require(block.data()[p] >= 16, "a block has at least 16 variables");
  const PairPace pace{tol, claim, block.data(), share.data(), max_inner.data(), largest_block};
  auto coefficient = new_array<double>({std::size_t(classes.n_classes) - 1, n}, true);
  auto told = new_array<double>({n_pairs, 7}, true);
  std::vector<PairFound> found(n_pairs);
  interruptible([&](Watch& watch) {
    double* to = coefficient.data();
    solve_pairs(values.get(), classes, pace, found.data(), n_threads, watch,
                [&](Index i, Index j, Index position, double beta) {
                  to[(position < start.data()[i + 1] ? j - 1 : i) * Index(n) + position] = beta;
                });
  });
  double* to = told.data();
  for (const PairFound& each : found)
    for (const double number : {each.is_certified ? 1.0 : 0.0, each.b, each.gap, each.dual, each.worst,
                                double(each.epochs), each.seconds})
      *to++ = number;
  return {coefficient, told};
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
           "of Z.")
      .def("votes", &votes, "Z"_a, "row"_a, "coefficient"_a, "segment"_a, "intercept"_a, "n_threads"_a = 1,
           "The class that wins the most pairs, for each row of Z: the first of equals.")
      .def("sums", &sums, "at"_a, "row"_a, "coefficient"_a, "n_threads"_a = 1,
           "out[i]: the sum of coefficient[k] times the kernel of row at[i] with row[k], in float64.")
      .def("solve_pairs", &class_pairs, "rows"_a, "start"_a, "bound"_a, "tol"_a, "claim"_a, "block"_a,
           "share"_a, "max_inner"_a, "largest_block"_a, "n_threads"_a = 1,
           "Machines of all pairs of classes: coefficients (K - 1, n), and for each pair (is_certified, b, "
           "gap, D, worst, epochs, seconds). At the end of the token pairs are told as they stand.");
  nb::class_<kernel::ProductTable>(m, "ProductTable", "Dot products of every two rows.")
      .def_static("make", &product_table, "X"_a, "n_threads"_a = 1)
      .def("gaussian", &gaussian_of, "gamma"_a, "K"_a.noconvert(), "owner"_a, "n_threads"_a = 1,
           "Values of the Gaussian kernel, written to K, the owner: good until something else is.");
  nb::class_<Machine>(m, "KernelDual", "The dual of a kernel machine, block by block.")
      .def_static("make", &machine, "values"_a, "rows"_a, "place"_a, "group"_a, "c"_a, "lo"_a, "hi"_a,
                  "beta"_a, "block_size"_a)
      .def_prop_ro(
          "beta", [](const Machine& self) { return copied(self.dual->beta()); }, nb::rv_policy::move)
      .def_prop_ro(
          "F", [](const Machine& self) { return copied(self.dual->F()); }, nb::rv_policy::move)
      .def_prop_ro(
          "doubt", [](const Machine& self) { return self.dual->doubt(); },
          "By how much an F may be off at most.")
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
            KernelDual::Step done;
            interruptible_pass(
                [&](Watch& watch) { done = self.dual->step(share, max_inner, n_threads, &watch); });
            return std::tuple(done.violation, done.n_inner, done.n_changed);
          },
          "share"_a, "max_inner"_a, "n_threads"_a = 1,
          "Solves in one block: (violation before, steps inside, coefficients changed). A block that is "
          "given "
          "up leaves all as it was before it.")
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
            double dual = 0;
            interruptible_pass([&](Watch& watch) { dual = self.dual->exact_dual(n_threads, &watch); });
            return dual;
          },
          "n_threads"_a = 1, "D in float64.")
      .def(
          "correct",
          [](Machine& self, int n_threads) {
            Index n_rows = 0;
            interruptible_pass([&](Watch& watch) { n_rows = self.dual->correct(n_threads, &watch); });
            return n_rows;
          },
          "n_threads"_a = 1, "Recomputes in float64 what the gap may depend on; how many rows that were.")
      .def(
          "refresh",
          [](Machine& self, bool exactly, int n_threads) {
            interruptible_pass([&](Watch& watch) {
              exactly ? self.dual->refresh(n_threads, &watch) : self.dual->refresh_fast(n_threads, &watch);
            });
          },
          "exactly"_a = true, "n_threads"_a = 1)
      .def(
          "scale", [](Machine& self, double factor) { self.dual->scale(factor); }, "factor"_a)
      .def(
          "likely_primal", [](const Machine& self) { return self.dual->likely_primal(); },
          "P at the best thresholds, if F were exact.")
      .def(
          "retreat", [](Machine& self) { return self.dual->retreat(); },
          "Where 0 is feasible, halves coefficients that are worse than none until P grows; whether it did.")
      .def(
          "assume",
          [](Machine& self, Array1<const double> F, double doubt) {
            require(Index(F.shape(0)) == self.dual->n_rows(), "an F a row");
            self.dual->assume(taken<double>(F), doubt);
          },
          "F"_a, "doubt"_a, "Takes F as it is known elsewhere, each off by at most so much.")
      .def(
          "stand",
          [](Machine& self) {
            const auto sure = self.dual->stand();
            return std::tuple(sure.low, sure.high);
          },
          "What is sure of D without another kernel value: a bound below every objective, and one above D "
          "here. Gaps count every rounding from now on.");
}

}  // namespace lineal
