// The Levenshtein distance: the fewest insertions, deletions and substitutions that turn one string into
// another.
//
// Bit-parallel (Myers 1999, in blocks as Hyyro 2003 writes them): a word holds how 64 cells of a column of
// the table of distances differ from the cells above, so a character of the text costs a dozen operations for
// 64 of the pattern. Strings are sequences of code points. Under a limit, only a band of the table is
// computed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "lineal/rows.h"

namespace lineal::near {

using Symbol = std::uint32_t;  // a code point
using Text = std::span<const Symbol>;

// One string, made ready to be compared with many.
class Pattern {
 public:
  void set(Text pattern) {
    size_ = Index(pattern.size());
    n_blocks_ = std::max<Index>(1, (size_ + 63) / 64);
    symbols_.assign(pattern.begin(), pattern.end());
    std::sort(symbols_.begin(), symbols_.end());
    symbols_.erase(std::unique(symbols_.begin(), symbols_.end()), symbols_.end());
    // The last row stays empty: characters that the pattern does not have.
    places_.assign((symbols_.size() + 1) * std::size_t(n_blocks_), 0);
    std::fill(std::begin(small_), std::end(small_), Index(symbols_.size()));
    for (std::size_t s = 0; s < symbols_.size() && symbols_[s] < n_small; ++s) small_[symbols_[s]] = Index(s);
    for (Index i = 0; i < size_; ++i)
      places_[std::size_t(row(pattern[std::size_t(i)]) * n_blocks_ + i / 64)] |= std::uint64_t(1) << (i % 64);
    rises_.resize(std::size_t(n_blocks_));
    falls_.resize(std::size_t(n_blocks_));
  }

  Index size() const noexcept { return size_; }

  // The distance, or any number above `limit` once it is clear that the distance is above it too.
  Index distance(Text text, Index limit) noexcept {
    const Index n = Index(text.size());
    if (std::abs(size_ - n) > limit) return limit + 1;
    if (size_ == 0 || n == 0) return size_ + n;
    return n_blocks_ == 1 ? short_distance(text, limit) : long_distance(text, limit);
  }

 private:
  static constexpr Symbol n_small = 256;

  Index row(Symbol c) const noexcept {
    if (c < n_small) return small_[c];
    const auto at = std::lower_bound(symbols_.begin(), symbols_.end(), c);
    return at != symbols_.end() && *at == c ? at - symbols_.begin() : Index(symbols_.size());
  }

  // One column of one block: rises and falls are the vertical differences +1 and -1, `carry` the horizontal
  // one that comes in from above, -1, 0 or 1. Returns the one that goes out of bit `last`.
  static int step(std::uint64_t matches, std::uint64_t& rises, std::uint64_t& falls, int carry,
                  int last) noexcept {
    const std::uint64_t below = std::uint64_t(carry < 0);
    const std::uint64_t vertical = matches | falls;
    matches |= below;
    const std::uint64_t diagonal = (((matches & rises) + rises) ^ rises) | matches;
    std::uint64_t up = falls | ~(diagonal | rises), down = rises & diagonal;
    const int out = int((up >> last) & 1) - int((down >> last) & 1);
    up = up << 1 | std::uint64_t(carry > 0);
    down = down << 1 | below;
    rises = down | ~(vertical | up);
    falls = up & vertical;
    return out;
  }

  Index short_distance(Text text, Index limit) noexcept {
    std::uint64_t rises = ~std::uint64_t(0), falls = 0;
    const int last = int(size_ - 1);
    Index score = size_, left = Index(text.size());
    for (const Symbol c : text) {
      score += step(places_[std::size_t(row(c))], rises, falls, 1, last);
      if (score - --left > limit) return limit + 1;  // each character that is left lowers it by 1 at most
    }
    return score;
  }

  // Only blocks that meet the band |i - j| <= limit (Ukkonen 1985): no path of so few edits leaves it. Cells
  // outside count as 1 more than their neighbours inside, which is never too little.
  Index long_distance(Text text, Index limit) noexcept {
    const Index n = Index(text.size());
    const auto height = [&](Index b) { return b + 1 < n_blocks_ ? Index(64) : size_ - 64 * b; };
    Index score = 0, n_open = 0;  // the distance at the last row of the open blocks
    for (Index j = 0; j < n; ++j) {
      for (; n_open < n_blocks_ && 64 * n_open <= j + limit; ++n_open) {
        rises_[std::size_t(n_open)] = ~std::uint64_t(0);
        falls_[std::size_t(n_open)] = 0;
        score += height(n_open);
      }
      const std::uint64_t* matches = places_.data() + row(text[std::size_t(j)]) * n_blocks_;
      int carry = 1;
      for (Index b = std::max<Index>(0, (j - limit) / 64); b < n_open; ++b)
        carry = step(matches[b], rises_[std::size_t(b)], falls_[std::size_t(b)], carry, int(height(b) - 1));
      score += carry;
      if (n_open == n_blocks_ && score - (n - 1 - j) > limit) return limit + 1;
    }
    return score;
  }

  Index size_ = 0, n_blocks_ = 1;
  std::vector<Symbol> symbols_;
  std::vector<std::uint64_t> places_, rises_, falls_;
  Index small_[n_small] = {};
};

}  // namespace lineal::near
