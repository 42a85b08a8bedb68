// Words of a text: lower case and one bit for each byte, then offsets from the changes of the bits.
//
//   append    copies UTF-8 into a buffer, in lower case if asked, and marks the bytes of word characters (or
//             of all that is no white space)
//   each      the maximal runs of marked bytes with at least so many characters: Python's \b\w\w+\b for two
//
// Short texts are best appended by the dozen and looked at together; no word crosses from one to the next.
// Sixteen bytes of ASCII are lowered and classified at a time (sixteen.h); everything else goes through the
// table, one code point at a time. Cost: about half a nanosecond a byte, most of it for finding words, and a
// buffer of one and a half times the text (the lower case of U+023A has three bytes for two). Guarantees:
// reads no byte outside the text; malformed text is refused with the place of its first bad byte. Accents are
// folded, if that is asked for, behind lower case; what is marked is what comes out.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "lineal/text/folding.h"
#include "lineal/text/sixteen.h"
#include "lineal/text/unicode.h"

namespace lineal {

// Bits that are appended and read in order, 64 to a number.
class Marks {
 public:
  // Room for so many bits, those that are there included.
  void make_room(std::size_t n) {
    if (numbers_.size() < n / 64 + 1) numbers_.resize(n / 64 + 1);
  }
  void clear() noexcept { count_ = part_ = 0; }

  // Where the next bits go, and those that fill no number yet. A loop holds one of its own: for all the
  // compiler knows, the text that it writes might lie here, and would be read anew after every step.
  struct Next {
    std::uint64_t* numbers;
    std::uint64_t count, part;

    // The lowest n of bits, n <= 16; the rest of them are 0.
    void add(std::uint64_t bits, int n) noexcept {
      const int place = int(count % 64);
      part |= bits << place;
      if (place + n >= 64) {
        numbers[count / 64] = part;
        part = place > 0 ? bits >> (64 - place) : 0;
      }
      count += std::uint64_t(n);
    }
    void add_64(std::uint64_t bits) noexcept {
      const int place = int(count % 64);
      numbers[count / 64] = part | bits << place;
      part = place > 0 ? bits >> (64 - place) : 0;
      count += 64;
    }
  };
  Next next() noexcept { return {numbers_.data(), count_, part_}; }
  void go_on(const Next& next) noexcept {
    count_ = next.count;
    part_ = next.part;
  }
  void add(std::uint64_t bits, int n) noexcept {
    Next own = next();
    own.add(bits, n);
    go_on(own);
  }

  // The places where a bit differs from the one before it: of a 1 behind a 0, then of a 0 behind a 1, and so
  // on. What lies before and behind the bits counts as zeros, so there is an even number of them.
  std::span<const std::size_t> changes(std::vector<std::size_t>& room) const {
    // So many of a number in any case: how many it has nobody can foresee, and a processor that guesses wrong
    // waits longer than it writes.
    constexpr std::size_t in_any_case = 24;
    const auto n_numbers = std::size_t(count_ / 64 + 1);
    if (room.size() < count_ + 1 + in_any_case) room.resize(count_ + 1 + in_any_case);
    std::size_t* to = room.data();
    std::uint64_t last_bit = 0;
    for (std::size_t n = 0; n < n_numbers; ++n) {
      const std::uint64_t bits = n + 1 < n_numbers ? numbers_[n] : part_;
      std::uint64_t changes = bits ^ (bits << 1 | last_bit);
      last_bit = bits >> 63;
      const auto n_changes = std::size_t(std::popcount(changes));
#pragma GCC unroll 24
      for (std::size_t k = 0; k < in_any_case; ++k, changes &= changes - 1)
        to[k] = n * 64 + std::size_t(std::countr_zero(changes));
      for (std::size_t k = in_any_case; k < n_changes; ++k, changes &= changes - 1)
        to[k] = n * 64 + std::size_t(std::countr_zero(changes));
      to += n_changes;
    }
    return {room.data(), to};
  }

 private:
  std::vector<std::uint64_t> numbers_;
  std::uint64_t count_ = 0, part_ = 0;
};

using Texts = std::span<const std::string_view>;

struct Word {
  std::size_t first, size;  // bytes of the text in the buffer
};

class Words {
 public:
  static constexpr std::size_t well_formed = std::size_t(-1);

