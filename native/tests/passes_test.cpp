#include "lineal/passes.h"

#include <limits>
#include <vector>

#include "check.h"
#include "lineal/epoch/craig.h"
#include "lineal/foreign_rows.h"
#include "samples.h"

using namespace lineal;
using check::same_bits;
using check::Sample;
using check::sample_matrix;
using check::uniform;
using check::uniforms;

namespace {

constexpr int most_threads = 5;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

using Numbers = std::vector<double>;

// Runs pass(n_threads, out) with 1 .. 5 threads on an array of NaN, demands the same bits each time, and
// compares them with the plain sums.
template <class Pass>
void check_bits(const Numbers& wanted, Pass&& pass) {
  Numbers first(wanted.size(), not_a_number);
  pass(1, first.data());
  for (std::size_t k = 0; k < wanted.size(); ++k)
    CHECK_NEAR(first[k], wanted[k], 1e-12);  // at most 60 terms below 8, in another order
  for (int n_threads = 2; n_threads <= most_threads; ++n_threads) {
    Numbers out(wanted.size(), not_a_number);
    pass(n_threads, out.data());
    CHECK(same_bits(out, first));
  }
}

// Calls f(rng, sample, view) for both layouts and storage types, over shapes that include every kind of
// nothing.
template <class F>
void each_matrix(F&& f) {
  Rng rng(2);
  const auto of_type = [&]<class V>(V) {
    for (const Index n : {0, 1, 40})
      for (const Index d : {0, 1, 60})
        for (const double density : {0.2, 1.0}) {
          const Sample<V> X = sample_matrix<V>(rng, n, d, density);
          f(rng, X, X.csr());
          if constexpr (sizeof(V) == 8) f(rng, X, X.dense());  // rows_test.cpp has every combination
        }
  };
  of_type(float{});
  of_type(double{});
}

}  // namespace

THEOREM("dot_pass is X W, with the same bits for any number of threads") {
  each_matrix([](Rng& rng, const auto& X, const auto& rows) {
    for (const Index K :
         {1, 4, 5, 12, 21}) {  // of lanes: one, whole and ragged ones, more than the registers hold
      const Numbers W = uniforms(rng, X.n_columns * K, -1, 1);
      Numbers wanted(std::size_t(X.n_rows * K), 0.0);
      for (Index i = 0; i < X.n_rows; ++i)
        for (Index j = 0; j < X.n_columns; ++j)
          for (Index k = 0; k < K; ++k)
            wanted[std::size_t(i * K + k)] += X.at(i, j) * W[std::size_t(j * K + k)];
      check_bits(wanted, [&](int n_threads, double* Z) { dot_pass(rows, W.data(), K, K, Z, n_threads); });
    }
  });
}

THEOREM(
    "adjoint_pass is X'U and squared_adjoint_pass (X*X)'U, with the same bits for any number of threads") {
  each_matrix([](Rng& rng, const auto& X, const auto& rows) {
    for (const Index K : {1, 4, 5, 12, 21}) {
      Numbers U = uniforms(rng, X.n_rows * K, -1, 1);
      for (double& u : U)
        if (uniform(rng, 0, 1) < 0.3) u = 0.0;
      Numbers plain(std::size_t(X.n_columns * K), 0.0), squared = plain;
      for (Index i = 0; i < X.n_rows; ++i)
        for (Index j = 0; j < X.n_columns; ++j)
          for (Index k = 0; k < K; ++k) {
            const double a = X.at(i, j), u = U[std::size_t(i * K + k)];
            plain[std::size_t(j * K + k)] += a * u;
            squared[std::size_t(j * K + k)] += a * a * u;
          }
      check_bits(plain, [&](int n, double* V) { adjoint_pass(rows, U.data(), K, V, n); });
      check_bits(squared, [&](int n, double* V) { squared_adjoint_pass(rows, U.data(), K, V, n); });
    }
  });
}

