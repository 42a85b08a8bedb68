// A 64-bit hash of bytes: eight at a time, folded by 128-bit products.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace lineal {

__extension__ typedef unsigned __int128 Wide;

// The halves of a 128-bit product, added without carry: every bit depends on all bits of both.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const Wide product = Wide(a) * b;
  return std::uint64_t(product) ^ std::uint64_t(product >> 64);
}

inline std::uint64_t hash_pair(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t first = 0x9E3779B97F4A7C15, second = 0xD1B54A32D192ED03;
  return fold(fold(a ^ first, b ^ second) ^ first, second);
}

inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) noexcept {
  std::uint64_t hash = hash_pair(seed, bytes.size());
  std::size_t k = 0;
  for (; k + 8 <= bytes.size(); k += 8) {
    std::uint64_t part;
    std::memcpy(&part, bytes.data() + k, 8);
    hash = hash_pair(hash, part);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes.data() + k, bytes.size() - k);
  return hash_pair(hash, rest);
}

}  // namespace lineal
