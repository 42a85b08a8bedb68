#include "lineal/text/scorer.h"

#include "check.h"
#include "lineal/text/hashed_stream.h"
#include "samples.h"
#include "texts.h"

using namespace lineal;
using namespace lineal::check;

namespace {

// The scores of each text are the row's numbers times the weights; texts come twice, so that what one leaves
// behind would spoil the other.
void check_scores(ScorerPart& part, const Strings& texts, const Entries& rows,
                  const std::vector<double>& weights, std::size_t n_scores) {
  for (int round = 0; round < 2; ++round)
    for (std::size_t t = 0; t < texts.size(); ++t) {
      std::vector<double> wanted(n_scores, 0.5), scores(n_scores, 0.5);
      for (const auto& [column, value] : rows[t])
        for (std::size_t k = 0; k < n_scores; ++k)
          wanted[k] += value * weights[std::size_t(column) * n_scores + k];
      part.add(texts[t], scores);
      for (std::size_t k = 0; k < n_scores; ++k) CHECK_NEAR(scores[k], wanted[k], 1e-12);
    }
}

// All ways of weighing, with weights of columns or without.
std::vector<Weighing> weighings(Rng& rng, std::size_t n_columns) {
  std::vector<Weighing> all;
  for (const Tf tf : {Tf::count, Tf::occurrence, Tf::logarithm, Tf::bm25})
    for (const Norm norm : {Norm::none, Norm::l1, Norm::l2}) {
      Weighing made;
      made.tf = tf;
      made.norm = norm;
      made.mean_length = 7.0;
      if (norm != Norm::l1) made.own(uniforms(rng, Index(n_columns), -1, 1));
      all.push_back(made);
    }
  return all;
}

Words any_words() { return Words(true, 1, Runs::letters, false); }

}  // namespace

THEOREM("a text's score by a vocabulary is its row times the weights") {
  Rng rng(31);
  const Strings texts = random_texts(rng, 60, 12, 15);
  Strings others = random_texts(rng, 40, 20, 25);
  others.push_back("");
  others.push_back("not one known word");
  const Tokens tokens = tokens_of(texts);
  for (const std::size_t max_n : {1u, 2u, 3u, 4u})
    for (const std::size_t min_n : {std::size_t(1), max_n}) {  // max_n: no prefix has a column
      const Vocabulary vocabulary = Learned(tokens, ngrams_of(tokens, int(max_n), 2), min_n).vocabulary();
      for (const Weighing& weighing : weighings(rng, vocabulary.n_columns())) {
        Watch watch;
        const Entries rows =
            entries_of(vocabulary_rows<double>(vocabulary, tokens_of(others), weighing, watch));
        for (const std::size_t n_scores : {1u, 3u}) {
          const std::vector<double> weights = uniforms(rng, Index(n_scores * vocabulary.n_columns()), -1, 1);
          NGramPart part(vocabulary, Pieces(any_words()), MetTerms<double>(weighing, weights, n_scores));
          check_scores(part, others, rows, weights, n_scores);
        }
      }
    }
}

THEOREM("a text's score by hashed columns is its row times the weights") {
  Rng rng(32);
  const Strings texts = random_texts(rng, 40, 12, 15);
  const std::vector<std::string_view> read = views(texts);
  for (const bool is_murmur : {false, true})
    for (const bool is_signed : {false, true}) {  // signed counts meet at 0 in 17 columns
      const Hashing hashing{1, 3, 17, is_murmur, ' '};
      for (const Weighing& weighing : weighings(rng, hashing.n_columns)) {
        Watch watch;
        const Entries rows = entries_of(hashed_rows<double>(SplitTexts(Texts(read), any_words()), hashing,
                                                            is_signed, weighing, 1, watch));
        const std::vector<double> weights = uniforms(rng, Index(hashing.n_columns), -1, 1);
        HashedPart part(hashing, is_signed, Pieces(any_words()), MetTerms<double>(weighing, weights, 1));
        check_scores(part, texts, rows, weights, 1);
      }
    }
}

THEOREM("a text's score by n-grams inside its words is their weights' sum, each times its count") {
  Rng rng(33);
  const Strings names = {" a", "ab", "b ", " b", "ba", " ab", "abb"};
  WordMap map;
  for (const std::string& name : names) map.add(name);
  const std::vector<double> weights = uniforms(rng, Index(names.size()), -1, 1);
  NamedPart part(map, InnerPieces(Words(true, 1, Runs::spaced, false), 2, 3),
                 MetTerms<double>(Weighing(), weights, 1));
  for (const Strings& words : {Strings{"ab", "ABB", "a"}, Strings{}, Strings{"bab", "bab"}}) {
    std::string text;
    double wanted = 0.0;
    for (const std::string& word : words) {
      text += word + " ";
      std::string padded = " ";
      for (const char letter : word) padded += char(letter | 32);
      padded += " ";
      for (const std::size_t n : {2u, 3u})
        for (std::size_t k = 0; k + n <= padded.size(); ++k)
          for (std::size_t e = 0; e < names.size(); ++e)
            if (padded.substr(k, n) == names[e]) wanted += weights[e];
    }
    double score = 0.0;
    part.add(text, std::span(&score, 1));
    CHECK_NEAR(score, wanted, 1e-14);
  }
}

THEOREM("a text that is no UTF-8 is refused, and the next one has its own score") {
  const Tokens tokens = tokens_of({"a b", "b a b"});
  const Vocabulary vocabulary = Learned(tokens, ngrams_of(tokens, 2), 1).vocabulary();
  const std::vector<double> weights(vocabulary.n_columns(), 1.0);
  NGramPart part(vocabulary, Pieces(any_words()), MetTerms<double>(Weighing(), weights, 1));
  double score = 0.0;
  CHECK(refusal([&] { part.add("a b \xFF", std::span(&score, 1)); }) != "");
  CHECK(score == 0.0);
  part.add("a b", std::span(&score, 1));
  CHECK(score == 3.0);
}
