// Sparse rows as they come from outside: checked as they are, put in order, dealt out from coordinates.
//
// Nobody promises that indices are in range, that the columns of a row increase or that none is met twice.
// One pass finds out without moving anything: rows in any order are as good as sorted ones to whoever only
// walks over them. What they are is the data's alone, so that threads change no bit of what is made of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/raw.h"
#include "lineal/rows.h"
#include "lineal/text/radix.h"

namespace lineal {

// What a check of foreign arrays found: the worst kind of offence, and the first row with it. Those that make
// memory unsafe are the worst, then numbers that are none, then columns that are met twice in a row; rows out
// of order are no offence at all to some.
struct Flaw {
  enum Kind { none, bad_pointer, bad_column, not_finite, repeated, unsorted } kind = none;
  Index row = -1, column = -1;
};

// What may be wrong with numbers that lie within their arrays; without branches, so that the loops vectorise.
template <class V>
bool are_any_outside(const CsrRow<V> x, Index n_columns) noexcept {
  const auto bound = std::uint32_t(std::min(n_columns, Index(1) << 31));  // a negative index is above it
  std::uint32_t is_outside = 0;
  for (Index k = 0; k < x.size; ++k) is_outside |= std::uint32_t(x.index[k]) >= bound;
  return is_outside;
}
template <class V>
bool are_any_infinite(const CsrRow<V> x) noexcept {
  using Bits = std::conditional_t<sizeof(V) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits exponent = std::bit_cast<Bits>(std::numeric_limits<V>::infinity());
  Bits is_infinite = 0;
  for (Index k = 0; k < x.size; ++k)
    is_infinite |= (std::bit_cast<Bits>(x.value[k]) & exponent) == exponent;  // NaN or infinity
  return is_infinite;
}
// How many columns are not above the one before.
template <class V>
std::uint32_t count_falls(const CsrRow<V> x) noexcept {
  std::uint32_t n_falls = 0;
  for (Index k = 1; k < x.size; ++k) n_falls += x.index[k] <= x.index[k - 1];
  return n_falls;
}

// Says of rows in any order, one after another, whether a column is met twice.
//
// Cost: a look at a mark for each number. The mark of a column is the number of the last row that met it;
// numbers of rows begin anew before a byte ends, so that all marks fit into a cache. Where there are so many
// columns that they do not, a copy of the row is sorted.
class Repeats {
 public:
  explicit Repeats(Index n_columns) : n_columns_(n_columns) {}

  bool is_in(std::span<const std::int32_t> columns) {
    constexpr std::size_t few = 16;
    constexpr Index most_marks = Index(1) << 22;
    bool is_met = false;
    if (columns.size() < few) {
      for (std::size_t k = 1; k < columns.size(); ++k)
        for (std::size_t l = 0; l < k; ++l) is_met |= columns[k] == columns[l];
      return is_met;
    }
    if (n_columns_ > most_marks) {
      copy_.assign(columns.begin(), columns.end());
      radix_sort(copy_, spare_, 0, int(std::bit_width(std::uint64_t(n_columns_))));
      return std::adjacent_find(copy_.begin(), copy_.end()) != copy_.end();
    }
    if (++row_ == 0 || marks_.empty()) {
      marks_.assign(std::size_t(n_columns_), 0);
      row_ = 1;
    }
    std::uint8_t* const marks = marks_.data();
    const std::uint8_t row = row_;  // a byte that is written might be this one, for all the compiler knows
    for (const std::int32_t c : columns) {
      is_met |= marks[c] == row;
      marks[c] = row;
    }
    return is_met;
  }

