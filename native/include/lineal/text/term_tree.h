// N-grams spelt out, so that their bytes are in the order of their tuples of tokens, and back again.
//
// A NUL stands between tokens: it sorts below all that a token can hold, since a token's own bytes 0 and 1
// are written as 1 1 and 1 2. Any tokens will do, also empty ones and such with spaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lineal/text/names.h"
#include "lineal/text/runs.h"
#include "lineal/text/word_map.h"

namespace lineal {

// `spelt` becomes that of an n-gram with one more token.
inline void spell_token(std::string_view token, bool is_first, std::string& spelt) {
  if (!is_first) spelt += '\0';
  if (std::all_of(token.begin(), token.end(),
                  [](char byte) { return static_cast<unsigned char>(byte) > 1; })) {
    spelt += token;  // nearly all tokens
    return;
  }
  for (const char byte : token)
    if (byte == '\0' || byte == '\1') {
      spelt += '\1';
      spelt += char(byte + 1);
    } else {
      spelt += byte;
    }
}

// The tokens of an n-gram that was spelt out; false if it cannot have been.
inline bool split_tokens(std::string_view spelt, std::vector<std::string>& tokens) {
  tokens.assign(1, {});
  for (std::size_t k = 0; k < spelt.size(); ++k) {
    std::size_t plain = k;  // to where the bytes are a token's own
    while (plain < spelt.size() && static_cast<unsigned char>(spelt[plain]) > 1) ++plain;
    tokens.back().append(spelt.substr(k, plain - k));
    if ((k = plain) == spelt.size()) break;
    if (spelt[k] == '\0') {
      tokens.emplace_back();
    } else {
      if (++k == spelt.size() || (spelt[k] != '\1' && spelt[k] != '\2')) return false;
      tokens.back() += char(spelt[k] - 1);
    }
  }
  return true;
}

// What a Vocabulary is made from, out of n-grams in order: the words in order, and for each length the
// n-grams that have a column or begin one that has.
class TermTree {
 public:
  struct Longer {
    std::vector<std::uint32_t> prefix, word;
    std::vector<std::int32_t> column;
  };

  explicit TermTree(std::size_t max_n) : longer_(max_n - 1) {}

  void add(std::string_view spelt, std::int32_t column) {
    if (!split_tokens(spelt, tokens_) || tokens_.size() > longer_.size() + 1) throw DamagedRun();
    std::size_t shared = 0;  // tokens that begin this n-gram and the last one
    while (shared < tokens_.size() && shared < path_.size() && tokens_[shared] == path_[shared]) ++shared;
    at_.resize(tokens_.size());
    for (std::size_t k = shared; k < tokens_.size(); ++k) {
      const std::uint32_t word = words_.add(tokens_[k]);
      if (word == columns_.size()) columns_.push_back(-1);
      if (k == 0) {
        at_[k] = word;
        continue;
      }
      Longer& level = longer_[k - 1];
      if (level.word.size() >= WordMap::none) throw std::length_error("more than 2^32 - 1 n-grams");
      at_[k] = std::uint32_t(level.word.size());
      level.prefix.push_back(at_[k - 1]);
      level.word.push_back(word);
      level.column.push_back(-1);
    }
    (tokens_.size() == 1 ? columns_ : longer_[tokens_.size() - 2].column)[at_.back()] = column;
    path_.swap(tokens_);
  }

  // Words get their numbers in the order of their bytes, once all n-grams are there.
  void finish() {
    const std::vector<std::uint32_t> order = sorted(words_.names());
    std::vector<std::uint32_t> rank(order.size());
    std::vector<std::int32_t> columns(order.size());
    for (std::uint32_t k = 0; k < order.size(); ++k) {
      rank[order[k]] = k;
      columns[k] = columns_[order[k]];
      names_.add(words_.name(order[k]));
    }
    columns_ = std::move(columns);
    words_ = WordMap();
    for (Longer& level : longer_)
      for (std::uint32_t& word : level.word) word = rank[word];
    if (!longer_.empty())
      for (std::uint32_t& prefix : longer_[0].prefix) prefix = rank[prefix];
  }

  const Names& words() const noexcept { return names_; }
  std::vector<std::int32_t>& columns() noexcept { return columns_; }
  std::vector<Longer>& longer() noexcept { return longer_; }

 private:
  WordMap words_;
  Names names_;
  std::vector<std::int32_t> columns_;
  std::vector<Longer> longer_;
  std::vector<std::string> tokens_, path_;
  std::vector<std::uint32_t> at_;  // the n-gram of each length on the way to the last one
};

}  // namespace lineal
