#include "bind.h"
#include "lineal/near/codes.h"
#include "lineal/near/inverted.h"
#include "lineal/near/kd_tree.h"
#include "lineal/near/product.h"
#include "lineal/near/sparse.h"
#include "lineal/near/strings.h"

namespace lineal {
namespace {

using Points = Array2<const double>;
using Found = nb::tuple;  // distances and rows, (n_queries, k) each

const Csr<double>& sparse(const Matrix& X) {
  const Csr<double>* rows = std::get_if<Csr<double>>(&X.rows);
  require(rows != nullptr, "the rows must be sparse and float64");
  return *rows;
}

// Runs search(answers, watch) and returns what it found.
template <class Search>
Found found(Index n_queries, Index k, Index n_rows, int n_threads, Search&& search) {
  require(k >= 1 && k <= n_rows, "k must be between 1 and the number of rows");
  require(n_threads >= 1, "n_threads must be at least 1");
  auto distance = new_array<double>({std::size_t(n_queries), std::size_t(k)});
  auto row = new_array<Index>({std::size_t(n_queries), std::size_t(k)});
  const near::Answers answers{k, distance.data(), row.data()};
  interruptible_pass([&](Watch& watch) { search(answers, watch); });
  return nb::make_tuple(nb::cast(distance), nb::cast(row));
}

template <class Fill>
nb::ndarray<double, nb::numpy> table(Index n_queries, Index n_rows, int n_threads, Fill&& fill) {
  require(n_threads >= 1, "n_threads must be at least 1");
  auto out = new_array<double>({std::size_t(n_queries), std::size_t(n_rows)});
  interruptible_pass([&](Watch& watch) { fill(out.data(), watch); });
  return out;
}

// An index over dense points, and the array that it borrows.
template <class Index_>
struct DenseIndex {
  explicit DenseIndex(Points all)
      : points(std::move(all)), index(points.data(), Index(points.shape(0)), Index(points.shape(1))) {}

  Found search(Points queries, Index k, int n_threads) const {
    require(Index(queries.shape(1)) == index.n_columns(), "queries have the wrong number of columns");
    const Index n = Index(queries.shape(0));
    return found(n, k, index.n_rows(), n_threads, [&](const near::Answers& answers, Watch& watch) {
      index.search(queries.data(), n, answers, n_threads, watch);
    });
  }
  Points points;
  Index_ index;
};

template <class Index_>
auto bind_dense(nb::module_& m, const char* name, const char* doc) {
  return nb::class_<DenseIndex<Index_>>(m, name, doc)
      .def(nb::init<Points>(), "points"_a.noconvert())
      .def("search", &DenseIndex<Index_>::search, "queries"_a.noconvert(), "k"_a, "n_threads"_a = 1,
           nb::sig("def search(self, queries: NDArray[numpy.float64], k: int, n_threads: int = 1) -> "
                   "tuple[NDArray[numpy.float64], NDArray[numpy.int64]]"));
}

// An index over sparse rows, and the matrix that it borrows.
template <class Metric>
struct SparseIndex {
  explicit SparseIndex(nb::object matrix)
      : owner(std::move(matrix)), index(sparse(nb::cast<const Matrix&>(owner))) {}

