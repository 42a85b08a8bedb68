// What is true of every input of the text path, whatever its bytes are: checked by the fuzzer on inputs that
// it makes up and by the native tests on the corpus. A broken law throws std::logic_error.
//
// An input is two bytes of options and documents between bytes 0xFF, which no UTF-8 has; or, by its first
// bit, two bytes of options and what an Arrow array is filled with. The same bytes are lines of LIBSVM and
// VW.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "arrow_laws.h"
#include "law.h"
#include "lineal/text/characters.h"
#include "lineal/text/hashed_stream.h"
#include "lineal/text/ngrams.h"
#include "lineal/text/term_matrix.h"
#include "lineal/text/vocabulary.h"
#include "lineal/text/word_grams.h"
#include "sparse_laws.h"

namespace lineal::fuzz {

// Documents of exactly their bytes, so that a read beyond one is seen.
class Exact {
 public:
  void add(std::string_view text) {
    blocks_.push_back(std::make_unique<char[]>(text.size()));
    std::copy(text.begin(), text.end(), blocks_.back().get());
    views_.emplace_back(blocks_.back().get(), text.size());
  }
  Texts texts() const { return views_; }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::string_view> views_;
};

// Words or characters, chosen when it runs: one type, so that everything is compiled once.
class Split {
 public:
  static constexpr std::size_t well_formed = Words::well_formed;

  Split(bool by_character, const Words& words, const Characters& characters)
      : by_character_(by_character), words_(words), characters_(characters) {}
  void clear() noexcept {
    words_.clear();
    characters_.clear();
  }
  std::size_t append(std::string_view text) {
    return by_character_ ? characters_.append(text) : words_.append(text);
  }
  std::string_view text() const noexcept { return by_character_ ? characters_.text() : words_.text(); }
  const char* readable_end() const noexcept {
    return by_character_ ? characters_.readable_end() : words_.readable_end();
  }
  template <class Use>
  void each(Use&& use) {
    by_character_ ? characters_.each(use) : words_.each(use);
  }
  Texts split(std::span<const std::size_t> text_ends, std::vector<std::string_view>& room,
              std::vector<std::size_t>& ends) {
    return by_character_ ? characters_.split(text_ends, room, ends) : words_.split(text_ends, room, ends);
  }

