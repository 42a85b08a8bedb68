// Appleby's MurmurHash3 (x86, 32 bits), published 2011, of eight texts at once.
//
// A hash is a chain of products, each waiting for the one before it: eight chains side by side keep a
// processor busy. How many groups of four bytes a text has nobody can foresee, and a processor that guesses
// wrong waits longer than it hashes; so all lanes take as many steps as the longest, and those whose text is
// over change nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace lineal {

struct EightMurmurs {
  static constexpr std::size_t n_lanes = 8;
  static constexpr std::size_t readable = 4;  // bytes behind any text that may be read

  const char* text[n_lanes];
  std::uint32_t size[n_lanes];
  std::uint32_t taken[n_lanes];  // bytes that `state` knows, whole groups of four: 0 at first
  std::uint32_t state[n_lanes];  // the seed at first; afterwards it knows all whole groups

  // Puts the hashes into `out`. What was taken before counts once for all texts that begin with it.
  void finish(std::uint32_t* out) noexcept {
    Lanes hash = load(state), left;
    std::uint32_t whole[n_lanes], most = 0, rest[n_lanes], part[n_lanes];
    const char* at[n_lanes];
    for (std::size_t e = 0; e < n_lanes; ++e) {
      at[e] = text[e] + taken[e];
      whole[e] = (size[e] & ~3u) - taken[e];
      most = std::max(most, whole[e]);
      std::memcpy(&rest[e], at[e] + whole[e], 4);
    }
    left = load(whole);
    for (std::uint32_t k = 0; k < most; k += 4) {
      for (std::size_t e = 0; e < n_lanes; ++e) std::memcpy(&part[e], at[e] + (k < whole[e] ? k : 0), 4);
      const Lanes further = rotated<13>(hash ^ mixed(load(part))) * 5u + 0xE6546B64u;
      hash ^= (hash ^ further) & Lanes(left > k);
    }
    std::memcpy(state, &hash, sizeof hash);
    const Lanes length = load(size);
    // Bytes behind the end become nothing, and nothing mixed is nothing.
    hash ^= mixed(load(rest) & ((1u << 8u * (length & 3u)) - 1u));
    hash ^= length;
    hash = (hash ^ hash >> 16) * 0x85EBCA6Bu;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35u;
    hash ^= hash >> 16;
    std::memcpy(out, &hash, sizeof hash);
  }

 private:
  using Lanes [[gnu::vector_size(32)]] = std::uint32_t;

  static Lanes load(const std::uint32_t* numbers) noexcept {
    Lanes lanes;
    std::memcpy(&lanes, numbers, sizeof lanes);
    return lanes;
  }
  template <int n>
  static Lanes rotated(Lanes x) noexcept {
    return x << n | x >> (32 - n);
  }
  static Lanes mixed(Lanes x) noexcept { return rotated<15>(x * 0xCC9E2D51u) * 0x1B873593u; }
};

}  // namespace lineal
