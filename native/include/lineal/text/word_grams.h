// Character n-grams inside words: those of each distinct word once, those of a document by its words.
//
// A word w, any run of characters that are no white space, is looked at as " w ", and gives all its
// substrings of min_n to max_n characters; one that is shorter than n gives itself, once. (scikit-learn's
// "char_wb".)
//
// Cost: a look-up for each n-gram of each distinct word; an addition for each n-gram of each distinct word of
// each document.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lineal/text/characters.h"
#include "lineal/text/document_rows.h"
#include "lineal/text/tokens.h"

namespace lineal {

// Calls use(gram) for the n-grams of one word with a space before and behind it, all of them parts of it.
template <class Use>
void each_word_gram(std::string_view padded, std::size_t min_n, std::size_t max_n,
                    std::vector<std::size_t>& starts, Use&& use) {
  bool is_ascii = true;
  for (const char byte : padded) is_ascii &= static_cast<unsigned char>(byte) < 0x80;
  const auto each = [&](std::size_t n_characters, auto&& start) {
    for (std::size_t n = min_n; n <= max_n; ++n) {
      if (n >= n_characters) {
        use(padded);
        return;
      }
      for (std::size_t k = 0; k + n <= n_characters; ++k)
        use(padded.substr(start(k), start(k + n) - start(k)));
    }
  };
  if (is_ascii) {
    each(padded.size(), [](std::size_t k) { return k; });
    return;
  }
  starts.clear();
  for (std::size_t k = 0; k < padded.size(); k += Characters::size_of(padded[k])) starts.push_back(k);
  starts.push_back(padded.size());
  each(starts.size() - 1, [&](std::size_t k) { return starts[k]; });
}

// The n-grams of several words, as views of one text that holds them all with spaces around them.
class PaddedWords {
 public:
  // `grams` gets the n-grams of each word in turn, `ends` how many there are up to its last one.
  void read(Texts words, std::size_t min_n, std::size_t max_n) {
    std::size_t size = 16;  // so that sixteen bytes may be read from anywhere
    for (const std::string_view word : words) size += word.size() + 2;
    text_.assign(size, ' ');
    grams.clear();
    ends.clear();
    char* at = text_.data();
    for (const std::string_view word : words) {
      std::copy(word.begin(), word.end(), at + 1);
      each_word_gram({at, word.size() + 2}, min_n, max_n, starts_,
                     [&](std::string_view gram) { grams.push_back(gram); });
      at += word.size() + 2;
      ends.push_back(grams.size());
    }
  }
  const char* readable_end() const noexcept { return text_.data() + text_.size(); }

  std::vector<std::string_view> grams;
  std::vector<std::size_t> ends;

 private:
  std::string text_;
  std::vector<std::size_t> starts_;
};

// The same n-grams as words of a source, for what needs no vocabulary of words.
class GramsOf : public Source {
 public:
  GramsOf(std::unique_ptr<Source> words, std::size_t min_n, std::size_t max_n)
      : words_(std::move(words)), min_n_(min_n), max_n_(max_n) {}
  std::size_t size() const noexcept override { return words_->size(); }
  std::size_t n_bytes() const noexcept override { return words_->n_bytes(); }
  std::size_t n_bytes_of(std::size_t k) const noexcept override { return words_->n_bytes_of(k); }
  std::vector<std::size_t> cuts(int n_parts) const override { return words_->cuts(n_parts); }
  std::unique_ptr<Reader> reader() const override {
    return std::make_unique<GramReader>(words_->reader(), min_n_, max_n_);
  }

 private:
  class GramReader : public Reader {
   public:
    GramReader(std::unique_ptr<Reader> words, std::size_t min_n, std::size_t max_n)
        : words_(std::move(words)), min_n_(min_n), max_n_(max_n) {}
    void blocks(std::size_t first, std::size_t last, const UseBlock& use) override {
      words_->blocks(first, last, [&](Texts words, std::span<const std::size_t> word_ends, const char*) {
        padded_.read(words, min_n_, max_n_);
        ends_.clear();
        for (const std::size_t end : word_ends) ends_.push_back(end > 0 ? padded_.ends[end - 1] : 0);
        return use(padded_.grams, ends_, padded_.readable_end());
      });
    }

   private:
    std::unique_ptr<Reader> words_;
    std::size_t min_n_, max_n_;
    PaddedWords padded_;
    std::vector<std::size_t> ends_;
  };

