// The scores of one text, straight from its bytes: no matrix, no arrays, nothing kept between calls but
// memory.
//
// A part is a set of columns with its way of splitting and weighing; its columns begin at an offset of the
// weights. The scores are those of the row that the columns have for the text, times the weights; sums are
// taken in the order of the text, not of the columns, so their last digits may differ.
//
// The time of a text is mostly that of fetching its terms from memory, so all of them are asked for before
// the first is looked at. Terms hold counts of the text in hand: a part serves one caller at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lineal/text/hashing.h"
#include "lineal/text/pieces.h"
#include "lineal/text/scored_terms.h"
#include "lineal/text/vocabulary.h"

namespace lineal {

class ScorerPart {
 public:
  virtual ~ScorerPart() = default;
  // Adds value * weight to the scores, for each column of the text's row.
  virtual void add(std::string_view text, std::span<double> scores) = 0;
};

// Pieces that are columns: `names` numbers them.
template <class V>
class NamedPart : public ScorerPart {
 public:
  NamedPart(const WordMap& names, InnerPieces pieces, MetTerms<V> met)
      : names_(names), pieces_(std::move(pieces)), met_(std::move(met)) {
    for (std::size_t column = 0; column < met_.n_columns(); ++column)
      terms_.push_back(met_.term(std::int64_t(column)));
  }

  void add(std::string_view text, std::span<double> scores) override {
    const Texts grams = pieces_.read(text);
    ids_.resize(grams.size());
    names_.find(grams, pieces_.readable_end(), ids_.data());
    met_.begin(grams.size());
    for (const std::uint32_t id : ids_)
      if (id != WordMap::none) __builtin_prefetch(&terms_[id], 1);
    for (const std::uint32_t id : ids_)
      if (id != WordMap::none) met_.meet(terms_[id], true);
    met_.add(scores);
  }

 private:
  const WordMap& names_;
  InnerPieces pieces_;
  MetTerms<V> met_;
  ScoredTerms terms_;
  std::vector<std::uint32_t> ids_;
};

// N-grams that are hashed to columns.
template <class V, class AnyPieces>
class HashedPart : public ScorerPart {
 public:
  HashedPart(Hashing hashing, bool is_signed, AnyPieces pieces, MetTerms<V> met)
      : hashing_(hashing), is_signed_(is_signed), pieces_(std::move(pieces)), met_(std::move(met)) {
    for (std::size_t column = 0; column < met_.n_columns(); ++column)
      terms_.push_back(met_.term(std::int64_t(column)));
  }

  void add(std::string_view text, std::span<double> scores) override {
    const Texts pieces = pieces_.read(text);
    places_.resize(hashing_.n_ngrams(pieces.size()));
    hashing_.each(pieces, pieces_.readable_end(), scratch_,
                  [&](const Hashing::Place& place, std::size_t, std::size_t, std::size_t which) {
                    __builtin_prefetch(&terms_[place.column], 1);
                    places_[which] = {place.column, is_signed_ && place.is_negative ? -1 : 1};
                  });
    met_.begin(places_.size());
    for (const auto& [column, by] : places_) met_.meet(terms_[column], true, by);
    met_.add(scores);
  }

 private:
  Hashing hashing_;
  bool is_signed_;
  AnyPieces pieces_;
  MetTerms<V> met_;
  ScoredTerms terms_;
  Hashing::Scratch scratch_;
  std::vector<std::pair<std::size_t, std::int32_t>> places_;
};

// N-grams of a learned vocabulary. Words are found in its map; longer n-grams by the number of what they
// continue and their last word: a small table tells where a key is kept, with some bits of its hash, so that
// few terms are fetched that are not the one that is sought. Numbers are those of the vocabulary.
template <class V, class AnyPieces>
class NGramPart : public ScorerPart {
 public:
  NGramPart(const Vocabulary& vocabulary, AnyPieces pieces, MetTerms<V> met)
      : names_(vocabulary.words()),
        max_n_(vocabulary.max_n()),
        pieces_(std::move(pieces)),
        met_(std::move(met)),
        place_bits_(std::uint32_t(std::bit_ceil(vocabulary.n_longer() + 2) - 1)),
        slots_(std::bit_ceil(2 * vocabulary.n_longer() + 2)),
        longer_(1) {
    for (const std::int32_t column : vocabulary.word_columns()) words_.push_back(met_.term(column));
    words_.emplace_back();  // what is no word meets this one
    longer_.reserve(vocabulary.n_longer() + 1);
    vocabulary.each_longer([&](std::size_t, std::uint32_t prefix, std::uint32_t word, std::int32_t column) {
      const std::uint64_t key = std::uint64_t(prefix) << 32 | word, mixed = hash(key);
      std::size_t at = home(mixed);
      while (slots_[at] != 0) at = next(at);
      slots_[at] = tag(mixed) | std::uint32_t(longer_.size());
      longer_.push_back({key, met_.term(column)});
    });
  }

