// Texts of Arrow arrays, read where they lie: strings and bytes with 32- or 64-bit offsets or as views of 16
// bytes, dictionaries of them, nulls, slices, and one column of a table.
//
//   TextLayout    what a schema says about the column with the texts; made once for a stream
//   append_texts  the texts of one array, behind those of the arrays before it
//   ArrowTexts    a stream of arrays, as Documents of at least so many bytes
//
// No text is copied. Guarantees: lengths, offsets, indices and view buffers are checked as far as the
// interface tells their bounds (it does not tell the size of a data buffer under offsets), and a flaw is
// refused with its row. Buffers need no alignment. Every array is released once, when the last Documents with
// its texts die.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lineal/arrow.h"
#include "lineal/text/arrow_layouts.h"
#include "lineal/text/documents.h"

namespace lineal {

struct TextLayout {
  TextKind kind = TextKind::null;
  char index = 0;            // the format of a dictionary's indices; 0: no dictionary
  std::int64_t column = -1;  // of a table; -1: the array is the column
  std::int64_t n_columns = 0;
};

namespace arrow_detail {

inline std::string_view named(const ArrowSchema& schema) {
  return schema.name == nullptr ? std::string_view() : std::string_view(schema.name);
}

inline std::string all_names(const ArrowSchema& schema) {
  std::string names;
  for (std::int64_t k = 0; k < schema.n_children; ++k) {
    if (k == 20) return names + ", ...";
    names += (k ? ", '" : "'") + std::string(named(*schema.children[k])) + "'";
  }
  return names;
}

// Which column of a table is meant: the named one, else the only one.
inline std::int64_t choose_column(const ArrowSchema& table, const std::optional<std::string>& wanted) {
  if (!wanted) {
    if (table.n_children == 1) return 0;
    throw InputFlaw("A table with " + std::to_string(table.n_children) +
                    " columns came where one column of texts was needed. Give one of them alone, or say "
                    "which with column=: " +
                    all_names(table) + ".");
  }
  std::int64_t found = -1;
  for (std::int64_t k = 0; k < table.n_children; ++k)
    if (named(*table.children[k]) == *wanted) {
      if (found >= 0) throw InputFlaw("The table has several columns named '" + *wanted + "'. Rename them.");
      found = k;
    }
  if (found < 0)
    throw InputFlaw("The table has no column '" + *wanted + "'. Its columns are " + all_names(table) + ".");
  return found;
}

// Room for n more, at least doubled: chunks come one by one.
inline void make_room(std::vector<std::string_view>& texts, std::int64_t n) {
  const std::size_t needed = texts.size() + std::size_t(n);
  if (needed > texts.capacity()) texts.reserve(std::max(needed, 2 * texts.capacity()));
}

}  // namespace arrow_detail

// What the schema says of the column of texts; a table needs `column` unless it has one column only.
inline TextLayout text_layout(const ArrowSchema& schema, const std::optional<std::string>& column) {
  using namespace arrow_detail;
  if (schema.release == nullptr || schema.format == nullptr) corrupt("a schema without a format");
  TextLayout layout;
  const ArrowSchema* at = &schema;
  if (std::string_view(schema.format) == "+s") {
    if (schema.n_children < 0 || (schema.n_children > 0 && schema.children == nullptr))
      corrupt("a schema without its columns");
    for (std::int64_t k = 0; k < schema.n_children; ++k)
      if (schema.children[k] == nullptr) corrupt("a schema without its columns");
    layout.column = choose_column(schema, column);
    layout.n_columns = schema.n_children;
    at = schema.children[layout.column];
    if (at->format == nullptr) corrupt("a schema without a format");
  } else if (column) {
    throw InputFlaw("column='" + *column +
                    "' was given, but the data are one column, not a table. Leave it out.");
  }
  const bool is_dictionary = at->dictionary != nullptr;
  const std::string_view format = at->format;
  const char* const of_values = is_dictionary ? at->dictionary->format : at->format;
  const std::optional<TextKind> kind = kind_of(of_values == nullptr ? "" : of_values);
  const bool has_index =
      format.size() == 1 && std::string_view("cCsSiIlL").find(format[0]) != std::string_view::npos;
  if (!kind || (is_dictionary && (!has_index || at->dictionary->dictionary != nullptr)))
    throw WrongKind(
        "Texts are needed: strings or UTF-8 bytes. " +
        (named(*at).empty() ? std::string("The data have") : "Column '" + std::string(named(*at)) + "' has") +
        " the Arrow format '" + std::string(format) + "'" +
        (is_dictionary ? " with values of format '" + std::string(of_values ? of_values : "") + "'" : "") +
        ". Choose another column, or convert this one to strings.");
  layout.kind = *kind;
  if (is_dictionary) layout.index = format[0];
  return layout;
}

// Appends the texts of one array. first_row: how many rows of the source came before, for messages.
inline void append_texts(const TextLayout& layout, const ArrowArray& array, Missing missing,
                         std::size_t first_row, std::vector<std::string_view>& texts) {
  using namespace arrow_detail;
  const ArrowArray* column = &array;
  std::optional<Rows> table;
  std::int64_t n_rows = array.length, skip = 0;
  if (layout.column >= 0) {
    table.emplace(array, 1);
    if (array.n_children != layout.n_columns || array.children == nullptr)
      corrupt("a table of " + std::to_string(array.n_children) + " columns came where its schema has " +
              std::to_string(layout.n_columns));
    column = array.children[layout.column];
    if (column == nullptr || column->length < 0 || column->length - array.offset < n_rows)
      corrupt("a column shorter than its table");
    skip = array.offset;
  }
  // skip: a table's own offset applies to its columns, on top of theirs.
  const auto is_missing = [&](const Rows& rows, std::int64_t k) {
    return (table && table->has_nulls() && table->is_null(k)) || (rows.has_nulls() && rows.is_null(k + skip));
  };
  const auto none = [&](std::size_t row) {
    if (missing == Missing::empty) return std::string_view();
    throw InputFlaw(
        "There is no text" + at_row(row) +
        ": it is null. Drop the row, or read missing texts as empty ones with missing=\"empty\".");
  };
  const auto row_of = [&](std::int64_t k) { return first_row + std::size_t(k); };
  if (layout.index == 0)
    return with_reader(layout.kind, *column, [&](const auto& reader) {
      make_room(texts, n_rows);
      for (std::int64_t k = 0; k < n_rows; ++k) {
        if (layout.kind == TextKind::null || is_missing(reader.rows, k))
          texts.push_back(none(row_of(k)));
        else
          texts.push_back(reader.text(k + skip, row_of(k)));
      }
    });
  const Rows rows(*column, 2);
  if (n_rows > 0 && column->buffers[1] == nullptr) corrupt("a dictionary's indices are not there");
  if (column->dictionary == nullptr) corrupt("a dictionary's values are not there");
  with_reader(layout.kind, *column->dictionary, [&](const auto& values) {
    make_room(texts, n_rows);
    for (std::int64_t k = 0; k < n_rows; ++k) {
      if (is_missing(rows, k)) {
        texts.push_back(none(row_of(k)));
        continue;
      }
      const std::int64_t place = load_index(layout.index, column->buffers[1], column->offset + skip + k);
      if (place < 0 || place >= column->dictionary->length)
        corrupt("entry " + std::to_string(place) + " of a dictionary with " +
                std::to_string(column->dictionary->length) + " entries" + at_row(row_of(k)));
      if (layout.kind == TextKind::null || (values.rows.has_nulls() && values.rows.is_null(place)))
        texts.push_back(none(row_of(k)));
      else
        texts.push_back(values.text(place, row_of(k)));
    }
  });
}

// The arrays of a stream, or one array, as Documents. Not for several threads at once.
class ArrowTexts {
 public:
  ArrowTexts(ArrowOwned<ArrowArrayStream> stream, const std::optional<std::string>& column, Missing missing,
             std::size_t first_row = 0)
      : stream_(std::move(stream)), missing_(missing), n_rows_(first_row) {
    if (stream_.is_empty()) throw InputFlaw("The Arrow stream was read before. Make a new one.");
    ArrowOwned<ArrowSchema> schema;
    require_ok(stream_.get()->get_schema(stream_.get(), schema.get()));
    layout_ = text_layout(*schema, column);
  }
  ArrowTexts(const ArrowOwned<ArrowSchema>& schema, ArrowOwned<ArrowArray> array,
             const std::optional<std::string>& column, Missing missing, std::size_t first_row = 0)
      : layout_(text_layout(*schema, column)), missing_(missing), one_(std::move(array)), n_rows_(first_row) {
    if (one_.is_empty()) throw InputFlaw("The Arrow array was read before. Make a new one.");
  }

