// Documents: an immutable sequence of UTF-8 texts that lie in somebody else's memory.
//
// A text is a view; the owners keep what the views look at (Python's strings, Arrow's buffers, a file's
// bytes) for as long as any Documents that were cut from the same source live. Copies of Documents copy
// views, 16 bytes a text, never text. Owners are released where the last holder dies: an owner that needs a
// lock takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lineal/text/hash.h"
#include "lineal/text/unicode.h"

namespace lineal {

// The data are not what was needed: a sentence for the user. WrongKind: they are no texts at all.
struct InputFlaw : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
struct WrongKind : InputFlaw {
  using InputFlaw::InputFlaw;
};
// A text that is not UTF-8: which one, and where.
struct Malformed : InputFlaw {
  Malformed(std::size_t document, std::size_t byte)
      : InputFlaw("document " + std::to_string(document) + " is not UTF-8 at its byte " +
                  std::to_string(byte)) {}
};

enum class Missing { refuse, empty };

inline constexpr std::size_t no_flaw = std::size_t(-1);

// The offset of the first byte that is not UTF-8, or no_flaw. Unlike unicode.h it refuses single surrogates:
// Python's strings may hold them, but bytes from outside that have them were written by a program in error.
inline std::size_t first_malformed(std::string_view text) noexcept {
  const auto* const begin = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = begin + text.size();
  for (const unsigned char* p = begin; p < end;) {
    if (end - p >= 8) {
      std::uint64_t x;
      std::memcpy(&x, p, 8);
      if ((x & 0x8080808080808080) == 0) {
        p += 8;
        continue;
      }
    }
    // Up to the next eight bytes that may all be ASCII.
    for (int k = 0; k < 8 && p < end; ++k) {
      const unicode::Decoded at = unicode::decode(p, end);
      if (at.code == unicode::none || unicode::is_surrogate(at.code)) return std::size_t(p - begin);
      p += at.size;
    }
  }
  return no_flaw;
}

// A hash of the first letters of a text, up to `most` of them, without white space and with the capitals of
// ASCII made small: equal for texts that begin alike but for how they were spaced. 0: there are no letters.
inline std::uint64_t hash_of_letters(std::string_view text, std::size_t most) noexcept {
  constexpr std::size_t room = 64;
  char letters[room];
  std::size_t n = 0;
  most = most < room ? most : room;
  for (const char c : text) {
    if (n == most) break;
    letters[n] = char(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
    n += !(c == ' ' || (c >= '\t' && c <= '\r'));
  }
  return n == 0 ? 0 : hash_bytes({letters, n}, 0) | 1;
}

class Documents {
 public:
  using Owner = std::shared_ptr<const void>;

  Documents() = default;
  // is_trusted: the texts are known to be UTF-8, or to be what Python's strings hold, because they were
  // looked at or Python made them.
  Documents(std::vector<std::string_view> texts, std::vector<Owner> owners, bool is_trusted)
      : texts_(std::move(texts)), owners_(std::move(owners)), is_trusted_(is_trusted) {}

  std::span<const std::string_view> texts() const noexcept { return texts_; }
  std::span<const Owner> owners() const noexcept { return owners_; }
  std::size_t size() const noexcept { return texts_.size(); }
  bool is_trusted() const noexcept { return is_trusted_; }

  std::size_t n_bytes() const noexcept {
    std::size_t sum = 0;
    for (const std::string_view text : texts_) sum += text.size();
    return sum;
  }

  // Texts [first, last), which are in range.
  Documents slice(std::size_t first, std::size_t last) const {
    const auto begin = texts_.begin();
    return {{begin + std::ptrdiff_t(first), begin + std::ptrdiff_t(last)}, owners_, is_trusted_};
  }

  Documents take(std::span<const std::int64_t> rows) const {
    std::vector<std::string_view> taken;
    taken.reserve(rows.size());
    for (const std::int64_t row : rows) {
      if (row < 0 || std::size_t(row) >= size()) throw std::out_of_range("a row is out of range");
      taken.push_back(texts_[std::size_t(row)]);
    }
    return {std::move(taken), owners_, is_trusted_};
  }

  // Row and byte of the first text that is not UTF-8; row is no_flaw where all are.
  std::pair<std::size_t, std::size_t> first_flaw() const noexcept {
    if (!is_trusted_)
      for (std::size_t row = 0; row < size(); ++row)
        if (const std::size_t byte = first_malformed(texts_[row]); byte != no_flaw) return {row, byte};
    return {no_flaw, 0};
  }

 private:
  std::vector<std::string_view> texts_;
  std::vector<Owner> owners_;
  bool is_trusted_ = true;
};

}  // namespace lineal
