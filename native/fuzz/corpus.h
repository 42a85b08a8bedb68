// The nastiest texts we know: where fuzzing starts, and what every native test run reads.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace lineal::fuzz {

inline std::string repeated(const std::string& text, int times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

// Pieces that a text may have anywhere: code points that are hard for one reason or another.
inline std::vector<std::string> hard_pieces() {
  static constexpr std::string_view pieces[] = {
      std::string_view("\0", 1),
      "\xEF\xBB\xBF",                                  // byte order mark
      "\xED\xA0\x80",                                  // a lone surrogate, high; Python's strings may hold it
      "\xED\xBF\xBF",                                  // and low
      "\xED\xA0\xBD\xED\xB8\x80",                      // a pair of them where one code point belongs
      "\xC4\xB0",                                      // U+0130: its lower case is two characters
      "\xC8\xBA",                                      // U+023A: its lower case has three bytes for two
      "\xE2\x84\xAA",                                  // Kelvin sign: one byte for three
      "\xE2\x84\xAB",                                  // Angstrom sign
      "\xCE\xA3",                                      // capital sigma, final or not
      "\xCF\x82",                                      // final sigma
      "'",                                             // what the rule for sigma looks through
      "\xC2\xAD",                                      // soft hyphen: looked through as well
      "\xCC\x81",                                      // combining acute
      "\xE1\xBA\x9E",                                  // capital sharp s
      "\xC7\x85",                                      // title case
      "\xE2\x85\xA3",                                  // Roman numeral four, which has a lower case
      "\xE2\x92\xB6",                                  // circled A: a symbol with a case
      "\xF0\x90\x90\x80",                              // Deseret: case beyond 16 bits
      "\xF0\x9D\x94\x84",                              // mathematical Fraktur
      "\xEF\xBC\xA1",                                  // full-width A
      "\xD7\xA9\xD7\x9C",                              // Hebrew
      "\xE2\x80\xAE",                                  // right-to-left override
      "\xE2\x80\x8F",                                  // right-to-left mark
      "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",  // emoji joined by U+200D
      "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",              // a flag
      "\xC2\xA0",                                      // no-break space
      "\xC2\x85",                                      // next line
      "\xE3\x80\x80",                                  // ideographic space
      "\xE2\x80\x8B",                                  // of no width, and no white space
      "\xE2\x80\xA8",                                  // line separator
      "\x1C\x1D\x1E\x1F",                              // white space to Python
      "\xEE\x80\x80",                                  // private use
      "\xF4\x8F\xBF\xBF",                              // U+10FFFF
      "\xEF\xBF\xBF",                                  // U+FFFF
      "\xE0\xA4\x95\xE0\xA5\x8D\xE0\xA4\xB7",          // Devanagari with a virama
      "\xE4\xB8\xAD\xE6\x96\x87",                      // Chinese
      "\xED\x95\x9C",                                  // Hangul
      "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB",          // Hangul in parts
      "\xD9\xA3",                                      // an Arabic digit
      "\xC2\xB2",                                      // a superscript two
      "_",
      "@[`{",
      "/:",
      "\x7F",  // neighbours of letters and digits
  };
  return {std::begin(pieces), std::end(pieces)};
}

// Bytes that are no UTF-8 at all.
inline std::vector<std::string> malformed_pieces() {
  static constexpr std::string_view pieces[] = {"\x80",
                                                "\xBF",
                                                "\xC0\x80",
                                                "\xC1\xBF",
                                                "\xE0\x80\x80",
                                                "\xE0\x9F\xBF",
                                                "\xF0\x80\x80\x80",
                                                "\xF0\x8F\xBF\xBF",
                                                "\xF4\x90\x80\x80",
                                                "\xF5\x80\x80\x80",
                                                "\xF8\x88\x80\x80\x80",
                                                "\xFE",
                                                "\xC3",
                                                "\xE2\x82",
                                                "\xF0\x9F\x98",
                                                "\xC3(",
                                                "\xE2(\xA1",
                                                "\xE2\x82(",
                                                "\xF0(\x8C\xBC",
                                                "\xF0\x90(\xBC"};
  return {std::begin(pieces), std::end(pieces)};
}

// Whole texts; none of them is malformed.
inline std::vector<std::string> hard_texts() {
  std::vector<std::string> texts = {
      "",
      " ",
      "a",
      "The quick brown fox, the lazy dog. The QUICK brown fox!",
      "A\xCE\xA3 A\xCE\xA3.B A\xCE\xA3'b \xCE\xA3\xCE\xA3 \xCE\xA3 A\xCC\x81\xCE\xA3\xCC\x81 "
      "a\xC2\xAD\xCE\xA3",
      repeated("\xC8\xBA", 500),
      repeated("\xC4\xB0", 500),
      repeated("\xE2\x84\xAA", 500),
      repeated("\xCE\xA3", 200),
      "A" + repeated("'", 300) + "\xCE\xA3",
      repeated(std::string(1, '\0'), 70),
      repeated(" ", 5000),
      repeated("\xE3\x80\x80", 1000),
      repeated("a ", 2000),
      repeated("ab ab ", 300),
      std::string(20000, 'x'),
      repeated("\xF0\x9D\x94\x84", 3000),
      "e" + repeated("\xCC\x81", 300),
      "\xEF\xBB\xBFmarked",
      "seven77 eightttt ninennnnn sixteen_sixteen_ seventeen_sevente seventeen_seventf",
  };
  std::string all;
  for (const std::string& piece : hard_pieces()) {
    all += piece;
    texts.push_back(piece);
    texts.push_back("a" + piece + "B" + piece + piece + " " + piece + " c");
  }
  texts.push_back(all);
  // Everything again across the boundaries of eight and of sixty-four bytes.
  for (const std::size_t before : {1u, 7u, 8u, 9u, 15u, 16u, 31u, 61u, 62u, 63u, 64u, 65u, 127u, 128u}) {
    texts.push_back(std::string(before, 'w'));
    texts.push_back(std::string(before, ' ') + all);
    texts.push_back(std::string(before, 'W') + "\xC8\xBA\xC3\x89\xCE\xA3 " +
                    std::string(64 - before % 64, '.'));
  }
  return texts;
}

// As the fuzzer takes them: a byte of options, another one, then documents between bytes 0xFF.
inline std::vector<std::string> inputs() {
  std::vector<std::string> all;
  const auto add = [&](const std::string& documents) {
    const std::size_t k = all.size();
    // The lowest bit would make it an Arrow array.
    all.push_back(std::string{char(k * 74 % 256), char(k * 101 % 256)} + documents);
  };
  std::string together;
  for (const std::string& text : hard_texts()) {
    add(text);
    add(text + "\xFF" + text + "\xFF\xFF more " + text);
    if (text.size() < 400) together += text + "\xFF";
  }
  for (const std::string& piece : malformed_pieces())
    for (const std::string before : {"", "ab", "1234567", "12345678 \xC3\xA9 "}) {
      add(before + piece);
      add("fine\xFF" + before + piece + " behind it");
    }
  for (const std::string text :
       {"1 1:0.5 3:-2e1 # x\n\n-1\t7:1 2:3\r\n0\n2 4:1#x\n", "2 qid:3 1:1\nqid:9 2:1e-400\n1 qid:3 0:1.5\n",
        "1 2.5 'first|a x y:2 |b:0.5 x:4\n-1 |a y x\n| z\n1 t|\n0.5 | z:3 z:-1 ^a a^ a^b^c\n"})
    for (std::size_t k = 0; k < 4; ++k) add(text.substr(0, text.size() - k));
  add(together);
  add(together + together);
  for (unsigned k = 0; k < 256; ++k) {
    std::string array{char(k | 1), char(k * 101 % 256)};
    for (unsigned e = 0; e < 150; ++e) array += char((k * 31 + e * e * 7 + e / 3) % 250);
    all.push_back(array);
  }
  all.push_back("");
  return all;
}

}  // namespace lineal::fuzz
