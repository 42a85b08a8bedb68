#include "lineal/text/ngrams.h"

#include "check.h"
#include "texts.h"

using namespace lineal;
using namespace lineal::check;

namespace {

// Every n-gram spelt out, in the order of the walk, with its documents.
void check_grams(const NGrams& ngrams, const Tokens& tokens, const Grams& wanted) {
  const std::vector<Level>& levels = ngrams.levels();
  auto next = wanted.begin();
  ngrams.walk([&](std::size_t n, std::size_t k) {
    Strings words;
    for (std::size_t level = n, at = k;; at = levels[level].prefix[at], --level) {
      words.insert(words.begin(), std::string(tokens.words().name(ngrams.tokens()[levels[level].token[at]])));
      if (level == 0) break;
    }
    CHECK(next != wanted.end());
    if (next == wanted.end()) return;
    CHECK(words == next->first);
    const Level& own = levels[n];
    CHECK(own.n_documents(k) == next->second.size());
    std::uint64_t total = 0;
    std::map<std::size_t, std::uint64_t> found;
    for (std::size_t e = own.first[k]; e < own.first[k + 1]; ++e) {
      CHECK(found.empty() || found.rbegin()->first < std::uint32_t(own.entries[e]));
      found[std::uint32_t(own.entries[e])] = own.entries[e] >> 32;
      total += own.entries[e] >> 32;
    }
    CHECK(own.total[k] == total);
    CHECK(found == next->second);
    ++next;
  });
  CHECK(next == wanted.end());
}

void check_texts(const Strings& texts, std::vector<int> threads) {
  const Sentences documents = sentences_of(tokens_of(texts));
  for (const int max_n : {1, 2, 3, 4})
    for (const std::size_t min_documents : {1u, 2u, 3u, 1000000u}) {
      const Grams wanted = grams_of(documents, 1, std::size_t(max_n), min_documents);
      for (const int n_threads : threads) {
        const Tokens tokens = tokens_of(texts, n_threads);
        const NGrams ngrams = ngrams_of(tokens, max_n, min_documents, n_threads);
        CHECK(ngrams.n_documents() == texts.size());
        CHECK(ngrams.levels().size() <= std::size_t(max_n));  // none beyond the first that is empty
        check_grams(ngrams, tokens, wanted);
      }
    }
}

}  // namespace

THEOREM("n-grams, their documents and counts are those of a map of tuples, and walked in its order") {
  Rng rng(8);
  for (const Strings& texts :
       {random_texts(rng, 60, 12, 15), random_texts(rng, 40, 3, 30), random_texts(rng, 30, 100, 3)})
    check_texts(texts, {1, 2, 5});
}

THEOREM("no documents, documents without tokens, of one token, and of one token many times have n-grams") {
  for (const Strings& texts : {Strings{}, Strings{""}, Strings{"", ".", " "}, Strings{"one"},
                               Strings{"a a a a"}, Strings{"", "a", "", "a b", "b a b a", ""}})
    check_texts(texts, {1, 3});
}

THEOREM("what holds more occurrences than a bucket, and prefixes of many buckets, come out the same") {
  Rng rng(9);
  const Strings texts = random_texts(rng, 1500, 1000, 90);
  const Sentences documents = sentences_of(tokens_of(texts));
  const Grams wanted = grams_of(documents, 1, 3, 2);
  for (const int n_threads : {1, 3}) {
    const Tokens tokens = tokens_of(texts, n_threads);
    CHECK(tokens.size() > 65536);
    check_grams(ngrams_of(tokens, 3, 2, n_threads), tokens, wanted);
  }
}

THEOREM("records whose token and payload fill all bits are sorted with one prefix to a bucket") {
  Rng rng(10);
  const Tokens tokens = tokens_of({"one part"});
  const ngrams::Stream stream(tokens);
  struct Record {
    std::uint32_t prefix, token;
    std::size_t payload;
  };
  for (const int token_bits : {32, 31, 30, 1})
    for (const int payload_bits : {32, 31, 30, 1}) {
      const std::uint64_t n_tokens = std::uint64_t(1) << token_bits, n_payloads = std::uint64_t(1)
                                                                                  << payload_bits;
      std::vector<Record> records(500);
      for (Record& record : records)
        record = {std::uint32_t(rng.below(9)), std::uint32_t(n_tokens - 1 - rng.below(2)),
                  std::size_t(n_payloads - 1 - rng.below(2))};
      std::sort(records.begin(), records.end(),  // payloads come in order
                [](const Record& a, const Record& b) { return a.payload < b.payload; });
      Watch watch;
      ngrams::Sorting sorting{1, 1, watch};
      std::map<std::uint64_t, std::uint64_t> n_kept;
      const Level level = sorting.sort(
          stream, 9, n_tokens, n_payloads,
          [&](int, auto&& use) {
            for (const Record& record : records) use(record.prefix, record.token, record.payload);
          },
          [](std::uint64_t payload) { return std::uint32_t(payload); },
          [&](std::uint64_t, std::uint64_t found) { ++n_kept[found]; });
      std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::size_t, std::uint64_t>> wanted;
      for (const Record& record : records) ++wanted[{record.prefix, record.token}][record.payload];
      CHECK(level.size() == wanted.size());
      std::size_t k = 0;
      for (const auto& [pair, documents] : wanted) {
        CHECK(level.prefix[k] == pair.first && level.token[k] == pair.second);
        std::size_t e = level.first[k];
        for (const auto& [document, count] : documents) CHECK(level.entries[e++] == (count << 32 | document));
        CHECK(e == level.first[++k]);
      }
      for (const auto& [found, n] : n_kept) CHECK(level.total[sorting(std::uint32_t(found))] == n);
    }
}
