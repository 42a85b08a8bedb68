// Rows that hold columns alone, made document by document: each column once, in the order of first meeting.
//
// What a document is where only occurrence counts: all its numbers are 1, and nobody needs them sorted.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lineal/raw.h"
#include "lineal/rows.h"

namespace lineal {

// Finds the distinct columns of a document. What was met is looked up in a table, which the first cache holds
// for texts of a page: at a column's own place, or at the next free one. Entries bear the number of the
// document, so that nothing is cleared between two. How large the table is changes nothing but the time.
//
// Cost: about 1.5 ns an occurrence, a third of sorting them. Memory: 4 bytes for each occurrence of the
// longest document, and 16 to 64 for its place. Columns that were made to meet in few places are sorted
// instead.
class Distinct {
 public:
  // Room for n columns, each below n_columns, to be written by the caller.
  std::uint32_t* met(std::size_t n) {
    if (met_.size() < n) met_.resize(n);
    return met_.data();
  }
  // The first of each column among the first n that were met, in order; how many there are.
  std::size_t first_of_each(std::size_t n, std::size_t n_columns, std::int32_t* to) {
    const int column_bits = int(std::bit_width(std::max<std::size_t>(n_columns, 2) - 1));
    make_room(n, column_bits);
    begin_document();
    std::uint64_t* const table = table_.data();
    const std::uint32_t* const met = met_.data();
    const std::uint64_t document = std::uint64_t(document_) << 32;
    const std::size_t mask = table_.size() - 1;
    const int shift = std::max(column_bits - int(std::bit_width(mask)), 0);
    std::size_t n_found = 0, patience = 16 * n + 64;  // places that may be looked at in vain
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t entry = document | met[k];
      std::size_t at = met[k] >> shift;
      std::uint64_t other = table[at] ^ entry;  // 0: met before; not below 2^32: a free place
      // No branch but on the place of another column, which is rare.
      while (other - 1 < 0xFFFFFFFF) [[unlikely]] {
        if (--patience == 0) return sorted_first_of_each(n, to);
        at = (at + 1) & mask;
        other = table[at] ^ entry;
      }
      table[at] = entry;
      to[n_found] = std::int32_t(met[k]);
      n_found += other != 0;
    }
    return n_found;
  }

 private:
  // Most places are free, unless the document is so long that memory counts; no more places than columns.
  void make_room(std::size_t n, int column_bits) {
    const std::size_t wanted = std::bit_ceil(std::max<std::size_t>((n < 4096 ? 4 : 2) * n, 1024));
    const std::size_t size = std::min(wanted, std::size_t(1) << column_bits);
    if (size <= table_.size()) return;
    table_.assign(size, 0);
    document_ = 0;
  }
  void begin_document() {
    if (++document_ != 0) return;
    std::fill(table_.begin(), table_.end(), 0);
    document_ = 1;
  }
  // The same whatever the columns are.
  std::size_t sorted_first_of_each(std::size_t n, std::int32_t* to) const {
    std::vector<std::uint64_t> places(n);  // column, then place
    for (std::size_t k = 0; k < n; ++k) places[k] = std::uint64_t(met_[k]) << 32 | k;
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end(),
                             [](std::uint64_t a, std::uint64_t b) { return a >> 32 == b >> 32; }),
                 places.end());
    std::sort(places.begin(), places.end(),
              [](std::uint64_t a, std::uint64_t b) { return std::uint32_t(a) < std::uint32_t(b); });
    for (std::size_t k = 0; k < places.size(); ++k) to[k] = std::int32_t(places[k] >> 32);
    return places.size();
  }

  std::vector<std::uint32_t> met_;
  std::vector<std::uint64_t> table_;  // document and column
  std::uint32_t document_ = 0;
};

class DocumentSets {
 public:
  explicit DocumentSets(std::size_t n_columns) : n_columns_(n_columns) {}

  // A document of the first n columns that were met.
  void add(Distinct& distinct, std::size_t n) {
    column_.cut(n - distinct.first_of_each(n, n_columns_, column_.extend(n)));
    start_.push_back(Index(column_.size()));
  }
  // The documents so far; until the next one is added.
  Sets rows() const noexcept {
    return {Index(start_.size()) - 1, Index(n_columns_), start_.data(), column_.data()};
  }
  // No documents; the memory of those before is kept for others.
  void clear() noexcept {
    column_.cut(column_.size());
    start_.resize(1);
  }

 private:
  std::size_t n_columns_;
  Growing<std::int32_t> column_;
  std::vector<Index> start_{0};  // of each row, and the end of the last
};

}  // namespace lineal
