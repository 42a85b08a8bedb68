// Rows of a sparse matrix, made document by document from the columns met in it, in any order and repeated.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "lineal/text/radix.h"
#include "lineal/text/term_matrix.h"

namespace lineal {

// The rows of one part of the documents.
template <class V>
class DocumentRows {
 public:
  DocumentRows(std::size_t n_columns, const Weighing& weighing)
      : bits_(int(std::bit_width(n_columns))), weighing_(weighing) {}

  // An occurrence in the document at hand; a negative one counts -1.
  void meet(std::size_t column, bool is_negative = false) {
    met_.push_back(std::uint64_t(column) << 1 | std::uint64_t(is_negative));
  }
  // So many at once.
  void meet_often(std::size_t column, std::int32_t count) {
    column_.push_back(std::int32_t(column));
    count_.push_back(count);
  }
  // Ends the document: repeated columns become one, with the sum of their occurrences, and are sorted.
  void end() {
    radix_sort(met_, spare_, 1, bits_ + 1);
    for (std::size_t k = 0; k < met_.size();) {
      const std::uint64_t column = met_[k] >> 1;
      std::int32_t count = 0;
      for (; k < met_.size() && met_[k] >> 1 == column; ++k) count += met_[k] & 1 ? -1 : 1;
      meet_often(std::size_t(column), count);
    }
    met_.clear();
    end_sorted();
  }
  // Ends a document whose columns were met once and in order.
  void end_sorted() {
    const std::size_t first = value_.size();
    value_.resize(column_.size());
    weighing_.template weigh<V>({column_.data() + first, count_.size()}, count_.data(),
                                value_.data() + first);
    count_.clear();
    ends_.push_back(column_.size());
  }

  static TermMatrix<V> join(std::vector<DocumentRows>& parts) {
    TermMatrix<V> made;
    made.start.push_back(0);
    std::size_t n = 0;
    for (const DocumentRows& part : parts) {
      for (const std::size_t end : part.ends_) made.start.push_back(std::int64_t(n + end));
      n += part.column_.size();
    }
    made.column = Raw<std::int32_t>(n);
    made.value = Raw<V>(n);
    n = 0;
    for (DocumentRows& part : parts) {
      std::copy(part.column_.begin(), part.column_.end(), made.column.data() + n);
      std::copy(part.value_.begin(), part.value_.end(), made.value.data() + n);
      n += part.column_.size();
      part = DocumentRows(0, part.weighing_);  // its memory is not needed beside the next part's
    }
    return made;
  }
  DocumentRows(const DocumentRows&) = default;
  DocumentRows& operator=(DocumentRows&& other) noexcept {
    column_ = std::move(other.column_);
    value_ = std::move(other.value_);
    ends_ = std::move(other.ends_);
    return *this;
  }

 private:
  int bits_;
  const Weighing& weighing_;
  std::vector<std::uint64_t> met_, spare_;
  std::vector<std::int32_t> column_, count_;
  std::vector<V> value_;
  std::vector<std::size_t> ends_;
};

}  // namespace lineal
