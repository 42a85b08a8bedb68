// Lines of Vowpal Wabbit: "label importance 'tag|namespace:2 name name:0.5 |another name".
//
// A feature is called namespace^name, or its name alone without a namespace. Names are numbered in the order
// of their appearance, or looked up among given ones: unknown ones are then dropped and counted. A name that
// occurs several times in a line has the sum of its values, as in VW.
#pragma once

#include <array>

#include "lineal/text/sparse_lines.h"
#include "lineal/text/sparse_spelling.h"
#include "lineal/text/word_map.h"

namespace lineal {

class VwLines {
 public:
  VwLines() = default;
  explicit VwLines(WordMap names) : names_(std::move(names)), is_fixed_(true) {}

  const WordMap& names() const noexcept { return names_; }
  std::size_t n_unknown() const noexcept { return n_unknown_; }

  SparseBlock scan(std::string_view block, bool is_last) {
    SparseBlock found;
    found.consumed = each_line(block, is_last, line_, [&](SparseLine line) { read(line, found); });
    return found;
  }

 private:
  void read(SparseLine& line, SparseBlock& found) {
    line.skip_space();
    if (line.is_over()) return;
    const std::string_view whole(line.begin, std::size_t(line.end - line.begin));
    if (const std::size_t bad = first_malformed(whole); bad != no_flaw)
      line.refuse(line.begin + bad, not_utf8(whole[bad]));
    const char* const bar = find(line.p, line.end, '|');
    if (bar == line.end)
      line.refuse(line.end, "there is no '|', which begins the features. Is this a VW file?");
    head(line, bar, found);
    line.p = bar;
    while (line.is_at('|')) features(line, found);
    look_up(line, found);
    end_row_(found);
    for (std::size_t k = std::size_t(found.starts.end()[-2]); k < found.values.size(); ++k)
      if (!(found.values[k] - found.values[k] == 0))
        line.refuse(line.begin, "the values of a name add up to more than a number can hold.");
  }

  // Label, importance and tag: what stands before the first bar.
  static void head(SparseLine& line, const char* bar, SparseBlock& found) {
    std::array<std::string_view, 3> tokens;
    std::size_t n = 0;
    while (line.skip_space(), line.p < bar) {
      const char* q = line.p;
      while (q < bar && !SparseLine::is_space(*q)) ++q;
      if (n == tokens.size())
        line.refuse(line.p, "a base beside label and importance is not read. Leave it out.");
      tokens[n++] = {line.p, std::size_t(q - line.p)};
      line.p = q;
    }
    std::string_view tag;
    if (n > 0 && (tokens[n - 1].data() + tokens[n - 1].size() == bar || tokens[n - 1].front() == '\'')) {
      tag = tokens[--n];
      double value = 0;
      if (n == 0 && read_number(tag.data(), bar, value) == bar)
        line.refuse(tag.data(), "what touches the '|' is a tag, not a label. Put a space behind the label.");
      if (tag.front() == '\'') tag.remove_prefix(1);
    }
    if (n == 3)
      line.refuse(tokens[2].data(), "a base beside label and importance is not read. Leave it out.");
    found.labels.push_back(n > 0 ? label(line, tokens[0]) : std::numeric_limits<double>::quiet_NaN());
    if (n > 1) {
      line.p = tokens[1].data();
      const double importance = line.number(line.p + tokens[1].size(), "the importance");
      if (importance < 0) line.refuse(tokens[1].data(), "an importance cannot be negative.");
      found.weights.resize(found.n_rows() - 1, 1.0);
      found.weights.push_back(importance);
    } else if (!found.weights.empty()) {
      found.weights.push_back(1.0);
    }
    if (!tag.empty() || !found.tags.empty()) {
      found.tags.resize(found.n_rows() - 1);
      found.tags.emplace_back(tag);
    }
  }

  static double label(SparseLine& line, std::string_view token) {
    if (token.find_first_of(":,") != std::string_view::npos)
      line.refuse(token.data(), "the label " + line.shown(token.data()) +
                                    " has several parts (costs, actions or several labels), where one number "
                                    "is needed.");
    line.p = token.data();
    return line.number(token.data() + token.size(), "the label");
  }

  // One namespace, from its bar to the next.
  void features(SparseLine& line, SparseBlock& found) {
    const char* const begin = ++line.p;
    while (line.p < line.end && !SparseLine::is_space(*line.p) && *line.p != '|' && *line.p != ':') ++line.p;
    const std::string_view space(begin, std::size_t(line.p - begin));
    if (space.size() > longest_namespace)
      line.refuse(begin, "a namespace has at most " + std::to_string(longest_namespace) + " bytes.");
    double scale = 1;
    if (line.is_at(':')) {
      ++line.p;
      scale = line.number(token_end(line), "the value of a namespace");
    }
    for (;;) {
      line.skip_space();
      if (line.is_over() || line.is_at('|')) return;
      const char* const first = line.p;
      const char* const stop = token_end(line);
      const char* const colon = find(first, stop, ':');
      if (colon == first) line.refuse(first, "a feature needs a name before its ':'.");
      double value = 1;
      if (colon < stop) {
        line.p = colon + 1;
        value = line.number(stop, "the value of a feature");
      }
      line.p = stop;
      if (!space.empty()) spelled_.append(space).push_back('^');
      spelled_.append(first, colon);
      ends_.push_back(spelled_.size());
      values_.push_back(scale * value);
      if (ends_.size() >= 256) look_up(line, found);
    }
  }

  static const char* token_end(const SparseLine& line) noexcept {
    const char* q = line.p;
    while (q < line.end && !SparseLine::is_space(*q) && *q != '|') ++q;
    return q;
  }

  // Numbers the names that were spelled, all together.
  void look_up(const SparseLine& line, SparseBlock& found) {
    words_.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      words_.emplace_back(spelled_.data() + begin, end - begin);
      begin = end;
    }
    ids_.resize(words_.size());
    const char* const readable = spelled_.data() + spelled_.size();
    if (is_fixed_)
      names_.find(words_, readable, ids_.data());
    else
      names_.add(words_, readable, ids_.data());
    if (std::int64_t(names_.size()) > SparseBlock::most_columns)
      line.refuse(line.begin, "there are more than 2^31 - 1 names. Hash them.");
    for (std::size_t k = 0; k < ids_.size(); ++k) {
      if (ids_[k] == WordMap::none)
        ++n_unknown_;
      else
        found.add(std::int32_t(ids_[k]), values_[k]);
    }
    spelled_.clear();
    ends_.clear();
    values_.clear();
  }

  WordMap names_;
  bool is_fixed_ = false;
  std::size_t line_ = 1, n_unknown_ = 0;
  RowEnd end_row_;
  std::string spelled_;
  std::vector<std::size_t> ends_;
  std::vector<double> values_;
  std::vector<std::string_view> words_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace lineal
