// A law, and the slow twin that several laws need.
#pragma once

#include <stdexcept>
#include <string_view>

#include "lineal/text/documents.h"

namespace lineal::fuzz {

inline void law(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

// Somebody else's decoder, slow: the definition of UTF-8 by its byte ranges (RFC 3629), surrogates let pass
// where Python's strings are meant.
inline std::size_t slow_first_malformed(std::string_view text, bool surrogates_pass) {
  for (std::size_t k = 0; k < text.size();) {
    const auto byte = [&](std::size_t at) {
      return at < text.size() ? int(static_cast<unsigned char>(text[at])) : -1;
    };
    const auto in = [&](std::size_t at, int low, int high) { return byte(at) >= low && byte(at) <= high; };
    const auto tail = [&](std::size_t at) { return in(at, 0x80, 0xBF); };
    const int last_of_three = byte(k) == 0xED && !surrogates_pass ? 0x9F : 0xBF;
    if (in(k, 0, 0x7F))
      k += 1;
    else if (in(k, 0xC2, 0xDF) && tail(k + 1))
      k += 2;
    else if (in(k, 0xE0, 0xEF) && in(k + 1, byte(k) == 0xE0 ? 0xA0 : 0x80, last_of_three) && tail(k + 2))
      k += 3;
    else if (in(k, 0xF0, 0xF4) && in(k + 1, byte(k) == 0xF0 ? 0x90 : 0x80, byte(k) == 0xF4 ? 0x8F : 0xBF) &&
             tail(k + 2) && tail(k + 3))
      k += 4;
    else
      return k;
  }
  return no_flaw;
}

}  // namespace lineal::fuzz