  Words(bool lowercase, std::size_t min_characters)
      : Words(lowercase, min_characters, Runs::letters, false) {}
  Words(bool lowercase, std::size_t min_characters, Runs runs, bool fold_accents)
      : lowercase_(lowercase), fold_accents_(fold_accents), runs_(runs), min_characters_(min_characters) {}

  void clear() noexcept {
    size_ = 0;
    marks_.clear();
  }

  // Puts a text behind those before it. Returns well_formed, or the offset of the first byte that is not
  // UTF-8; then nothing is kept, of the texts before it neither.
  std::size_t append(std::string_view source) {
    make_room(size_ + (fold_accents_ ? unicode::longest_folded : 0), source.size());
    const auto* const begin = reinterpret_cast<const unsigned char*>(source.data());
    const auto* const end = begin + source.size();
    auto* out = reinterpret_cast<unsigned char*>(text_.data()) + size_;
    if (size_ > 0) out = put('\n', false, out);
    for (const unsigned char* p = begin; p < end;) {
      const std::ptrdiff_t n_ascii = take_ascii(p, end, out);
      p += n_ascii;
      out += n_ascii;
      for (; p < end && *p >= 0x80;) {
        const unicode::Decoded at = unicode::decode(p, end);
        if (at.code == unicode::none) {
          clear();
          return std::size_t(p - begin);
        }
        out = fold_accents_ ? take_folded(at.code, begin, p, end, out) : take(at.code, begin, p, end, out);
        p += at.size;
      }
    }
    size_ = size_up_to(out);
    return well_formed;
  }

  std::string_view text() const noexcept { return {text_.data(), size_}; }
  // The bytes up to here may be read, though they mean nothing behind the text.
  const char* readable_end() const noexcept { return text_.data() + text_.size(); }

  // Calls use(word) for each word of the texts, in order.
  template <class Use>
  void each(Use&& use) {
    const std::span<const std::size_t> at = marks_.changes(changes_);
    for (std::size_t k = 0; k < at.size(); k += 2)
      if (is_long_enough({text_.data() + at[k], at[k + 1] - at[k]})) use(Word{at[k], at[k + 1] - at[k]});
  }
  // The words of the texts, which end at text_ends in the buffer; how many of them lie before the end of each
  // text goes to `ends`.
  Texts split(std::span<const std::size_t> text_ends, std::vector<std::string_view>& room,
              std::vector<std::size_t>& ends) {
    const std::span<const std::size_t> at = marks_.changes(changes_);
    if (room.size() < at.size() / 2) room.resize(at.size() / 2);
    ends.clear();
    const char* const text = text_.data();
    std::string_view* const words = room.data();
    std::size_t n = 0, k = 0;
    const auto split_by = [&](auto&& is_long_enough) {
      for (const std::size_t text_end : text_ends) {
        for (; k < at.size() && at[k] < text_end; k += 2) {
          // No branch on whether it is a word, which nobody can foresee.
          words[n] = {text + at[k], at[k + 1] - at[k]};
          n += is_long_enough(words[n]);
        }
        ends.push_back(n);
      }
    };
    if (min_characters_ <= 1)
      split_by([](std::string_view) { return true; });
    else if (min_characters_ == 2)
      split_by([](std::string_view run) { return has_two(run); });
    else
      split_by([this](std::string_view run) { return is_long_enough(run); });
    return {words, n};
  }

 private:
  // Room for so many bytes of source behind the first `size` of the buffer, in lower case.
  void make_room(std::size_t size, std::size_t n_source) {
    const std::size_t room = size + n_source + n_source / 2 + 32;
    if (text_.size() < room) text_.resize(std::max(room, 2 * text_.size()));
    marks_.make_room(text_.size());
  }

  std::size_t size_up_to(const unsigned char* out) const noexcept {
    return std::size_t(out - reinterpret_cast<const unsigned char*>(text_.data()));
  }

