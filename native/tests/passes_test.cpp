#include "lineal/passes.h"

#include <limits>
#include <vector>

#include "check.h"
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
constexpr double infinity = std::numeric_limits<double>::infinity();

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

namespace {

// Arrays as they come from outside, each in an allocation of exactly its own length.
template <class V>
struct Foreign {
  Index n_rows, n_columns;
  std::vector<Index> start;
  std::vector<std::int32_t> index;
  std::vector<V> value;

  explicit Foreign(const Sample<V>& X)
      : n_rows(X.n_rows), n_columns(X.n_columns), start(X.start), index(X.index), value(X.value) {}

  Flaw check(int n_threads) const {
    const Csr<V> X{n_rows, n_columns, start.data(), index.data(), value.data()};
    return check_pass(X, Index(value.size()), n_threads);
  }

  // Which flaws row i has, by the definitions; a bit for each kind.
  unsigned flaws(Index i) const {
    const Index first = start[std::size_t(i)], last = start[std::size_t(i) + 1];
    if (first < 0 || last < first || last > Index(value.size())) return 1u << Flaw::bad_pointer;
    unsigned found = 0;
    for (Index k = first; k < last; ++k) {
      const std::int32_t c = index[std::size_t(k)];
      if (c < 0 || c >= n_columns) found |= 1u << Flaw::bad_column;
      if (k > first && c <= index[std::size_t(k) - 1]) found |= 1u << Flaw::unsorted;
      if (!std::isfinite(value[std::size_t(k)])) found |= 1u << Flaw::not_finite;
    }
    return found;
  }
};

bool operator==(const Flaw& a, const Flaw& b) {
  return a.kind == b.kind && a.row == b.row && a.column == b.column;
}

// The contract on any arrays: a flaw is reported if and only if there is one; what is reported is really
// there; the answer does not depend on the number of threads.
template <class V>
void check_contract(const Foreign<V>& arrays) {
  const Flaw flaw = arrays.check(1);
  unsigned any = 0;
  for (Index i = 0; i < arrays.n_rows; ++i) any |= arrays.flaws(i);
  CHECK((flaw.kind == Flaw::none) == (any == 0));
  if (flaw.kind != Flaw::none) {
    CHECK(flaw.row >= 0 && flaw.row < arrays.n_rows);
    CHECK((arrays.flaws(flaw.row) >> flaw.kind) & 1u);
  }
  for (int n_threads = 2; n_threads <= most_threads; ++n_threads) CHECK(arrays.check(n_threads) == flaw);
}

template <class V>
void check_finds(const Foreign<V>& arrays, Flaw wanted) {
  for (int n_threads = 1; n_threads <= most_threads; ++n_threads) CHECK(arrays.check(n_threads) == wanted);
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

}  // namespace

THEOREM("a well-formed matrix has no flaw") {
  each_matrix([](Rng&, const auto& X, const auto& rows) {
    for (int n_threads = 1; n_threads <= most_threads; ++n_threads)
      CHECK(check_pass(rows, Index(X.value.size()), n_threads).kind == Flaw::none);
  });
}

THEOREM("one flaw in sparse arrays is found wherever it is, and named by its row and column") {
  Rng rng(4);
  const auto X = sample_matrix<float>(rng, 12, 15, 0.4);
  const Foreign<float> sound(X);
  const std::int32_t beyond = 15, least = std::numeric_limits<std::int32_t>::min(),
                     most = std::numeric_limits<std::int32_t>::max();
  for (Index i = 0; i < X.n_rows; ++i)
    for (Index k = X.start[std::size_t(i)]; k < X.start[std::size_t(i) + 1]; ++k) {
      const std::size_t place = std::size_t(k);
      for (const std::int32_t c : {-1, beyond, least, most}) {
        Foreign<float> bad = sound;
        bad.index[place] = c;
        check_finds(bad, {Flaw::bad_column, i, c});
      }
      for (const double a : {not_a_number, infinity, -infinity}) {
        Foreign<float> bad = sound;
        bad.value[place] = float(a);
        check_finds(bad, {Flaw::not_finite, i, X.index[place]});
      }
      if (k == X.start[std::size_t(i)]) continue;
      Foreign<float> twice = sound, swapped = sound;
      twice.index[place] = twice.index[place - 1];
      check_finds(twice, {Flaw::unsorted, i, -1});
      std::swap(swapped.index[place], swapped.index[place - 1]);
      check_finds(swapped, {Flaw::unsorted, i, -1});
    }
}

THEOREM(
    "a start that is negative, decreasing or beyond the stored entries is found, and nothing is read there") {
  Rng rng(5);
  const auto X = sample_matrix<double>(rng, 9, 15, 0.4);
  const Index n_stored = Index(X.value.size()), least = std::numeric_limits<Index>::min(),
              most = std::numeric_limits<Index>::max();
  for (std::size_t place = 0; place < X.start.size(); ++place)
    for (const Index wrong : {Index(-1), -n_stored, least, n_stored + 1, Index(1) << 40, most}) {
      Foreign<double> bad(X);
      bad.start[place] = wrong;
      check_contract(bad);
      const Flaw flaw = bad.check(1);
      CHECK(flaw.kind == Flaw::bad_pointer);
      CHECK(flaw.row == Index(place) || flaw.row == Index(place) - 1);
    }
  Foreign<double> reversed(X);
  std::reverse(reversed.start.begin(), reversed.start.end());
  check_finds(reversed, {Flaw::bad_pointer, 0, -1});
  Foreign<double> without_entries(X);
  without_entries.index = {};
  without_entries.value = {};
  check_contract(without_entries);
  CHECK(without_entries.check(1).kind == Flaw::bad_pointer);
}

THEOREM("no rows have no flaw whatever start says; no columns make every entry a bad one") {
  Rng rng(6);
  Foreign<double> no_rows(sample_matrix<double>(rng, 0, 5, 0.5));
  for (const Index start : {Index(0), Index(-7), Index(99)}) {
    no_rows.start = {start};
    check_finds(no_rows, {});
  }
  Foreign<double> no_columns(sample_matrix<double>(rng, 3, 4, 1.0));
  no_columns.n_columns = 0;
  check_finds(no_columns, {Flaw::bad_column, 0, 0});
  check_finds(Foreign<double>(sample_matrix<double>(rng, 3, 0, 1.0)), {});
}

THEOREM("a NaN or an infinity in dense rows is found wherever it is; huge, tiny and -0 are sound") {
  Rng rng(7);
  const auto of_type = [&]<class V>(V) {
    using Limits = std::numeric_limits<V>;
    for (const Index d : {1, 2, 17}) {
      const Index n = 5;
      const std::vector<V> sound = sample_matrix<V>(rng, n, d, 1.0).full;
      for (std::size_t place = 0; place < sound.size(); ++place) {
        const auto found = [&](V a, int n_threads) {
          std::vector<V> value = sound;
          value[place] = a;
          return check_pass(Dense<V>{n, d, value.data()}, n * d, n_threads);
        };
        const Flaw wanted{Flaw::not_finite, Index(place) / d, Index(place) % d};
        for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
          for (const V a : {V(not_a_number), V(infinity), V(-infinity)}) CHECK(found(a, n_threads) == wanted);
          for (const V a : {Limits::max(), Limits::lowest(), Limits::denorm_min(), V(-0.0)})
            CHECK(found(a, n_threads) == Flaw{});
        }
      }
    }
    CHECK(check_pass(Dense<V>{0, 7, nullptr}, 0, 3) == Flaw{});
    CHECK(check_pass(Dense<V>{7, 0, nullptr}, 0, 3) == Flaw{});
  };
  of_type(float{});
  of_type(double{});
}