THEOREM(
    "adjoint_pass over enough rows for several shares is X'U, with the same bits for any number of threads") {
  Rng rng(4);
  const auto X = sample_matrix<double>(rng, 5000, 7, 0.4);
  const auto check = [&](const auto& rows) {
    for (const Index K : {1, 3}) {
      const Numbers U = uniforms(rng, X.n_rows * K, -1, 1);
      Numbers wanted(std::size_t(X.n_columns * K), 0.0);
      for (Index i = 0; i < X.n_rows; ++i)
        for (Index j = 0; j < X.n_columns; ++j)
          for (Index k = 0; k < K; ++k)
            wanted[std::size_t(j * K + k)] += X.at(i, j) * U[std::size_t(i * K + k)];
      Numbers first;
      for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
        Numbers V(wanted.size(), not_a_number);
        adjoint_pass(rows, U.data(), K, V.data(), n_threads);
        if (n_threads == 1) first = V;
        CHECK(same_bits(V, first));
        for (std::size_t k = 0; k < V.size(); ++k)
          CHECK_NEAR(V[k], wanted[k], 1e-11);  // 2000 terms below 2, in another order
      }
    }
  };
  check(X.csr());
  check(X.dense());
}

THEOREM("squared_norm_pass is |x_i|^2 row by row, with the same bits for any number of threads") {
  each_matrix([](Rng&, const auto& X, const auto& rows) {
    check_bits(X.squared_norms(), [&](int n, double* norms) { squared_norm_pass(rows, norms, n); });
  });
}

THEOREM("column cuts begin at 0, never fall and end at n_columns, wherever the first row starts") {
  each_matrix([](Rng&, const auto& X, const auto& rows) {
    for (int n_parts = 1; n_parts <= most_threads; ++n_parts) {
      const auto cuts = column_cuts(rows, n_parts);
      CHECK(cuts.size() == std::size_t(n_parts) + 1);
      CHECK(cuts.front() == 0 && cuts.back() == X.n_columns);
      CHECK(std::is_sorted(cuts.begin(), cuts.end()));
    }
  });
  Rng rng(3);
  const auto X = sample_matrix<double>(rng, 20, 30, 0.5);
  const Csr<double> tail{8, 30, X.start.data() + 12, X.index.data(), X.value.data()};  // the last 8 rows
  const Numbers u = uniforms(rng, 8, -1, 1);
  Numbers wanted(30, 0.0);
  for (Index i = 0; i < 8; ++i)
    for (Index j = 0; j < 30; ++j) wanted[std::size_t(j)] += X.at(i + 12, j) * u[std::size_t(i)];
  check_bits(wanted, [&](int n, double* V) { adjoint_pass(tail, u.data(), 1, V, n); });
}

THEOREM("taken columns are the wanted ones, in order, for any number of threads") {
  each_matrix([](Rng& rng, const auto& X, const auto& rows) {
    using V = typename std::decay_t<decltype(rows)>::Value;
    std::vector<Index> wanted;
    for (Index j = 0; j < X.n_columns; ++j)
      if (uniform(rng, 0, 1) < 0.4) wanted.push_back(j);
    const WantedColumns columns(wanted.data(), Index(wanted.size()), X.n_columns);
    for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
      std::vector<Index> start(std::size_t(X.n_rows) + 1, -1);
      take_columns_count(rows, columns, start.data(), n_threads);
      std::vector<std::int32_t> index(std::size_t(start.back()), -1);
      std::vector<V> value(std::size_t(start.back()), V(not_a_number));
      take_columns_copy(rows, columns, start.data(), index.data(), value.data(), n_threads);
      const Csr<V> taken{X.n_rows, Index(wanted.size()), start.data(), index.data(), value.data()};
      CHECK(check_pass(taken, start.back(), 1).kind == Flaw::none);
      for (Index i = 0; i < X.n_rows; ++i) {
        Numbers row(wanted.size(), 0.0);
        for (Index k = start[std::size_t(i)]; k < start[std::size_t(i) + 1]; ++k)
          row[std::size_t(index[std::size_t(k)])] += double(value[std::size_t(k)]);
        for (std::size_t j = 0; j < wanted.size(); ++j) CHECK(row[j] == X.at(i, wanted[j]));
      }
    }
  });
}

THEOREM("a transpose holds every stored number once, by columns and in the order of rows") {
  Rng rng(41);
  const auto X = check::sample_matrix<float>(rng, 23, 9, 0.4);
  const auto look = [&](const auto& rows) {
    std::vector<Index> start(10);
    transpose_count(rows, start.data());
    std::vector<std::int32_t> row(static_cast<std::size_t>(start[9]));
    std::vector<double> value(row.size());
    transpose_copy(rows, start.data(), row.data(), value.data());
    Index n_found = 0;
    for (Index j = 0; j < 9; ++j)
      for (Index k = start[std::size_t(j)]; k < start[std::size_t(j) + 1]; ++k, ++n_found) {
        CHECK(k == start[std::size_t(j)] || row[std::size_t(k)] > row[std::size_t(k - 1)]);
        CHECK_NEAR(value[std::size_t(k)], double(X.at(row[std::size_t(k)], j)), 0.0);
      }
    return n_found;
  };
  Index n_stored = 0;
  for (Index i = 0; i < 23; ++i)
    for (Index j = 0; j < 9; ++j) n_stored += X.at(i, j) != 0.0f;
  CHECK(look(X.csr()) == n_stored);
  CHECK(look(X.dense()) == n_stored);
}

