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
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lineal/arrow.h"
#include "lineal/text/documents.h"

namespace lineal {

enum class TextKind { null, offsets32, offsets64, views };

struct TextLayout {
  TextKind kind = TextKind::null;
  char index = 0;            // the format of a dictionary's indices; 0: no dictionary
  std::int64_t column = -1;  // of a table; -1: the array is the column
  std::int64_t n_columns = 0;
};

namespace arrow_detail {

template <class T>
T load(const void* buffer, std::int64_t place) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(buffer) + place * std::int64_t(sizeof(T)), sizeof(T));
  return value;
}

inline std::string_view named(const ArrowSchema& schema) {
  return schema.name == nullptr ? std::string_view() : std::string_view(schema.name);
}

[[noreturn]] inline void corrupt(const std::string& what) {
  throw InputFlaw("The Arrow data are corrupt: " + what + ". Build them again.");
}

inline std::string at_row(std::size_t row) { return " at row " + std::to_string(row); }

inline std::optional<TextKind> kind_of(std::string_view format) {
  if (format == "u" || format == "z") return TextKind::offsets32;
  if (format == "U" || format == "Z") return TextKind::offsets64;
  if (format == "vu" || format == "vz") return TextKind::views;
  if (format == "n") return TextKind::null;
  return std::nullopt;
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
                    " columns came where one column of texts was needed. Say which with column=: " +
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

// Row k of an array, validity and offset included.
struct Rows {
  const ArrowArray& array;

  explicit Rows(const ArrowArray& a, std::int64_t n_buffers) : array(a) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 32;
    if (a.release == nullptr) corrupt("an array was released before it was read");
    if (a.length < 0 || a.offset < 0 || a.length > most || a.offset > most)
      corrupt("an array of length " + std::to_string(a.length) + " at offset " + std::to_string(a.offset));
    if (a.n_buffers < n_buffers || (n_buffers > 0 && a.buffers == nullptr))
      corrupt(std::to_string(a.n_buffers) + " buffers came where " + std::to_string(n_buffers) +
              " were needed");
    if (n_buffers > 0 && a.null_count > 0 && a.length > 0 && a.buffers[0] == nullptr)
      corrupt("nulls without a bitmap of them");
  }
  bool has_nulls() const noexcept { return array.null_count != 0 && array.buffers[0] != nullptr; }
  bool is_null(std::int64_t k) const noexcept {
    const std::int64_t place = array.offset + k;
    return ((static_cast<const unsigned char*>(array.buffers[0])[place >> 3] >> (place & 7)) & 1) == 0;
  }
};

template <class Offset>
struct OffsetTexts {
  Rows rows;
  const char* data;

  explicit OffsetTexts(const ArrowArray& array) : rows(array, 3) {
    data = static_cast<const char*>(array.buffers[2]);
    if (array.length > 0 && array.buffers[1] == nullptr) corrupt("an array of strings without offsets");
  }
  std::string_view text(std::int64_t k, std::size_t row) const {
    const std::int64_t place = rows.array.offset + k;
    const auto first = load<Offset>(rows.array.buffers[1], place);
    const auto last = load<Offset>(rows.array.buffers[1], place + 1);
    if (first < 0 || last < first)
      corrupt("a text from byte " + std::to_string(first) + " to byte " + std::to_string(last) + at_row(row));
    if (last == first) return {};
    if (data == nullptr) corrupt("a text without a buffer" + at_row(row));
    return {data + first, std::size_t(last - first)};
  }
};

struct ViewTexts {
  Rows rows;
  std::int64_t n_data;
  const void* sizes;

  explicit ViewTexts(const ArrowArray& array) : rows(array, 3), n_data(array.n_buffers - 3) {
    sizes = array.buffers[array.n_buffers - 1];
    if (array.length > 0 && array.buffers[1] == nullptr) corrupt("an array of string views without views");
    if (n_data > 0 && sizes == nullptr) corrupt("an array of string views without the sizes of its buffers");
  }
  std::string_view text(std::int64_t k, std::size_t row) const {
    const char* const view = static_cast<const char*>(rows.array.buffers[1]) + 16 * (rows.array.offset + k);
    const auto size = load<std::int32_t>(view, 0);
    if (size < 0) corrupt("a text of " + std::to_string(size) + " bytes" + at_row(row));
    if (size <= 12) return {view + 4, std::size_t(size)};
    const auto buffer = load<std::int32_t>(view, 2);
    const auto first = load<std::int32_t>(view, 3);
    if (buffer < 0 || buffer >= n_data)
      corrupt("a text in buffer " + std::to_string(buffer) + " of " + std::to_string(n_data) + at_row(row));
    const auto room = load<std::int64_t>(sizes, buffer);
    const char* const data = static_cast<const char*>(rows.array.buffers[2 + buffer]);
    if (first < 0 || std::int64_t(first) + size > room || data == nullptr)
      corrupt("a text of " + std::to_string(size) + " bytes at byte " + std::to_string(first) +
              " of a buffer of " + std::to_string(room) + at_row(row));
    return {data + first, std::size_t(size)};
  }
};

struct NullTexts {
  Rows rows;
  explicit NullTexts(const ArrowArray& array) : rows(array, 0) {}
  std::string_view text(std::int64_t, std::size_t) const { return {}; }
};

// Calls use(texts) with the reader of this layout.
template <class Use>
void with_reader(TextKind kind, const ArrowArray& array, Use&& use) {
  switch (kind) {
    case TextKind::null:
      return use(NullTexts(array));
    case TextKind::offsets32:
      return use(OffsetTexts<std::int32_t>(array));
    case TextKind::offsets64:
      return use(OffsetTexts<std::int64_t>(array));
    case TextKind::views:
      return use(ViewTexts(array));
  }
}

inline std::int64_t load_index(char format, const void* buffer, std::int64_t place) noexcept {
  switch (format) {
    case 'c':
      return load<std::int8_t>(buffer, place);
    case 'C':
      return load<std::uint8_t>(buffer, place);
    case 's':
      return load<std::int16_t>(buffer, place);
    case 'S':
      return load<std::uint16_t>(buffer, place);
    case 'i':
      return load<std::int32_t>(buffer, place);
    case 'I':
      return load<std::uint32_t>(buffer, place);
    default:  // 'l', and 'L', where what is beyond 2^63 becomes negative and is refused as that
      return load<std::int64_t>(buffer, place);
  }
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
