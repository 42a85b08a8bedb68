// Sparse rows from lines of text, block by block: what the readers of LIBSVM and of VW lines share.
//
// A reader is given blocks of bytes in order, each beginning where the last one was consumed to, and returns
// the rows of the lines that are whole. Flaws are refused with line and byte, both counted from 1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lineal/text/numerals.h"
#include "lineal/text/records.h"

namespace lineal {

// Rows of a block. Labels that are not there are NaN; queries, weights and tags are one for each row, or none
// at all.
struct SparseBlock {
  static constexpr std::int64_t most_columns = std::numeric_limits<std::int32_t>::max();

  std::vector<double> labels, values, weights;
  std::vector<std::int64_t> starts{0}, queries;
  std::vector<std::int32_t> indices;  // rising in every row
  std::vector<std::string> tags;
  std::size_t consumed = 0;

  std::size_t n_rows() const noexcept { return labels.size(); }
  void add(std::int32_t index, double value) {
    indices.push_back(index);
    values.push_back(value);
  }
};

// Ends the row of a block: its entries are sorted, and those of one index become their sum, in the order of
// the line. Returns an index that was there several times.
class RowEnd {
 public:
  std::optional<std::int32_t> operator()(SparseBlock& block) {
    const auto first = std::size_t(block.starts.back());
    std::optional<std::int32_t> twice;
    const auto here = block.indices.begin() + std::ptrdiff_t(first);
    // Most files are sorted already.
    if (std::adjacent_find(here, block.indices.end(), std::greater_equal()) != block.indices.end())
      twice = merge(block, first);
    block.starts.push_back(std::int64_t(block.indices.size()));
    return twice;
  }

 private:
  struct Entry {
    std::int32_t index;
    std::size_t place;
  };
  std::optional<std::int32_t> merge(SparseBlock& block, std::size_t first) {
    entries_.clear();
    values_.assign(block.values.begin() + std::ptrdiff_t(first), block.values.end());
    for (std::size_t k = first; k < block.indices.size(); ++k)
      entries_.push_back({block.indices[k], k - first});
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return a.index != b.index ? a.index < b.index : a.place < b.place;
    });
    block.indices.resize(first);
    block.values.resize(first);
    std::optional<std::int32_t> twice;
    for (const Entry& entry : entries_) {
      if (block.indices.size() > first && block.indices.back() == entry.index) {
        block.values.back() += values_[entry.place];
        twice = entry.index;
      } else {
        block.add(entry.index, values_[entry.place]);
      }
    }
    return twice;
  }

  std::vector<Entry> entries_;
  std::vector<double> values_;
};

// A line, and where one is in it.
struct SparseLine {
  const char *begin, *end;
  std::size_t line;
  const char* p = begin;

  static bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }
  bool is_over() const noexcept { return p == end; }
  bool is_at(char c) const noexcept { return p < end && *p == c; }
  void skip_space() noexcept {
    while (p < end && is_space(*p)) ++p;
  }
  // What stands from there to the next space, not longer than is good to show.
  std::string shown(const char* at) const {
    const char* q = at;
    while (q < end && !is_space(*q) && q - at < 40) ++q;
    while (q > at && q < end && (static_cast<unsigned char>(*q) & 0xC0) == 0x80) --q;  // no half character
    // What is no text, or cannot be seen, is shown as a question mark.
    std::string text(at, q);
    const bool is_text = first_malformed(text) == no_flaw;
    for (char& c : text)
      if (static_cast<unsigned char>(c) < 0x20 || (!is_text && static_cast<unsigned char>(c) >= 0x80))
        c = '?';
    return "'" + text + "'";
  }
  [[noreturn]] void refuse(const char* at, const std::string& what) const {
    refuse_at(line, std::size_t(at - begin) + 1, what);
  }
  // A finite number that begins here and ends at stop.
  double number(const char* stop, const char* what) {
    double value = 0;
    const char* const read = read_number(p, stop, value);
    if (read != stop) refuse(p, std::string(what) + " must be a number, but " + shown(p) + " came.");
    if (!(value - value == 0))
      refuse(p, std::string(what) + " must be a finite number, but " + shown(p) + " came.");
    p = stop;
    return value;
  }
};

// Calls use(SparseLine) for every line that is whole, and counts lines; returns how many bytes are done with.
template <class Use>
std::size_t each_line(std::string_view block, bool is_last, std::size_t& line, Use&& use) {
  const char* p = block.data();
  const char* const end = p + block.size();
  while (p < end) {
    const char* const stop = find(p, end, '\n');
    if (stop == end && !is_last) break;
    use(SparseLine{p, stop, line});
    p = stop == end ? end : stop + 1;
    ++line;
  }
  return block.empty() ? 0 : std::size_t(p - block.data());
}

}  // namespace lineal
