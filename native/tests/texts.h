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
template <class Source>
struct Large : Source {
  using Source::Source;
  std::size_t n_bytes() const noexcept { return std::size_t(1) << 21; }
};

Tokens tokens_of(const Strings& texts, int n_threads = 1, std::size_t min_characters = 1);
Sentences sentences_of(const Tokens& tokens);
NGrams ngrams_of(const Tokens& tokens, int max_n, std::size_t min_documents = 1, int n_threads = 1);
// N-grams of min_n to max_n words that are in at least so many documents.
Grams grams_of(const Sentences& documents, std::size_t min_n, std::size_t max_n,
               std::size_t min_documents = 1);

Entries entries_of(const TermMatrix<float>& matrix);
Entries entries_of(const TermMatrix<double>& matrix);
Entries entries_of(const Counts& counts);

// What a body throws, as text; empty if nothing.
std::string refusal(const std::function<void()>& body);

}  // namespace lineal::check