THEOREM(
    "20000 random corruptions of sparse arrays: reported if and only if present, and never out of bounds") {
  Rng rng(8);
  const std::vector<Foreign<float>> sound = [&] {
    std::vector<Foreign<float>> all;
    for (int k = 0; k < 50; ++k) {
      const Index n = Index(rng.below(9)), d = Index(rng.below(12));
      all.emplace_back(sample_matrix<float>(rng, n, d, uniform(rng, 0, 1)));
    }
    return all;
  }();
  const auto anything = [&]() -> Index {  // numbers near the borders, and numbers far beyond all of them
    return rng.below(3) == 0 ? Index(rng.next()) : Index(rng.below(40)) - 10;
  };
  int n_flawed = 0;
  for (int round = 0; round < 20000; ++round) {
    Foreign<float> arrays = sound[rng.below(sound.size())];
    for (std::uint64_t n_hits = rng.below(4); n_hits > 0; --n_hits) {
      const std::uint64_t kind = rng.below(6);
      if (kind == 0) arrays.start[rng.below(arrays.start.size())] = anything();
      if (kind == 1) arrays.n_columns = std::max<Index>(0, std::min<Index>(anything(), 1 << 20));
      if (kind == 2) {  // entries missing at the end
        const std::size_t kept = rng.below(arrays.value.size() + 1);
        arrays.index = std::vector<std::int32_t>(arrays.index.begin(), arrays.index.begin() + Index(kept));
        arrays.value = std::vector<float>(arrays.value.begin(), arrays.value.begin() + Index(kept));
      }
      if (arrays.value.empty()) continue;
      const std::size_t place = rng.below(arrays.value.size());
      if (kind == 3) arrays.index[place] = std::int32_t(std::uint32_t(std::uint64_t(anything())));
      if (kind == 4) std::swap(arrays.index[place], arrays.index[rng.below(arrays.index.size())]);
      if (kind == 5)
        arrays.value[place] = float(rng.below(2) ? not_a_number : rng.below(2) ? infinity : -infinity);
    }
    // Threads are dear under a sanitizer: every case with one, every fiftieth with 2 .. 5.
    unsigned any = 0;
    for (Index i = 0; i < arrays.n_rows; ++i) any |= arrays.flaws(i);
    CHECK((arrays.check(1).kind == Flaw::none) == (any == 0));
    n_flawed += any != 0;
    if (round % 50 == 0) check_contract(arrays);
  }
  CHECK(n_flawed > 5000 && n_flawed < 19000);  // both kinds of case are well represented
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
