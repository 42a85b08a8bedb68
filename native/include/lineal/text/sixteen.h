// Sixteen bytes of text at a time: lower case, and a bit for each byte that is what was asked for.
//
// Answers hold for bytes before the first that is not ASCII; what lies behind it is anybody's guess. Two
// ways to the same answers: the vectors that every x86-64 has, and arithmetic on two 64-bit numbers. Of text
// that is ASCII throughout, SixtyFour takes as many bytes at once, by longer vectors where there are any.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lineal {

// What is marked: letters, digits and underscores, or all characters but white space.
enum class Runs { letters, spaced };

struct Sixteen {
  std::uint32_t marks;  // a bit for each byte that is marked
  int n_ascii;          // bytes before the first that is not ASCII

  // Writes sixteen bytes to `out`, those before the first that is not ASCII in lower case if asked. The marks
  // of letters are those of the bytes that come out.
  static Sixteen take(const unsigned char* p, unsigned char* out, bool lowercase, Runs runs) noexcept;
};

namespace sixteen {

// The same on eight bytes, in the low byte of a number; the top bits of those that are not ASCII in another.
struct Eight {
  std::uint64_t marks, not_ascii;
};
inline Eight take_eight(const unsigned char* p, unsigned char* out, bool lowercase, Runs runs) noexcept {
  static_assert(std::endian::native == std::endian::little, "a number's low bytes are a text's first ones");
  constexpr std::uint64_t ones = 0x0101010101010101, tops = 0x80 * ones;
  std::uint64_t x;
  std::memcpy(&x, p, 8);
  const std::uint64_t not_ascii = x & tops;
  // The top bit of each byte that is at least c; no sum of ASCII carries into the next byte.
  const auto least = [&](std::uint64_t c) { return x + (0x80 - c) * ones; };
  if (lowercase) x |= (least('A') & ~least('Z' + 1) & tops) >> 2;
  std::memcpy(out, &x, 8);
  std::uint64_t found;
  if (runs == Runs::spaced) {
    // White space is 9 to 13 and 28 to 32.
    found = ~((least(9) & ~least(14)) | (least(28) & ~least(33)));
  } else {
    found = (least('a') & ~least('z' + 1)) | (least('0') & ~least('9' + 1)) | (least('_') & ~least('_' + 1));
    if (!lowercase) found |= least('A') & ~least('Z' + 1);
  }
  // The top bits of the eight bytes in one byte, in order.
  return {((found & tops) >> 7) * 0x0102040810204080 >> 56, not_ascii};
}
inline Sixteen by_numbers(const unsigned char* p, unsigned char* out, bool lowercase, Runs runs) noexcept {
  const Eight low = take_eight(p, out, lowercase, runs), high = take_eight(p + 8, out + 8, lowercase, runs);
  const int n_low = low.not_ascii != 0 ? std::countr_zero(low.not_ascii) / 8 : 8;
  const int n_high = high.not_ascii != 0 ? std::countr_zero(high.not_ascii) / 8 : 8;
  return {std::uint32_t(low.marks | high.marks << 8), n_low < 8 ? n_low : 8 + n_high};
}

#if defined(__SSE2__)
inline Sixteen by_vectors(const unsigned char* p, unsigned char* out, bool lowercase, Runs runs) noexcept {
  __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  // All ones in each byte of `in` that is one of the n from c on: they become the n lowest signed ones.
  const auto among = [](__m128i in, int c, int n) {
    return _mm_cmplt_epi8(_mm_add_epi8(in, _mm_set1_epi8(char(0x80 - c))), _mm_set1_epi8(char(n - 0x80)));
  };
  const __m128i bit_of_case = _mm_set1_epi8(0x20);
  const auto not_ascii = std::uint32_t(_mm_movemask_epi8(x));
  if (lowercase) x = _mm_or_si128(x, _mm_and_si128(among(x, 'A', 26), bit_of_case));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), x);
  const __m128i found =
      runs == Runs::spaced
          ? _mm_xor_si128(_mm_or_si128(among(x, 9, 5), among(x, 28, 5)), _mm_set1_epi8(-1))
          : _mm_or_si128(_mm_or_si128(among(_mm_or_si128(x, bit_of_case), 'a', 26), among(x, '0', 10)),
                         _mm_cmpeq_epi8(x, _mm_set1_epi8('_')));
  return {std::uint32_t(_mm_movemask_epi8(found)), std::countr_zero(not_ascii | 0x10000u)};
}
#endif

}  // namespace sixteen

inline Sixteen Sixteen::take(const unsigned char* p, unsigned char* out, bool lowercase, Runs runs) noexcept {
#if defined(__SSE2__)
  return sixteen::by_vectors(p, out, lowercase, runs);
#else
  return sixteen::by_numbers(p, out, lowercase, runs);
#endif
}

struct SixtyFour {
  std::uint64_t marks;  // a bit for each byte that is marked
  bool is_ascii;        // else the marks, and what was written, mean nothing

  // As Sixteen::take, for sixty-four bytes.
  static SixtyFour take(const unsigned char* p, unsigned char* out, bool lowercase, Runs runs) noexcept;
};

namespace sixteen {

#if defined(__AVX2__)
struct ThirtyTwo {
  std::uint32_t marks, not_ascii;
};
inline ThirtyTwo by_long_vectors(const unsigned char* p, unsigned char* out, bool lowercase,
                                 Runs runs) noexcept {
  __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  const auto among = [](__m256i in, int c, int n) {
    return _mm256_cmpgt_epi8(_mm256_set1_epi8(char(n - 0x80)),
                             _mm256_add_epi8(in, _mm256_set1_epi8(char(0x80 - c))));
  };
  const __m256i bit_of_case = _mm256_set1_epi8(0x20);
  const auto not_ascii = std::uint32_t(_mm256_movemask_epi8(x));
  const __m256i letters = among(_mm256_or_si256(x, bit_of_case), 'a', 26);
  if (lowercase) x = _mm256_or_si256(x, _mm256_and_si256(letters, bit_of_case));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), x);
  const __m256i found =
      runs == Runs::spaced
          ? _mm256_xor_si256(_mm256_or_si256(among(x, 9, 5), among(x, 28, 5)), _mm256_set1_epi8(-1))
          : _mm256_or_si256(_mm256_or_si256(letters, among(x, '0', 10)),
                            _mm256_cmpeq_epi8(x, _mm256_set1_epi8('_')));
  return {std::uint32_t(_mm256_movemask_epi8(found)), not_ascii};
}
#endif

}  // namespace sixteen

inline SixtyFour SixtyFour::take(const unsigned char* p, unsigned char* out, bool lowercase,
                                 Runs runs) noexcept {
#if defined(__AVX2__)
  const sixteen::ThirtyTwo low = sixteen::by_long_vectors(p, out, lowercase, runs);
  const sixteen::ThirtyTwo high = sixteen::by_long_vectors(p + 32, out + 32, lowercase, runs);
  return {low.marks | std::uint64_t(high.marks) << 32, (low.not_ascii | high.not_ascii) == 0};
#else
  SixtyFour all{0, true};
  for (int k = 0; k < 64; k += 16) {
    const Sixteen part = Sixteen::take(p + k, out + k, lowercase, runs);
    all.marks |= std::uint64_t(part.marks) << k;
    all.is_ascii &= part.n_ascii == 16;
  }
  return all;
#endif
}

}  // namespace lineal