  // The bytes from p on that are ASCII; how many.
  std::ptrdiff_t take_ascii(const unsigned char* const begin, const unsigned char* const end,
                            unsigned char* out) {
    const bool lowercase = lowercase_;
    const Runs runs = runs_;
    const unsigned char* p = begin;
    Marks::Next marks = marks_.next();
    for (; end - p >= 64; p += 64, out += 64) {
      const SixtyFour found = SixtyFour::take(p, out, lowercase, runs);
      if (!found.is_ascii) break;
      marks.add_64(found.marks);
    }
    for (int n = 16; n == 16 && end - p >= 16; p += n, out += n) {
      const Sixteen found = Sixteen::take(p, out, lowercase, runs);
      n = found.n_ascii;
      marks.add(found.marks & ((1u << n) - 1), n);
    }
    if (const std::ptrdiff_t left = end - p; left < 16) {
      unsigned char last[16] = {};
      std::memcpy(last, p, std::size_t(left));
      const Sixteen found = Sixteen::take(last, out, lowercase, runs);
      const int n = std::min(found.n_ascii, int(left));
      marks.add(found.marks & ((1u << n) - 1), n);
      p += n;
    }
    marks_.go_on(marks);
    return p - begin;
  }

  unsigned char* take(unicode::Code c, const unsigned char* begin, const unsigned char* p,
                      const unsigned char* end, unsigned char* out) {
    if (!lowercase_) return put(c, is_marked(c), out);
    if (c == unicode::capital_dotted_i)
      return put(unicode::dot_above, is_marked(unicode::dot_above), put('i', true, out));
    if (c == unicode::capital_sigma && unicode::is_final_sigma(begin, p, end))
      return put(unicode::final_sigma, true, out);
    const unicode::Record& record = unicode::known(c);
    const unicode::Code lower = c + unicode::Code(record.to_lower);
    // No white space has a lower case of its own.
    return put(lower, runs_ == Runs::spaced ? is_marked(c) : (record.flags & unicode::lowered_word) != 0,
               out);
  }

  // Not inlined: texts that keep their accents need not carry it around. The buffer may move.
  [[gnu::noinline]] unsigned char* take_folded(unicode::Code c, const unsigned char* begin,
                                               const unsigned char* p, const unsigned char* end,
                                               unsigned char* out) {
    if (lowercase_) {
      if (c == unicode::capital_dotted_i)
        c = 'i';  // its dot is a combining mark
      else if (c == unicode::capital_sigma && unicode::is_final_sigma(begin, p, end))
        c = unicode::final_sigma;
      else
        c += unicode::Code(unicode::known(c).to_lower);
    }
    const std::size_t size = size_up_to(out);
    make_room(size + unicode::longest_folded, std::size_t(end - p));
    out = reinterpret_cast<unsigned char*>(text_.data()) + size;
    unicode::each_folded(c, [&](unicode::Code part) { out = put(part, is_marked(part), out); });
    return out;
  }

  bool is_marked(unicode::Code c) const noexcept {
    return runs_ == Runs::spaced ? !unicode::is(c, unicode::space) : unicode::is(c, unicode::word);
  }

  unsigned char* put(unicode::Code c, bool is_word, unsigned char* out) {
    unsigned char* const behind = unicode::encode(c, out);
    const int size = int(behind - out);
    marks_.add(is_word ? (1u << size) - 1 : 0, size);
    return behind;
  }

  static bool has_two(std::string_view run) noexcept {
    const auto lead = static_cast<unsigned char>(run[0]);
    return run.size() > std::size_t(1 + (lead >= 0x80) + (lead >= 0xE0) + (lead >= 0xF0));
  }
  bool is_long_enough(std::string_view run) const noexcept {
    if (min_characters_ == 2) return has_two(run);
    if (run.size() < min_characters_ || min_characters_ <= 1) return run.size() >= min_characters_;
    std::size_t count = 0;
    for (const char byte : run) count += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
    return count >= min_characters_;
  }

  bool lowercase_, fold_accents_;
  Runs runs_;
  std::size_t min_characters_;
  std::vector<char> text_;
  std::size_t size_ = 0;
  Marks marks_;
  std::vector<std::size_t> changes_;  // room for those of the marks
};

}  // namespace lineal
