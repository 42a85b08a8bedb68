// One line of JSON, read from left to right as RFC 8259 says, with NaN and Infinity let pass as Python's json
// does.
//
// Inside strings eight bytes are looked at at a time. Flaws are refused with line and byte.
#pragma once

#include <string>

#include "lineal/text/records.h"

namespace lineal {

class JsonLine {
 public:
  struct String {
    std::string_view inside;  // between the quotes, escapes not undone
    bool has_escapes, has_high;
  };

  JsonLine(const char* begin, const char* end, std::size_t line)
      : begin_(begin), p_(begin), end_(end), line_(line) {}

  [[noreturn]] void refuse(const char* at, const std::string& what) const {
    refuse_at(line_, std::size_t(at - begin_) + 1, what);
  }
  [[noreturn]] void refuse_here(const std::string& needed) const {
    if (p_ == end_)
      refuse(
          p_,
          needed + " is needed, but the line ends here. Is the file cut off, or an object on several lines?");
    refuse(p_, needed + " is needed, but " + shown(*p_) + " came.");
  }

  const char* here() const noexcept { return p_; }
  bool is_at(char c) const noexcept { return p_ < end_ && *p_ == c; }
  bool is_over() const noexcept { return p_ == end_; }
  void skip_space() noexcept {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\r')) ++p_;
  }
  void expect(char c, const char* needed) {
    if (!is_at(c)) refuse_here(needed);
    ++p_;
  }

  String string() {
    const char* const first = ++p_;
    String found{{}, false, false};
    for (;;) {
      find_special(found.has_high);
      if (p_ == end_) refuse(first - 1, "the string that begins here is not closed in this line.");
      if (*p_ == '"') break;
      if (*p_ != '\\')
        refuse(p_, "a control character inside a string. Write it as an escape such as \\n or \\u0000.");
      found.has_escapes = true;
      skip_escape();
    }
    found.inside = {first, std::size_t(p_ - first)};
    ++p_;
    return found;
  }

  // Any value, looked at only as far as it must be to find its end.
  void skip_value(int depth = 0) {
    if (depth > 200) refuse(p_, "values are nested more than 200 deep.");
    if (is_at('"')) {
      string();
    } else if (is_at('{') || is_at('[')) {
      skip_container(depth);
    } else {
      scalar();
    }
  }

  // A number or a literal; its bytes.
  std::string_view scalar() {
    const char* const first = p_;
    while (p_ < end_ && (is_digit(*p_) || is_letter(*p_) || *p_ == '-' || *p_ == '+' || *p_ == '.')) ++p_;
    const std::string_view token(first, std::size_t(p_ - first));
    for (const std::string_view literal : {"true", "false", "null", "NaN", "Infinity", "-Infinity"})
      if (token == literal) return token;
    if (!is_number(token)) {
      p_ = first;
      refuse_here("a value");
    }
    return token;
  }

  // The string without its escapes, in the arena if it had any; refused unless it is UTF-8.
  std::string_view text(const String& string, Arena& arena) const {
    if (string.has_high)
      if (const std::size_t bad = first_malformed(string.inside); bad != no_flaw)
        refuse(string.inside.data() + bad, not_utf8(string.inside[bad]));
    if (!string.has_escapes) return string.inside;
    char* out = arena.end();
    const char* p = string.inside.data();
    const char* const end = p + string.inside.size();
    while (p < end) {
      const char* const stop = find(p, end, '\\');
      std::memcpy(out, p, std::size_t(stop - p));
      out += stop - p;
      p = stop == end ? end : undo_escape(stop + 1, end, out);
    }
    return arena.keep(out);
  }

 private:
  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  static std::string shown(char c) {
    return c > ' ' && c <= '~' ? std::string("'") + c + "'"
                               : "byte " + std::to_string(static_cast<unsigned char>(c));
  }

  static bool is_number(std::string_view token) noexcept {
    std::size_t k = token.starts_with('-') ? 1 : 0;
    const auto digits = [&] {
      const std::size_t first = k;
      while (k < token.size() && is_digit(token[k])) ++k;
      return k - first;
    };
    const bool has_zero = k < token.size() && token[k] == '0';
    const std::size_t n_whole = digits();
    if (n_whole == 0 || (has_zero && n_whole > 1)) return false;
    if (k < token.size() && token[k] == '.' && (++k, digits() == 0)) return false;
    if (k < token.size() && (token[k] == 'e' || token[k] == 'E')) {
      ++k;
      if (k < token.size() && (token[k] == '+' || token[k] == '-')) ++k;
      if (digits() == 0) return false;
    }
    return k == token.size();
  }

  // Moves to the next quote, backslash or control character.
  void find_special(bool& has_high) noexcept {
    if constexpr (std::endian::native == std::endian::little)
      for (; end_ - p_ >= 8; p_ += 8) {
        std::uint64_t x;
        std::memcpy(&x, p_, 8);
        has_high |= (x & eight::tops) != 0;
        if (const std::uint64_t marks =
                eight::equal(x, '"') | eight::equal(x, '\\') | eight::below(x, 0x20)) {
          p_ += std::countr_zero(marks) / 8;
          return;
        }
      }
    for (; p_ < end_ && *p_ != '"' && *p_ != '\\' && static_cast<unsigned char>(*p_) >= 0x20; ++p_)
      has_high |= static_cast<unsigned char>(*p_) >= 0x80;
  }

  static int hex(char c) noexcept {
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  }

  void skip_escape() {
    const char* const at = p_++;
    if (p_ == end_) return;
    if (*p_ == 'u') {
      for (int k = 1; k <= 4; ++k)
        if (end_ - p_ <= k || hex(p_[k]) < 0) refuse(at, "\\u needs four hexadecimal digits.");
      p_ += 5;
    } else if (std::string_view("\"\\/bfnrt").find(*p_) != std::string_view::npos) {
      ++p_;
    } else {
      refuse(at, "there is no escape of " + shown(*p_) + ". A backslash itself is written \\\\.");
    }
  }

  static unicode::Code unit(const char* p) noexcept {
    return unicode::Code(hex(p[0]) << 12 | hex(p[1]) << 8 | hex(p[2]) << 4 | hex(p[3]));
  }

  // p is behind the backslash of a sound escape; returns behind the escape.
  static const char* undo_escape(const char* p, const char* end, char*& out) noexcept {
    constexpr std::string_view letters = "bfnrt", values = "\b\f\n\r\t";
    if (*p != 'u') {
      const std::size_t known = letters.find(*p);
      *out++ = known == std::string_view::npos ? *p : values[known];
      return p + 1;
    }
    unicode::Code code = unit(p + 1);
    p += 5;
    if (code >= 0xD800 && code < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
      const unicode::Code low = unit(p + 2);
      if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00));
        p += 6;
      }
    }
    out = reinterpret_cast<char*>(unicode::encode(code, reinterpret_cast<unsigned char*>(out)));
    return p;
  }

  void skip_container(int depth) {
    const bool is_object = *p_ == '{';
    const char close = is_object ? '}' : ']';
    ++p_;
    skip_space();
    if (is_at(close)) {
      ++p_;
      return;
    }
    for (;;) {
      skip_space();
      if (is_object) {
        if (!is_at('"')) refuse_here("a key in quotes");
        string();
        skip_space();
        expect(':', "':'");
        skip_space();
      }
      skip_value(depth + 1);
      skip_space();
      if (is_at(close)) break;
      expect(',', is_object ? "',' or '}'" : "',' or ']'");
    }
    ++p_;
  }

  const char *begin_, *p_, *end_;
  std::size_t line_;
};

}  // namespace lineal
