// A learned vocabulary of n-grams: from the words of a document to columns.
//
// Words are found in a map of words, an n-gram by its prefix (the n-gram without its last word) and that word
// in one table for all lengths, whose slots hold an n-gram's number and column beside the key. All slots that
// a document needs for one length are asked of the memory before the first of them is looked at.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include "lineal/text/document_rows.h"
#include "lineal/text/tokens.h"
#include "lineal/text/word_map.h"

namespace lineal {

class Vocabulary {
 public:
  static constexpr std::uint32_t none = WordMap::none;

  // N-grams of one length n > 1: the k-th is the prefix[k]-th of length n - 1 and the word[k]-th word. A
  // column below 0: none, it is here for the sake of longer ones.
  struct Longer {
    std::span<const std::uint32_t> prefix, word;
    std::span<const std::int32_t> column;
  };

  Vocabulary(WordMap words, std::vector<std::int32_t> word_columns, std::span<const Longer> longer,
             std::size_t n_columns)
      : words_(std::move(words)),
        word_columns_(std::move(word_columns)),
        n_columns_(n_columns),
        max_n_(longer.size() + 1) {
    if (word_columns_.size() != words_.size())
      throw std::invalid_argument("one column for each word is needed");
    check_columns(word_columns_);
    for (const Longer& level : longer) n_longer_ += level.word.size();
    if (n_longer_ + words_.size() >= none) throw std::length_error("more than 2^32 - 1 n-grams");
    slots_.resize(std::bit_ceil(2 * n_longer_ + 2));
    std::size_t before = 0, here = words_.size(),
                next = here;  // the numbers of the level before, and of this one
    for (const Longer& level : longer) {
      if (level.prefix.size() != level.word.size() || level.column.size() != level.word.size())
        throw std::invalid_argument("a level's arrays differ in length");
      check_columns(level.column);
      for (std::size_t k = 0; k < level.word.size(); ++k) {
        if (level.prefix[k] >= here - before || level.word[k] >= words_.size())
          throw std::invalid_argument("an n-gram of parts that do not exist");
        const std::uint64_t key = std::uint64_t(before + level.prefix[k]) << 32 | level.word[k];
        Slot& slot = slots_[place(key)];
        if (slot.id != none) throw std::invalid_argument("an n-gram that is there twice");
        slot = {key, std::uint32_t(next++), level.column[k]};
      }
      before = here;
      here = next;
    }
  }

  const WordMap& words() const noexcept { return words_; }
  std::size_t n_columns() const noexcept { return n_columns_; }
  std::size_t max_n() const noexcept { return max_n_; }
  std::size_t n_longer() const noexcept { return n_longer_; }
  std::span<const std::int32_t> word_columns() const noexcept { return word_columns_; }

  // Calls use(k, prefix, word, column) for the n-grams of more than one word, shorter ones first. The k-th
  // has the number words().size() + k, by which longer ones name it as their prefix.
  template <class Use>
  void each_longer(Use&& use) const {
    std::vector<const Slot*> ordered(n_longer_);
    for (const Slot& slot : slots_)
      if (slot.id != none) ordered[slot.id - words_.size()] = &slot;
    for (std::size_t k = 0; k < n_longer_; ++k)
      use(k, std::uint32_t(ordered[k]->key >> 32), std::uint32_t(ordered[k]->key), ordered[k]->column);
  }

  // Calls use(column) for every occurrence of an n-gram with a column, of words numbered as in words().
  struct Scratch {
    std::vector<std::uint32_t> ngram;
    std::vector<std::uint64_t> key;
    std::vector<std::size_t> place, at;
  };
  template <class Use>
  void each_column(std::span<const std::uint32_t> words, Scratch& scratch, Use&& use) const {
    for (const std::uint32_t word : words)
      if (word != none && word_columns_[word] >= 0) use(word_columns_[word]);
    if (max_n_ == 1) return;
    scratch.ngram.assign(words.begin(), words.end());
    for (std::size_t further = 1; further < max_n_ && further < words.size(); ++further) {
      scratch.key.clear();
      scratch.place.clear();
      scratch.at.clear();
      for (std::size_t k = 0; k + further < words.size(); ++k) {
        if (scratch.ngram[k] == none || words[k + further] == none) {
          scratch.ngram[k] = none;
          continue;
        }
        const std::uint64_t key = std::uint64_t(scratch.ngram[k]) << 32 | words[k + further];
        const std::size_t slot = home(key);
        __builtin_prefetch(&slots_[slot]);
        scratch.key.push_back(key);
        scratch.place.push_back(slot);
        scratch.at.push_back(k);
      }
      for (std::size_t e = 0; e < scratch.key.size(); ++e) {
        const Slot& slot = slots_[place(scratch.key[e], scratch.place[e])];
        scratch.ngram[scratch.at[e]] = slot.id;
        if (slot.id != none && slot.column >= 0) use(slot.column);
      }
    }
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t id = none;
    std::int32_t column = -1;
  };
  std::size_t home(std::uint64_t key) const noexcept {
    return std::size_t(hash_pair(key, seed_)) & (slots_.size() - 1);
  }
  std::size_t place(std::uint64_t key) const noexcept { return place(key, home(key)); }
  // Where the key is, or where it belongs.
  std::size_t place(std::uint64_t key, std::size_t at) const noexcept {
    while (slots_[at].id != none && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void check_columns(std::span<const std::int32_t> columns) const {
    for (const std::int32_t column : columns)
      if (column >= 0 && std::size_t(column) >= n_columns_)
        throw std::invalid_argument("a column that does not exist");
  }

  WordMap words_;
  std::vector<std::int32_t> word_columns_;
  std::size_t n_columns_, max_n_, n_longer_ = 0;
  std::uint64_t seed_ = std::random_device{}();
  std::vector<Slot, LargePages<Slot>> slots_;
};

// The rows of tokenised documents.
template <class V>
TermMatrix<V> vocabulary_rows(const Vocabulary& vocabulary, const Tokens& tokens, const Weighing& weighing,
                              Watch& watch) {
  std::vector<std::uint32_t> to(tokens.words().size());
  for (std::uint32_t k = 0; k < to.size(); ++k) to[k] = vocabulary.words().find(tokens.words().name(k));
  std::vector<DocumentRows<V>> rows;
  for (std::size_t p = 0; p < tokens.parts().size(); ++p) rows.emplace_back(vocabulary.n_columns(), weighing);
  SharedWatch shared(watch);
  parallel(int(rows.size()), [&](int p) {
    const Part& part = tokens.parts()[std::size_t(p)];
    Vocabulary::Scratch scratch;
    std::vector<std::uint32_t> words;
    std::size_t first = 0;
    rows[std::size_t(p)].expect(part.word.size() * vocabulary.max_n());
    for (const std::size_t end : part.end) {
      words.clear();
      for (; first < end; ++first) words.push_back(to[part.word[first]]);
      vocabulary.each_column(words, scratch,
                             [&](std::int32_t column) { rows[std::size_t(p)].meet(std::size_t(column)); });
      rows[std::size_t(p)].end();
      if (shared.says_stop(p, 8 * words.size())) return;
    }
  });
  return DocumentRows<V>::join(rows);
}

}  // namespace lineal
