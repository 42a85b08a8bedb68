#include "lineal/class_sums.h"

#include "bind.h"
#include "lineal/class_weights.h"
#include "lineal/column_moments.h"
#include "lineal/falling.h"

namespace lineal {
namespace {

using Codes = Array1<const std::int32_t>;
using Weights = Array1<const double>;
using Sums = Array2<double>;

template <class Term>
bool sum(const Matrix& X, const Codes& codes, const Weights& s, const Term& term, Sums& V, int n_threads) {
  n_threads = worthwhile(n_threads, X.n_stored);
  require(Index(codes.shape(0)) == X.n_rows(), "codes needs one entry per row of X");
  require(Index(s.shape(0)) == X.n_rows(), "s needs one entry per row of X");
  require(Index(V.shape(1)) == X.n_columns(), "V needs one column per column of X");
  const Index K = Index(V.shape(0));
  for (std::size_t i = 0; i < codes.size(); ++i)
    require(codes.data()[i] >= 0 && codes.data()[i] < K, "a class that does not exist");
  const nb::gil_scoped_release unlocked;
  return std::visit(
      [&](const auto& rows) {
        return class_sums_pass(rows, codes.data(), s.data(), K, term, V.data(), n_threads);
      },
      X.rows);
}

bool class_sums(const Matrix& X, Codes codes, Weights s, Sums V, int n_threads) {
  return sum(X, codes, s, Value{}, V, n_threads);
}

void class_counts_above(const Matrix& X, Codes codes, Weights s, double threshold, Sums V, int n_threads) {
  sum(X, codes, s, IsAbove{threshold}, V, n_threads);
}

void class_deviations(const Matrix& X, Codes codes, Weights s, Array2<const double> centre, Sums V,
                      int n_threads) {
  require(centre.shape(0) == V.shape(0) && centre.shape(1) == V.shape(1), "centre has the wrong shape");
  sum(X, codes, s, SquaredDeviation{centre.data(), X.n_columns()}, V, n_threads);
}

// Dense rows of either type, or nothing.
template <class Body>
void of_dense(const Matrix& X, Body&& body) {
  require(!X.is_sparse(), "these columns are to be dense");
  std::visit(
      [&]<class Rows>(const Rows& rows) {
        if constexpr (is_dense<Rows>) body(rows);
      },
      X.rows);
}

void column_moments(const Matrix& X, Codes codes, Weights s, Weights t, Sums sum, Sums square,
                    Array1<double> product, int n_threads) {
  const std::size_t n = std::size_t(X.n_rows()), d = std::size_t(X.n_columns());
  require(codes.shape(0) == n && s.shape(0) == n, "a code and a weight per row are needed");
  require(t.shape(0) == 0 || t.shape(0) == n, "t needs one number per row, or none");
  require(product.shape(0) == (t.shape(0) == 0 ? 0 : d), "product needs one number per column, if any");
  require(sum.shape(1) == d && square.shape(1) == d && sum.shape(0) == square.shape(0),
          "sums need a row per class and a column per column of X");
  const Index K = Index(sum.shape(0));
  for (std::size_t i = 0; i < n; ++i)
    require(codes.data()[i] >= 0 && codes.data()[i] < K, "a class that does not exist");
  n_threads = worthwhile(n_threads, X.n_stored);
  const nb::gil_scoped_release unlocked;
  of_dense(X, [&](const auto& rows) {
    column_moments_pass(rows, codes.data(), s.data(), t.shape(0) == 0 ? nullptr : t.data(), K, sum.data(),
                        square.data(), product.data(), n_threads);
  });
}

template <class V>
void column_ranges(Array2<const V> X, Array1<V> least, Array1<V> greatest, int n_threads) {
  require(X.shape(0) > 0, "a column without rows has no range");
  require(least.shape(0) == X.shape(1) && greatest.shape(0) == X.shape(1), "one place per column is needed");
  n_threads = worthwhile(n_threads, Index(X.size()));
  const nb::gil_scoped_release unlocked;
  column_ranges_pass(Dense<V>{Index(X.shape(0)), Index(X.shape(1)), X.data()}, least.data(), greatest.data(),
                     n_threads);
}

void chi2_scores(Array2<const double> V, Weights expected, Array1<double> scores, int n_threads) {
  require(expected.shape(0) == V.shape(0), "one share per class is needed");
  require(scores.shape(0) == V.shape(1), "one score per column is needed");
  n_threads = worthwhile(n_threads, Index(V.size()));
  const nb::gil_scoped_release unlocked;
  chi2_pass(V.data(), Index(V.shape(0)), Index(V.shape(1)), expected.data(), scores.data(), n_threads);
}

void order_falling(Weights scores, Array1<std::int64_t> order) {
  require(order.shape(0) == scores.shape(0), "one place per score is needed");
  const nb::gil_scoped_release unlocked;
  falling_order({scores.data(), scores.size()}, order.data());
}

template <class Weight>
void weigh(const Array2<const double>& V, const Weight& weight, Sums& W, int n_threads) {
  require(V.shape(0) == W.shape(1) && V.shape(1) == W.shape(0), "W needs the shape of V turned over");
  n_threads = worthwhile(n_threads, Index(V.size()));
  const nb::gil_scoped_release unlocked;
  class_weights_pass(V.data(), Index(V.shape(0)), Index(V.shape(1)), weight, W.data(), n_threads);
}

void log_shares(Array2<const double> V, double smoothing, Weights log_total, Weights at_zero, Sums W,
                int n_threads) {
  require(log_total.shape(0) == V.shape(0) && at_zero.shape(0) == V.shape(0),
          "one number per class is needed");
  weigh(V, LogShare{smoothing, log_total.data(), at_zero.data()}, W, n_threads);
}

void log_odds(Array2<const double> V, double smoothing, Weights total, Weights at_zero, Sums W,
              int n_threads) {
  require(total.shape(0) == V.shape(0) && at_zero.shape(0) == V.shape(0), "one number per class is needed");
  weigh(V, LogOdds{smoothing, total.data(), at_zero.data()}, W, n_threads);
}

void absences(Array2<const double> V, double smoothing, Weights total, Sums found, int n_threads) {
  require(total.shape(0) == V.shape(0) && found.shape(0) == V.shape(0), "one number per class is needed");
  require(found.shape(1) == 3, "found needs three columns");
  n_threads = worthwhile(n_threads, Index(V.size()));
  const nb::gil_scoped_release unlocked;
  for (std::size_t k = 0; k < V.shape(0); ++k) {
    const auto one =
        absences_pass(V.data() + k * V.shape(1), Index(V.shape(1)), total.data()[k], smoothing, n_threads);
    double* const row = found.data() + 3 * k;
    row[0] = one.log_sum, row[1] = one.n_met, row[2] = one.n_always;
  }
}

void complement_log_shares(Array2<const double> V, double smoothing, Weights log_total, Weights column_total,
                           Sums W, int n_threads) {
  require(log_total.shape(0) == V.shape(0), "one total per class is needed");
  require(column_total.shape(0) == V.shape(1), "one total per column is needed");
  weigh(V, ComplementLogShare{smoothing, log_total.data(), column_total.data()}, W, n_threads);
}

}  // namespace

void bind_class_sums(nb::module_& m) {
  m.def(
      "class_sums", &class_sums, "X"_a, "codes"_a, "s"_a, "V"_a.noconvert(), "n_threads"_a = 1,
      "V[k, j] = the weighted sum of column j over the rows of class k. Whether a stored number is below 0.");
  m.def("class_counts_above", &class_counts_above, "X"_a, "codes"_a, "s"_a, "threshold"_a, "V"_a.noconvert(),
        "n_threads"_a = 1, "The weights of the rows of each class whose stored entry is above a threshold.");
  m.def("class_deviations", &class_deviations, "X"_a, "codes"_a, "s"_a, "centre"_a, "V"_a.noconvert(),
        "n_threads"_a = 1, "Weighted squared distances of stored entries from the centre of their class.");
  m.def("column_moments", &column_moments, "X"_a, "codes"_a, "s"_a, "t"_a, "sum"_a.noconvert(),
        "square"_a.noconvert(), "product"_a.noconvert(), "n_threads"_a = 1,
        "Of dense columns about the first row: sums and squares of each class, and products with s t.");
  m.def("column_ranges", &column_ranges<double>, "X"_a.noconvert(), "least"_a.noconvert(),
        "greatest"_a.noconvert(), "n_threads"_a = 1, "The least and the greatest number of each column.");
  m.def("column_ranges", &column_ranges<float>, "X"_a.noconvert(), "least"_a.noconvert(),
        "greatest"_a.noconvert(), "n_threads"_a = 1);
  m.def("chi2_scores", &chi2_scores, "V"_a, "expected"_a, "scores"_a.noconvert(), "n_threads"_a = 1,
        "The chi-squared statistic of each column of V against the expected shares of its rows.");
  m.def("falling_order", &order_falling, "scores"_a, "order"_a.noconvert(),
        "The places of scores >= 0, largest first, the lower place first among equals.");
  m.def("log_shares", &log_shares, "V"_a, "smoothing"_a, "log_total"_a, "at_zero"_a, "W"_a.noconvert(),
        "n_threads"_a = 1, "W[j, k] = log(V[k, j] + smoothing) - log_total[k]; where V is 0, at_zero[k].");
  m.def("log_odds", &log_odds, "V"_a, "smoothing"_a, "total"_a, "at_zero"_a, "W"_a.noconvert(),
        "n_threads"_a = 1,
        "W[j, k] = log((V[k, j] + l) / (total[k] - V[k, j] + l)); where V is 0, at_zero[k].");
  m.def("absences", &absences, "V"_a, "smoothing"_a, "total"_a, "found"_a.noconvert(), "n_threads"_a = 1,
        "Of each class k, over the columns with V[k, j] > 0: the sum of log(total[k] - V[k, j] + smoothing) "
        "where that is above 0; how many they are; and how many have 0 there.");
  m.def("complement_log_shares", &complement_log_shares, "V"_a, "smoothing"_a, "log_total"_a,
        "column_total"_a, "W"_a.noconvert(), "n_threads"_a = 1,
        "W[j, k] = log_total[k] - log(column_total[j] - V[k, j] + smoothing).");
}

}  // namespace lineal