 private:
  bool by_character_;
  Words words_;
  Characters characters_;
};

// A source that gives every thread a part, however few its bytes, and a block of a stream a few documents.
struct ManyParts : SplitTexts<Split> {
  using SplitTexts<Split>::SplitTexts;
  std::size_t n_bytes() const noexcept override { return std::size_t(1) << 21; }
  std::size_t n_bytes_of(std::size_t) const noexcept override { return 16000; }
};

inline std::vector<std::string> split_alone(Split split, std::string_view text) {
  std::vector<std::string> words;
  split.clear();
  law(split.append(text) == Split::well_formed, "well-formed text is taken");
  split.each([&](Word word) { words.emplace_back(split.text().substr(word.first, word.size)); });
  return words;
}

// What is folded may be a capital letter again (the trade mark sign), so it is not its own fold.
inline void words_obey(const Split& split, std::string_view text, bool is_stable,
                       std::size_t min_characters) {
  for (const std::string& word : split_alone(split, text)) {
    law(slow_first_malformed(word, true) == no_flaw, "a word of UTF-8 is UTF-8");
    std::size_t n_characters = 0;
    for (const char byte : word) n_characters += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
    law(n_characters >= min_characters && n_characters > 0, "a word has its least number of characters");
    if (is_stable)
      law(split_alone(split, word) == std::vector<std::string>{word},
          "a word in lower case is its own only word");
  }
}

inline void characters_obey(const Split& split, std::string_view text, bool is_stable) {
  std::string joined;
  bool was_space = false;
  for (const std::string& one : split_alone(split, text)) {
    const auto* const first = reinterpret_cast<const unsigned char*>(one.data());
    const unicode::Decoded at = unicode::decode(first, first + one.size());
    law(at.code != unicode::none && std::size_t(at.size) == one.size(), "a character is one code point");
    const bool is_space = unicode::is(at.code, unicode::space);
    law(!(was_space && is_space), "two white-space characters are never side by side");
    was_space = is_space;
    joined += one;
  }
  if (!is_stable) return;
  std::string again;
  for (const std::string& one : split_alone(split, joined)) again += one;
  law(again == joined, "collapsing and lowering twice is doing it once");
}

inline void same_rows(const TermMatrix<double>& a, const TermMatrix<double>& b, const char* what) {
  law(a.start == b.start, what);
  const auto n = std::size_t(a.start.back());
  law(std::equal(a.column.data(), a.column.data() + n, b.column.data()), what);
  law(std::equal(a.value.data(), a.value.data() + n, b.value.data()), what);
}

inline void same_tokens(const Tokens& a, const Tokens& b) {
  const auto flat = [](const Tokens& tokens) {
    std::vector<std::uint32_t> words;
    std::vector<std::size_t> ends;
    for (const Part& part : tokens.parts()) {
      for (const std::size_t end : part.end) ends.push_back(words.size() + end);
      words.insert(words.end(), part.word.begin(), part.word.end());
    }
    return std::pair(words, ends);
  };
  law(flat(a) == flat(b), "tokens do not depend on the number of threads");
  law(a.words().size() == b.words().size(), "nor do the words");
  for (std::uint32_t k = 0; k < a.words().size(); ++k)
    law(a.words().name(k) == b.words().name(k), "nor their order");
}

// Everything that is made of tokens.
inline void tokens_obey(const Tokens& tokens, int max_n, std::size_t min_documents, int n_threads) {
  Watch watch;
  const NGrams ngrams(tokens, max_n, min_documents, n_threads, watch);
  std::vector<Term> terms;
  std::vector<std::vector<std::int32_t>> columns;
  for (const Level& level : ngrams.levels()) columns.emplace_back(level.size(), -1);
  ngrams.walk([&](std::size_t n, std::size_t k) {
    const Level& level = ngrams.levels()[n];
    law(columns[n][k] < 0, "a walk meets each n-gram once");
    law(level.n_documents(k) >= std::max<std::size_t>(min_documents, 1), "rare n-grams are dropped");
    columns[n][k] = std::int32_t(terms.size());
    terms.push_back(
        {{level.entries.data() + level.first[k], level.first[k + 1] - level.first[k]}, columns[n][k]});
  });
  for (const auto& level : columns)
    for (const std::int32_t column : level) law(column >= 0, "a walk meets every n-gram");

  const Weighing counts;
  const TermMatrix<double> matrix =
      term_matrix<double>(terms, ngrams.n_documents(), counts, n_threads, [] {});
  WordMap words;
  for (const std::uint32_t word : ngrams.tokens()) words.add(tokens.words().name(word));
  std::vector<Vocabulary::Longer> longer;
  for (std::size_t n = 1; n < columns.size(); ++n)
    longer.push_back({ngrams.levels()[n].prefix, ngrams.levels()[n].token, columns[n]});
  const Vocabulary vocabulary(words, columns[0], longer, terms.size());
  same_rows(vocabulary_rows<double>(vocabulary, tokens, counts, watch), matrix,
            "rows by a vocabulary are those of the n-grams it was learned from");
  if (min_documents > 1) return;
  double sum = 0, wanted = 0;
  for (std::size_t e = 0; e < std::size_t(matrix.start.back()); ++e) sum += matrix.value[e];
  for (const Part& part : tokens.parts()) {
    std::size_t first = 0;
    for (const std::size_t end : part.end) {
      for (std::size_t n = 1; n <= std::size_t(max_n); ++n)
        wanted += double(end - first >= n ? end - first - n + 1 : 0);
      first = end;
    }
  }
  law(sum == wanted, "counts add up to the number of n-grams");
}

// Calls use(rows, first document) for the blocks of a stream; one function, so that it is compiled once.
using UseRows = std::function<void(const Csr<double>&, Index)>;
inline void stream(const Source& source, const Hashing& hashing, int n_threads, const UseRows& use) {
  Watch watch;
  const Weighing counts;
  stream_hashed_rows<DocumentRows<double>>(source, hashing, false, counts, n_threads, watch, use);
}

inline void stream_obeys(const Source& source, const Hashing& hashing, const TermMatrix<double>& all,
                         int n_threads) {
  Index n_rows = 0;
  stream(source, hashing, n_threads, [&](const Csr<double>& rows, Index first) {
    law(first == n_rows && rows.n_rows > 0, "blocks are streamed in order");
    for (Index i = 0; i < rows.n_rows; ++i, ++n_rows) {
      const CsrRow<double> row = rows[i];
      const Index begin = all.start[std::size_t(n_rows)], end = all.start[std::size_t(n_rows) + 1];
      law(row.size == end - begin && std::equal(row.index, row.index + row.size, all.column.data() + begin) &&
              std::equal(row.value, row.value + row.size, all.value.data() + begin),
          "streamed rows are the hashed rows");
    }
  });
  law(n_rows == Index(source.size()), "every document is streamed");
}

inline void hashing_obeys(const Source& source, const Hashing& hashing, int n_threads) {
  Watch watch;
  const Weighing counts;
  const TermMatrix<double> one = hashed_rows<double>(source, hashing, false, counts, 1, watch);
  same_rows(one, hashed_rows<double>(source, hashing, false, counts, n_threads, watch),
            "hashed rows do not depend on the number of threads");
  stream_obeys(source, hashing, one, n_threads);
  double sum = 0, wanted = 0;
  for (std::size_t e = 0; e < std::size_t(one.start.back()); ++e) sum += one.value[e];
  source.reader()->blocks(0, source.size(), [&](Texts, std::span<const std::size_t> ends, const char*) {
    std::size_t first = 0;
    for (const std::size_t end : ends) {
      for (std::size_t n = hashing.min_n; n <= hashing.max_n; ++n)
        wanted += double(end - first >= n ? end - first - n + 1 : 0);
      first = end;
    }
    return true;
  });
  law(sum == wanted, "hashed counts add up to the number of n-grams");
  HashedNames alone, together;
  alone.read(source, hashing, 1, watch);
  together.read(source, hashing, n_threads, watch);
  std::vector<bool> is_met(hashing.n_columns);
  for (std::size_t e = 0; e < std::size_t(one.start.back()); ++e) is_met[std::size_t(one.column[e])] = true;
  const auto named = alone.columns(), named_together = together.columns();
  law(named.size() == std::size_t(std::count(is_met.begin(), is_met.end(), true)), "met columns have names");
  law(named.size() == named_together.size(), "names do not depend on the number of threads");
  for (std::size_t k = 0; k < named.size(); ++k) {
    law(is_met[named[k].column], "a column has a name if it is met");
    law(named[k].column == named_together[k].column && named[k].is_shared == named_together[k].is_shared,
        "nor does what is shared");
    law(alone.name(named[k]) == together.name(named_together[k]), "nor do the first n-grams");
  }
}

inline void grams_obey(const Tokens& tokens, std::size_t min_n, std::size_t max_n) {
  Watch watch;
  WordMap names;
  const WordGrams made(tokens, names, min_n, max_n);
  for (std::uint32_t k = 0; k < names.size(); ++k)
    law(slow_first_malformed(names.name(k), true) == no_flaw, "an n-gram of characters is UTF-8");
  std::vector<std::int32_t> columns(names.size());
  for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = std::int32_t(k);
  std::vector<std::uint64_t> n_documents, total;
  made.count(n_documents, total, watch);
  const auto rows = made.rows<double>(columns, columns.size(), Weighing(), watch);
  for (std::size_t e = 0; e < std::size_t(rows.start.back()); ++e) {
    const auto column = std::size_t(rows.column[e]);
    law(n_documents[column]-- > 0, "an n-gram is in its documents");
    total[column] -= std::uint64_t(rows.value[e]);
  }
  for (std::size_t k = 0; k < columns.size(); ++k)
    law(n_documents[k] == 0 && total[k] == 0, "counts are the sums of the rows");
}

inline void source_obeys(const Source& source, Texts texts, const Split& split, int max_n,
                         std::size_t min_documents, int n_threads) {
  Watch watch;
  const Tokens one = Tokens::read(source, 1, watch), many = Tokens::read(source, n_threads, watch);
  law(one.n_documents() == texts.size(), "every text is a document");
  same_tokens(one, many);
  std::size_t n = 0;
  for (const std::string_view text : texts) n += split_alone(split, text).size();
  law(one.size() == n, "texts have the same words together and alone");
  tokens_obey(one, max_n, min_documents, 1);
  tokens_obey(many, max_n, min_documents, n_threads);
}

inline void texts_obey(std::span<const std::uint8_t> options, std::string_view rest) {
  Exact exact;
  for (std::size_t first = 0, end = 0; end != rest.npos; first = end + 1) {
    end = rest.find('\xFF', first);
    exact.add(rest.substr(first, end == rest.npos ? rest.npos : end - first));
  }
  const Texts texts = exact.texts();
  const bool lowercase = options[0] & 2;
  const Runs runs = options[0] & 4 ? Runs::spaced : Runs::letters;
  const std::size_t min_characters = 1 + (options[0] >> 3 & 3), min_documents = 1 + (options[0] >> 5 & 1);
  const int max_n = 1 + (options[0] >> 6), n_threads = 1 + (options[1] & 1) * (1 + (options[1] >> 1 & 1));
  const bool fold_accents = min_characters == 4;
  const Words words(lowercase, min_characters, runs, fold_accents);
  const Characters characters(lowercase, fold_accents);

  // What is no UTF-8 is refused by all in the same place.
  bool is_good = true;
  std::string wanted;
  Index first_flawed = 0;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    law(first_malformed(texts[k]) == slow_first_malformed(texts[k], false), "the first bad byte is found");
    const std::size_t bad = slow_first_malformed(texts[k], true);
    Words one = words;
    Characters other = characters;
    law(one.append(texts[k]) == bad && other.append(texts[k]) == bad, "and refused");
    if (bad != no_flaw && is_good) {
      is_good = false;
      wanted = Malformed(k, bad).what();
      first_flawed = Index(k);
    }
  }
  const bool by_character = options[1] & 128;
  const Split split(by_character, words, characters);
  const ManyParts source(texts, split);
  if (!is_good) {
    Watch watch;
    try {
      Tokens::read(source, n_threads, watch);
      law(false, "malformed text is refused");
    } catch (const InputFlaw& flaw) {
      law(flaw.what() == wanted, "with the place of the first flaw");
    }
    Index n_rows = 0;
    try {
      stream(source, {}, n_threads, [&](const Csr<double>& rows, Index) { n_rows += rows.n_rows; });
      law(false, "malformed text is not streamed");
    } catch (const InputFlaw& flaw) {
      law(flaw.what() == wanted && n_rows <= first_flawed && n_rows + 3 > first_flawed,
          "but all blocks before it are");
    }
    return;
  }
  for (const std::string_view text : texts) {
    if (by_character)
      characters_obey(split, text, !fold_accents);
    else
      words_obey(split, text, lowercase && !fold_accents, min_characters);
  }
  source_obeys(source, texts, split, max_n, min_documents, n_threads);
  Hashing hashing{.is_murmur = (options[1] & 32) != 0, .separator = options[1] & 64 ? ' ' : '\0'};
  hashing.min_n = 1 + (options[1] >> 2 & 1);
  hashing.max_n = hashing.min_n + (options[1] >> 3 & 1);
  hashing.n_columns = options[1] & 16 ? 64 : 7;
  hashing_obeys(source, hashing, n_threads);
  Watch watch;
  if (!by_character) grams_obey(Tokens::read(source, n_threads, watch), hashing.min_n, hashing.min_n + 2);
}

inline void text_obeys(std::span<const std::uint8_t> input) {
  if (input.size() < 2) return;
  const auto options = input.first(2), rest = input.subspan(2);
  if (options[0] & 1)
    arrow_obeys(options, rest);
  else {
    const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
    sparse_obeys(text, text.empty() ? 0 : options[1] * text.size() / 256);
    texts_obey(options, text);
  }
}

}  // namespace lineal::fuzz
