// What is true of every input of the readers of sparse lines: blocks make no difference, and what was read
// and spelled is read again as it was.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "law.h"
#include "lineal/text/libsvm_lines.h"
#include "lineal/text/sparse_spelling.h"
#include "lineal/text/vw_lines.h"

namespace lineal::fuzz {

// All rows of a file that is given in two blocks of exactly their bytes, or the sentence that refuses it.
template <class Format>
std::optional<SparseBlock> read_in_two(Format& format, std::string_view file, std::size_t cut,
                                       std::string& flaw) {
  const auto exactly = [](std::string_view text) {
    auto copy = std::make_unique<char[]>(text.size());
    std::copy(text.begin(), text.end(), copy.get());
    return copy;
  };
  try {
    const auto first = exactly(file.substr(0, cut));
    SparseBlock all = format.scan({first.get(), cut}, cut == file.size());
    law(all.consumed <= cut, "no more is consumed than there is");
    const std::string_view rest = file.substr(all.consumed);
    const auto second = exactly(rest);
    const SparseBlock more = format.scan({second.get(), rest.size()}, true);
    law(more.consumed == rest.size(), "the last block is consumed whole");
    const std::int64_t before = all.starts.back();
    all.labels.insert(all.labels.end(), more.labels.begin(), more.labels.end());
    all.indices.insert(all.indices.end(), more.indices.begin(), more.indices.end());
    all.values.insert(all.values.end(), more.values.begin(), more.values.end());
    all.queries.insert(all.queries.end(), more.queries.begin(), more.queries.end());
    for (std::size_t k = 1; k < more.starts.size(); ++k) all.starts.push_back(before + more.starts[k]);
    return all;
  } catch (const InputFlaw& refusal) {
    flaw = refusal.what();
    return std::nullopt;
  }
}

inline bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (x != x && y != y); });
}

inline void rows_are_sound(const SparseBlock& rows) {
  law(rows.starts.size() == rows.labels.size() + 1 && rows.starts.front() == 0 &&
          std::size_t(rows.starts.back()) == rows.indices.size() && rows.indices.size() == rows.values.size(),
      "the arrays of rows fit each other");
  law(rows.queries.empty() || rows.queries.size() == rows.labels.size(), "a query for each row, or none");
  for (std::size_t i = 0; i < rows.labels.size(); ++i)
    for (auto k = std::size_t(rows.starts[i]); k < std::size_t(rows.starts[i + 1]); ++k) {
      law(rows.indices[k] >= 0 && rows.values[k] - rows.values[k] == 0, "columns exist, values are finite");
      law(k == std::size_t(rows.starts[i]) || rows.indices[k - 1] < rows.indices[k], "columns rise");
    }
}

inline SpelledRows as_spelled(const SparseBlock& rows) {
  return {rows.labels, rows.starts, rows.indices, rows.values, rows.queries, {}};
}

// cut: where the file is cut into blocks.
inline void sparse_obeys(std::string_view file, std::size_t cut) {
  std::string flaw, other;
  LibsvmLines whole, parts, again;
  const auto rows = read_in_two(whole, file, file.size(), flaw),
             cut_rows = read_in_two(parts, file, cut, other);
  law(flaw == other && rows.has_value() == cut_rows.has_value(), "LIBSVM is refused alike in any blocks");
  if (rows) {
    rows_are_sound(*rows);
    law(same_numbers(rows->labels, cut_rows->labels) && rows->indices == cut_rows->indices &&
            rows->values == cut_rows->values && rows->queries == cut_rows->queries &&
            rows->starts == cut_rows->starts,
        "LIBSVM is read alike in any blocks");
    const SparseBlock back = again.scan(spell_libsvm(as_spelled(*rows), 0), true);
    law(back.indices == rows->indices && back.values == rows->values && back.starts == rows->starts &&
            back.queries == rows->queries,
        "LIBSVM that is spelled is read as it was");
  }
  VwLines all, halves, once_more;
  flaw.clear();
  other.clear();
  const auto named = read_in_two(all, file, file.size(), flaw),
             cut_named = read_in_two(halves, file, cut, other);
  law(flaw == other && named.has_value() == cut_named.has_value(), "VW is refused alike in any blocks");
  if (!named) return;
  rows_are_sound(*named);
  law(named->indices == cut_named->indices && named->values == cut_named->values &&
          named->starts == cut_named->starts && all.names().size() == halves.names().size(),
      "VW is read alike in any blocks");
  const SparseBlock back = once_more.scan(
      spell_vw(as_spelled(*named), [&](std::size_t j) { return all.names().name(std::uint32_t(j)); }), true);
  law(back.starts == named->starts && same_numbers(back.labels, named->labels),
      "VW that is spelled has the same rows");
  for (std::size_t i = 0; i < named->labels.size(); ++i) {
    // Columns are numbered anew, in the order in which the spelling has them.
    std::vector<std::pair<std::string_view, double>> a, b;
    for (auto k = std::size_t(named->starts[i]); k < std::size_t(named->starts[i + 1]); ++k) {
      a.emplace_back(all.names().name(std::uint32_t(named->indices[k])), named->values[k]);
      b.emplace_back(once_more.names().name(std::uint32_t(back.indices[k])), back.values[k]);
    }
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    law(a == b, "with the same names and values");
  }
}

}  // namespace lineal::fuzz
