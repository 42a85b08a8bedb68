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

  std::unique_ptr<Source> source(Texts texts) const;
};

// Character n-grams with a column each, in order.
struct GramVocabulary {
  WordMap names;
};

void bind_text_scorer(nb::module_& m);

}  // namespace lineal
