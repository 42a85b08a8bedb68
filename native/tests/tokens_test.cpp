#include "lineal/text/tokens.h"

#include "check.h"
#include "lineal/text/characters.h"
#include "texts.h"

using namespace lineal;
using namespace lineal::check;

namespace {

// One text at a time, one word at a time.
Sentences one_by_one(const Strings& texts, std::size_t min_characters) {
  Sentences all;
  for (const std::string& text : texts) {
    Words words(true, min_characters);
    words.append(text);
    all.emplace_back();
    words.each([&](Word word) { all.back().emplace_back(words.text().substr(word.first, word.size)); });
  }
  return all;
}

Strings hard_texts(Rng& rng) {
  Strings texts = random_texts(rng, 300, 60, 40);
  texts[0] = texts[299] = "";
  texts[7] = std::string(40000, 'x') + " y" + std::string(20, ' ');
  texts[8] = "last of its block";
  texts[9] = std::string("nul\0nul \0", 9);
  for (std::size_t k = 20; k < 40; ++k) texts[k] = k % 2 ? "" : "\xC3\x89t\xC3\xA9 \xCE\x91\xCE\xA3";
  return texts;
}

}  // namespace

THEOREM("tokens are the words of each text, numbered as first met, for any number of threads") {
  Rng rng(3);
  for (const Strings& texts : {hard_texts(rng), Strings{}, Strings{""}, Strings{"", "", "a"}, Strings{"one"}})
    for (const std::size_t min_characters : {1u, 2u, 4u}) {
      const Sentences wanted = one_by_one(texts, min_characters);
      std::map<std::string, std::uint32_t> numbers;
      for (const Strings& words : wanted)
        for (const std::string& word : words) numbers.emplace(word, std::uint32_t(numbers.size()));
      for (const int n_threads : {1, 2, 3, 5, 40}) {
        const Tokens tokens = tokens_of(texts, n_threads, min_characters);
        CHECK(sentences_of(tokens) == wanted);
        CHECK(tokens.n_documents() == texts.size());
        CHECK(tokens.words().size() == numbers.size());
        for (const auto& [word, number] : numbers) CHECK(tokens.words().find(word) == number);
      }
    }
}

THEOREM("words that somebody else found are tokens as they are, empty ones and NULs among them") {
  Rng rng(4);
  Sentences wanted(50);
  Strings words;
  std::vector<std::size_t> ends;
  for (Strings& sentence : wanted) {
    for (std::uint64_t k = rng.below(6); k > 0; --k)
      sentence.push_back(std::string(std::size_t(rng.below(20)), "ab\0"[rng.below(3)]));
    words.insert(words.end(), sentence.begin(), sentence.end());
    ends.push_back(words.size());
  }
  const std::vector<std::string_view> lent = views(words);
  for (const int n_threads : {1, 2, 5, 60}) {
    Watch watch;
    CHECK(sentences_of(Tokens::read(Large<GivenWords>(lent, ends), n_threads, watch)) == wanted);
  }
}

THEOREM("renaming words, two to one name or to none, is renaming each token of each document") {
  Rng rng(5);
  const Strings texts = hard_texts(rng);
  for (const int n_threads : {1, 3}) {
    Tokens tokens = tokens_of(texts, n_threads);
    Sentences wanted = sentences_of(tokens);
    std::map<std::string, std::optional<std::string>> by_name;
    std::vector<std::optional<std::string>> names(tokens.words().size());
    for (std::uint32_t k = 0; k < names.size(); ++k) {
      if (k % 3) names[k] = std::string(tokens.words().name(k)).substr(0, 2);
      by_name[std::string(tokens.words().name(k))] = names[k];
    }
    for (Strings& sentence : wanted) {
      Strings kept;
      for (const std::string& word : sentence)
        if (by_name[word]) kept.push_back(*by_name[word]);
      sentence = kept;
    }
    CHECK(!refusal([&] { tokens.rename({std::nullopt}); }).empty());
    tokens.rename(names);
    CHECK(sentences_of(tokens) == wanted);
    tokens.rename(std::vector<std::optional<std::string>>(tokens.words().size()));
    CHECK(tokens.size() == 0 && tokens.words().size() == 0 && tokens.n_documents() == texts.size());
  }
}

THEOREM("of all malformed texts the first is refused, with its number and its byte, for any threads") {
  Rng rng(6);
  for (const std::size_t at : {0u, 1u, 150u, 299u})
    for (const int n_threads : {1, 2, 5}) {
      Strings texts = hard_texts(rng);
      texts[at] = "\xC3\xA9 is two\xED\xA0\xC3 bytes";
      texts[299] += texts[at];
      CHECK(refusal([&] { tokens_of(texts, n_threads); }) ==
            "document " + std::to_string(at) + " is not UTF-8 at its byte 9");
    }
}

THEOREM("reading ends soon after it is asked to") {
  const Strings texts(20000, std::string(4000, ' ') + "word");
  const std::vector<std::string_view> lent = views(texts);
  for (const int n_threads : {1, 3}) {
    int asked = 0;
    Watch watch([&] { return ++asked == 2; }, std::chrono::seconds(0), 1);
    const Tokens tokens = Tokens::read(SplitTexts(lent, Words(true, 2)), n_threads, watch);
    CHECK(watch.is_over() && asked == 2);
    CHECK(tokens.n_documents() < texts.size());
  }
}

THEOREM("names are sorted by their bytes: shared beginnings, NULs, and bytes beyond 127 among them") {
  Rng rng(7);
  std::map<std::string, std::uint32_t> wanted;
  Names names;
  for (int round = 0; round < 3000; ++round) {
    std::string name(std::size_t(rng.below(12)), rng.below(3) ? 'a' : '\0');
    if (!name.empty()) name[std::size_t(rng.below(name.size()))] = "\0a\x7F\x80\xFF"[rng.below(5)];
    if (wanted.emplace(name, std::uint32_t(names.size())).second) names.add(name);
  }
  std::vector<std::uint32_t> in_order;  // std::string compares as unsigned bytes
  for (const auto& [name, id] : wanted) in_order.push_back(id);
  CHECK(sorted(names) == in_order);
  for (const auto& [name, id] : wanted) CHECK(names[id] == name);
  CHECK(sorted(Names()).empty());
}
