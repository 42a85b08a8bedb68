// Records of a file, block by block: what the readers of JSON lines, delimited text and plain lines share.
//
// A reader is given blocks of bytes in order, each beginning where the last one was consumed to. It returns
// the texts as views of the block, or of an arena where escapes had to be undone, and labels as codes:
// numbers of the block's distinct labels in the order of their appearance. Flaws are refused with line and
// byte, both counted from 1. No byte outside the block is read.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lineal/text/documents.h"

namespace lineal {

struct Scanned {
  std::vector<std::string_view> texts;
  std::vector<std::int64_t> codes;  // one for each text, or none at all
  std::vector<std::string> labels;  // by code
  std::shared_ptr<char[]> arena;    // what some of the texts lie in, beside the block
  std::size_t consumed = 0;         // bytes of the block that are done with
};

[[noreturn]] inline void refuse_at(std::size_t line, std::size_t byte, const std::string& what) {
  throw InputFlaw("line " + std::to_string(line) + ", byte " + std::to_string(byte) + ": " + what);
}

inline std::string not_utf8(char byte) {
  constexpr char digits[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  return std::string("this is not UTF-8 (0x") + digits[value >> 4] + digits[value & 15] +
         "). Say which encoding it is with encoding=, or read on with errors=\"replace\".";
}

// Marks, in the top bit of a byte, where eight bytes hold a value; the lowest mark is exact.
namespace eight {
inline constexpr std::uint64_t ones = 0x0101010101010101, tops = 0x80 * ones;
inline std::uint64_t equal(std::uint64_t x, char c) noexcept {
  const std::uint64_t zero = x ^ (ones * static_cast<unsigned char>(c));
  return (zero - ones) & ~zero & tops;
}
inline std::uint64_t below(std::uint64_t x, unsigned char c) noexcept { return (x - ones * c) & ~x & tops; }
}  // namespace eight

// The first byte from p on that is one of the two, or end.
inline const char* find_either(const char* p, const char* end, char a, char b) noexcept {
  if constexpr (std::endian::native == std::endian::little)
    for (; end - p >= 8; p += 8) {
      std::uint64_t x;
      std::memcpy(&x, p, 8);
      if (const std::uint64_t marks = eight::equal(x, a) | eight::equal(x, b))
        return p + std::countr_zero(marks) / 8;
    }
  while (p < end && *p != a && *p != b) ++p;
  return p;
}

inline const char* find(const char* p, const char* end, char c) noexcept {
  const void* found = p == end ? nullptr : std::memchr(p, c, std::size_t(end - p));
  return found == nullptr ? end : static_cast<const char*>(found);
}

// Room for texts that lose their escapes. They never grow, so the block's size is enough; pages that are not
// written to cost nothing.
class Arena {
 public:
  explicit Arena(std::size_t most) : most_(most) {}
  char* end() {
    if (!bytes_) bytes_.reset(new char[most_]);
    return bytes_.get() + used_;
  }
  std::string_view keep(char* behind) noexcept {
    char* const first = bytes_.get() + used_;
    used_ += std::size_t(behind - first);
    return {first, std::size_t(behind - first)};
  }
  std::shared_ptr<char[]> release() noexcept { return std::move(bytes_); }

 private:
  std::shared_ptr<char[]> bytes_;
  std::size_t most_, used_ = 0;
};

// A block's distinct labels in the order of their appearance. A label is its text behind a letter for its
// kind: 's' a string, 'n' a number, 'b' true or false. All labels of a file are of one kind.
class LabelTable {
 public:
  // The code of a label; -1 where its kind is not that of the first.
  std::int64_t code(char kind, std::string_view text) {
    if (kind_ != 0 && kind_ != kind) return -1;
    kind_ = kind;
    if (last_ >= 0 && std::string_view(labels_[std::size_t(last_)]).substr(1) == text) return last_;
    const auto known = codes_.find(text);
    if (known != codes_.end()) return last_ = known->second;
    labels_.push_back(std::string(1, kind).append(text));
    last_ = std::int64_t(labels_.size()) - 1;
    codes_.emplace(text, last_);
    return last_;
  }
  // The labels so far; the next block begins with none.
  std::vector<std::string> release() {
    codes_.clear();
    last_ = -1;
    return std::exchange(labels_, {});
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<std::string> labels_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> codes_;
  std::int64_t last_ = -1;
  char kind_ = 0;
};

// Plain text, a document to a line; the line's end, with a carriage return before it, is not part of it.
class PlainLines {
 public:
  Scanned scan(std::string_view block, bool is_last) {
    Scanned found;
    const char* p = block.data();
    const char* const end = p + block.size();
    while (p < end) {
      const char* const stop = find(p, end, '\n');
      if (stop == end && !is_last) break;
      std::string_view text(p, std::size_t(stop - p));
      if (text.ends_with('\r')) text.remove_suffix(1);
      if (const std::size_t bad = first_malformed(text); bad != no_flaw)
        refuse_at(line_, bad + 1, not_utf8(text[bad]));
      found.texts.push_back(text);
      ++line_;
      p = stop == end ? end : stop + 1;
    }
    found.consumed = block.empty() ? 0 : std::size_t(p - block.data());
    return found;
  }

 private:
  std::size_t line_ = 1;
};

}  // namespace lineal