THEOREM("adjoint_summary_pass says |X'U|^2 and max |X'U + strength W|, with the same bits for any threads") {
  Rng rng(17);
  const auto X = sample_matrix<double>(rng, 40, 1300, 0.1);
  for (const Index K : {1, 3, 21}) {
    const Index stride = K + 2;
    const auto U = uniforms(rng, 40 * K, -1, 1);
    const auto W = uniforms(rng, 1300 * stride, -1, 1);
    std::vector<float> narrow(W.begin(), W.end());
    double square = 0, largest = 0;
    for (Index j = 0; j < 1300; ++j)
      for (Index k = 0; k < K; ++k) {
        double v = 0;
        for (Index i = 0; i < 40; ++i) v += X.at(i, j) * U[std::size_t(i * K + k)];
        square += v * v;
        largest = std::max(largest, std::abs(v + 0.3 * double(narrow[std::size_t(j * stride + k)])));
      }
    const auto one = adjoint_summary_pass(X.csr(), U.data(), K, narrow.data(), stride, 0.3, 1);
    CHECK_NEAR(one.squared_norm, square, 1e-12 * square);
    CHECK_NEAR(one.largest, largest, 1e-12);
    for (const int n_threads : {2, 3, 7}) {
      const auto more = adjoint_summary_pass(X.csr(), U.data(), K, narrow.data(), stride, 0.3, n_threads);
      CHECK(more.squared_norm == one.squared_norm);
      CHECK(more.largest == one.largest);
    }
    const auto dense = adjoint_summary_pass(X.dense(), U.data(), K, narrow.data(), stride, 0.3, 2);
    CHECK_NEAR(dense.squared_norm, square, 1e-12 * square);
    CHECK_NEAR(dense.largest, largest, 1e-12);
  }
}

THEOREM("dot_pass takes float32 weights with gaps between their rows, and sums in float64") {
  Rng rng(18);
  const auto X = sample_matrix<double>(rng, 30, 50, 0.4);
  for (const Index K : {1, 3, 21}) {
    const Index stride = (K + 7) / 8 * 8;
    const auto W = uniforms(rng, 50 * stride, -1, 1);
    const std::vector<float> narrow(W.begin(), W.end());
    std::vector<double> Z(std::size_t(30 * K));
    dot_pass(X.csr(), narrow.data(), stride, K, Z.data(), 2);
    for (Index i = 0; i < 30; ++i)
      for (Index k = 0; k < K; ++k) {
        double wanted = 0;
        for (Index j = 0; j < 50; ++j) wanted += X.at(i, j) * double(narrow[std::size_t(j * stride + k)]);
        CHECK_NEAR(Z[std::size_t(i * K + k)], wanted, 1e-13);
      }
  }
}

THEOREM(
    "sum_of_squares_pass sums in float64, over gaps or none, to the same bits for any number of threads") {
  Rng rng(19);
  for (const Index K : {1, 3, 20})
    for (const Index stride : {K, K + 5}) {
      const Index n = 1300;
      const auto W = uniforms(rng, n * stride, -1, 1);
      const std::vector<float> narrow(W.begin(), W.end());
      double wanted = 0;
      for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < K; ++k)
          wanted += double(narrow[std::size_t(i * stride + k)]) * double(narrow[std::size_t(i * stride + k)]);
      const double one = sum_of_squares_pass(narrow.data(), stride, n, K, 1);
      CHECK_NEAR(one, wanted, 1e-12 * wanted);
      for (const int n_threads : {2, 3})
        CHECK(sum_of_squares_pass(narrow.data(), stride, n, K, n_threads) == one);
    }
}

