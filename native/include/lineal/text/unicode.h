// Code points: what is known of them, and their way in and out of UTF-8.
//
// The knowledge is frozen in unicode_table.h, so that text becomes the same features under every Python, with
// Python's own definitions: \w is str.isalnum() or '_' (combining marks are not in it), lower case is
// str.lower()'s. Bytes are never trusted: decode() accepts what is well-formed and nothing else, except that
// single surrogates pass, which Python's strings may hold and which are characters of no kind.
#pragma once

#include <cstdint>

#include "lineal/text/unicode_table.h"

namespace lineal::unicode {

using Code = std::uint32_t;

enum Flag : std::uint8_t { word = 1, lowered_word = 2, space = 4, cased = 8, case_ignorable = 16 };

inline constexpr Code capital_sigma = 0x3A3, final_sigma = 0x3C2, capital_dotted_i = 0x130, dot_above = 0x307,
                      none = 0xFFFFFFFF;

inline const Record& known(Code c) noexcept { return records[record_of[block_of[c >> 7] * 128 + (c & 127)]]; }
inline bool is(Code c, std::uint8_t flags) noexcept { return (known(c).flags & flags) != 0; }

inline bool is_surrogate(Code c) noexcept { return c >> 11 == 0xD800 >> 11; }

// The code point at p and how many bytes it has; none and 1 where the bytes before `end` are not UTF-8.
struct Decoded {
  Code code;
  int size;
};

inline Decoded decode(const unsigned char* p, const unsigned char* end) noexcept {
  const Code lead = p[0];
  if (lead < 0x80) return {lead, 1};
  const int size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || end - p < size) return {none, 1};
  Code code = lead & (0x7Fu >> size);
  for (int k = 1; k < size; ++k) {
    if ((p[k] & 0xC0) != 0x80) return {none, 1};
    code = code << 6 | (p[k] & 0x3Fu);
  }
  constexpr Code smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < smallest[size] || code > 0x10FFFF) return {none, 1};
  return {code, size};
}

// The code point before p in well-formed text.
inline Decoded decode_before(const unsigned char* begin, const unsigned char* p) noexcept {
  const unsigned char* first = p - 1;
  while (first > begin && (*first & 0xC0) == 0x80) --first;
  return decode(first, p);
}

// Writes a code point, returns behind it.
inline unsigned char* encode(Code c, unsigned char* p) noexcept {
  if (c < 0x80) {
    *p++ = static_cast<unsigned char>(c);
    return p;
  }
  const int size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  constexpr unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (int k = size - 1; k > 0; --k, c >>= 6) p[k] = static_cast<unsigned char>(0x80 | (c & 0x3F));
  p[0] = static_cast<unsigned char>(lead[size] | c);
  return p + size;
}

// Whether a capital sigma at p is the last letter of its word, by Python's rule: a cased character before it
// and none behind it, ignorable ones looked through. The text before p is well-formed.
inline bool is_final_sigma(const unsigned char* begin, const unsigned char* p,
                           const unsigned char* end) noexcept {
  const unsigned char* before = p;
  Decoded at{none, 0};
  do {
    if (before == begin) return false;
    at = decode_before(begin, before);
    before -= at.size;
  } while (is(at.code, case_ignorable));
  if (!is(at.code, cased)) return false;
  for (const unsigned char* after = p + 2; after < end; after += at.size) {
    at = decode(after, end);
    if (at.code == none) return true;  // found to be malformed when it is met
    if (!is(at.code, case_ignorable)) return !is(at.code, cased);
  }
  return true;
}

}  // namespace lineal::unicode
