// A 64-bit hash of bytes: eight at a time, folded by 128-bit products.
#pragma once

#include <bit>
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
  if (k < bytes.size()) std::memcpy(&rest, bytes.data() + k, bytes.size() - k);
  return hash_pair(hash, rest);
}

// Which of the first eight bytes, and of the next eight, belong to words of 0 to 16 bytes.
struct OwnBytes {
  std::uint64_t of[34] = {};
  constexpr OwnBytes() {
    for (int size = 1; size <= 16; ++size)
      for (int byte = 0; byte < size; ++byte)
        of[2 * size + byte / 8] |= std::uint64_t(0xFF) << (8 * (byte % 8));
  }
};
inline constexpr OwnBytes own_bytes{};

// The first 16 bytes of a word, zeros behind its end: with the size they tell all short words apart.
struct Head {
  std::uint64_t first = 0, second = 0;

  Head() = default;
  // `readable` bytes may be looked at from the word's first on, of whatever text it lies in.
  Head(std::string_view word, std::size_t readable) noexcept {
    static_assert(std::endian::native == std::endian::little, "a number's low bytes are a word's first ones");
    const std::size_t size = word.size() < 16 ? word.size() : 16;
    if (readable >= 16) {
      // No branch on the size, which nobody can foresee.
      std::memcpy(&first, word.data(), 8);
      std::memcpy(&second, word.data() + 8, 8);
      first &= own_bytes.of[2 * size];
      second &= own_bytes.of[2 * size + 1];
    } else {
      char bytes[16] = {};
      if (size > 0) std::memcpy(bytes, word.data(), size);
      std::memcpy(&first, bytes, 8);
      std::memcpy(&second, bytes + 8, 8);
    }
  }
  bool operator==(const Head&) const = default;
};

inline std::uint64_t hash_word(std::string_view word, const Head& head, std::uint64_t seed) noexcept {
  return word.size() > 16 ? hash_bytes(word, seed) : hash_pair(head.first ^ seed, head.second + word.size());
}

}  // namespace lineal
