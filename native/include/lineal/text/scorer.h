// The scores of one text, straight from its bytes: no matrix, no arrays, nothing kept between calls but
// memory.
//
// A part is a vocabulary with its way of splitting and weighing; its columns begin at an offset of the
// weights. The numbers are those of the rows that the vocabulary gives for the text, times the weights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
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
  virtual std::size_t n_columns() const noexcept = 0;
  // Adds value * weight to the scores, for each column of the text's row.
  virtual void add(std::string_view text, std::span<double> scores) = 0;
};

// What the parts share: from columns that are met to scores. The numbers of a column (how it is weighed, then
// its weight for each score) lie side by side, and are asked of the memory when the column is met.
template <class V>
class ScoredRow {
 public:
  // `weights`: n_scores for each column.
  ScoredRow(Weighing weighing, std::span<const double> weights, std::size_t n_scores)
      : weighing_(std::move(weighing)), n_scores_(n_scores) {
    const std::size_t n_columns = weights.size() / n_scores;
    bits_ = int(std::bit_width(n_columns));
    table_.reserve(weights.size() + n_columns);
    for (std::size_t column = 0; column < n_columns; ++column) {
      table_.push_back(weighing_.weight.empty() ? 1.0 : weighing_.weight[column]);
      const auto own = weights.subspan(column * n_scores, n_scores);
      table_.insert(table_.end(), own.begin(), own.end());
    }
  }
  std::size_t n_columns() const noexcept { return table_.size() / (1 + n_scores_); }
  void meet(std::size_t column) {
    met_.push_back(std::uint32_t(column));
    __builtin_prefetch(&table_[column * (1 + n_scores_)]);
  }
  void add(std::span<double> scores) {
    radix_sort(met_, spare_, 0, bits_);
    columns_.clear();
    counts_.clear();
    for (std::size_t k = 0; k < met_.size();) {
      const std::uint32_t column = met_[k];
      std::int32_t count = 0;
      for (; k < met_.size() && met_[k] == column; ++k) ++count;
      columns_.push_back(&table_[column * (1 + n_scores_)]);
      counts_.push_back(count);
    }
    met_.clear();
    values_.resize(columns_.size());
    weighing_.weigh(
        columns_.size(), counts_.data(), [&](std::size_t e) { return *columns_[e]; }, values_.data());
    for (std::size_t e = 0; e < columns_.size(); ++e)
      for (std::size_t k = 0; k < scores.size(); ++k) scores[k] += double(values_[e]) * columns_[e][1 + k];
  }

 private:
  Weighing weighing_;
  std::size_t n_scores_;
  int bits_;
  std::vector<double, LargePages<double>> table_;
  std::vector<std::uint32_t> met_, spare_;
  std::vector<const double*> columns_;
  std::vector<std::int32_t> counts_;
  std::vector<V> values_;
};

// N-grams of words or characters.
template <class V, class Split>
class NGramPart : public ScorerPart {
 public:
  NGramPart(const Vocabulary& vocabulary, Split split, ScoredRow<V> row)
      : vocabulary_(vocabulary), split_(std::move(split)), row_(std::move(row)) {}
  std::size_t n_columns() const noexcept override { return row_.n_columns(); }

  void add(std::string_view text, std::span<double> scores) override {
    split_.clear();
    if (const std::size_t bad = split_.append(text); bad != Split::well_formed) throw Malformed(0, bad);
    words_.clear();
    const char* const begin = split_.text().data();
    split_.each([&](Word word) { words_.emplace_back(begin + word.first, word.size); });
    ids_.resize(words_.size());
    vocabulary_.words().find(words_, split_.readable_end(), ids_.data());
    vocabulary_.each_column(ids_, scratch_, [&](std::int32_t column) { row_.meet(std::size_t(column)); });
    row_.add(scores);
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
  GramPart(const WordMap& names, std::size_t min_n, std::size_t max_n, Words split, ScoredRow<V> row)
      : names_(names), min_n_(min_n), max_n_(max_n), split_(std::move(split)), row_(std::move(row)) {}
  std::size_t n_columns() const noexcept override { return row_.n_columns(); }

  void add(std::string_view text, std::span<double> scores) override {
    split_.clear();
    if (const std::size_t bad = split_.append(text); bad != Words::well_formed) throw Malformed(0, bad);
    const char* const begin = split_.text().data();
    words_.clear();
    split_.each([&](Word word) { words_.emplace_back(begin + word.first, word.size); });
    padded_.read(words_, min_n_, max_n_);
    ids_.resize(padded_.grams.size());
    names_.find(padded_.grams, padded_.readable_end(), ids_.data());
    for (const std::uint32_t id : ids_)
      if (id != WordMap::none) row_.meet(id);
    row_.add(scores);
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
