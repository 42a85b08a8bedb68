// Rows of a sparse matrix, made document by document from the columns met in it, in any order and repeated.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/raw.h"
#include "lineal/rows.h"
#include "lineal/text/documents.h"
#include "lineal/text/radix.h"
#include "lineal/text/term_matrix.h"

namespace lineal {

// Columns that are hashes lie evenly among all there are, and are sorted faster for it.
enum class Columns { any, hashed };

// The rows of one part of the documents.
template <class V>
class DocumentRows {
 public:
  DocumentRows(std::size_t n_columns, const Weighing& weighing, Columns columns = Columns::any)
      : n_columns_(n_columns), columns_(columns), weighing_(&weighing) {}

  // About how many entries there will be.
  void expect(std::size_t n) {
    column_.expect(n);
    value_.expect(n);
  }
  // Room for n more occurrences in the document at hand, to be written by the caller as occurrence() makes
  // them.
  std::uint32_t* meet_many(std::size_t n) {
    met_.resize(met_.size() + n);
    return met_.data() + met_.size() - n;
  }
  static std::uint32_t occurrence(std::size_t column, bool is_negative) noexcept {
    return std::uint32_t(column) << 1 | std::uint32_t(is_negative);
  }
  // An occurrence in the document at hand; a negative one counts -1.
  void meet(std::size_t column, bool is_negative = false) { met_.push_back(occurrence(column, is_negative)); }
  // Ends the document: repeated columns become one, with the sum of their occurrences, and are sorted.
  void end() {
    // Sums of occurrences have 31 bits.
    if (met_.size() >> 31 != 0) throw InputFlaw("a document of 2^31 or more n-grams: cut it into several");
    const int bits = int(std::bit_width(std::max<std::size_t>(n_columns_, 1) - 1));
    if (columns_ == Columns::hashed)
      even_sort(met_, spare_, 1, bits + 1);
    else
      radix_sort(met_, spare_, 1, bits + 1);
    std::int32_t* const columns = column_.extend(met_.size());
    count_.resize(met_.size());
    std::size_t n = 0;
    std::int32_t before = -1, sum = 0;
    for (const std::uint32_t met : met_) {
      const auto column = std::int32_t(met >> 1);
      // No branch on whether a column is repeated, which nobody can foresee.
      const bool is_new = column != before;
      sum = (is_new ? 0 : sum) + 1 - 2 * std::int32_t(met & 1);
      n += is_new;
      columns[n - 1] = before = column;
      count_[n - 1] = sum;
    }
    column_.cut(met_.size() - n);
    met_.clear();
    weigh(columns, n);
  }
  // A document whose columns were counted and sorted: count << 32 | column.
  void add(std::span<const std::uint64_t> counted) {
    std::int32_t* const columns = column_.extend(counted.size());
    count_.resize(counted.size());
    for (std::size_t k = 0; k < counted.size(); ++k) {
      columns[k] = std::int32_t(std::uint32_t(counted[k]));
      count_[k] = std::int32_t(counted[k] >> 32);
    }
    weigh(columns, counted.size());
  }

  // The documents so far; until the next one is begun.
  Csr<V> rows() const noexcept {
    return {Index(start_.size()) - 1, Index(n_columns_), start_.data(), column_.data(), value_.data()};
  }
  // No documents; the memory of those before is kept for others.
  void clear() noexcept {
    column_.cut(column_.size());
    value_.cut(value_.size());
    start_.resize(1);
    met_.clear();
  }

  static TermMatrix<V> join(std::vector<DocumentRows>& parts) {
    TermMatrix<V> made;
    made.start.push_back(0);
    Index n = 0;
    for (const DocumentRows& part : parts) {
      for (std::size_t k = 1; k < part.start_.size(); ++k) made.start.push_back(n + part.start_[k]);
      n += part.start_.back();
    }
    // The others go behind the first, one by one, so that no more than one of them is there twice. All
    // threads copy: most of the time goes to memory that is touched for the first time.
    for (std::size_t p = 1; p < parts.size(); ++p) {
      const std::size_t size = parts[p].column_.size();
      std::int32_t* const columns = parts[0].column_.extend(size);
      V* const values = parts[0].value_.extend(size);
      const auto n_shares = size < 1 << 16 ? 1 : int(parts.size());
      parallel(n_shares, [&](int share) {
        const std::size_t first = size * std::size_t(share) / std::size_t(n_shares);
        const std::size_t n_own = size * std::size_t(share + 1) / std::size_t(n_shares) - first;
        std::copy_n(parts[p].column_.data() + first, n_own, columns + first);
        std::copy_n(parts[p].value_.data() + first, n_own, values + first);
      });
      parts[p].column_ = {};
      parts[p].value_ = {};
    }
    made.column = parts[0].column_.take();
    made.value = parts[0].value_.take();
    return made;
  }

 private:
  void weigh(const std::int32_t* columns, std::size_t n) {
    weighing_->template weigh<V>({columns, n}, count_.data(), value_.extend(n));
    start_.push_back(Index(column_.size()));
  }

  std::size_t n_columns_;
  Columns columns_;
  const Weighing* weighing_;
  std::vector<std::uint32_t> met_, spare_;  // columns have 31 bits
  std::vector<std::int32_t> count_;
  Growing<std::int32_t> column_;
  Growing<V> value_;
  std::vector<Index> start_{0};  // of each row, and the end of the last
};

}  // namespace lineal
