// Numbers in text, read where they stand, to the nearest double.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

namespace lineal {

namespace numerals {
inline constexpr double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

inline bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Whether a number that no double can hold is too small for one, rather than too large.
inline bool is_tiny(const char* p, const char* end) noexcept {
  long magnitude = 0, exponent = 0;  // the place of the first digit that counts
  bool is_behind = false, has_begun = false;
  for (; p < end && *p != 'e' && *p != 'E'; ++p) {
    if (*p == '.') is_behind = true;
    if (!is_digit(*p)) continue;
    has_begun |= *p != '0';
    if (!is_behind && has_begun) ++magnitude;
    if (is_behind && !has_begun) --magnitude;
  }
  if (p < end) {
    p += p + 1 < end && p[1] == '+' ? 2 : 1;
    const auto [stop, flaw] = std::from_chars(p, end, exponent);
    if (flaw != std::errc()) return *p == '-';
  }
  return exponent < -magnitude;
}
}  // namespace numerals

// The number at p; returns where it ends, or null if there is none. One that is too large is infinite, and
// "inf" and "nan" are read as such: whoever needs finite ones asks.
inline const char* read_number(const char* p, const char* end, double& value) noexcept {
  using namespace numerals;
  const bool is_negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  if (p == end || *p == '-' || *p == '+') return nullptr;
  // Up to 15 digits are exact as a whole number, and so is the power of ten: one rounding (Clinger, 1990).
  std::int64_t digits = 0;
  int n_digits = 0, n_behind = 0;
  const char* q = p;
  for (; q < end && is_digit(*q) && n_digits <= 15; ++q, ++n_digits) digits = 10 * digits + (*q - '0');
  if (q < end && *q == '.')
    for (++q; q < end && is_digit(*q) && n_digits <= 15; ++q, ++n_digits, ++n_behind)
      digits = 10 * digits + (*q - '0');
  if (n_digits > 0 && n_digits <= 15 && (q == end || (*q != 'e' && *q != 'E' && !is_digit(*q)))) {
    value = double(digits) / powers[n_behind];
  } else {
    const auto [stop, flaw] = std::from_chars(p, end, value);
    if (flaw == std::errc::invalid_argument) return nullptr;
    if (flaw == std::errc::result_out_of_range) value = is_tiny(p, stop) ? 0.0 : __builtin_huge_val();
    q = stop;
  }
  if (is_negative) value = -value;
  return q;
}

// The whole number of digits at p; returns where it ends, or null if there is none or it passes most.
inline const char* read_whole(const char* p, const char* end, std::int64_t most,
                              std::int64_t& value) noexcept {
  const auto [stop, flaw] = std::from_chars(p, end, value);
  return flaw != std::errc() || *p == '-' || value > most ? nullptr : stop;
}

}  // namespace lineal
