// From the terms that a text meets to its scores.
//
// All that is needed of a term lies side by side, with the count of the text in hand: a term is fetched from
// memory once, and neither sorted nor sought again. Between texts all counts are 0.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "lineal/raw.h"
#include "lineal/text/weighing.h"

namespace lineal {

// A term with all that a score needs of it.
struct ScoredTerm {
  double weight = std::numeric_limits<double>::quiet_NaN();  // of its column in a row; NaN: it has none
  union {
    double score = 0.0;    // what the model gives it; with several scores,
    const double* scores;  // where they lie
  };
  std::int32_t count = 0;  // in the text in hand
  bool is_met = false;     // by it
};

// From the terms that a text meets to scores.
template <class V>
class MetTerms {
 public:
  // `weights`: n_scores for each column.
  MetTerms(Weighing weighing, std::span<const double> weights, std::size_t n_scores)
      : weighing_(std::move(weighing)), n_scores_(n_scores), weights_(weights.begin(), weights.end()) {}

  std::size_t n_columns() const noexcept { return weights_.size() / n_scores_; }
  // The term of a column; below 0: of none.
  ScoredTerm term(std::int64_t column) const {
    ScoredTerm made;
    if (column < 0) return made;
    made.weight = weighing_.weight.empty() ? 1.0 : weighing_.weight[std::size_t(column)];
    const double* const own = &weights_[std::size_t(column) * n_scores_];
    if (n_scores_ == 1)
      made.score = *own;
    else
      made.scores = own;
    return made;
  }

  // A text that meets at most so many terms begins.
  void begin(std::size_t n_most) {
    if (met_.size() <= n_most) met_.resize(n_most + 1);
    counts_.resize(met_.size());
    values_.resize(met_.size());
  }
  // `is_there` is a number, not a branch: nobody can foresee it.
  void meet(ScoredTerm& term, bool is_there, std::int32_t by = 1) noexcept {
    const bool is_wanted = is_there & (term.weight == term.weight);
    met_[n_met_] = &term;
    n_met_ += std::size_t(is_wanted & !term.is_met);
    term.count += is_wanted ? by : 0;
    term.is_met |= is_wanted;
  }
  void add(std::span<double> scores) {
    for (std::size_t e = 0; e < n_met_; ++e) {
      if (n_scores_ > 1) __builtin_prefetch(met_[e]->scores);
      counts_[e] = std::exchange(met_[e]->count, 0);
      met_[e]->is_met = false;
    }
    weighing_.weigh(n_met_, counts_.data(), [&](std::size_t e) { return met_[e]->weight; }, values_.data());
    if (n_scores_ == 1)
      for (std::size_t e = 0; e < n_met_; ++e) scores[0] += double(values_[e]) * met_[e]->score;
    else
      for (std::size_t e = 0; e < n_met_; ++e)
        for (std::size_t k = 0; k < n_scores_; ++k) scores[k] += double(values_[e]) * met_[e]->scores[k];
    n_met_ = 0;
  }

 private:
  Weighing weighing_;
  std::size_t n_scores_;
  std::vector<double, LargePages<double>> weights_;
  std::vector<ScoredTerm*> met_;
  std::size_t n_met_ = 0;
  std::vector<std::int32_t> counts_;
  std::vector<V> values_;
};

using ScoredTerms = std::vector<ScoredTerm, LargePages<ScoredTerm>>;

}  // namespace lineal
