// A stable sort of records by some of their bits, least digit first.
//
// Cost: a pass that counts all digits, then one that moves the records for each digit in which they differ.
// Made for pieces that the second cache holds. Digits are short where there are few records, so that looking
// at all values of a digit costs no more than looking at the records.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lineal {

namespace radix {

// Records of n_digits digits of the same number of bits, the last one perhaps of fewer. Where the result is.
template <int n_digits, int max_bits, class Record>
Record* pass(Record* from, Record* to, std::size_t n, int low, int high) {
  constexpr std::size_t n_values = std::size_t(1) << max_bits;
  const int bits = (high - low + n_digits - 1) / n_digits;
  std::uint32_t starts[std::size_t(n_digits)][n_values];
  int shift[n_digits];
  Record mask[n_digits];
  for (int d = 0; d < n_digits; ++d) {
    shift[d] = low + d * bits;
    // What lies above the last digit takes no part.
    const int width = std::max(std::min(bits, high - shift[d]), 0);
    mask[d] = width == 0 ? 0 : Record(~Record(0)) >> (int(8 * sizeof(Record)) - width);
    if (width == 0) shift[d] = 0;
    std::fill_n(starts[d], std::size_t(mask[d]) + 1, 0u);
  }
  for (std::size_t k = 0; k < n; ++k)
    for (int d = 0; d < n_digits; ++d) ++starts[d][std::size_t(from[k] >> shift[d] & mask[d])];
  for (int d = 0; d < n_digits; ++d) {
    std::uint32_t* const start = starts[d];
    if (start[std::size_t(from[0] >> shift[d] & mask[d])] == n) continue;  // all alike
    std::uint32_t sum = 0;
    for (std::size_t value = 0; value <= std::size_t(mask[d]); ++value)
      sum += std::exchange(start[value], sum);
    for (std::size_t k = 0; k < n; ++k) to[start[std::size_t(from[k] >> shift[d] & mask[d])]++] = from[k];
    std::swap(from, to);
  }
  return from;
}

template <int max_bits, class Record>
Record* sorted(Record* from, Record* to, std::size_t n, int low, int high) {
  switch ((high - low + max_bits - 1) / max_bits) {
    case 1:
      return pass<1, max_bits>(from, to, n, low, high);
    case 2:
      return pass<2, max_bits>(from, to, n, low, high);
    case 3:
      return pass<3, max_bits>(from, to, n, low, high);
    case 4:
      return pass<4, max_bits>(from, to, n, low, high);
    default:
      return pass<8, max_bits>(from, to, n, low, high);
  }
}

}  // namespace radix

// By bits [low, high). The order of the lower bits is kept, so records that come sorted by them end sorted by
// all bits below `high`. `spare` is scratch space.
template <class Record>
void radix_sort(std::span<Record> records, std::vector<Record>& spare, int low, int high) {
  const std::size_t n = records.size();
  if (high <= low || n < 2) return;
  if (n < 48) {
    const Record mask = Record(~Record(0)) >> (int(8 * sizeof(Record)) - high);
    const auto key = [=](Record record) { return Record(record & mask) >> low; };
    // An insertion sort: stable, and quick on so few.
    for (std::size_t k = 1; k < n; ++k) {
      const Record moved = records[k];
      std::size_t at = k;
      for (; at > 0 && key(records[at - 1]) > key(moved); --at) records[at] = records[at - 1];
      records[at] = moved;
    }
    return;
  }
  if (spare.size() < n) spare.resize(n);
  Record* const found = n < 4096 ? radix::sorted<8>(records.data(), spare.data(), n, low, high)
                                 : radix::sorted<11>(records.data(), spare.data(), n, low, high);
  if (found != records.data()) std::copy_n(found, n, records.data());
}
template <class Record>
void radix_sort(std::vector<Record>& records, std::vector<Record>& spare, int low, int high) {
  radix_sort(std::span<Record>(records), spare, low, high);
}

// By bits [low, high), of records below 2^high that lie about evenly there, as hashes do; of records that are
// alike in these bits any may come first. They are dealt out to about as many places as there are records, by
// their highest bits; an insertion sort then has little left to do. Where it has much, because they do not
// lie evenly after all, radix_sort does it.
template <class Record>
void even_sort(std::vector<Record>& records, std::vector<Record>& spare, int low, int high) {
  constexpr std::size_t few = 32, many = 4096;
  const std::size_t n = records.size();
  if (n < few || n >= many) return radix_sort(records, spare, low, high);
  const int bits = std::min(int(std::bit_width(n)), high), shift = high - bits;
  std::uint32_t starts[many];
  std::fill_n(starts, std::size_t(1) << bits, 0u);
  for (const Record record : records) ++starts[std::size_t(record >> shift)];
  std::uint32_t sum = 0;
  for (std::size_t place = 0; place < std::size_t(1) << bits; ++place)
    sum += std::exchange(starts[place], sum);
  spare.resize(n);
  for (const Record record : records) spare[starts[std::size_t(record >> shift)]++] = record;
  records.swap(spare);
  for (std::size_t k = 1, n_moves = 0; k < n; ++k) {
    const Record moved = records[k];
    if (records[k - 1] <= moved) continue;
    std::size_t at = k;
    for (; at > 0 && records[at - 1] > moved; --at) records[at] = records[at - 1];
    records[at] = moved;
    n_moves += k - at;
    if (n_moves > 8 * n) return radix_sort(records, spare, low, high);
  }
}

}  // namespace lineal
