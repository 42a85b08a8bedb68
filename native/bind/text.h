// What the bindings of text share.
#pragma once

#include "bind.h"
#include "lineal/text/characters.h"
#include "lineal/text/tokens.h"
#include "lineal/text/word_grams.h"
#include "lineal/text/word_map.h"
#include "lineal/text/words.h"

namespace lineal {

// How texts become words: what is looked for, in lower case or not.
struct Splitting {
  bool lowercase, fold_accents;
  std::size_t min_characters;
  Runs runs;
  bool by_character;
  std::size_t min_gram = 0, max_gram = 0;  // characters of n-grams inside words; 0: whole words

  template <class Use>
  auto apply(Texts texts, Use&& use) const {
    if (by_character) return use(SplitTexts(texts, Characters(lowercase, fold_accents)));
    SplitTexts words(texts, Words(lowercase, min_characters, runs, fold_accents));
    return min_gram > 0 ? use(GramsOf(std::move(words), min_gram, max_gram)) : use(words);
  }
};

// Character n-grams with a column each, in order.
struct GramVocabulary {
  WordMap names;
};

void bind_text_scorer(nb::module_& m);

}  // namespace lineal
