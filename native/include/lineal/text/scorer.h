// The scores of one text, straight from its bytes: no matrix, no arrays, nothing kept between calls but
// memory.
//
// A part is a vocabulary with its way of splitting and weighing; its columns begin at an offset of the
// weights. The numbers are those of the rows that the vocabulary gives for the text, times the weights.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "lineal/text/document_rows.h"
#include "lineal/text/vocabulary.h"
#include "lineal/text/word_grams.h"

namespace lineal {

class ScorerPart {
 public:
  virtual ~ScorerPart() = default;
  // Adds value * weights of the column to `scores`, for each column of the text's row.
  virtual void add(std::string_view text, const double* weights, std::size_t n_scores, double* scores) = 0;
};

// What the parts share: from counted columns to scores.
template <class V>
class ScoredRow {
 public:
  ScoredRow(std::size_t n_columns, Weighing weighing)
      : weighing_(std::move(weighing)), bits_(int(std::bit_width(n_columns))) {}
  // The numbers of a column are asked of the memory when it is met.
  void meet(std::size_t column, const double* weights, std::size_t n_scores) {
    met_.push_back(std::uint32_t(column));
    __builtin_prefetch(weights + column * n_scores);
    if (!weighing_.weight.empty()) __builtin_prefetch(&weighing_.weight[column]);
  }
  void add(const double* weights, std::size_t n_scores, double* scores) {
    radix_sort(met_, spare_, 0, bits_);
    columns_.clear();
    counts_.clear();
    for (std::size_t k = 0; k < met_.size();) {
      const std::uint32_t column = met_[k];
      std::int32_t count = 0;
      for (; k < met_.size() && met_[k] == column; ++k) ++count;
      columns_.push_back(std::int32_t(column));
      counts_.push_back(count);
    }
    met_.clear();
    values_.resize(columns_.size());
    weighing_.template weigh<V>(columns_, counts_.data(), values_.data());
    for (std::size_t e = 0; e < columns_.size(); ++e)
      for (std::size_t k = 0; k < n_scores; ++k)
        scores[k] += double(values_[e]) * weights[std::size_t(columns_[e]) * n_scores + k];
  }

 private:
  Weighing weighing_;
  int bits_;
  std::vector<std::uint32_t> met_, spare_;
  std::vector<std::int32_t> columns_, counts_;
  std::vector<V> values_;
};

// N-grams of words or characters.
template <class V, class Split>
class NGramPart : public ScorerPart {
 public:
  NGramPart(const Vocabulary& vocabulary, Split split, Weighing weighing)
      : vocabulary_(vocabulary),
        split_(std::move(split)),
        row_(vocabulary.n_columns(), std::move(weighing)) {}

  void add(std::string_view text, const double* weights, std::size_t n_scores, double* scores) override {
    split_.clear();
    if (const std::size_t bad = split_.append(text); bad != Split::well_formed) throw Malformed(0, bad);
    words_.clear();
    const char* const begin = split_.text().data();
    split_.each([&](Word word) { words_.emplace_back(begin + word.first, word.size); });
    ids_.resize(words_.size());
    vocabulary_.words().find(words_, split_.readable_end(), ids_.data());
    vocabulary_.each_column(ids_, scratch_,
                            [&](std::int32_t column) { row_.meet(std::size_t(column), weights, n_scores); });
    row_.add(weights, n_scores, scores);
  }

 private:
  const Vocabulary& vocabulary_;
  Split split_;
  ScoredRow<V> row_;
  Vocabulary::Scratch scratch_;
  std::vector<std::string_view> words_;
  std::vector<std::uint32_t> ids_;
};

// Character n-grams inside words.
template <class V>
class GramPart : public ScorerPart {
 public:
  GramPart(const WordMap& names, std::size_t min_n, std::size_t max_n, bool lowercase, bool fold_accents,
           Weighing weighing)
      : names_(names),
        min_n_(min_n),
        max_n_(max_n),
        split_(lowercase, 1, Runs::spaced, fold_accents),
        row_(names.size(), std::move(weighing)) {}

  void add(std::string_view text, const double* weights, std::size_t n_scores, double* scores) override {
    split_.clear();
    if (const std::size_t bad = split_.append(text); bad != Words::well_formed) throw Malformed(0, bad);
    const char* const begin = split_.text().data();
    words_.clear();
    split_.each([&](Word word) { words_.emplace_back(begin + word.first, word.size); });
    padded_.read(words_, min_n_, max_n_);
    ids_.resize(padded_.grams.size());
    names_.find(padded_.grams, padded_.readable_end(), ids_.data());
    for (const std::uint32_t id : ids_)
      if (id != WordMap::none) row_.meet(id, weights, n_scores);
    row_.add(weights, n_scores, scores);
  }

 private:
  const WordMap& names_;
  std::size_t min_n_, max_n_;
  Words split_;
  ScoredRow<V> row_;
  PaddedWords padded_;
  std::vector<std::string_view> words_;
  std::vector<std::uint32_t> ids_;
};

}  // namespace lineal