 private:
  Index n_columns_;
  std::uint8_t row_ = 0;
  std::vector<std::uint8_t> marks_;
  std::vector<std::uint32_t> copy_, spare_;
};

template <class V>
Flaw check_row(const Csr<V>& X, Index i, Index n_stored) {
  const Index first = X.start[i], last = X.start[i + 1];
  if (first < 0 || last < first || last > n_stored) return {Flaw::bad_pointer, i, -1};
  const auto x = X[i];
  if (are_any_outside(x, X.n_columns))
    for (Index k = 0; k < x.size; ++k)
      if (x.index[k] < 0 || x.index[k] >= X.n_columns) return {Flaw::bad_column, i, x.index[k]};
  if (are_any_infinite(x))
    for (Index k = 0; k < x.size; ++k)
      if (!std::isfinite(x.value[k])) return {Flaw::not_finite, i, x.index[k]};
  return {count_falls(x) > 0 ? Flaw::unsorted : Flaw::none, i, -1};
}

template <class V>
Flaw check_row(const Dense<V>& X, Index i, Index) {
  const V* x = X.value + i * X.n_columns;
  // NaN and infinity are the only values that 0 * x does not turn into 0; sums vectorise, tests do not.
  V sum = 0;
  for (Index k = 0; k < X.n_columns; ++k) sum += V(0) * x[k];
  if (sum == V(0)) return {};
  for (Index k = 0; k < X.n_columns; ++k)
    if (!std::isfinite(x[k])) return {Flaw::not_finite, i, k};
  return {};
}

// How many of the rows from `first` on are sound but for their order, as one sweep over all their numbers
// tells, however short the rows are: those that have some thousand numbers together, or one row. 0 says
// nothing. `is_in_order`: whether columns increase in each of them, so that they fall, or stay, at most where
// one row ends and the next begins.
template <class V>
Index sound_together(const Csr<V>& X, Index first, Index last, Index n_stored, bool& is_in_order) noexcept {
  constexpr Index most = 2048;
  const Index begin = X.start[first];
  Index end = first;
  while (end < last && X.start[end] >= 0 && X.start[end + 1] >= X.start[end] &&
         X.start[end + 1] <= n_stored && (end == first || X.start[end + 1] - begin <= most))
    ++end;
  if (end == first) return 0;
  const CsrRow<V> all{X.index + begin, X.value + begin, X.start[end] - begin};
  if (are_any_outside(all, X.n_columns) || are_any_infinite(all)) return 0;
  std::uint32_t n_seams = 0;
  for (Index i = first + 1; i < end; ++i) {
    const Index k = X.start[i] - begin;
    n_seams += k > 0 && X.start[i + 1] > X.start[i] && all.index[k] <= all.index[k - 1];
  }
  is_in_order = count_falls(all) == n_seams;
  return end - first;
}
template <class V>
Index sound_together(const Dense<V>&, Index, Index, Index, bool&) noexcept {
  return 0;
}

// The first of some rows, sound but for their order, that meets a column twice. A sweep of its own: numbers
// that pass through the cache with them would drive out the marks.
template <class V>
Flaw first_repeated(const Csr<V>& X, Range rows) {
  Repeats repeats(X.n_columns);
  for (Index i = rows.first; i < rows.last; ++i) {
    const std::span columns{X.index + X.start[i], static_cast<std::size_t>(X.start[i + 1] - X.start[i])};
    const bool increases =
        std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>{}) == columns.end();
    if (!increases && repeats.is_in(columns)) return {Flaw::repeated, i, -1};
  }
  return {};
}
template <class V>
Flaw first_repeated(const Dense<V>&, Range) {
  return {};
}