THEOREM(
    "rows out of order have the same dot products and sums by columns, with the same bits for any threads") {
  Rng rng(23);
  const auto X = sample_matrix<double>(rng, 40, 1300, 0.1);
  const check::Scrambled<double> scrambled(rng, X);
  const auto rows = scrambled.csr();
  for (const Index K : {1, 3}) {
    const auto W = uniforms(rng, 1300 * K, -1, 1), U = uniforms(rng, 40 * K, -1, 1);
    Numbers Z(std::size_t(40 * K)), V(std::size_t(1300 * K));
    dot_pass(X.csr(), W.data(), K, K, Z.data(), 1);
    adjoint_pass(X.csr(), U.data(), K, V.data(), 1);
    check_bits(Z, [&](int n, double* out) { dot_pass(rows, W.data(), K, K, out, n); });
    check_bits(V, [&](int n, double* out) { adjoint_pass(rows, U.data(), K, out, n); });
    const auto wanted = adjoint_summary_pass(X.csr(), U.data(), K, W.data(), K, 0.3, 1);
    const auto one = adjoint_summary_pass(rows, U.data(), K, W.data(), K, 0.3, 1);
    CHECK_NEAR(one.squared_norm, wanted.squared_norm, 1e-12 * wanted.squared_norm);
    CHECK_NEAR(one.largest, wanted.largest, 1e-12);
    for (const int n_threads : {2, 3}) {
      const auto more = adjoint_summary_pass(rows, U.data(), K, W.data(), K, 0.3, n_threads);
      CHECK(more.squared_norm == one.squared_norm && more.largest == one.largest);
    }
  }
}

THEOREM("a product with a Hessian is two passes in one, with the same bits for any number of threads") {
  Rng rng(5);
  for (const Index n : {0, 1, 3, 40, 1500})
    for (const Index d : {0, 1, 3, 5, 8, 13, 60}) {
      const Sample<double> X = sample_matrix<double>(rng, n, d, 1.0);
      const Numbers w = uniforms(rng, d, -1.0, 1.0), h = uniforms(rng, n, 0.0, 1.0);
      Numbers first_z, first_v;
      for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
        Numbers z(std::size_t(n), not_a_number), v(std::size_t(d), not_a_number), want(std::size_t(d), 0.0);
        double total = not_a_number, sum = 0.0;
        dense_curved_pass(X.dense(), w.data(), 0.5, h.data(), z.data(), v.data(), &total, n_threads);
        for (Index i = 0; i < n; ++i) {
          const double weighted = h[std::size_t(i)] * z[std::size_t(i)];
          CHECK_NEAR(z[std::size_t(i)], dot(X.dense()[i], w.data()) + 0.5, 1e-12);
          axpy(weighted, X.dense()[i], want.data());
          sum += weighted;
        }
        for (Index k = 0; k < d; ++k) CHECK_NEAR(v[std::size_t(k)], want[std::size_t(k)], 1e-10);
        CHECK_NEAR(total, sum, 1e-10);
        if (n_threads == 1) first_z = z, first_v = v;
        CHECK(same_bits(z, first_z) && same_bits(v, first_v));
      }
    }
}

THEOREM("a step of Craig's method moves the residual and sums the next direction, on any number of threads") {
  Rng rng(6);
  for (const Index n : {1, 5, 130, 700})
    for (const Index d : {1, 7, 60}) {
      const Sample<double> X = sample_matrix<double>(rng, n, d, 1.0);
      const Numbers root = uniforms(rng, n, 0.0, 1.0), level = uniforms(rng, n, -1.0, 1.0),
                    s = uniforms(rng, n, -1.0, 1.0), p = uniforms(rng, d, -1.0, 1.0),
                    t = uniforms(rng, n, -1.0, 1.0);
      const CraigStep by{root.data(), level.data(), s.data(), p.data(), 0.25, 0.5, 2.0};
      Numbers want(std::size_t(d), 0.0), first_t, first_v;
      for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
        Numbers moved = t, v(std::size_t(d), not_a_number);
        craig_pass(X.dense(), by, moved.data(), v.data(), n_threads);
        if (n_threads == 1) {
          first_t = moved, first_v = v;
          for (Index i = 0; i < n; ++i) {
            const std::size_t k = std::size_t(i);
            const double along = root[k] * dot(X.dense()[i], p.data());
            CHECK_NEAR(moved[k], t[k] - 0.25 * (along - 0.5 * level[k] + 2.0 * s[k]), 1e-12);
            axpy(root[k] * moved[k], X.dense()[i], want.data());
          }
        }
        for (Index k = 0; k < d; ++k) CHECK_NEAR(v[std::size_t(k)], want[std::size_t(k)], 1e-10);
        CHECK(same_bits(moved, first_t) && same_bits(v, first_v));
      }
    }
}
