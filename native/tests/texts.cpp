// Compiled once: maps and vectors of strings cost each test seconds under the sanitizers.
#include "texts.h"

namespace lineal::check {

namespace {

template <class V>
Entries read_entries(const TermMatrix<V>& matrix) {
  Entries rows(matrix.start.size() - 1);
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (auto e = std::size_t(matrix.start[row]); e < std::size_t(matrix.start[row + 1]); ++e)
      rows[row].emplace_back(matrix.column[e], double(matrix.value[e]));
  return rows;
}

}  // namespace

Strings random_texts(Rng& rng, std::size_t n_texts, std::size_t n_words, std::size_t most) {
  Strings texts(n_texts);
  for (std::string& text : texts)
    for (std::uint64_t k = rng.below(most + 1); k > 0; --k)
      text += "w" + std::to_string(rng.below(rng.below(n_words) + 1)) + (rng.below(5) ? " " : ", ");
  return texts;
}

std::vector<std::string_view> views(const Strings& texts) { return {texts.begin(), texts.end()}; }

Tokens tokens_of(const Strings& texts, int n_threads, std::size_t min_characters) {
  Watch watch;
  const std::vector<std::string_view> lent = views(texts);
  return Tokens::read(Large<SplitTexts<Words>>(lent, Words(true, min_characters)), n_threads, watch);
}

Sentences sentences_of(const Tokens& tokens) {
  Sentences all;
  for (const Part& part : tokens.parts()) {
    std::size_t first = 0;
    for (const std::size_t end : part.end) {
      all.emplace_back();
      for (; first < end; ++first) all.back().emplace_back(tokens.words().name(part.word[first]));
    }
  }
  return all;
}

NGrams ngrams_of(const Tokens& tokens, int max_n, std::size_t min_documents, int n_threads) {
  Watch watch;
  return {tokens, max_n, min_documents, n_threads, watch};
}

Grams grams_of(const Sentences& documents, std::size_t min_n, std::size_t max_n, std::size_t min_documents) {
  Grams all;
  for (std::size_t d = 0; d < documents.size(); ++d)
    for (std::size_t n = min_n; n <= max_n; ++n)
      for (std::size_t k = 0; k + n <= documents[d].size(); ++k) {
        const auto first = documents[d].begin() + std::ptrdiff_t(k);
        ++all[Strings(first, first + std::ptrdiff_t(n))][d];
      }
  std::erase_if(all, [&](const auto& gram) { return gram.second.size() < min_documents; });
  return all;
}

Entries entries_of(const TermMatrix<float>& matrix) { return read_entries(matrix); }
Entries entries_of(const TermMatrix<double>& matrix) { return read_entries(matrix); }
Entries entries_of(const Counts& counts) {
  Entries rows;
  for (const auto& row : counts) {
    rows.emplace_back();
    for (const auto& [column, count] : row) rows.back().emplace_back(column, double(count));
  }
  return rows;
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace lineal::check