// The worst that there is to say of rows whose start has n_rows + 1 entries, and whose arrays n_stored.
template <class Rows>
Flaw check_pass(const Rows& X, Index n_stored, int n_threads) {
  constexpr int n_grades = 4;  // unsafe, not finite, repeated, unsorted
  const auto grade = [](const Flaw& flaw) { return std::max(int(flaw.kind) - int(Flaw::bad_column), 0); };
  std::vector<Flaw> found(std::size_t(n_threads * n_grades), Flaw{});
  parallel(n_threads, [&](int part) {
    Flaw* const own = found.data() + part * n_grades;
    const Range rows = share(X.n_rows, part, n_threads);
    for (Index i = rows.first, sound = 0; i < rows.last; i += std::max<Index>(sound, 1)) {
      bool is_in_order = false;
      sound = sound_together(X, i, rows.last, n_stored, is_in_order);
      if (sound > 0 && (is_in_order || own[3].kind != Flaw::none)) continue;  // the first unsorted one counts
      for (Index row = i; row < i + std::max<Index>(sound, 1); ++row) {
        const Flaw flaw = check_row(X, row, n_stored);
        if (flaw.kind == Flaw::none) continue;
        Flaw& first = own[grade(flaw)];
        if (first.kind == Flaw::none) first = flaw;
        if (grade(flaw) == 0) return;
      }
    }
    if (const Flaw& unsorted = own[3]; unsorted.kind != Flaw::none)
      own[2] = first_repeated(X, {unsorted.row, rows.last});
  });
  for (int level = 0; level < n_grades; ++level)
    for (int part = 0; part < n_threads; ++part)
      if (const Flaw& flaw = found[std::size_t(part * n_grades + level)]; flaw.kind != Flaw::none)
        return flaw;
  return {};
}

// Indices of 64 bits in half as many; those outside [0, n_columns) become -1, which a check refuses.
inline void narrow_pass(const Index* index, Index n, Index n_columns, std::int32_t* narrow, int n_threads) {
  const auto bound = std::uint64_t(std::min(n_columns, Index(1) << 31));
  parallel(n_threads, [&](int part) {
    const Range mine = share(n, part, n_threads);
    for (Index k = mine.first; k < mine.last; ++k)
      narrow[k] = std::uint64_t(index[k]) < bound ? std::int32_t(index[k]) : -1;
  });
}

// Numbers in half as many bits, each rounded once; those beyond float32 become infinite.
inline void narrow_values_pass(const double* value, Index n, float* narrow, int n_threads) {
  parallel(n_threads, [&](int part) {
    const Range mine = share(n, part, n_threads);
    std::transform(value + mine.first, value + mine.last, narrow + mine.first,
                   [](double a) { return float(a); });
  });
}

// Rows whose columns increase, from sound rows in any order, to where the rows of X are: `index` and `value`
// have room for as many numbers. Those of one column are added up in float64, in the order in which they are
// stored, and `size` is how many numbers each row is left with. A few passes over the numbers of each row.
// With `only_repeated`, rows that meet no column twice are copied as they are: what becomes of a row does not
// depend on the others.
template <class V>
void order_pass(const Csr<V>& X, std::int32_t* index, V* value, Index* size, int n_threads,
                bool only_repeated = false) {
  const int high = 32 + int(std::bit_width(std::uint64_t(X.n_columns)));
  parallel(n_threads, [&](int part) {
    const Range rows = share(X.n_rows, part, n_threads);
    Repeats repeats(X.n_columns);
    std::vector<std::uint64_t> places, spare;  // a column, and the place of its number in the row
    for (Index i = rows.first; i < rows.last; ++i) {
      const auto x = X[i];
      const Index first = X.start[i];
      if (only_repeated && !repeats.is_in({x.index, static_cast<std::size_t>(x.size)})) {
        std::copy_n(x.index, x.size, index + first);
        std::copy_n(x.value, x.size, value + first);
        size[i] = x.size;
        continue;
      }
      places.resize(static_cast<std::size_t>(x.size));
      for (Index k = 0; k < x.size; ++k)
        places[std::size_t(k)] = std::uint64_t(x.index[k]) << 32 | std::uint64_t(k);
      radix_sort(places, spare, 32, high);
      Index n = 0;
      for (Index k = 0; k < x.size;) {
        const auto c = std::int32_t(places[std::size_t(k)] >> 32);
        double sum = double(x.value[std::uint32_t(places[std::size_t(k)])]);
        for (++k; k < x.size && std::int32_t(places[std::size_t(k)] >> 32) == c; ++k)
          sum += double(x.value[std::uint32_t(places[std::size_t(k)])]);
        index[first + n] = c;
        value[first + n++] = V(sum);
      }
      size[i] = n;
    }
  });
}

