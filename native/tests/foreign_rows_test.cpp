#include "lineal/foreign_rows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Sample;
using check::sample_matrix;
using check::uniform;

namespace {

constexpr int most_threads = 5;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// Arrays as they come from outside, each in an allocation of exactly its own length.
template <class V>
struct Foreign {
  Index n_rows, n_columns;
  std::vector<Index> start;
  std::vector<std::int32_t> index;
  std::vector<V> value;

  explicit Foreign(const Sample<V>& X)
      : n_rows(X.n_rows), n_columns(X.n_columns), start(X.start), index(X.index), value(X.value) {}

  Csr<V> csr() const { return {n_rows, n_columns, start.data(), index.data(), value.data(), false}; }
  Flaw check(int n_threads) const { return check_pass(csr(), Index(value.size()), n_threads); }

  // Which flaws row i has, by the definitions; a bit for each kind.
  unsigned flaws(Index i) const {
    const Index first = start[std::size_t(i)], last = start[std::size_t(i) + 1];
    if (first < 0 || last < first || last > Index(value.size())) return 1u << Flaw::bad_pointer;
    unsigned found = 0;
    std::vector<std::int32_t> columns(index.begin() + first, index.begin() + last);
    std::sort(columns.begin(), columns.end());
    if (std::adjacent_find(columns.begin(), columns.end()) != columns.end()) found |= 1u << Flaw::repeated;
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
// there, and nothing worse; the answer does not depend on the number of threads.
template <class V>
void check_contract(const Foreign<V>& arrays) {
  const Flaw flaw = arrays.check(1);
  unsigned any = 0;
  for (Index i = 0; i < arrays.n_rows; ++i) any |= arrays.flaws(i);
  CHECK((flaw.kind == Flaw::none) == (any == 0));
  if (flaw.kind != Flaw::none) {
    CHECK(flaw.row >= 0 && flaw.row < arrays.n_rows);
    CHECK((arrays.flaws(flaw.row) >> flaw.kind) & 1u);
    // Pointers and columns out of range are equally bad; the list of kinds goes on from bad to harmless.
    if (flaw.kind > Flaw::bad_column) CHECK((any & ((1u << flaw.kind) - 1)) == 0);
  }
  for (int n_threads = 2; n_threads <= most_threads; ++n_threads) CHECK(arrays.check(n_threads) == flaw);
}

template <class V>
void check_finds(const Foreign<V>& arrays, Flaw wanted) {
  for (int n_threads = 1; n_threads <= most_threads; ++n_threads) CHECK(arrays.check(n_threads) == wanted);
}

}  // namespace

THEOREM("a well-formed matrix has no flaw") {
  Rng rng(2);
  const auto of_type = [&]<class V>(V) {
    for (const Index n : {0, 1, 40})
      for (const Index d : {0, 1, 60})
        for (const double density : {0.2, 1.0}) {
          const Sample<V> X = sample_matrix<V>(rng, n, d, density);
          for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
            CHECK(check_pass(X.csr(), Index(X.value.size()), n_threads).kind == Flaw::none);
            CHECK(check_pass(X.dense(), n * d, n_threads).kind == Flaw::none);
          }
        }
  };
  of_type(float{});
  of_type(double{});
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
      check_finds(twice, {Flaw::repeated, i, -1});
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

THEOREM("a column that is met twice is found in rows of any length and order, among few columns and many") {
  Rng rng(9);
  for (const Index n_columns : {Index(70), Index(1) << 22, (Index(1) << 22) + 1, (Index(1) << 31) - 1}) {
    Repeats repeats(n_columns);
    for (int round = 0; round < 700; ++round) {  // past where the numbers of rows begin anew
      std::vector<std::int32_t> columns;
      std::map<std::int32_t, int> count;
      const std::size_t size = rng.below(n_columns == 70 ? 25 : 60);
      while (columns.size() < size) {
        const auto c = std::int32_t(rng.below(std::uint64_t(n_columns)));
        if (++count[c] == 1) columns.push_back(c);
      }
      columns.shrink_to_fit();
      CHECK(!repeats.is_in(columns));
      if (size < 2) continue;
      const std::size_t from = rng.below(size), to = (from + 1 + rng.below(size - 1)) % size;
      columns[to] = columns[from];
      CHECK(repeats.is_in(columns));
    }
  }
}

namespace {

// The rows that order_pass and close_gaps make, with 1 .. 5 threads alike.
template <class V>
Foreign<V> in_order(const Csr<V>& X, Index n_stored, bool only_repeated = false) {
  Foreign<V> first(Sample<V>{});
  for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
    Foreign<V> made(Sample<V>{});
    made.n_rows = X.n_rows, made.n_columns = X.n_columns;
    made.start.assign(std::size_t(X.n_rows) + 1, 0);
    made.index.assign(std::size_t(n_stored), -1);
    made.value.assign(std::size_t(n_stored), V(not_a_number));
    order_pass(X, made.index.data(), made.value.data(), made.start.data() + 1, n_threads, only_repeated);
    close_gaps(X, made.index.data(), made.value.data(), made.start.data());
    made.index.resize(std::size_t(made.start.back()));
    made.value.resize(std::size_t(made.start.back()));
    if (n_threads == 1) first = made;
    CHECK(made.start == first.start && made.index == first.index && made.value == first.value);
  }
  return first;
}

}  // namespace

THEOREM("rows put in order hold the same numbers in the same columns") {
  Rng rng(10);
  const auto of_type = [&]<class V>(V) {
    for (const Index d : {1, 9, 60, 300})
      for (const double density : {0.0, 0.2, 1.0}) {
        const Sample<V> X = sample_matrix<V>(rng, 12, d, density);
        const check::Scrambled<V> scrambled(rng, X);
        const auto made = in_order(scrambled.csr(), Index(X.value.size()));
        CHECK(made.start == X.start && made.index == X.index && made.value == X.value);
      }
  };
  of_type(float{});
  of_type(double{});
}

THEOREM(
    "numbers of a column that is met several times are added up in float64, in the order they are stored") {
  const std::vector<Index> start{0, 5, 5, 7, 11};
  const std::vector<std::int32_t> index{3, 0, 3, 3, 1, 2, 2, 0, 3, 1, 0};
  // 1 + 2^-30 - 1 is 0 in float32; 1e30 + 1 - 1e30 is 0 in float64, and 1 in another order.
  const std::vector<float> value{1.0f, 5.0f, 0x1p-30f, -1.0f, 7.0f, 2.0f, -2.0f, 1e30f, 4.0f, 6.0f, -1e30f};
  const auto made = in_order(Csr<float>{4, 4, start.data(), index.data(), value.data(), false}, 11);
  CHECK((made.start == std::vector<Index>{0, 3, 3, 4, 7}));
  CHECK((made.index == std::vector<std::int32_t>{0, 1, 3, 2, 0, 1, 3}));
  CHECK((made.value == std::vector<float>{5.0f, 7.0f, 0x1p-30f, 0.0f, 0.0f, 6.0f, 4.0f}));
}

THEOREM("a row that meets no column twice stays as it is stored, whatever others do, if that is asked for") {
  Rng rng(17);
  for (const Index d : {20, 300, (1 << 22) + 1}) {
    const check::Scrambled<double> once(rng, sample_matrix<double>(rng, 30, std::min<Index>(d, 300), 0.3));
    Foreign<double> given(Sample<double>{}), wanted(Sample<double>{});
    given.n_rows = wanted.n_rows = 30, given.n_columns = wanted.n_columns = d;
    given.start = wanted.start = {0};
    for (std::size_t i = 0; i < 30; ++i) {
      const auto first = once.start[i], last = once.start[i + 1];
      for (Foreign<double>* const rows : {&given, &wanted}) {
        rows->index.insert(rows->index.end(), once.index.begin() + first, once.index.begin() + last);
        rows->value.insert(rows->value.end(), once.value.begin() + first, once.value.begin() + last);
      }
      if (i % 3 == 0 && last > first) {  // its first number once more; then the row is put in order
        given.index.push_back(once.index[std::size_t(first)]);
        given.value.push_back(1.0);
        const std::vector<std::int32_t> index(given.index.begin() + given.start.back(), given.index.end());
        const std::vector<double> value(given.value.begin() + given.start.back(), given.value.end());
        const std::vector<Index> start{0, Index(index.size())};
        const auto summed =
            in_order(Csr<double>{1, d, start.data(), index.data(), value.data(), false}, Index(index.size()));
        wanted.index.resize(std::size_t(wanted.start.back()));
        wanted.value.resize(std::size_t(wanted.start.back()));
        wanted.index.insert(wanted.index.end(), summed.index.begin(), summed.index.end());
        wanted.value.insert(wanted.value.end(), summed.value.begin(), summed.value.end());
      }
      given.start.push_back(Index(given.index.size()));
      wanted.start.push_back(Index(wanted.index.size()));
    }
    const auto made = in_order(given.csr(), Index(given.index.size()), true);
    CHECK(made.start == wanted.start && made.index == wanted.index && made.value == wanted.value);
  }
}

THEOREM("coordinates and columns are dealt out to rows in the order they come, and refused out of range") {
  Rng rng(11);
  const auto of_type = [&]<class I>(I) {
    for (const Index n : {0, 1, 6})
      for (const Index d : {0, 1, 90}) {
        const Sample<double> X = sample_matrix<double>(rng, n, d, 0.5);
        const auto stored = Index(X.value.size());
        std::vector<I> row, column, by_column;
        std::vector<double> value;
        std::vector<Index> start{0};
        for (Index j = 0; j < d; ++j) {
          for (Index i = 0; i < n; ++i)
            for (Index k = X.start[std::size_t(i)]; k < X.start[std::size_t(i) + 1]; ++k)
              if (X.index[std::size_t(k)] == j) {
                row.push_back(I(i)), column.push_back(I(j));
                value.push_back(X.value[std::size_t(k)]);
              }
          start.push_back(Index(row.size()));
        }
        row.shrink_to_fit(), column.shrink_to_fit(), value.shrink_to_fit();
        const Coordinates<I, double> coordinates{stored, row.data(), column.data(), value.data()};
        const ByColumn<I, double> columns{d, start.data(), row.data(), value.data()};
        const auto dealt = [&](const auto& numbers, int n_threads) {
          Foreign<double> made(X);
          made.start.assign(std::size_t(n) + 1, -1);
          made.index.assign(std::size_t(stored), -1);
          Deal deal(n, d, stored, n_threads);
          CHECK(deal.count(numbers, made.start.data()));
          deal.copy(numbers, made.index.data(), made.value.data());
          return made.start == X.start && made.index == X.index && made.value == X.value;
        };
        for (int n_threads = 1; n_threads <= most_threads; ++n_threads)
          CHECK(dealt(coordinates, n_threads) && dealt(columns, n_threads));
        for (std::size_t k = 0; k < row.size(); ++k)
          for (const Index wrong :
               {Index(-1), n, Index(std::numeric_limits<I>::max()), Index(std::numeric_limits<I>::min())}) {
            std::vector<Index> ignored(std::size_t(n) + 1);
            const I kept = std::exchange(row[k], I(wrong));
            CHECK(!Deal(n, d, stored, 2).count(coordinates, ignored.data()));
            CHECK(!Deal(n, d, stored, 2).count(columns, ignored.data()));
            row[k] = kept;
          }
        for (std::size_t k = 0; k < column.size(); ++k) {
          std::vector<Index> ignored(std::size_t(n) + 1);
          const I kept = std::exchange(column[k], I(d));
          CHECK(!Deal(n, d, stored, 2).count(coordinates, ignored.data()));
          column[k] = kept;
        }
      }
  };
  of_type(std::int32_t{});
  of_type(Index{});
}

THEOREM("indices of 64 bits become the same ones of 32, and -1 where they are out of range") {
  const std::vector<Index> index{0, 6, 7, -1, Index(1) << 32, std::numeric_limits<Index>::min(), 3};
  for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
    std::vector<std::int32_t> narrow(index.size(), 99);
    narrow_pass(index.data(), Index(index.size()), 7, narrow.data(), n_threads);
    CHECK((narrow == std::vector<std::int32_t>{0, 6, -1, -1, -1, -1, 3}));
  }
}
