// Lines of LIBSVM, SVMlight and SVMrank: "label qid:7 1:0.5 3:2 # a comment".
//
// The label may be missing; the query is on every line or on none. Indices may come in any order, once each.
// They are given as they are written: whether the first column is 0 or 1 is for the caller to say.
#pragma once

#include "lineal/text/sparse_lines.h"

namespace lineal {

class LibsvmLines {
 public:
  static constexpr std::int64_t most_index = SparseBlock::most_columns - 1;

  // first: the least index that may occur.
  explicit LibsvmLines(std::int64_t first = 0) : first_(first) {}

  std::int64_t smallest() const noexcept { return smallest_; }  // index so far, or -1
  std::int64_t largest() const noexcept { return largest_; }
  void count_from(std::int64_t first) noexcept { first_ = first; }

  SparseBlock scan(std::string_view block, bool is_last) {
    SparseBlock found;
    found.consumed = each_line(block, is_last, line_, [&](SparseLine line) { read(line, found); });
    return found;
  }

 private:
  void read(SparseLine& line, SparseBlock& found) {
    line.skip_space();
    if (line.is_over() || line.is_at('#')) return;
    found.labels.push_back(label(line));
    query(line, found);
    for (;;) {
      line.skip_space();
      if (line.is_over() || line.is_at('#')) break;
      entry(line, found);
    }
    if (const auto twice = end_row_(found))
      line.refuse(line.begin, "index " + std::to_string(*twice) + " is there twice. Add its values up.");
  }

  static const char* token_end(const SparseLine& line) noexcept {
    const char* q = line.p;
    while (q < line.end && !SparseLine::is_space(*q) && *q != '#') ++q;
    return q;
  }

  // NaN where the line begins with a query or an index.
  static double label(SparseLine& line) {
    const char* const stop = token_end(line);
    if (find(line.p, stop, ':') != stop) return std::numeric_limits<double>::quiet_NaN();
    if (find(line.p, stop, ',') != stop)
      line.refuse(line.p,
                  "there are several labels, " + line.shown(line.p) +
                      ", where one is needed. Make a file for each label: 1 where it applies, else 0.");
    return line.number(stop, "the label");
  }

  void query(SparseLine& line, SparseBlock& found) {
    line.skip_space();
    const std::string_view rest(line.p, std::size_t(line.end - line.p));
    const bool has_query = rest.starts_with("qid:");
    if (has_queries_.value_or(has_query) != has_query)
      line.refuse(line.p, has_query ? "this line has a qid, but those before have none."
                                    : "this line has no qid, but those before have one.");
    has_queries_ = has_query;
    if (!has_query) return;
    line.p += 4;
    const char* const stop = token_end(line);
    std::int64_t value = 0;
    if (line.p == stop || read_whole(line.p, stop, std::numeric_limits<std::int64_t>::max(), value) != stop)
      line.refuse(line.p, "a qid must be a whole number, but " + line.shown(line.p) + " came.");
    line.p = stop;
    found.queries.push_back(value);
  }

  // What is sound is read in one go; what is not is looked at again, for words about it.
  void entry(SparseLine& line, SparseBlock& found) {
    const char* p = line.p;
    std::int64_t index = 0;
    for (; p < line.end && numerals::is_digit(*p) && index <= most_index; ++p)
      index = 10 * index + (*p - '0');
    double value = 0;
    const char* const stop = p < line.end && *p == ':' ? read_number(p + 1, line.end, value) : nullptr;
    const bool is_over = stop && (stop == line.end || SparseLine::is_space(*stop) || *stop == '#');
    if (!is_over || p == line.p || index < first_ || index > most_index || !(value - value == 0))
      refuse(line);
    found.add(std::int32_t(index), value);
    smallest_ = smallest_ < 0 ? index : std::min(smallest_, index);
    largest_ = std::max(largest_, index);
    line.p = stop;
  }

  [[noreturn]] void refuse(SparseLine& line) const {
    const char* const begin = line.p;
    const char* const stop = token_end(line);
    const char* const colon = find(begin, stop, ':');
    if (colon == stop) line.refuse(begin, "index:value is needed, but " + line.shown(begin) + " came.");
    std::int64_t index = 0;
    const char* p = begin;
    for (; p < colon && numerals::is_digit(*p) && index <= most_index; ++p) index = 10 * index + (*p - '0');
    if (index > most_index)
      line.refuse(begin, "index " + line.shown(begin) + " is larger than " + std::to_string(most_index) +
                             ". Number the columns anew, or hash them.");
    if (p != colon || p == begin)
      line.refuse(begin, "an index must be a whole number, but " + line.shown(begin) + " came.");
    if (index < first_)
      line.refuse(begin, "index " + std::to_string(index) + " is below the first, " + std::to_string(first_) +
                             ". Say that columns are counted from 0: first_index=0.");
    line.p = colon + 1;
    line.number(stop, "the value");
    line.refuse(begin, "index:value is needed, but " + line.shown(begin) + " came.");
  }

  std::int64_t first_, smallest_ = -1, largest_ = -1;
  std::size_t line_ = 1;
  std::optional<bool> has_queries_;
  RowEnd end_row_;
};

}  // namespace lineal
