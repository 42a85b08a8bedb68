#include "lineal/text/radix.h"

#include <functional>

#include "check.h"
#include "lineal/rng.h"

using namespace lineal;

namespace {

std::uint64_t bits_of(std::uint64_t record, int low, int high) {
  if (low == high) return 0;
  return record << (64 - high) >> (64 - high + low);
}

void check_sorted(std::vector<std::uint64_t> records, int low, int high) {
  std::vector<std::uint64_t> wanted = records, spare;
  std::stable_sort(wanted.begin(), wanted.end(), [&](std::uint64_t a, std::uint64_t b) {
    return bits_of(a, low, high) < bits_of(b, low, high);
  });
  radix_sort(records, spare, low, high);
  CHECK(records == wanted);
}

// Whether they are in order by the bits from `low` on, and those that there were.
void check_evenly_sorted(std::vector<std::uint32_t> records, std::vector<std::uint32_t>& spare, int low,
                         int high) {
  std::vector<std::uint32_t> wanted = records;
  std::sort(wanted.begin(), wanted.end());
  even_sort(records, spare, low, high);
  const auto key = [=](std::uint32_t record) { return std::uint64_t(record) >> low; };
  CHECK(std::is_sorted(records.begin(), records.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); }));
  std::sort(records.begin(), records.end());
  CHECK(records == wanted);
}

}  // namespace

THEOREM("a radix sort is the stable sort by bits [low, high), for all of them and any number of records") {
  Rng rng(1);
  for (int low = 0; low < 64; low += 1 + int(rng.below(4)))
    for (int high = low; high <= 64; ++high) {
      std::vector<std::uint64_t> records(std::size_t(rng.below(300)));
      for (std::uint64_t& record : records) record = rng.next();
      check_sorted(records, low, high);
    }
  for (std::size_t size = 0; size < 5000; size += size < 140 ? 1 : 977) {
    std::vector<std::uint64_t> records(size);
    for (std::uint64_t& record : records) record = rng.next();
    check_sorted(records, 0, 64);
    check_sorted(records, int(rng.below(30)), 30 + int(rng.below(35)));
  }
}

THEOREM("digits in which all records are alike change nothing, be they the first, the last or all") {
  Rng rng(2);
  for (const std::uint64_t differing :
       {0ull, 1ull, ~0ull, 0x3FFull, 0xFFC00ull, 0xF000000000000000ull, 0x8000000000000001ull, 0xFF00FF00ull})
    for (const std::size_t size : {2u, 63u, 64u, 65u, 1000u})
      for (const int high : {1, 10, 11, 20, 33, 63, 64}) {
        const std::uint64_t common = rng.next() & ~differing;
        std::vector<std::uint64_t> records(size);
        for (std::uint64_t& record : records) record = common | (rng.next() & differing);
        check_sorted(records, 0, high);
        check_sorted(records, high / 2, high);
      }
}

THEOREM(
    "an even sort sorts, be the records even, alike, in one heap or in the worst order, any number of them") {
  Rng rng(3);
  std::vector<std::uint32_t> spare;  // of all: what the one before left there changes nothing
  for (int high = 1; high <= 32; ++high)
    for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 63u, 64u, 1000u, 2048u, 4095u, 4096u, 4097u}) {
      if (size > 1000 && high % 5 > 1) continue;
      const auto most = std::uint32_t((std::uint64_t(1) << high) - 1);
      const auto low_half = std::uint32_t(most >> high / 2);
      const std::uint32_t any = std::uint32_t(rng.next()) & most;
      const std::function<std::uint32_t(std::uint32_t)> kinds[] = {
          [&](std::uint32_t) { return std::uint32_t(rng.next()) & most; },
          [&](std::uint32_t) { return any; },
          [&](std::uint32_t) { return most; },
          [&](std::uint32_t) { return (any & ~low_half) | (std::uint32_t(rng.next()) & low_half); },
          [&](std::uint32_t k) { return most - std::min(k, most); },
          [&](std::uint32_t k) { return k % 2 == 0 ? most : std::uint32_t(rng.next()) & low_half; },
          [&](std::uint32_t k) { return k + 1 == size ? 0 : most - std::min(4096 - k % 64, most); },
      };
      for (const auto& kind : kinds) {
        std::vector<std::uint32_t> records(size);
        for (std::uint32_t k = 0; k < size; ++k) records[k] = kind(k);
        check_evenly_sorted(records, spare, int(rng.below(std::uint64_t(high + 1))), high);
      }
    }
}
