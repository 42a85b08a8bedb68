// Distinct words, numbered in the order in which they are met.
//
// An open-addressing table of 32-byte slots that hold words of up to 16 bytes whole, so that a look-up
// touches one cache line and compares three numbers; longer words are compared in the store of names. The
// hash is seeded anew in each process: nobody can prepare words that all meet in one slot, and no number
// depends on it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "lineal/raw.h"
#include "lineal/text/hash.h"
#include "lineal/text/names.h"

namespace lineal {

class WordMap {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  std::size_t size() const noexcept { return names_.size(); }
  std::string_view name(std::uint32_t id) const noexcept { return names_[id]; }
  const Names& names() const noexcept { return names_; }

  // The word's number; a new one for a new word.
  std::uint32_t add(std::string_view word) {
    make_room(1);
    const Head head(word, word.size());
    return enter(word, head, hash(word, head));
  }
  // The same for many words: the slots are asked of the memory ahead of their use. `end` is the end of what
  // may be read of the text that holds them all; null if each is on its own.
  void add(std::span<const std::string_view> words, const char* end, std::uint32_t* ids) {
    each_prefetched(
        words, end, [&](std::size_t n_next) { make_room(n_next); },
        [&](std::size_t k, const Head& head, std::uint64_t h) { ids[k] = enter(words[k], head, h); });
  }
  // The word's number, or none.
  std::uint32_t find(std::string_view word) const noexcept {
    const Head head(word, word.size());
    return slots_[place(word, head, hash(word, head))].id;
  }
  void find(std::span<const std::string_view> words, const char* end, std::uint32_t* ids) const noexcept {
    each_prefetched(
        words, end, [](std::size_t) {},
        [&](std::size_t k, const Head& head, std::uint64_t h) {
          ids[k] = slots_[place(words[k], head, h)].id;
        });
  }

 private:
  struct Slot {
    Head head;
    std::size_t size = 0;
    std::uint32_t id = none;
  };

  using Slots = std::vector<Slot, LargePages<Slot>>;

  static std::uint64_t seed() noexcept {
    static const std::uint64_t drawn = [] {
      std::random_device device;
      return std::uint64_t(device()) << 32 | device();
    }();
    return drawn;
  }
  static std::uint64_t hash(std::string_view word, const Head& head) noexcept {
    return hash_word(word, head, seed());
  }
  // Where the word is, or where it belongs.
  std::size_t place(std::string_view word, const Head& head, std::uint64_t hash) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = std::size_t(hash);; ++at) {
      const Slot& slot = slots_[at & mask];
      if (slot.id == none) return at & mask;
      if (slot.size == word.size() && slot.head == head && (word.size() <= 16 || name(slot.id) == word))
        return at & mask;
    }
  }
  std::uint32_t enter(std::string_view word, const Head& head, std::uint64_t hash) {
    Slot& slot = slots_[place(word, head, hash)];
    if (slot.id == none) {
      if (size() >= none) throw std::length_error("more than 2^32 - 1 distinct words");
      slot = {head, word.size(), std::uint32_t(size())};
      names_.add(word);
    }
    return slot.id;
  }
  template <class Prepare, class Use>
  void each_prefetched(std::span<const std::string_view> words, const char* end, Prepare&& prepare,
                       Use&& use) const {
    constexpr std::size_t ahead = 32;
    Head heads[ahead];
    std::uint64_t hashes[ahead];
    for (std::size_t first = 0; first < words.size(); first += ahead) {
      const std::size_t n = std::min(ahead, words.size() - first);
      prepare(n);
      for (std::size_t k = 0; k < n; ++k) {
        const std::string_view word = words[first + k];
        heads[k] = Head(word, end ? std::size_t(end - word.data()) : word.size());
        hashes[k] = hash(word, heads[k]);
        __builtin_prefetch(&slots_[hashes[k] & (slots_.size() - 1)]);
      }
      for (std::size_t k = 0; k < n; ++k) use(first + k, heads[k], hashes[k]);
    }
  }
  // At least half of the slots stay empty.
  void make_room(std::size_t n_more) {
    while (2 * (size() + n_more) > slots_.size()) {
      Slots old(2 * slots_.size());
      old.swap(slots_);
      for (const Slot& slot : old)
        if (slot.id != none) {
          const std::string_view word = name(slot.id);
          slots_[place(word, slot.head, hash(word, slot.head))] = slot;
        }
    }
  }

  Slots slots_ = Slots(1024);
  Names names_;
};

}  // namespace lineal