// Makes starts of the sizes that order_pass left at start + 1, start[0] being 0, and closes the gaps that are
// left by columns met twice.
template <class V>
void close_gaps(const Csr<V>& X, std::int32_t* index, V* value, Index* start) {
  for (Index i = 0; i < X.n_rows; ++i) {
    const Index from = X.start[i], size = start[i + 1];
    if (from != start[i]) {
      std::copy_n(index + from, size, index + start[i]);
      std::copy_n(value + from, size, value + start[i]);
    }
    start[i + 1] = start[i] + size;
  }
}

// Numbers with a row and a column each, as COO has them, in any order.
template <class I, class V>
struct Coordinates {
  Index n_stored;
  const I *row, *column;
  const V* value;

  template <class Visit>
  void visit(int part, int n_parts, Visit&& meet) const {
    const Range mine = share(n_stored, part, n_parts);
    for (Index k = mine.first; k < mine.last; ++k) meet(Index(row[k]), Index(column[k]), value[k]);
  }
};

// Numbers by columns, as CSC has them, with `start` sound.
template <class I, class V>
struct ByColumn {
  Index n_columns;
  const Index* start;  // n_columns + 1
  const I* row;
  const V* value;

  template <class Visit>
  void visit(int part, int n_parts, Visit&& meet) const {
    const Range mine = share(n_columns, part, n_parts);
    for (Index c = mine.first; c < mine.last; ++c)
      for (Index k = start[c]; k < start[c + 1]; ++k) meet(Index(row[k]), c, value[k]);
  }
};

// Deals numbers out to their rows, in the order in which they are met: `count`, then `copy`. Each thread has
// a share of the numbers, and of every row the room that is behind that of the threads before it.
class Deal {
 public:
  Deal(Index n_rows, Index n_columns, Index n_stored, int n_threads)
      : n_rows_(n_rows),
        n_columns_(n_columns),
        // A thread has a counter for each row, which is more than it saves where rows are short.
        n_threads_(int(std::clamp<Index>(n_stored / (8 * (n_rows + 1)), 1, n_threads))),
        next_(std::size_t(n_threads_) * std::size_t(n_rows)) {}

  // Where each row starts, n_rows + 1 entries; false if a row or a column is out of range.
  template <class Numbers>
  bool count(const Numbers& numbers, Index* start) {
    std::vector<char> is_outside(std::size_t(n_threads_), 0);
    parallel(n_threads_, [&](int part) {
      Index* const next = next_.data() + part * n_rows_;
      std::fill_n(next, n_rows_, 0);
      bool is_bad = false;
      numbers.visit(part, n_threads_, [&](Index i, Index c, auto) {
        const bool is_sound =
            std::uint64_t(i) < std::uint64_t(n_rows_) && std::uint64_t(c) < std::uint64_t(n_columns_);
        is_bad |= !is_sound;
        if (is_sound) ++next[i];
      });
      is_outside[std::size_t(part)] = is_bad;
    });
    Index sum = 0;
    for (Index i = 0; i < n_rows_; ++i) {
      start[i] = sum;
      for (int part = 0; part < n_threads_; ++part)
        sum += std::exchange(next_[std::size_t(part * n_rows_ + i)], sum);
    }
    start[n_rows_] = sum;
    return std::find(is_outside.begin(), is_outside.end(), 1) == is_outside.end();
  }

  template <class Numbers, class V>
  void copy(const Numbers& numbers, std::int32_t* index, V* value) {
    parallel(n_threads_, [&](int part) {
      Index* const next = next_.data() + part * n_rows_;
      numbers.visit(part, n_threads_, [&](Index i, Index c, V a) {
        const Index place = next[i]++;
        index[place] = std::int32_t(c);
        value[place] = a;
      });
    });
  }

 private:
  Index n_rows_, n_columns_;
  int n_threads_;
  Raw<Index> next_;
};

}  // namespace lineal
