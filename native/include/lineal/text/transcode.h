// Code points of fixed width, as Python keeps strings that are not ASCII, to UTF-8.
//
// A string has one width: 1 byte for each code point (all below 256), 2 (below 65536) or 4. Single surrogates
// pass, as three bytes: Python's strings may hold them. Cost: two looks at the string, one to count and one
// to write; runs of ASCII go eight at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "lineal/text/unicode.h"

namespace lineal {

template <class Unit>
std::size_t utf8_size(const Unit* text, std::size_t n) noexcept {
  // Counted in numbers as wide as the units, as often as they can hold it: vectors of them need no widening.
  constexpr std::size_t at_once = std::min<std::size_t>(std::numeric_limits<Unit>::max() / 3, 4096);
  std::size_t size = n;
  for (std::size_t first = 0; first < n; first += at_once) {
    Unit more = 0;
    for (std::size_t k = first; k < std::min(first + at_once, n); ++k) {
      more = Unit(more + (text[k] >= 0x80));
      if constexpr (sizeof(Unit) > 1) more = Unit(more + (text[k] >= 0x800));
      if constexpr (sizeof(Unit) > 2) more = Unit(more + (text[k] >= 0x10000));
    }
    size += more;
  }
  return size;
}

// Writes a string, whose units are code points, to where there is room for it.
template <class Unit>
void write_utf8(const Unit* text, std::size_t n, char* to) noexcept {
  constexpr std::size_t at_once = 16;
  // The bits of eight bytes of units that no ASCII has.
  constexpr std::uint64_t ones = ~std::uint64_t(0) / std::numeric_limits<Unit>::max();
  constexpr std::uint64_t not_ascii = ones * (std::numeric_limits<Unit>::max() - 0x7F);
  auto* out = reinterpret_cast<unsigned char*>(to);
  std::size_t k = 0;
  for (; n - k >= at_once;) {
    std::uint64_t parts[at_once * sizeof(Unit) / 8], all = 0;
    std::memcpy(parts, text + k, sizeof(parts));
    for (const std::uint64_t part : parts) all |= part;
    if ((all & not_ascii) == 0) {
      for (std::size_t e = 0; e < at_once; ++e) out[e] = static_cast<unsigned char>(text[k + e]);
      out += at_once;
      k += at_once;
    } else {
      for (std::size_t e = 0; e < at_once; ++e) out = unicode::encode(text[k++], out);
    }
  }
  for (; k < n; ++k) out = unicode::encode(text[k], out);
}

// A string as it lies in Python's memory.
struct WideText {
  const void* data;
  std::size_t size;  // in code points
  int width;         // bytes of each: 1, 2 or 4

  // Calls use(first unit), of the type that the width tells.
  template <class Use>
  auto with(Use&& use) const {
    if (width == 1) return use(static_cast<const std::uint8_t*>(data));
    if (width == 2) return use(static_cast<const std::uint16_t*>(data));
    return use(static_cast<const std::uint32_t*>(data));
  }
  std::size_t utf8_size() const noexcept {
    return with([&](const auto* text) { return lineal::utf8_size(text, size); });
  }
  void write_utf8(char* to) const noexcept {
    with([&](const auto* text) { lineal::write_utf8(text, size, to); });
  }
  bool has_surrogates() const noexcept {
    return width > 1 && with([&](const auto* text) {
             bool found = false;
             for (std::size_t k = 0; k < size; ++k) found |= unicode::is_surrogate(text[k]);
             return found;
           });
  }
};

}  // namespace lineal
