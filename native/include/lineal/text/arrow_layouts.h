// How Arrow lays out strings, and where the text of a row lies: behind offsets of 32 or 64 bits, in views of
// 16 bytes, or nowhere. Everything is checked as far as the interface tells bounds; buffers need no
// alignment.
#pragma once

#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "lineal/arrow.h"
#include "lineal/text/documents.h"

namespace lineal {

enum class TextKind { null, offsets32, offsets64, views };

namespace arrow_detail {

template <class T>
T load(const void* buffer, std::int64_t place) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(buffer) + place * std::int64_t(sizeof(T)), sizeof(T));
  return value;
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

}  // namespace arrow_detail

}  // namespace lineal
