#include "lineal/text/words.h"

#include <string>
#include <vector>

#include "check.h"
#include "lineal/rng.h"

using namespace lineal;

namespace {

std::vector<std::string> found(const std::string& source, bool lowercase = true, std::size_t least = 2,
                               bool fold_accents = false) {
  // A copy of exactly this length, so that a read beyond it is one the sanitizer sees.
  const std::vector<char> exact(source.begin(), source.end());
  Words words(lowercase, least, Runs::letters, fold_accents);
  std::vector<std::string> all;
  if (words.append({exact.data(), exact.size()}) != Words::well_formed) return {"malformed"};
  words.each([&](Word word) { all.emplace_back(words.text().substr(word.first, word.size)); });
  return all;
}

std::size_t first_bad(const std::string& source) {
  const std::vector<char> exact(source.begin(), source.end());
  Words words(true, 2);
  return words.append({exact.data(), exact.size()});
}

using Strings = std::vector<std::string>;

}  // namespace

THEOREM("words are runs of letters, digits and underscores, in lower case, of two characters at least") {
  CHECK((found("") == Strings{}));
  CHECK((found("The Quick_Brown fox-42 a B c3PO") == Strings{"the", "quick_brown", "fox", "42", "c3po"}));
  CHECK((found("The Fox", false) == Strings{"The", "Fox"}));
  CHECK((found("a bc d", true, 1) == Strings{"a", "bc", "d"}));
  CHECK((found("@[`{/:^ ab @[`{/:^") == Strings{"ab"}));
  CHECK((found(std::string(64, 'A') + " " + std::string(63, 'z')) ==
         Strings{std::string(64, 'a'), std::string(63, 'z')}));
}

THEOREM("a word is the same wherever it lies in eight bytes and in sixty-four") {
  for (std::size_t before = 0; before < 140; ++before)
    for (const std::string word : {"Ab", "wordy", "\xC3\x89t\xC3\xA9", "\xF0\x9D\x94\x84\xF0\x9D\x94\x85"}) {
      const Strings alone = found(word);
      CHECK(alone.size() == 1);
      CHECK(found(std::string(before, ' ') + word) == alone);
      CHECK(found(std::string(before, '.') + word + ". ") == alone);
    }
}

THEOREM("characters are counted, not bytes, and lower case may be longer or shorter") {
  CHECK((found("\xC3\xA9 \xC3\xA9t") == Strings{"\xC3\xA9t"}));               // one letter of two bytes
  CHECK((found("\xE2\x84\xAA\xE2\x84\xAA") == Strings{"kk"}));                // Kelvin signs
  CHECK((found("\xC8\xBA\xC8\xBA") == Strings{"\xE2\xB1\xA5\xE2\xB1\xA5"}));  // U+023A, three bytes for two
  // U+0130 becomes i and a combining dot, which is no word character.
  CHECK((found("A\xC4\xB0z") == Strings{"ai"}));
  std::string longest;
  for (int k = 0; k < 1000; ++k) longest += "\xC4\xB0";
  CHECK((found(longest) == Strings{}));
}

THEOREM("folded, letters lose their accents, and there is room for what decomposes into many") {
  const auto folded = [](const std::string& source) { return found(source, true, 2, true); };
  CHECK((folded("\xC3\x89t\xC3\xA9 na\xC3\xAFve e\xCC\x81t") == Strings{"ete", "naive", "et"}));
  CHECK((folded("\xC4\xB0z") == Strings{"iz"}));                                       // U+0130, dot and all
  CHECK((folded("\xEA\xB0\x81") == Strings{"\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8"}));  // Hangul
  CHECK((folded("\xCC\x81\xCC\x81") == Strings{}));                                    // marks alone
  const Strings four = folded("\xEF\xB7\xBA");  // U+FDFA, three bytes that become 33
  CHECK(four.size() == 4);
  std::string many;
  for (std::size_t n = 1; n < 300; ++n) {
    many += "\xEF\xB7\xBA ";
    CHECK(folded(many + std::string(n % 17, 'x')).size() == 4 * n + (n % 17 > 1));
  }
}

THEOREM("a capital sigma is final where a letter comes before it and none behind, across apostrophes") {
  const std::string sigma = "\xCE\xA3", small = "\xCF\x83", last = "\xCF\x82";
  CHECK((found("A" + sigma) == Strings{"a" + last}));
  CHECK((found("A" + sigma + "B") == Strings{"a" + small + "b"}));
  CHECK((found(sigma + sigma) == Strings{small + last}));
  CHECK((found("A" + sigma + ".B" + sigma) == Strings{"a" + small, "b" + last}));
  CHECK((found("A" + sigma + " B" + sigma) == Strings{"a" + last, "b" + last}));
  CHECK((found("A" + sigma, false) == Strings{"A" + sigma}));
}

