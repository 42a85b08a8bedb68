// Distinct words, numbered in the order in which they are met.
//
// An open-addressing table of 32-byte slots that hold words of up to 16 bytes whole, so that a look-up
// touches one cache line and compares two numbers; longer words are compared in the store of names. The hash
// is seeded anew in each process: nobody can prepare words that all meet in one slot, and no number depends
// on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "lineal/text/hash.h"

namespace lineal {

class WordMap {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  std::size_t size() const noexcept { return starts_.size() - 1; }
  std::string_view name(std::uint32_t id) const noexcept {
    return {names_.data() + starts_[id], starts_[id + 1] - starts_[id]};
  }

  // The word's number; a new one for a new word.
  std::uint32_t add(std::string_view word) {
    if (2 * (size() + 1) > slots_.size()) grow();
    const Key key(word);
    Slot& slot = slots_[place(word, key)];
    if (slot.id == none) {
      if (size() >= none) throw std::length_error("more than 2^32 - 1 distinct words");
      slot = {key, word.size(), std::uint32_t(size())};
      names_.insert(names_.end(), word.begin(), word.end());
      starts_.push_back(names_.size());
    }
    return slot.id;
  }
  // The word's number, or none.
  std::uint32_t find(std::string_view word) const noexcept { return slots_[place(word, Key(word))].id; }

 private:
  // All of a short word, in loads that may overlap: with the size they tell every word from every other. Of a
  // longer one the hash and the first bytes.
  struct Key {
    std::uint64_t first = 0, second = 0;

    Key() = default;
    explicit Key(std::string_view word) noexcept {
      const std::size_t size = word.size();
      const char* p = word.data();
      if (size > 16) {
        first = hash_bytes(word, seed());
        second = load<std::uint64_t>(p);
      } else if (size >= 8) {
        first = load<std::uint64_t>(p);
        second = load<std::uint64_t>(p + size - 8);
      } else if (size >= 4) {
        first = load<std::uint32_t>(p);
        second = load<std::uint32_t>(p + size - 4);
      } else if (size > 0) {
        first = std::uint64_t(load<std::uint8_t>(p)) | std::uint64_t(load<std::uint8_t>(p + size / 2)) << 8 |
                std::uint64_t(load<std::uint8_t>(p + size - 1)) << 16;
      }
    }
    template <class T>
    static T load(const char* p) noexcept {
      T bits;
      std::memcpy(&bits, p, sizeof bits);
      return bits;
    }
    bool operator==(const Key&) const = default;
  };
  struct Slot {
    Key key;
    std::size_t size = 0;
    std::uint32_t id = none;
  };

  static std::uint64_t seed() noexcept {
    static const std::uint64_t drawn = [] {
      std::random_device device;
      return std::uint64_t(device()) << 32 | device();
    }();
    return drawn;
  }
  // Where the word is, or where it belongs.
  std::size_t place(std::string_view word, const Key& key) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at =
        std::size_t(word.size() > 16 ? key.first : hash_pair(key.first ^ seed(), key.second + word.size()));
    for (;; ++at) {
      const Slot& slot = slots_[at & mask];
      if (slot.id == none) return at & mask;
      if (slot.size == word.size() && slot.key == key && (word.size() <= 16 || name(slot.id) == word))
        return at & mask;
    }
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.id != none) slots_[place(name(slot.id), slot.key)] = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::vector<char> names_;
  std::vector<std::size_t> starts_{0};
};

}  // namespace lineal
