// Words of a text: lower case and one bit for each byte, then offsets from the changes of the bits.
//
//   append    copies UTF-8 into a buffer, in lower case if asked, and marks the bytes of word characters (or
//   of
//             all that is no white space)
//   each      the maximal runs of marked bytes with at least so many characters: Python's \b\w\w+\b for two
//
// Short texts are best appended by the dozen and looked at together; no word crosses from one to the next.
// Eight bytes of ASCII are lowered and classified at a time, by arithmetic on one 64-bit number; everything
// else goes through the table, one code point at a time. Cost: about a nanosecond a byte, and a buffer of one
// and a half times the text (the lower case of U+023A has three bytes for two). Guarantees: reads no byte
// outside the text; malformed text is refused with the place of its first bad byte. Accents are folded, if
// that is asked for, behind lower case; what is marked is what comes out.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "lineal/text/folding.h"
#include "lineal/text/unicode.h"

namespace lineal {

// Bits that are appended and read in order, 64 to a number.
class Marks {
 public:
  void clear() noexcept {
    numbers_.clear();
    count_ = 0;
  }
  // The lowest n of bits, n <= 8.
  void add(std::uint64_t bits, int n) {
    const int place = int(count_ % 64);
    if (place == 0) numbers_.push_back(0);
    numbers_.back() |= bits << place;
    if (place + n > 64) numbers_.push_back(bits >> (64 - place));
    count_ += std::size_t(n);
  }
  const std::vector<std::uint64_t>& numbers() const noexcept { return numbers_; }

 private:
  std::vector<std::uint64_t> numbers_;
  std::size_t count_ = 0;
};

struct Word {
  std::size_t first, size;  // bytes of the text in the buffer
};

// What is marked: letters, digits and underscores, or all characters but white space.
enum class Runs { letters, spaced };

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
      if (end - p >= 8 && take_ascii(p, out)) {
        p += 8;
        out += 8;
        continue;
      }
      const unicode::Decoded at = unicode::decode(p, end);
      if (at.code == unicode::none) {
        clear();
        return std::size_t(p - begin);
      }
      out = fold_accents_ ? take_folded(at.code, begin, p, end, out) : take(at.code, begin, p, end, out);
      p += at.size;
    }
    size_ = size_up_to(out);
    return well_formed;
  }

  std::string_view text() const noexcept { return {text_.data(), size_}; }
  // The bytes up to here may be read, though they mean nothing behind the text.
  const char* readable_end() const noexcept { return text_.data() + text_.size(); }

  // Calls use(word) for each word of the texts, in order.
  template <class Use>
  void each(Use&& use) const {
    std::size_t first = 0;
    std::uint64_t last_bit = 0;
    bool is_inside = false;
    const auto offer = [&](std::size_t end) {
      if (is_long_enough(first, end)) use(Word{first, end - first});
    };
    for (std::size_t n = 0; n < marks_.numbers().size(); ++n) {
      const std::uint64_t bits = marks_.numbers()[n];
      std::uint64_t changes = bits ^ (bits << 1 | last_bit);
      last_bit = bits >> 63;
      for (; changes != 0; changes &= changes - 1) {
        const std::size_t place = n * 64 + std::size_t(std::countr_zero(changes));
        if (is_inside)
          offer(place);
        else
          first = place;
        is_inside = !is_inside;
      }
    }
    if (is_inside) offer(size_);
  }

 private:
  // Room for so many bytes of source behind the first `size` of the buffer, in lower case.
  void make_room(std::size_t size, std::size_t n_source) {
    const std::size_t room = size + n_source + n_source / 2 + 16;
    if (text_.size() < room) text_.resize(std::max(room, 2 * text_.size()));
  }

  std::size_t size_up_to(const unsigned char* out) const noexcept {
    return std::size_t(out - reinterpret_cast<const unsigned char*>(text_.data()));
  }

  // Eight bytes at p, if all are ASCII.
  bool take_ascii(const unsigned char* p, unsigned char* out) {
    if constexpr (std::endian::native != std::endian::little) return false;
    constexpr std::uint64_t ones = 0x0101010101010101, tops = 0x80 * ones;
    std::uint64_t x;
    std::memcpy(&x, p, 8);
    if (x & tops) return false;
    // The top bit of each byte that is at least c; none of the sums carries into the next byte.
    const auto least = [&](std::uint64_t c) { return x + (0x80 - c) * ones; };
    if (lowercase_) x |= (least('A') & ~least('Z' + 1) & tops) >> 2;
    std::memcpy(out, &x, 8);
    std::uint64_t is_word;
    if (runs_ == Runs::spaced) {
      // White space is 9 to 13 and 28 to 32.
      is_word = ~((least(9) & ~least(14)) | (least(28) & ~least(33)));
      marks_.add(gather(is_word & tops), 8);
      return true;
    }
    is_word =
        (least('a') & ~least('z' + 1)) | (least('0') & ~least('9' + 1)) | (least('_') & ~least('_' + 1));
    if (!lowercase_) is_word |= least('A') & ~least('Z' + 1);
    marks_.add(gather(is_word & tops), 8);
    return true;
  }

  // The top bits of the eight bytes in one byte, in order.
  static std::uint64_t gather(std::uint64_t top_bits) noexcept {
    return (top_bits >> 7) * 0x0102040810204080 >> 56;
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

  bool is_long_enough(std::size_t first, std::size_t end) const noexcept {
    const std::size_t size = end - first, wanted = min_characters_;
    if (size < wanted || wanted <= 1) return size >= wanted;
    const auto lead = static_cast<unsigned char>(text_[first]);
    if (wanted == 2) return size > (lead < 0x80 ? 1u : lead < 0xE0 ? 2u : lead < 0xF0 ? 3u : 4u);
    std::size_t count = 0;
    for (std::size_t k = first; k < end; ++k) count += (static_cast<unsigned char>(text_[k]) & 0xC0) != 0x80;
    return count >= wanted;
  }

  bool lowercase_, fold_accents_;
  Runs runs_;
  std::size_t min_characters_;
  std::vector<char> text_;
  std::size_t size_ = 0;
  Marks marks_;
};

}  // namespace lineal