  Found search(const Matrix& queries, Index k, int n_threads) const {
    const Csr<double>& rows = sparse(queries);
    require(rows.n_columns == index.rows().n_columns, "queries have the wrong number of columns");
    return found(
        rows.n_rows, k, index.rows().n_rows, n_threads,
        [&](const near::Answers& answers, Watch& watch) { index.search(rows, answers, n_threads, watch); });
  }
  nb::object owner;
  near::InvertedIndex<Metric> index;
};

template <class Metric>
void bind_sparse(nb::module_& m, const char* name, const char* doc) {
  nb::class_<SparseIndex<Metric>>(m, name, doc)
      .def(nb::init<nb::object>(), "rows"_a, nb::sig("def __init__(self, rows: Matrix) -> None"))
      .def("search", &SparseIndex<Metric>::search, "queries"_a, "k"_a, "n_threads"_a = 1,
           nb::sig("def search(self, queries: Matrix, k: int, n_threads: int = 1) -> "
                   "tuple[NDArray[numpy.float64], NDArray[numpy.int64]]"));
}

template <class Code>
struct Codes {
  using Rows = Array2<const Code>;
  Codes(Rows codes, Array1<const double> weights)
      : index(codes.data(), Index(codes.shape(0)), Index(codes.shape(1)), weights.data(),
              Index(weights.shape(0))) {
    require(weights.shape(0) == 0 || weights.shape(0) == codes.shape(1), "one weight for each column");
  }
  Found search(Rows queries, Index k, int n_threads) const {
    require(Index(queries.shape(1)) == index.n_columns(), "queries have the wrong number of columns");
    const Index n = Index(queries.shape(0));
    return found(n, k, index.n_rows(), n_threads, [&](const near::Answers& answers, Watch& watch) {
      index.search(queries.data(), n, answers, n_threads, watch);
    });
  }
  nb::ndarray<double, nb::numpy> distances(Rows queries, int n_threads) const {
    require(Index(queries.shape(1)) == index.n_columns(), "queries have the wrong number of columns");
    const Index n = Index(queries.shape(0));
    return table(n, index.n_rows(), n_threads, [&](double* out, Watch& watch) {
      index.all_distances(queries.data(), n, out, n_threads, watch);
    });
  }
  near::CodeIndex<Code> index;
};

template <class Code>
void bind_codes(nb::module_& m, const char* name) {
  nb::class_<Codes<Code>>(m, name, "Rows of codes under the Hamming distance.")
      .def(nb::init<Array2<const Code>, Array1<const double>>(), "codes"_a.noconvert(),
           "weights"_a.noconvert())
      .def("search", &Codes<Code>::search, "queries"_a.noconvert(), "k"_a, "n_threads"_a = 1,
           nb::sig("def search(self, queries: NDArray, k: int, n_threads: int = 1) -> "
                   "tuple[NDArray[numpy.float64], NDArray[numpy.int64]]"))
      .def("distances", &Codes<Code>::distances, "queries"_a.noconvert(), "n_threads"_a = 1);
}

using Symbols = Array1<const near::Symbol>;
using Starts = Array1<const Index>;

near::Strings strings(const Symbols& symbols, const Starts& start) {
  require(start.shape(0) >= 1, "start needs one more entry than there are strings");
  const Index n = Index(start.shape(0)) - 1;
  require(start.data()[0] == 0 && start.data()[n] == Index(symbols.shape(0)),
          "start does not fit the symbols");
  for (Index i = 0; i < n; ++i) require(start.data()[i] <= start.data()[i + 1], "start must not fall");
  return {symbols.data(), start.data(), n};
}

struct StringIndex {
  StringIndex(Symbols all, Starts starts)
      : symbols(std::move(all)), start(std::move(starts)), index(strings(symbols, start)) {}

