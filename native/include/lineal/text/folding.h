// Characters without their accents: compatibility decompositions (NFKD) that lose their combining marks.
//
// One code point at a time is enough: what NFKD does across characters is to put combining marks in order,
// and none of them is kept. Decompositions are frozen with the rest of what is known of characters.
#pragma once

#include <cstddef>
#include <iterator>

#include "lineal/text/folding_table.h"
#include "lineal/text/unicode.h"

namespace lineal::unicode {

// Bytes that one folded character may have.
inline constexpr std::size_t longest_folded = 4 * longest_folding;

// Calls use(code) for what is left of a character, in order; not at all for a combining mark.
template <class Use>
void each_folded(Code c, Use&& use) {
  constexpr Code syllables = 0xAC00, n_syllables = 11172, leads = 0x1100, vowels = 0x1161, tails = 0x11A7;
  constexpr Code n_tails = 28, n_vowels_and_tails = 21 * n_tails;
  if (c - syllables < n_syllables) {  // Hangul, by Unicode's arithmetic (chapter 3.12)
    const Code k = c - syllables, tail = k % n_tails;
    use(leads + k / n_vowels_and_tails);
    use(vowels + k % n_vowels_and_tails / n_tails);
    if (tail != 0) use(tails + tail);
    return;
  }
  const std::size_t block = c >> 6;
  const std::size_t at =
      block < std::size(folding_block_of) ? folding_at[folding_block_of[block] * 64u + (c & 63)] : 0;
  if (at == 0) return use(c);
  for (std::size_t k = 1; k <= foldings[at]; ++k) use(Code(foldings[at + k]));
}

}  // namespace lineal::unicode
