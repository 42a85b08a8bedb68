// Sparse rows as lines of LIBSVM or VW, each number in the fewest digits that give it back.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lineal {

struct SpelledRows {
  std::span<const double> labels;  // NaN: none is written
  std::span<const std::int64_t> starts;
  std::span<const std::int32_t> indices;
  std::span<const double> values;
  std::span<const std::int64_t> queries;  // one for each row, or none at all
  std::span<const double> weights;
};

inline constexpr std::size_t longest_namespace = 255;  // every name of a line may repeat it

template <class Number>
void spell(std::string& out, Number value) {
  char digits[32];  // a double needs 24 at most
  const auto [end, flaw] = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, end);
}

inline std::string spell_libsvm(const SpelledRows& rows, std::int64_t first) {
  std::string out;
  for (std::size_t i = 0; i + 1 < rows.starts.size(); ++i) {
    // A line without label and features would be an empty one, which is no row.
    spell(out, std::isnan(rows.labels[i]) ? 0.0 : rows.labels[i]);
    if (!rows.queries.empty()) spell(out.append(" qid:"), rows.queries[i]);
    for (auto k = std::size_t(rows.starts[i]); k < std::size_t(rows.starts[i + 1]); ++k) {
      out.push_back(' ');
      spell(out, rows.indices[k] + first);
      out.push_back(':');
      spell(out, rows.values[k]);
    }
    out.push_back('\n');
  }
  return out;
}

// name(j) is namespace^feature, or a feature alone; features of one namespace that follow each other share
// it.
template <class Name>
std::string spell_vw(const SpelledRows& rows, Name&& name) {
  std::string out;
  for (std::size_t i = 0; i + 1 < rows.starts.size(); ++i) {
    if (!std::isnan(rows.labels[i])) {
      spell(out, rows.labels[i]);
      if (!rows.weights.empty()) {
        out.push_back(' ');
        spell(out, rows.weights[i]);
      }
      out.push_back(' ');
    }
    std::string_view before;
    bool is_first = true;
    for (auto k = std::size_t(rows.starts[i]); k < std::size_t(rows.starts[i + 1]); ++k) {
      const std::string_view whole = name(std::size_t(rows.indices[k]));
      const std::size_t hat = whole.find('^');
      // What no namespace can be, or leaves no name behind it, is a name as a whole.
      const bool has_space = hat > 0 && hat <= longest_namespace && hat + 1 < whole.size();
      const std::string_view space = has_space ? whole.substr(0, hat) : std::string_view();
      if (is_first || space != before) out.append(is_first ? "|" : " |").append(space);
      is_first = false;
      before = space;
      out.append(" ").append(has_space ? whole.substr(hat + 1) : whole);
      if (rows.values[k] != 1) {
        out.push_back(':');
        spell(out, rows.values[k]);
      }
    }
    out.append(is_first ? "|\n" : "\n");
  }
  return out;
}

}  // namespace lineal
