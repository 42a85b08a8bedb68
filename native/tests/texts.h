// Texts to try things on, and slow obvious readings of what the text headers make.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lineal/rng.h"
#include "lineal/text/ngrams.h"
#include "lineal/text/term_matrix.h"
#include "lineal/text/tokens.h"
#include "lineal/text/vocabulary.h"

namespace lineal::check {

using Strings = std::vector<std::string>;
// The words of each document.
using Sentences = std::vector<Strings>;
// The columns of each row with their numbers, as they lie in the matrix.
using Entries = std::vector<std::vector<std::pair<std::int32_t, double>>>;
// How often each column is in each row.
using Counts = std::vector<std::map<std::int32_t, std::int64_t>>;
// How often each n-gram is in each document.
using Grams = std::map<Strings, std::map<std::size_t, std::uint64_t>>;

// Texts of words w0, w1, ...: some are empty, some have one word, low numbers are frequent.
Strings random_texts(Rng& rng, std::size_t n_texts, std::size_t n_words, std::size_t most);
std::vector<std::string_view> views(const Strings& texts);

// A source that claims to be large, so that every thread that it is offered gets a part.
template <class Kind>
struct Large : Kind {
  using Kind::Kind;
  std::size_t n_bytes() const noexcept override { return std::size_t(1) << 21; }
};

Tokens tokens_of(const Strings& texts, int n_threads = 1, std::size_t min_characters = 1);
Sentences sentences_of(const Tokens& tokens);
NGrams ngrams_of(const Tokens& tokens, int max_n, std::size_t min_documents = 1, int n_threads = 1);
// N-grams of min_n to max_n words that are in at least so many documents.
Grams grams_of(const Sentences& documents, std::size_t min_n, std::size_t max_n,
               std::size_t min_documents = 1);

// A vocabulary's parts, columns given in the order of the walk to what has at least min_n words.
struct Learned {
  struct Longer {
    std::vector<std::uint32_t> prefix, word;
    std::vector<std::int32_t> column;
  };
  WordMap words;
  std::vector<std::int32_t> word_columns;
  std::vector<Longer> longer;
  std::int32_t n_columns = 0;

  Learned(const Tokens& tokens, const NGrams& ngrams, std::size_t min_n) {
    for (const std::uint32_t word : ngrams.tokens()) words.add(tokens.words().name(word));
    std::vector<std::vector<std::int32_t>> columns;
    for (const Level& level : ngrams.levels()) columns.emplace_back(level.size(), -1);
    ngrams.walk([&](std::size_t n, std::size_t k) {
      if (n + 1 >= min_n) columns[n][k] = n_columns++;
    });
    word_columns = columns[0];
    for (std::size_t n = 1; n < columns.size(); ++n)
      longer.push_back({ngrams.levels()[n].prefix, ngrams.levels()[n].token, columns[n]});
  }
  Vocabulary vocabulary() const {
    std::vector<Vocabulary::Longer> views;
    for (const Longer& level : longer) views.push_back({level.prefix, level.word, level.column});
    return {words, word_columns, views, std::size_t(n_columns)};
  }
};

Entries entries_of(const TermMatrix<float>& matrix);
Entries entries_of(const TermMatrix<double>& matrix);
Entries entries_of(const Counts& counts);

// What a body throws, as text; empty if nothing.
std::string refusal(const std::function<void()>& body);

}  // namespace lineal::check