  Found search(Symbols queries, Starts starts, Index k, int n_threads) const {
    const near::Strings rows = strings(queries, starts);
    return found(rows.size, k, index.n_rows(), n_threads, [&](const near::Answers& answers, Watch& watch) {
      index.search(rows, answers, n_threads, watch);
    });
  }
  nb::ndarray<double, nb::numpy> distances(Symbols queries, Starts starts, int n_threads) const {
    const near::Strings rows = strings(queries, starts);
    return table(rows.size, index.n_rows(), n_threads,
                 [&](double* out, Watch& watch) { index.all_distances(rows, out, n_threads, watch); });
  }
  Symbols symbols;
  Starts start;
  near::StringIndex index;
};

template <class Metric>
nb::ndarray<double, nb::numpy> dense_distances(Points points, Points queries, int n_threads) {
  require(points.shape(1) == queries.shape(1), "queries have the wrong number of columns");
  const Index n = Index(points.shape(0)), d = Index(points.shape(1)), m = Index(queries.shape(0));
  return table(m, n, n_threads, [&](double* out, Watch& watch) {
    near::all_distances<Metric>(points.data(), n, d, queries.data(), m, out, n_threads, watch);
  });
}

template <class Metric>
nb::ndarray<double, nb::numpy> sparse_distances(const Matrix& points, const Matrix& queries, int n_threads) {
  require(points.n_columns() == queries.n_columns(), "queries have the wrong number of columns");
  return table(queries.n_rows(), points.n_rows(), n_threads, [&](double* out, Watch& watch) {
    near::all_distances<Metric>(sparse(points), sparse(queries), out, n_threads, watch);
  });
}

template <class Metric>
Found sparse_search(const Matrix& points, const Matrix& queries, Index k, int n_threads) {
  require(points.n_columns() == queries.n_columns(), "queries have the wrong number of columns");
  return found(queries.n_rows(), k, points.n_rows(), n_threads,
               [&](const near::Answers& answers, Watch& watch) {
                 near::search_sparse<Metric>(sparse(points), sparse(queries), answers, n_threads, watch);
               });
}

// Lengths of rows, their squares summed in the order of the columns: the same bits sparse and dense.
nb::ndarray<double, nb::numpy> row_lengths(const Matrix& X) {
  auto out = new_array<double>({std::size_t(X.n_rows())});
  const nb::gil_scoped_release unlocked;
  std::visit(
      [&]<class Rows>(const Rows& rows) {
        if constexpr (std::is_same_v<typename Rows::Value, double>) {
          for (Index i = 0; i < rows.n_rows; ++i) out.data()[i] = near::length(rows[i].value, rows[i].size);
        } else {
          throw std::invalid_argument("the rows must be float64");
        }
      },
      X.rows);
  return out;
}

}  // namespace

void bind_neighbors(nb::module_& m) {
  bind_dense<near::KdTree>(m, "KdTree", "A kd-tree over dense points, which are copied.")
      .def(
          "n_visits",
          [](const DenseIndex<near::KdTree>& self, Points queries, Index k) {
            require(Index(queries.shape(1)) == self.index.n_columns(),
                    "queries have the wrong number of columns");
            require(k >= 1, "k must be at least 1");
            const nb::gil_scoped_release unlocked;
            return self.index.n_visits(queries.data(), Index(queries.shape(0)), k);
          },
          "queries"_a.noconvert(), "k"_a, "How many nodes a search visits, in the mean over some queries.");
  bind_dense<near::ProductIndex<near::Euclidean>>(m, "EuclideanProduct",
                                                  "Dense points, filtered by a matrix product.");
  bind_dense<near::ProductIndex<near::Cosine>>(m, "CosineProduct",
                                               "Dense rows of length 1 or 0, filtered by a matrix product.");
  bind_sparse<near::Euclidean>(m, "EuclideanInverted", "An inverted index over sparse rows.");
  bind_sparse<near::Cosine>(m, "CosineInverted", "An inverted index over sparse rows of length 1 or 0.");
  bind_codes<std::uint8_t>(m, "Codes8");
  bind_codes<std::uint16_t>(m, "Codes16");
  bind_codes<std::int32_t>(m, "Codes32");
  nb::class_<StringIndex>(m, "StringIndex", "Strings of code points under the Levenshtein distance.")
      .def(nb::init<Symbols, Starts>(), "symbols"_a.noconvert(), "start"_a.noconvert())
      .def("search", &StringIndex::search, "symbols"_a.noconvert(), "start"_a.noconvert(), "k"_a,
           "n_threads"_a = 1,
           nb::sig("def search(self, symbols: NDArray[numpy.uint32], start: NDArray[numpy.int64], k: int, "
                   "n_threads: int = 1) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64]]"))
      .def("distances", &StringIndex::distances, "symbols"_a.noconvert(), "start"_a.noconvert(),
           "n_threads"_a = 1);
  m.def("euclidean_distances", &dense_distances<near::Euclidean>, "points"_a.noconvert(),
        "queries"_a.noconvert(), "n_threads"_a = 1, "(n_queries, n_points), each summed in column order.");
  m.def("euclidean_distances", &sparse_distances<near::Euclidean>, "points"_a, "queries"_a,
        "n_threads"_a = 1);
  m.def("cosine_distances", &dense_distances<near::Cosine>, "points"_a.noconvert(), "queries"_a.noconvert(),
        "n_threads"_a = 1, "(n_queries, n_points) for rows of length 1 or 0.");
  m.def("cosine_distances", &sparse_distances<near::Cosine>, "points"_a, "queries"_a, "n_threads"_a = 1);
  m.def("euclidean_search", &sparse_search<near::Euclidean>, "points"_a, "queries"_a, "k"_a,
        "n_threads"_a = 1,
        nb::sig("def euclidean_search(points: Matrix, queries: Matrix, k: int, n_threads: int = 1) -> "
                "tuple[NDArray[numpy.float64], NDArray[numpy.int64]]"));
  m.def("cosine_search", &sparse_search<near::Cosine>, "points"_a, "queries"_a, "k"_a, "n_threads"_a = 1,
        nb::sig("def cosine_search(points: Matrix, queries: Matrix, k: int, n_threads: int = 1) -> "
                "tuple[NDArray[numpy.float64], NDArray[numpy.int64]]"));
  m.def("row_lengths", &row_lengths, "rows"_a, "Lengths of rows, summed in column order.");
}

}  // namespace lineal
