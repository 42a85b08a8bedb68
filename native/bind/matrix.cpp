#include <algorithm>
#include <cstdlib>
#include <limits>
#include <thread>

#include "bind.h"
#include "lineal/foreign_rows.h"
#include "lineal/gram.h"
#include "lineal/parallel.h"
#include "lineal/passes.h"

namespace lineal {
namespace {

template <class V>
Matrix from_csr(Array1<const Index> start, Array1<const std::int32_t> index, Array1<const V> value,
                Index n_columns, nb::object owner, bool is_ordered) {
  require(start.shape(0) >= 1, "start needs n_rows + 1 entries");
  require(index.shape(0) == value.shape(0), "index and value differ in length");
  const Index n_rows = Index(start.shape(0)) - 1;
  return {Csr<V>{n_rows, n_columns, start.data(), index.data(), value.data(), is_ordered},
          Index(index.shape(0)), std::move(owner)};
}

// Numbers not yet written to, on large pages: the first touch of a small page costs more than filling it. A
// few megabytes come from where earlier ones were given back to, mostly, and a large page more than they need
// costs more than they do.
template <class T>
nb::ndarray<T, nb::numpy, nb::ndim<1>> new_large(Index n) {
  constexpr std::size_t few = std::size_t(1) << 23;
  if (std::size_t(n) * sizeof(T) < few)
    return nb::ndarray<T, nb::numpy, nb::ndim<1>>(new_array<T>({std::size_t(n)}));
  T* const data = LargePages<T>().allocate(std::size_t(n));
  const nb::capsule owner(data, [](void* p) noexcept { LargePages<T>().deallocate(static_cast<T*>(p), 0); });
  return nb::ndarray<T, nb::numpy, nb::ndim<1>>(data, {std::size_t(n)}, owner);
}

nb::ndarray<std::int32_t, nb::numpy, nb::ndim<1>> narrow(Array1<const Index> index, Index n_columns,
                                                         int n_threads) {
  const Index n = Index(index.shape(0));
  n_threads = worthwhile(n_threads, n);
  auto narrowed = new_large<std::int32_t>(n);
  const nb::gil_scoped_release unlocked;
  narrow_pass(index.data(), n, n_columns, narrowed.data(), n_threads);
  return narrowed;
}

// (start, index, value) of rows from numbers in another layout; None where an index is out of range.
template <class V, class Numbers>
nb::object deal(const Numbers& numbers, Index n_rows, Index n_columns, Index n_stored, int n_threads) {
  require(n_rows >= 0 && n_columns >= 0, "shapes are not negative");
  n_threads = worthwhile(n_threads, n_stored);
  auto start = new_large<Index>(n_rows + 1);
  auto index = new_large<std::int32_t>(n_stored);
  auto value = new_large<V>(n_stored);
  bool is_sound = false;
  {
    const nb::gil_scoped_release unlocked;
    Deal deal(n_rows, n_columns, n_stored, n_threads);
    is_sound = deal.count(numbers, start.data());
    if (is_sound) deal.copy(numbers, index.data(), value.data());
  }
  return is_sound ? nb::object(nb::make_tuple(start, index, value)) : nb::none();
}

template <class I, class V>
nb::object rows_of_coordinates(Array1<const I> row, Array1<const I> column, Array1<const V> value,
                               Index n_rows, Index n_columns, int n_threads) {
  const Index n_stored = Index(value.shape(0));
  require(row.shape(0) == value.shape(0) && column.shape(0) == value.shape(0), "lengths differ");
  return deal<V>(Coordinates<I, V>{n_stored, row.data(), column.data(), value.data()}, n_rows, n_columns,
                 n_stored, n_threads);
}

template <class I, class V>
nb::object rows_of_columns(Array1<const Index> start, Array1<const I> row, Array1<const V> value,
                           Index n_rows, int n_threads) {
  const Index n_columns = Index(start.shape(0)) - 1, n_stored = Index(value.shape(0));
  require(n_columns >= 0 && row.shape(0) == value.shape(0), "lengths differ");
  const Index* const starts = start.data();
  bool is_sound = starts[0] == 0 && starts[n_columns] <= n_stored;
  for (Index c = 0; c < n_columns; ++c) is_sound &= starts[c] <= starts[c + 1];
  if (!is_sound) return nb::none();
  return deal<V>(ByColumn<I, V>{n_columns, starts, row.data(), value.data()}, n_rows, n_columns,
                 starts[n_columns], n_threads);
}

// The same numbers with no column twice in a row, and the columns of each row in order, or of those rows
// alone that had one twice.
Matrix put_in_order(const Matrix& X, int n_threads, bool only_repeated) {
  n_threads = worthwhile(n_threads, 8 * X.n_stored);
  return std::visit(
      [&]<class Rows>(const Rows& rows) -> Matrix {
        if constexpr (requires { rows.index; }) {
          using V = typename Rows::Value;
          const Index n_rows = rows.n_rows, n_stored = rows.start[n_rows];
          auto index = new_large<std::int32_t>(n_stored);
          auto value = new_large<V>(n_stored);
          auto start = new_large<Index>(n_rows + 1);
          {
            const nb::gil_scoped_release unlocked;
            Index* const starts = start.data();
            starts[0] = 0;
            order_pass(rows, index.data(), value.data(), starts + 1, n_threads, only_repeated);
            close_gaps(rows, index.data(), value.data(), starts);
          }
          return {Csr<V>{n_rows, rows.n_columns, start.data(), index.data(), value.data(), !only_repeated},
                  start.data()[n_rows], nb::make_tuple(start, index, value)};
        } else {
          throw std::invalid_argument("dense rows are in order");
        }
      },
      X.rows);
}

// The same sparse rows with numbers of 32 bits; the places of both are those of X.
Matrix in_float32(const Matrix& X, int n_threads) {
  n_threads = worthwhile(n_threads, X.n_stored);
  const auto* const rows = std::get_if<Csr<double>>(&X.rows);
  require(rows != nullptr, "only sparse float64 rows become float32");
  auto value = new_large<float>(X.n_stored);
  {
    const nb::gil_scoped_release unlocked;
    narrow_values_pass(rows->value + rows->start[0], rows->stored(0, rows->n_rows),
                       value.data() + rows->start[0], n_threads);
  }
  return {Csr<float>{rows->n_rows, rows->n_columns, rows->start, rows->index, value.data(), rows->is_ordered},
          X.n_stored, nb::make_tuple(X.owner, value)};
}

// Puts the numbers of sparse rows behind what is in the rows of others, from `begin` of each row on; their
// columns are numbered from `first` on.
template <class V>
void put_rows(Array1<const Index> start, Array1<const std::int32_t> column, Array1<const V> value,
              Array1<const Index> begin, std::int32_t first, Array1<std::int32_t> to_column,
              Array1<V> to_value) {
  const auto n_rows = Index(begin.shape(0)), n = Index(column.shape(0)), room = Index(to_column.shape(0));
  require(Index(start.shape(0)) == n_rows + 1, "start needs n_rows + 1 entries");
  require(Index(value.shape(0)) == n && Index(to_value.shape(0)) == room,
          "columns and values differ in length");
  const Index *const starts = start.data(), *const begins = begin.data();
  const nb::gil_scoped_release unlocked;
  for (Index i = 0; i < n_rows; ++i) {
    const Index from = starts[i], size = starts[i + 1] - from, to = begins[i];
    require(0 <= from && 0 <= size && size <= n - from && 0 <= to && to <= room && size <= room - to,
            "a row lies outside its arrays");
    std::transform(column.data() + from, column.data() + from + size, to_column.data() + to,
                   [=](std::int32_t own) { return own + first; });
    std::copy_n(value.data() + from, size, to_value.data() + to);
  }
}

template <class V>
Matrix from_dense(Array2<const V> value, nb::object owner) {
  const Index n = Index(value.shape(0)), d = Index(value.shape(1));
  return {Dense<V>{n, d, value.data()}, n * d, std::move(owner)};
}

// How far apart the rows of W begin.
template <class T>
Index row_stride(const StridedArray2<T>& W) {
  require(W.shape(1) <= 1 || W.stride(1) == 1, "the numbers of a row of W must lie side by side");
  require(W.shape(0) <= 1 || W.stride(0) >= std::int64_t(W.shape(1)), "the rows of W overlap");
  return W.shape(0) <= 1 ? Index(W.shape(1)) : Index(W.stride(0));
}

template <class T>
void product(const Matrix& X, StridedArray2<const T> W, Array2<double> Z, int n_threads) {
  n_threads = worthwhile(n_threads, X.n_stored * Index(W.shape(1)));
  require(Index(W.shape(0)) == X.n_columns(), "W needs one row per column of X");
  require(Index(Z.shape(0)) == X.n_rows() && Z.shape(1) == W.shape(1), "Z has the wrong shape");
  const Index stride = row_stride(W);
  const nb::gil_scoped_release unlocked;
  std::visit(
      [&](const auto& rows) { dot_pass(rows, W.data(), stride, Index(W.shape(1)), Z.data(), n_threads); },
      X.rows);
}

// Z = X w + constant and V = X'(h Z); returns the sum of h Z.
double curved(const Matrix& X, Array1<const double> w, double constant, Array1<const double> h,
              Array1<double> Z, Array1<double> V, int n_threads) {
  n_threads = worthwhile(n_threads, 2 * X.n_stored);
  require(Index(w.shape(0)) == X.n_columns() && V.shape(0) == w.shape(0), "w and V need an entry per column");
  require(Index(h.shape(0)) == X.n_rows() && Z.shape(0) == h.shape(0), "h and Z need an entry per row");
  double total = 0.0;
  std::visit(
      [&]<class Rows>(const Rows& rows) {
        if constexpr (is_dense<Rows>) {
          const nb::gil_scoped_release unlocked;
          dense_curved_pass(rows, w.data(), constant, h.data(), Z.data(), V.data(), &total, n_threads);
        } else {
          throw std::invalid_argument("curved is for dense rows");
        }
      },
      X.rows);
  return total;
}

template <class T>
std::pair<double, double> adjoint_summary(const Matrix& X, Array2<const double> U, StridedArray2<const T> W,
                                          double strength, int n_threads) {
  n_threads = worthwhile(n_threads, X.n_stored * Index(W.shape(1)));
  require(Index(U.shape(0)) == X.n_rows(), "U needs one row per row of X");
  require(Index(W.shape(0)) == X.n_columns() && W.shape(1) == U.shape(1), "W has the wrong shape");
  const Index stride = row_stride(W);
  const nb::gil_scoped_release unlocked;
  const AdjointSummary summary = std::visit(
      [&](const auto& rows) {
        return adjoint_summary_pass(rows, U.data(), Index(U.shape(1)), W.data(), stride, strength, n_threads);
      },
      X.rows);
  return {summary.squared_norm, summary.largest};
}

template <class T>
double sum_of_squares(StridedArray2<const T> W, int n_threads) {
  const Index n = Index(W.shape(0)), K = Index(W.shape(1)), stride = row_stride(W);
  n_threads = worthwhile(n_threads, n * K);
  const nb::gil_scoped_release unlocked;
  return sum_of_squares_pass(W.data(), stride, n, K, n_threads);
}

template <bool squared>
void adjoint(const Matrix& X, Array2<const double> U, Array2<double> V, int n_threads) {
  if (squared) require_ordered(X);
  n_threads = worthwhile(n_threads, X.n_stored * Index(U.shape(1)));
  require(Index(U.shape(0)) == X.n_rows(), "U needs one row per row of X");
  require(Index(V.shape(0)) == X.n_columns() && V.shape(1) == U.shape(1), "V has the wrong shape");
  const Index K = Index(U.shape(1));
  const nb::gil_scoped_release unlocked;
  std::visit(
      [&](const auto& rows) {
        if constexpr (squared)
          squared_adjoint_pass(rows, U.data(), K, V.data(), n_threads);
        else
          adjoint_pass(rows, U.data(), K, V.data(), n_threads);
      },
      X.rows);
}

template <class V>
bool is_any_far(Array2<const V> X, Index step, double factor) {
  require(step >= 1, "step must be at least 1");
  const nb::gil_scoped_release unlocked;
  return far_pass(Dense<V>{Index(X.shape(0)), Index(X.shape(1)), X.data()}, step, factor);
}

nb::ndarray<double, nb::numpy> gram(const Matrix& X, Array1<const double> h, bool with_constant,
                                    int n_threads) {
  require_ordered(X);
  n_threads = worthwhile(n_threads, X.n_stored * X.n_columns());
  require(Index(h.shape(0)) == X.n_rows(), "h needs one entry per row of X");
  const std::size_t size = std::size_t(X.n_columns() + (with_constant ? 1 : 0));
  auto G = new_array<double>({size, size});
  const nb::gil_scoped_release unlocked;
  std::visit([&](const auto& rows) { gram_pass(rows, h.data(), with_constant, G.data(), n_threads); },
             X.rows);
  return G;
}

nb::ndarray<double, nb::numpy> grams(const Matrix& X, Array2<const double> H, bool with_constant,
                                     int n_threads) {
  n_threads = worthwhile(n_threads, X.n_stored * X.n_columns());
  require(Index(H.shape(0)) == X.n_rows(), "H needs one row per row of X");
  const std::size_t size = std::size_t(X.n_columns() + (with_constant ? 1 : 0));
  auto G = new_array<double>({H.shape(1), size, size});
  interruptible_pass([&](Watch& watch) {
    std::visit(
        [&](const auto& rows) {
          grams_pass(rows, H.data(), Index(H.shape(1)), with_constant, G.data(), n_threads, watch);
        },
        X.rows);
  });
  return G;
}

nb::ndarray<double, nb::numpy> squared_norms(const Matrix& X, int n_threads) {
  n_threads = worthwhile(n_threads, X.n_stored);
  auto norms = new_array<double>({std::size_t(X.n_rows())});
  const nb::gil_scoped_release unlocked;
  std::visit([&](const auto& rows) { squared_norm_pass(rows, norms.data(), n_threads); }, X.rows);
  return norms;
}

std::tuple<std::string, Index, Index> check(const Matrix& X, int n_threads) {
  n_threads = worthwhile(n_threads, X.n_stored);
  Flaw flaw;
  {
    const nb::gil_scoped_release unlocked;
    flaw = std::visit([&](const auto& rows) { return check_pass(rows, X.n_stored, n_threads); }, X.rows);
  }
  static constexpr const char* names[] = {"",           "bad_pointer", "bad_column",
                                          "not_finite", "repeated",    "unsorted"};
  return {names[flaw.kind], flaw.row, flaw.column};
}

// The columns `wanted` (increasing) as a sparse float64 matrix of their own.
Matrix take_columns(const Matrix& X, Array1<const Index> wanted, int n_threads) {
  require_ordered(X);
  n_threads = worthwhile(n_threads, X.n_stored);
  const Index m = Index(wanted.shape(0));
  for (Index j = 0; j < m; ++j) {
    require(wanted.data()[j] >= 0 && wanted.data()[j] < X.n_columns(), "no such column");
    require(j == 0 || wanted.data()[j] > wanted.data()[j - 1], "columns must increase");
  }
  const WantedColumns columns(wanted.data(), m, X.n_columns());
  auto start = new_array<Index>({std::size_t(X.n_rows()) + 1});
  std::visit([&](const auto& rows) { take_columns_count(rows, columns, start.data(), n_threads); }, X.rows);
  const Index n_stored = start.data()[X.n_rows()];
  auto index = new_array<std::int32_t>({std::size_t(n_stored)});
  auto value = new_array<double>({std::size_t(n_stored)});
  {
    const nb::gil_scoped_release unlocked;
    std::visit(
        [&](const auto& rows) {
          take_columns_copy(rows, columns, start.data(), index.data(), value.data(), n_threads);
        },
        X.rows);
  }
  return {Csr<double>{X.n_rows(), m, start.data(), index.data(), value.data()}, n_stored,
          nb::make_tuple(nb::cast(start), nb::cast(index), nb::cast(value))};
}

Matrix transposed(const Matrix& X) {
  require(X.n_rows() <= std::numeric_limits<std::int32_t>::max(), "too many rows for 32-bit indices");
  auto start = new_array<Index>({std::size_t(X.n_columns()) + 1});
  const auto locked = [](auto&& work) {
    const nb::gil_scoped_release unlocked;
    work();
  };
  locked([&] { std::visit([&](const auto& rows) { transpose_count(rows, start.data()); }, X.rows); });
  const Index n_stored = start.data()[X.n_columns()];
  auto row = new_array<std::int32_t>({std::size_t(n_stored)});
  auto value = new_array<double>({std::size_t(n_stored)});
  locked([&] {
    std::visit([&](const auto& rows) { transpose_copy(rows, start.data(), row.data(), value.data()); },
               X.rows);
  });
  return {Csr<double>{X.n_columns(), X.n_rows(), start.data(), row.data(), value.data()}, n_stored,
          nb::make_tuple(nb::cast(start), nb::cast(row), nb::cast(value))};
}

// Numbers not yet written to, on large pages and from a cache line on: weights are met all over the place,
// and the first touch of a small page costs more than filling it. NumPy asks for large pages from 4 MB on
// only.
nb::ndarray<double, nb::numpy> large_array(std::size_t n_rows, std::size_t n_columns) {
  const std::size_t n = n_rows * n_columns;
  double* const data = LargePages<double>().allocate(n);
  const nb::capsule owner(
      data, [](void* p) noexcept { LargePages<double>().deallocate(static_cast<double*>(p), 0); });
  return nb::ndarray<double, nb::numpy>(data, {n_rows, n_columns}, owner);
}

// Products of some rows of numbers with one vector.
void some_products(StridedArray2<const double> rows, Array1<const Index> places, Array1<const double> u,
                   Array1<double> out) {
  const Index n_rows = Index(rows.shape(0)), n = Index(rows.shape(1)), count = Index(places.shape(0));
  require(Index(u.shape(0)) == n && Index(out.shape(0)) == count, "some_products: lengths differ");
  require(n_rows == 0 || n == 0 || rows.stride(1) == 1, "some_products: rows must be runs of numbers");
  const Index apart = Index(rows.stride(0));
  for (Index k = 0; k < count; ++k)
    require(0 <= places.data()[k] && places.data()[k] < n_rows, "some_products: a place is out of range");
  const nb::gil_scoped_release unlocked;
  for (Index k = 0; k < count; ++k)
    out.data()[k] = dot(DenseRow<double>{rows.data() + places.data()[k] * apart, n}, u.data());
}

// Zeros, the system's, which it makes when a page is first touched. That is done here, by
// several threads, as the one that learns would pay for it alone.
nb::ndarray<double, nb::numpy> large_zeros(std::size_t n_rows, std::size_t n_columns) {
  constexpr std::size_t page = 4096 / sizeof(double);
  const std::size_t n = std::max<std::size_t>(n_rows * n_columns, 1);
  auto* const data = static_cast<double*>(std::calloc(n, sizeof(double)));
  if (data == nullptr) throw std::bad_alloc();
  const nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  {
    const nb::gil_scoped_release unlocked;
    want_large_pages(data, n * sizeof(double));
    const int n_parts =
        n < std::size_t(1) << 20 ? 1 : int(std::clamp(std::thread::hardware_concurrency(), 1u, 4u));
    parallel(n_parts, [&](int part) {
      const Range own = share(std::int64_t(n), part, n_parts);
      for (auto k = std::size_t(own.first); k < std::size_t(own.last); k += page)
        *static_cast<volatile double*>(data + k) = 0.0;
    });
  }
  return nb::ndarray<double, nb::numpy>(data, {n_rows, n_columns}, owner);
}

// (start, index, value) of a sparse matrix, for SciPy.
nb::object arrays(const nb::handle& self) {
  const Matrix& X = nb::cast<const Matrix&>(self);
  const nb::object owner = nb::borrow(self);
  return std::visit(
      [&]<class Rows>(const Rows& rows) -> nb::object {
        if constexpr (requires { rows.index; }) {
          const std::size_t n = std::size_t(rows.n_rows), stored = std::size_t(X.n_stored);
          return nb::make_tuple(
              nb::ndarray<const Index, nb::numpy>(rows.start, {n + 1}, owner),
              nb::ndarray<const std::int32_t, nb::numpy>(rows.index, {stored}, owner),
              nb::ndarray<const typename Rows::Value, nb::numpy>(rows.value, {stored}, owner));
        } else {
          throw std::invalid_argument("only sparse matrices have arrays to give");
        }
      },
      X.rows);
}

}  // namespace

void bind_matrix(nb::module_& m) {
  nb::class_<Matrix>(m, "Matrix", "Rows of data, sparse or dense, borrowed from NumPy arrays.")
      .def_static("from_csr", &from_csr<float>, "start"_a, "index"_a, "value"_a, "n_columns"_a, "owner"_a,
                  "is_ordered"_a = true)
      .def_static("from_csr", &from_csr<double>, "start"_a, "index"_a, "value"_a, "n_columns"_a, "owner"_a,
                  "is_ordered"_a = true)
      .def_static("from_dense", &from_dense<float>, "value"_a, "owner"_a)
      .def_static("from_dense", &from_dense<double>, "value"_a, "owner"_a)
      .def_prop_ro("n_rows", &Matrix::n_rows)
      .def_prop_ro("n_columns", &Matrix::n_columns)
      .def_ro("n_stored", &Matrix::n_stored)
      .def_prop_ro("is_sparse", &Matrix::is_sparse)
      .def_prop_ro("is_ordered", &Matrix::is_ordered, "Whether the columns of each row increase.")
      .def_prop_ro("is_float32", [](const Matrix& X) { return X.rows.index() % 2 == 0; })
      .def("check", &check, "n_threads"_a = 1,
           "(flaw, row, column) of the worst offence, first in row order; '' if there is none.")
      .def(
          "ordered", [](const Matrix& X, int n_threads) { return put_in_order(X, n_threads, false); },
          "n_threads"_a = 1,
          "A copy of sound sparse rows with columns that increase; numbers of a repeated column are added "
          "up.")
      .def("in_float32", &in_float32, "n_threads"_a = 1,
           "Sparse float64 rows with numbers of 32 bits, in the same places.")
      .def(
          "summed", [](const Matrix& X, int n_threads) { return put_in_order(X, n_threads, true); },
          "n_threads"_a = 1,
          "A copy in which the rows that repeat a column are as in `ordered`, and others as they are.")
      .def("dot", &product<float>, "W"_a.noconvert(), "Z"_a.noconvert(), "n_threads"_a = 1,
           "Z = X W for a feature-major W, summed in float64.")
      .def("dot", &product<double>, "W"_a.noconvert(), "Z"_a.noconvert(), "n_threads"_a = 1)
      .def("curved", &curved, "w"_a, "constant"_a, "h"_a, "Z"_a.noconvert(), "V"_a.noconvert(),
           "n_threads"_a = 1,
           "Z = X w + constant and V = X'(h Z) in one pass over dense rows; returns the sum of h Z.")
      .def("adjoint_summary", &adjoint_summary<float>, "U"_a, "W"_a.noconvert(), "strength"_a,
           "n_threads"_a = 1, "(|V|^2, max |V + strength W|) for V = X'U, which is never held.")
      .def("adjoint_summary", &adjoint_summary<double>, "U"_a, "W"_a.noconvert(), "strength"_a,
           "n_threads"_a = 1)
      .def("adjoint", &adjoint<false>, "U"_a, "V"_a.noconvert(), "n_threads"_a = 1, "V = X'U.")
      .def("squared_adjoint", &adjoint<true>, "U"_a, "V"_a.noconvert(), "n_threads"_a = 1,
           "V = (X*X)'U, squares entry by entry.")
      .def("gram", &gram, "h"_a, "with_constant"_a, "n_threads"_a = 1, "[X 1]' diag(h) [X 1].")
      .def("grams", &grams, "H"_a, "with_constant"_a, "n_threads"_a = 1,
           "The same for each column h of H, one after another.")
      .def("squared_norms", &squared_norms, "n_threads"_a = 1)
      .def("take_columns", &take_columns, "wanted"_a, "n_threads"_a = 1)
      .def("transposed", &transposed, "The columns as rows, sparse and in float64.")
      .def("arrays", &arrays,
           nb::sig("def arrays(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], "
                   "NDArray[numpy.float64] | NDArray[numpy.float32]]"));
  m.def("is_any_far", &is_any_far<double>, "X"_a, "step"_a, "factor"_a,
        "Whether a column lies so many deviations from 0, in every `step`-th row.");
  m.def("is_any_far", &is_any_far<float>, "X"_a, "step"_a, "factor"_a);
  m.def("narrow", &narrow, "index"_a.noconvert(), "n_columns"_a, "n_threads"_a = 1,
        "64-bit column indices in 32 bits, -1 for those out of range.");
  const auto bind_layouts = [&]<class I, class V>(I, V) {
    m.def("rows_of_coordinates", &rows_of_coordinates<I, V>, "row"_a.noconvert(), "column"_a.noconvert(),
          "value"_a.noconvert(), "n_rows"_a, "n_columns"_a, "n_threads"_a = 1,
          "(start, index, value) of rows from numbers as COO has them; None if an index is out of range.");
    m.def("rows_of_columns", &rows_of_columns<I, V>, "start"_a.noconvert(), "row"_a.noconvert(),
          "value"_a.noconvert(), "n_rows"_a, "n_threads"_a = 1,
          "(start, index, value) of rows from numbers as CSC has them; None if an index is out of range.");
  };
  bind_layouts(std::int32_t{}, float{});
  bind_layouts(std::int32_t{}, double{});
  bind_layouts(Index{}, float{});
  bind_layouts(Index{}, double{});
  m.def("large_array", &large_array, "n_rows"_a, "n_columns"_a,
        "Room for numbers, on large pages and from a cache line on.");
  m.def("some_products", &some_products, "rows"_a, "places"_a, "u"_a, "out"_a.noconvert(),
        "Products of some rows of numbers with one vector.");
  m.def("large_zeros", &large_zeros, "n_rows"_a, "n_columns"_a, "Zeros, on large pages.");
  m.def("sum_of_squares", &sum_of_squares<float>, "W"_a.noconvert(), "n_threads"_a = 1,
        "The sum of the squares of W, in float64.");
  m.def("sum_of_squares", &sum_of_squares<double>, "W"_a.noconvert(), "n_threads"_a = 1);
  m.def("put_rows", &put_rows<float>, "start"_a, "column"_a, "value"_a, "begin"_a, "first"_a,
        "to_column"_a.noconvert(), "to_value"_a.noconvert(),
        "Puts sparse rows into those of others, from `begin` of each on, with columns numbered from `first` "
        "on.");
  m.def("put_rows", &put_rows<double>, "start"_a, "column"_a, "value"_a, "begin"_a, "first"_a,
        "to_column"_a.noconvert(), "to_value"_a.noconvert());
  nb::class_<Rng>(m, "Rng", "The seeded generator of the native core.")
      .def(nb::init<std::uint64_t>(), "seed"_a);
}

}  // namespace lineal
