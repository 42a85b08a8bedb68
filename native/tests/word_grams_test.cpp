#include "lineal/text/word_grams.h"

#include "check.h"
#include "texts.h"

using namespace lineal;
using namespace lineal::check;

namespace {

Strings characters(const std::string& source, bool lowercase = true) {
  Characters split(lowercase, false);
  Strings all;
  if (split.append(source) != Characters::well_formed) return {"malformed"};
  split.each([&](Word word) { all.emplace_back(split.text().substr(word.first, word.size)); });
  return all;
}

Strings grams(const std::string& word, std::size_t min_n, std::size_t max_n) {
  const std::string padded = " " + std::string(word) + " ";
  std::vector<std::size_t> starts;
  Strings all;
  each_word_gram(padded, min_n, max_n, starts, [&](std::string_view gram) { all.emplace_back(gram); });
  return all;
}

}  // namespace

THEOREM("characters are those of the text; of white space two or more are one space and one is itself") {
  CHECK((characters("") == Strings{}));
  CHECK((characters("A\xC3\x89\xF0\x9F\x98\x80") == Strings{"a", "\xC3\xA9", "\xF0\x9F\x98\x80"}));
  CHECK((characters("A\xC3\x89", false) == Strings{"A", "\xC3\x89"}));
  for (const char* const given :
       {" ", "\n", "\t", "\x1C", "\xC2\x85", "\xC2\xA0", "\xE3\x80\x80", "\xE2\x80\xA8"}) {
    const std::string one = given;
    CHECK((characters(one) == Strings{one}));
    CHECK((characters("a" + one + "b") == Strings{"a", one, "b"}));
    for (const char* const other : {" ", "\n", "\xC2\xA0", "\xE3\x80\x80"}) {
      CHECK((characters(one + other) == Strings{" "}));
      CHECK((characters("a" + one + other + one + "b" + other) == Strings{"a", " ", "b", other}));
    }
  }
  CHECK((characters("\xE2\x80\x8B") == Strings{"\xE2\x80\x8B"}));  // of no width, but no white space
  CHECK((characters("\xC4\xB0") == Strings{"i", "\xCC\x87"}));
  CHECK((characters("ok \xC3") == Strings{"malformed"}));
}

THEOREM("characters of texts that are read together are those of each text") {
  const Strings texts{"a ", " b", "", "  ", "\xC3\xA9", "\n"};
  const std::vector<std::string_view> lent = views(texts);
  Watch watch;
  const Tokens tokens = Tokens::read(SplitTexts(lent, Characters(true, false)), 1, watch);
  CHECK((sentences_of(tokens) == Sentences{{"a", " "}, {" ", "b"}, {}, {" "}, {"\xC3\xA9"}, {"\n"}}));
}

THEOREM("a word's n-grams are the substrings of the word between spaces; a short one gives itself once") {
  CHECK((grams("ab", 1, 1) == Strings{" ", "a", "b", " "}));
  CHECK((grams("ab", 2, 3) == Strings{" a", "ab", "b ", " ab", "ab "}));
  CHECK((grams("ab", 3, 9) == Strings{" ab", "ab ", " ab "}));
  CHECK((grams("ab", 4, 4) == Strings{" ab "}));
  CHECK((grams("ab", 5, 9) == Strings{" ab "}));
  CHECK((grams("", 1, 9) == Strings{" ", " ", "  "}));
  CHECK((grams("\xC3\xA9\xF0\x9F\x98\x80", 3, 3) ==
         Strings{" \xC3\xA9\xF0\x9F\x98\x80", "\xC3\xA9\xF0\x9F\x98\x80 "}));
}

THEOREM("n-grams of documents are those of their words, counted; a known set of names leaves out others") {
  Rng rng(19);
  const Strings texts = random_texts(rng, 50, 40, 10), others = random_texts(rng, 30, 90, 10);
  for (const int n_threads : {1, 3}) {
    Watch watch;
    const Tokens tokens = tokens_of(texts, n_threads), new_tokens = tokens_of(others, n_threads);
    WordMap names;
    const WordGrams made(tokens, names, 2, 4);
    const WordGrams known(new_tokens, std::as_const(names), 2, 4);
    std::vector<std::int32_t> columns(names.size());
    for (std::size_t k = 0; k < columns.size(); ++k)
      columns[k] = k % 3 ? std::int32_t(columns.size() - k) : -1;
    const auto counted = [&](const Tokens& read, const std::vector<std::int32_t>& to) {
      Counts counts;
      for (const Strings& document : sentences_of(read)) {
        counts.emplace_back();
        for (const std::string& word : document)
          for (const std::string& gram : grams(word, 2, 4))
            if (const std::uint32_t id = names.find(gram); id != WordMap::none && to[id] >= 0)
              ++counts.back()[to[id]];
      }
      return counts;
    };
    const std::size_t n_columns = columns.size() + 1;
    CHECK(entries_of(made.rows<double>(columns, n_columns, Weighing(), watch)) ==
          entries_of(counted(tokens, columns)));
    CHECK(entries_of(known.rows<float>(columns, n_columns, Weighing(), watch)) ==
          entries_of(counted(new_tokens, columns)));
    std::vector<std::uint64_t> n_documents, total, wanted_documents(names.size()), wanted_total(names.size());
    made.count(n_documents, total, watch);
    for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = std::int32_t(k);
    for (const auto& row : counted(tokens, columns))
      for (const auto& [id, count] : row) {
        ++wanted_documents[std::size_t(id)];
        wanted_total[std::size_t(id)] += std::uint64_t(count);
      }
    CHECK(n_documents == wanted_documents && total == wanted_total);
  }
}
