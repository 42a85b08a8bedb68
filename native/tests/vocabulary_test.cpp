#include "lineal/text/vocabulary.h"

#include "check.h"
#include "texts.h"

using namespace lineal;
using namespace lineal::check;

THEOREM("rows by a vocabulary are those of the n-grams it was learned from, and of new documents") {
  Rng rng(15);
  const Strings texts = random_texts(rng, 80, 12, 15), others = random_texts(rng, 50, 20, 12);
  const Tokens tokens = tokens_of(texts);
  const Sentences documents = sentences_of(tokens);
  for (const std::size_t max_n : {1u, 2u, 3u, 4u})
    for (const std::size_t min_documents : {1u, 3u})
      for (const std::size_t min_n : {std::size_t(1), max_n}) {  // max_n: no prefix has a column
        const NGrams ngrams = ngrams_of(tokens, int(max_n), min_documents);
        const Vocabulary vocabulary = Learned(tokens, ngrams, min_n).vocabulary();
        std::map<Strings, std::int32_t> column;
        for (const auto& gram : grams_of(documents, min_n, max_n, min_documents))
          column.emplace(gram.first, std::int32_t(column.size()));
        CHECK(vocabulary.n_columns() == column.size());
        for (const Strings& read : {texts, others, Strings{}, Strings{"", "new words only"}}) {
          Counts wanted(read.size());
          for (const auto& [gram, in] : grams_of(sentences_of(tokens_of(read)), min_n, max_n))
            if (const auto at = column.find(gram); at != column.end())
              for (const auto& [document, count] : in) wanted[document][at->second] = std::int64_t(count);
          for (const int n_threads : {1, 3}) {
            Watch watch;
            const Tokens fresh = tokens_of(read, n_threads);
            CHECK(entries_of(vocabulary_rows<double>(vocabulary, fresh, Weighing(), watch)) ==
                  entries_of(wanted));
          }
        }
      }
}

THEOREM("a vocabulary whose parts do not fit together is refused") {
  const Tokens tokens = tokens_of({"a b a b c", "b c a"});
  const Learned good(tokens, ngrams_of(tokens, 3), 1);
  const auto refused = [&](const std::function<void(Learned&, Learned::Longer&)>& spoil) {
    Learned bad = good;
    spoil(bad, bad.longer[0]);
    return refusal([&] { bad.vocabulary(); });
  };
  using L = Learned;
  CHECK(refused([](L&, L::Longer&) {}) == "");
  const std::string parts = "an n-gram of parts that do not exist", twice = "an n-gram that is there twice",
                    column = "a column that does not exist";
  CHECK(refused([](L&, L::Longer& level) { level.prefix[1] = 3; }) == parts);
  CHECK(refused([](L&, L::Longer& level) { level.prefix[1] = Vocabulary::none; }) == parts);
  CHECK(refused([](L&, L::Longer& level) { level.word[0] = 3; }) == parts);
  CHECK(refused([](L& bad, L::Longer&) {
          bad.longer[1].prefix[0] = std::uint32_t(bad.longer[0].word.size());
        }) == parts);
  CHECK(refused([](L&, L::Longer& level) {
          level.prefix[1] = level.prefix[0];
          level.word[1] = level.word[0];
        }) == twice);
  CHECK(refused([](L& bad, L::Longer& level) { level.column[0] = bad.n_columns; }) == column);
  CHECK(refused([](L& bad, L::Longer&) { bad.word_columns[2] = bad.n_columns; }) == column);
  CHECK(refused([](L& bad, L::Longer&) { bad.word_columns.pop_back(); }) != "");
  CHECK(refused([](L&, L::Longer& level) { level.prefix.pop_back(); }) != "");
  CHECK(refused([](L&, L::Longer& level) { level.column.push_back(0); }) != "");
}