  void add(std::string_view text, std::span<double> scores) override {
    const Texts words = pieces_.read(text);
    ids_.resize(words.size());
    names_.find(words, pieces_.readable_end(), ids_.data());
    // All memory is had before the first term is counted: what throws leaves no counts behind.
    met_.begin(max_n_ * words.size());
    asked_.resize(words.size() + 1);
    ngrams_.resize(words.size());
    const std::size_t no_word = names_.size();
    for (const std::uint32_t id : ids_) __builtin_prefetch(&words_[id == none ? no_word : id], 1);
    if (max_n_ > 1) ask(ids_, 1);
    for (const std::uint32_t id : ids_) met_.meet(words_[id == none ? no_word : id], true);
    for (std::size_t further = 1; further < max_n_; ++further) {
      if (further > 1) ask(ngrams_, further);
      meet_asked(further + 1 < max_n_);
    }
    met_.add(scores);
  }

 private:
  static constexpr std::uint32_t none = WordMap::none;
  static constexpr std::uint64_t no_key = ~std::uint64_t(0);
  struct Longer {
    std::uint64_t key = no_key;
    ScoredTerm term;
  };
  struct Asked {
    std::uint64_t key, mixed;
    std::size_t k;       // where the n-gram begins
    std::size_t at = 0;  // the slot that was found for it
  };

  std::uint64_t hash(std::uint64_t key) const noexcept { return fold(key ^ seed_, 0x9E3779B97F4A7C15); }
  std::size_t home(std::uint64_t mixed) const noexcept { return std::size_t(mixed) & (slots_.size() - 1); }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & (slots_.size() - 1); }
  std::uint32_t tag(std::uint64_t mixed) const noexcept { return std::uint32_t(mixed >> 32) & ~place_bits_; }
  std::uint32_t place(std::size_t at) const noexcept { return slots_[at] & place_bits_; }
  // The first slot from `at` on that is empty or has the tag.
  std::size_t sought(std::uint64_t mixed, std::size_t at) const noexcept {
    const std::uint32_t wanted = tag(mixed);
    while ((slots_[at] != 0) & ((slots_[at] & ~place_bits_) != wanted)) [[unlikely]]
      at = next(at);
    return at;
  }
  // Asks the memory for the n-grams that continue `shorter` by the words so much further on.
  void ask(const std::vector<std::uint32_t>& shorter, std::size_t further) {
    const std::size_t n = ids_.size() > further ? ids_.size() - further : 0;
    n_asked_ = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t key = std::uint64_t(shorter[k]) << 32 | ids_[k + further], mixed = hash(key);
      asked_[n_asked_] = {key, mixed, k};
      __builtin_prefetch(&slots_[home(mixed)]);
      n_asked_ += std::size_t((shorter[k] != none) & (ids_[k + further] != none));
    }
  }
  void meet_asked(bool has_longer) {
    for (std::size_t e = 0; e < n_asked_; ++e) {
      Asked& asked = asked_[e];
      asked.at = sought(asked.mixed, home(asked.mixed));
      __builtin_prefetch(&longer_[place(asked.at)], 1);
    }
    if (has_longer) std::fill(ngrams_.begin(), ngrams_.end(), none);
    for (std::size_t e = 0; e < n_asked_; ++e) {
      auto [key, mixed, k, at] = asked_[e];
      // Another n-gram may have the same tag.
      while ((place(at) != 0) & (longer_[place(at)].key != key)) [[unlikely]]
        at = sought(mixed, next(at));
      const bool is_there = place(at) != 0;
      met_.meet(longer_[place(at)].term, is_there);
      if (has_longer && is_there) ngrams_[k] = std::uint32_t(names_.size() + place(at) - 1);
    }
  }

  const WordMap& names_;
  std::size_t max_n_;
  AnyPieces pieces_;
  MetTerms<V> met_;
  ScoredTerms words_;
  std::uint64_t seed_ = std::random_device{}();
  std::uint32_t place_bits_;
  std::vector<std::uint32_t, LargePages<std::uint32_t>> slots_;  // a tag and a place in longer_; 0: empty
  std::vector<Longer, LargePages<Longer>> longer_;               // the first of them is none
  std::vector<std::uint32_t> ids_, ngrams_;
  std::vector<Asked> asked_;
  std::size_t n_asked_ = 0;
};

}  // namespace lineal