  // Whole arrays until they have so many bytes of text; nothing behind the last one.
  std::optional<Documents> read(std::size_t n_bytes) {
    std::vector<std::string_view> texts;
    std::vector<Documents::Owner> owners;
    std::size_t size = 0;
    bool is_over = true;
    while (auto array = next()) {
      is_over = false;
      const std::size_t before = texts.size();
      append_texts(layout_, **array, missing_, n_rows_, texts);
      n_rows_ += texts.size() - before;
      for (std::size_t k = before; k < texts.size(); ++k) size += texts[k].size();
      owners.push_back(std::move(array));
      if (size >= n_bytes) break;
    }
    if (is_over) return std::nullopt;
    return Documents(std::move(texts), std::move(owners), false);
  }

 private:
  std::shared_ptr<ArrowOwned<ArrowArray>> next() {
    auto array = std::make_shared<ArrowOwned<ArrowArray>>();
    if (!stream_.is_empty()) {
      require_ok(stream_.get()->get_next(stream_.get(), array->get()));
      if (array->is_empty()) stream_ = {};
    } else {
      *array = std::move(one_);
    }
    return array->is_empty() ? nullptr : array;
  }

  void require_ok(int status) {
    if (status == 0) return;
    const char* const why =
        stream_.get()->get_last_error == nullptr ? nullptr : stream_.get()->get_last_error(stream_.get());
    throw InputFlaw("The Arrow stream failed: " + std::string(why == nullptr ? "it gave no reason" : why));
  }

  ArrowOwned<ArrowArrayStream> stream_;
  TextLayout layout_;
  Missing missing_;
  ArrowOwned<ArrowArray> one_;
  std::size_t n_rows_;  // before the next array, for messages
};

}  // namespace lineal
