// A stable sort of 64-bit records by some of their bits, least digit first.
//
// Cost: a pass that counts all digits, then one that moves the records for each digit of up to ten bits in
// which they differ. Made for pieces that the second cache holds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lineal {

// By bits [low, high). The order of the lower bits is kept, so records that come sorted by them end sorted by
// all bits below `high`. `spare` is scratch space.
inline void radix_sort(std::span<std::uint64_t> records, std::vector<std::uint64_t>& spare, int low,
                       int high) {
  constexpr int max_bits = 10, max_digits = 7;
  const int n_digits = (high - low + max_bits - 1) / max_bits;
  if (n_digits == 0 || records.size() < 2) return;
  if (records.size() < 64) {
    const std::uint64_t mask = high < 64 ? (std::uint64_t(1) << high) - 1 : ~std::uint64_t(0);
    const auto key = [=](std::uint64_t record) { return (record & mask) >> low; };
    // An insertion sort: stable, and quick on so few.
    for (std::size_t k = 1; k < records.size(); ++k) {
      const std::uint64_t moved = records[k];
      std::size_t at = k;
      for (; at > 0 && key(records[at - 1]) > key(moved); --at) records[at] = records[at - 1];
      records[at] = moved;
    }
    return;
  }
  if (spare.size() < records.size()) spare.resize(records.size());
  const int bits = (high - low + n_digits - 1) / n_digits;
  const std::uint64_t mask = (std::uint64_t(1) << bits) - 1;
  std::array<std::array<std::uint32_t, 1 << max_bits>, max_digits> starts;
  for (int d = 0; d < n_digits; ++d) std::fill_n(starts[std::size_t(d)].begin(), std::size_t(1) << bits, 0u);
  const auto digit = [&](std::uint64_t record, int d) {
    const int shift = low + d * bits;
    // The last digit may have fewer bits; what lies above it takes no part.
    const int width = std::min(bits, high - shift);
    return std::size_t(record >> shift & (mask >> (bits - width)));
  };
  for (const std::uint64_t record : records)
    for (int d = 0; d < n_digits; ++d) ++starts[std::size_t(d)][digit(record, d)];
  std::uint64_t* from = records.data();
  std::uint64_t* to = spare.data();
  for (int d = 0; d < n_digits; ++d) {
    auto& start = starts[std::size_t(d)];
    if (start[digit(from[0], d)] == records.size()) continue;  // all alike
    std::uint32_t sum = 0;
    for (std::size_t k = 0; k <= mask; ++k) sum += std::exchange(start[k], sum);
    for (std::size_t k = 0; k < records.size(); ++k) to[start[digit(from[k], d)]++] = from[k];
    std::swap(from, to);
  }
  if (from != records.data()) std::copy_n(from, records.size(), records.data());
}

}  // namespace lineal