  std::unique_ptr<Source> words_;
  std::size_t min_n_, max_n_;
};

class WordGrams {
 public:
  // Numbers are those of `names`: new n-grams are added to it, or left out where it is const.
  template <class Map>
  WordGrams(const Tokens& tokens, Map& names, std::size_t min_n, std::size_t max_n) : tokens_(tokens) {
    constexpr std::size_t block = 256;
    PaddedWords padded;
    std::vector<std::string_view> words;
    std::vector<std::uint32_t> ids;
    start_.push_back(0);
    for (std::uint32_t first = 0; first < tokens.words().size(); first += block) {
      words.clear();
      for (std::size_t k = first; k < std::min(first + block, tokens.words().size()); ++k)
        words.push_back(tokens.words().name(std::uint32_t(k)));
      padded.read(words, min_n, max_n);
      ids.resize(padded.grams.size());
      if constexpr (std::is_const_v<Map>)
        names.find(padded.grams, padded.readable_end(), ids.data());
      else
        names.add(padded.grams, padded.readable_end(), ids.data());
      std::size_t e = 0;
      for (const std::size_t end : padded.ends) {
        for (; e < end; ++e)
          if (ids[e] != WordMap::none) gram_.push_back(ids[e]);
        start_.push_back(gram_.size());
      }
    }
    n_grams_ = names.size();
  }

  // In how many documents each n-gram is, and how often in all.
  void count(std::vector<std::uint64_t>& n_documents, std::vector<std::uint64_t>& total, Watch& watch) const {
    std::vector<std::vector<std::uint64_t>> in(tokens_.parts().size()), sums(tokens_.parts().size());
    SharedWatch shared(watch);
    parallel(int(in.size()), [&](int p) {
      auto& own = in[std::size_t(p)];
      auto& sum = sums[std::size_t(p)];
      own.resize(n_grams_);
      sum.resize(n_grams_);
      Counter counter(n_grams_);
      each_document(p, [&](std::span<const std::uint32_t> words) {
        count_document(words, counter);
        for (const std::uint32_t gram : counter.met) {
          ++own[gram];
          sum[gram] += std::exchange(counter.count[gram], 0u);
        }
        const std::size_t work = counter.met.size();
        counter.met.clear();
        return !shared.says_stop(p, 4 * work);
      });
    });
    n_documents.assign(n_grams_, 0);
    total.assign(n_grams_, 0);
    for (std::size_t p = 0; p < in.size(); ++p)
      for (std::size_t gram = 0; gram < in[p].size(); ++gram) {
        n_documents[gram] += in[p][gram];
        total[gram] += sums[p][gram];
      }
  }

  // `columns` tells the column of each n-gram, or -1.
  template <class V>
  TermMatrix<V> rows(std::span<const std::int32_t> columns, std::size_t n_columns, const Weighing& weighing,
                     Watch& watch) const {
    std::vector<DocumentRows<V>> made;
    for (std::size_t p = 0; p < tokens_.parts().size(); ++p) made.emplace_back(n_columns, weighing);
    SharedWatch shared(watch);
    const int bits = int(std::bit_width(n_columns));
    parallel(int(made.size()), [&](int p) {
      Counter counter(n_grams_);
      std::vector<std::uint64_t> found, spare;
      each_document(p, [&](std::span<const std::uint32_t> words) {
        count_document(words, counter);
        found.clear();
        for (const std::uint32_t gram : counter.met) {
          const std::uint32_t count = std::exchange(counter.count[gram], 0u);
          if (columns[gram] >= 0) found.push_back(std::uint64_t(count) << 32 | std::uint32_t(columns[gram]));
        }
        counter.met.clear();
        radix_sort(found, spare, 0, bits);
        made[std::size_t(p)].add(found);
        return !shared.says_stop(p, 8 * found.size());
      });
    });
    return DocumentRows<V>::join(made);
  }

 private:
  struct Counter {
    std::vector<std::uint32_t> count, met, words;
    explicit Counter(std::size_t n) : count(n) {}
  };
  template <class Use>
  void each_document(int p, Use&& use) const {
    const Part& part = tokens_.parts()[std::size_t(p)];
    std::size_t first = 0;
    for (const std::size_t end : part.end) {
      if (!use(std::span<const std::uint32_t>(part.word.data() + first, end - first))) return;
      first = end;
    }
  }
  void count_document(std::span<const std::uint32_t> words, Counter& counter) const {
    // A word that is there often is looked at once.
    counter.words.assign(words.begin(), words.end());
    std::sort(counter.words.begin(), counter.words.end());
    for (std::size_t k = 0; k < counter.words.size();) {
      const std::uint32_t word = counter.words[k];
      std::uint32_t times = 0;
      for (; k < counter.words.size() && counter.words[k] == word; ++k) ++times;
      for (std::size_t e = start_[word]; e < start_[word + 1]; ++e) {
        std::uint32_t& count = counter.count[gram_[e]];
        if (count == 0) counter.met.push_back(gram_[e]);
        count += times;
      }
    }
  }

  const Tokens& tokens_;
  std::vector<std::uint32_t> gram_;  // of the words, one after another
  std::vector<std::size_t> start_;   // of each word
  std::size_t n_grams_ = 0;
};

}  // namespace lineal
