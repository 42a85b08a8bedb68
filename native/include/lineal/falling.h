// The order of scores, largest first, the lower place first among equals.
//
// The leading bits of a score >= 0, which rise with it, and its place are one whole number: those are sorted,
// by digits. Scores that differ in no leading bit are put in order afterwards; they are few.
// Cost: about eight passes over one number a score, and as much memory again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "lineal/text/radix.h"

namespace lineal {

// No score is below 0 or NaN.
inline void falling_order(std::span<const double> scores, std::int64_t* order) {
  const std::size_t n = scores.size();
  const int n_bits = std::max(1, int(std::bit_width(n)));
  const std::uint64_t places = (std::uint64_t(1) << n_bits) - 1;
  std::vector<std::uint64_t> keys(n), spare;
  for (std::size_t k = 0; k < n; ++k)  // + 0.0: -0.0 has other bits than 0.0
    keys[k] = (~std::bit_cast<std::uint64_t>(scores[k] + 0.0) & ~places) | k;
  radix_sort(keys, spare, n_bits, 64);
  for (std::size_t k = 0; k < n; ++k) order[k] = std::int64_t(keys[k] & places);
  const auto is_before = [&](std::int64_t a, std::int64_t b) {
    const double x = scores[std::size_t(a)], y = scores[std::size_t(b)];
    return x > y || (x == y && a < b);
  };
  for (std::size_t first = 0, last = 0; first < n; first = last) {
    for (last = first + 1; last < n && (keys[last] | places) == (keys[first] | places);) ++last;
    if (last - first > 1) std::sort(order + first, order + last, is_before);
  }
}

}  // namespace lineal