THEOREM("malformed text is refused at its first bad byte") {
  CHECK(first_bad("fine") == Words::well_formed);
  CHECK(first_bad("12345678\x80") == 8);
  for (const std::string bad :
       {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC3("})
    CHECK(first_bad("ab" + bad) == 2);
  CHECK(first_bad("\xED\xA0\x80") == Words::well_formed);  // a surrogate, which Python's strings may hold
}

THEOREM("random bytes are refused or read, and nothing outside them") {
  Rng rng(5);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(std::size_t(rng.below(24)), '\0');
    for (char& byte : bytes) byte = char(rng.below(4) ? rng.below(256) : 0x80 + rng.below(64));
    const std::size_t bad = first_bad(bytes);
    CHECK(bad == Words::well_formed || bad < bytes.size());
  }
}

THEOREM("every code point decodes to itself") {
  for (unicode::Code c = 0; c <= 0x10FFFF; ++c) {
    unsigned char bytes[4];
    const unsigned char* end = unicode::encode(c, bytes);
    const unicode::Decoded back = unicode::decode(bytes, end);
    if (back.code != c || back.size != end - bytes) CHECK(back.code == c);
  }
}

THEOREM("sixteen bytes come out as one after the other would, up to the first that is not ASCII, both ways") {
  Rng rng(7);
  for (int round = 0; round < 20000; ++round) {
    unsigned char given[16], out[16];
    for (unsigned char& byte : given) byte = std::uint8_t(rng.below(128));
    if (round % 2) given[rng.below(16)] = std::uint8_t(128 + rng.below(128));
    int n = 0;
    while (n < 16 && given[n] < 128) ++n;
    const bool lowercase = rng.below(2) == 0;
    const Runs runs = rng.below(2) == 0 ? Runs::letters : Runs::spaced;
    const auto check = [&](const Sixteen& found) {
      CHECK(found.n_ascii == n);
      for (int k = 0; k < n; ++k) {
        const char c = char(given[k]);
        const bool is_upper = c >= 'A' && c <= 'Z', is_lower = c >= 'a' && c <= 'z';
        const bool is_space = (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
        const bool is_letter = is_upper || is_lower || (c >= '0' && c <= '9') || c == '_';
        CHECK(char(out[k]) == (lowercase && is_upper ? char(c + 32) : c));
        CHECK((found.marks >> k & 1) == (runs == Runs::letters ? is_letter : !is_space));
      }
    };
    check(sixteen::by_numbers(given, out, lowercase, runs));
    check(Sixteen::take(given, out, lowercase, runs));
  }
}

THEOREM("sixty-four bytes of ASCII come out as four times sixteen do, and others are known not to be ASCII") {
  Rng rng(9);
  for (int round = 0; round < 5000; ++round) {
    unsigned char given[64], out[64], wanted[64];
    for (unsigned char& byte : given) byte = std::uint8_t(rng.below(128));
    const bool is_ascii = round % 2 == 0;
    if (!is_ascii) given[rng.below(64)] = std::uint8_t(128 + rng.below(128));
    const bool lowercase = rng.below(2) == 0;
    const Runs runs = rng.below(2) == 0 ? Runs::letters : Runs::spaced;
    const SixtyFour found = SixtyFour::take(given, out, lowercase, runs);
    CHECK(found.is_ascii == is_ascii);
    for (int k = 0; is_ascii && k < 64; k += 16) {
      const Sixteen part = sixteen::by_numbers(given + k, wanted + k, lowercase, runs);
      CHECK((found.marks >> k & 0xFFFF) == part.marks);
      CHECK(std::equal(wanted + k, wanted + k + 16, out + k));
    }
  }
}

THEOREM(
    "texts that are split together have the words that each of them has, for any size of words and texts") {
  Rng rng(8);
  const std::vector<std::string> letters = {"a",       "B", "_", " ", "\n", ".", "\xC3\xA9", "\xE4\xB8\xAD",
                                            "\xC4\xB0"};
  for (std::size_t least = 1; least <= 3; ++least) {
    Words words(true, least);
    std::vector<std::string_view> room;
    std::vector<std::size_t> ends;
    for (int round = 0; round < 200; ++round) {
      words.clear();
      Strings wanted;
      std::vector<std::size_t> text_ends, wanted_ends;
      for (std::uint64_t n_texts = rng.below(6); n_texts > 0; --n_texts) {
        std::string text;
        for (std::uint64_t k = rng.below(round % 10 == 0 ? 400 : 70); k > 0; --k)
          text += letters[rng.below(round % 3 ? letters.size() : 3)];
        const Strings own = found(text, true, least);
        wanted.insert(wanted.end(), own.begin(), own.end());
        wanted_ends.push_back(wanted.size());
        words.append(text);
        text_ends.push_back(words.text().size());
      }
      const Texts got = words.split(text_ends, room, ends);
      CHECK(Strings(got.begin(), got.end()) == wanted);
      CHECK(ends == wanted_ends);
    }
  }
}
