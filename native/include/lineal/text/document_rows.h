// Rows of a sparse matrix, made document by document from the columns met in it, in any order and repeated.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/raw.h"
#include "lineal/text/radix.h"
#include "lineal/text/term_matrix.h"

namespace lineal {

// The rows of one part of the documents.
template <class V>
class DocumentRows {
 public:
  DocumentRows(std::size_t n_columns, const Weighing& weighing)
      : bits_(int(std::bit_width(n_columns))), weighing_(&weighing) {}

  // About how many entries there will be.
  void expect(std::size_t n) {
    column_.expect(n);
    value_.expect(n);
  }
  // An occurrence in the document at hand; a negative one counts -1.
  void meet(std::size_t column, bool is_negative = false) {
    met_.push_back(std::uint32_t(column) << 1 | std::uint32_t(is_negative));
  }
  // Ends the document: repeated columns become one, with the sum of their occurrences, and are sorted.
  void end() {
    radix_sort(met_, spare_, 1, bits_ + 1);
    std::int32_t* const columns = column_.extend(met_.size());
    count_.resize(met_.size());
    std::size_t n = 0;
    for (std::size_t k = 0; k < met_.size(); ++k) {
      const auto column = std::int32_t(met_[k] >> 1);
      const std::int32_t step = met_[k] & 1 ? -1 : 1;
      if (n > 0 && columns[n - 1] == column) {
        count_[n - 1] += step;
      } else {
        columns[n] = column;
        count_[n++] = step;
      }
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

  static TermMatrix<V> join(std::vector<DocumentRows>& parts) {
    TermMatrix<V> made;
    made.start.push_back(0);
    std::size_t n = 0;
    for (const DocumentRows& part : parts) {
      for (const std::size_t end : part.ends_) made.start.push_back(std::int64_t(n + end));
      n += part.column_.size();
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
    ends_.push_back(column_.size());
  }

  int bits_;
  const Weighing* weighing_;
  std::vector<std::uint32_t> met_, spare_;  // columns have 31 bits
  std::vector<std::int32_t> count_;
  Growing<std::int32_t> column_;
  Growing<V> value_;
  std::vector<std::size_t> ends_;
};

}  // namespace lineal
