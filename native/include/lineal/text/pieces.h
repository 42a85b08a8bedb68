// What one text is split into, as views of bytes that hold until the next text.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "lineal/text/tokens.h"
#include "lineal/text/word_grams.h"
#include "lineal/text/words.h"

namespace lineal {

// Words, or characters.
template <class Split>
class Pieces {
 public:
  explicit Pieces(Split split) : split_(std::move(split)) {}
  Texts read(std::string_view text) {
    split_.clear();
    if (const std::size_t bad = split_.append(text); bad != Split::well_formed) throw Malformed(0, bad);
    found_.clear();
    const char* const begin = split_.text().data();
    split_.each([&](Word word) { found_.emplace_back(begin + word.first, word.size); });
    return found_;
  }
  const char* readable_end() const noexcept { return split_.readable_end(); }

 private:
  Split split_;
  std::vector<std::string_view> found_;
};

// The n-grams of characters inside words.
class InnerPieces {
 public:
  InnerPieces(Words split, std::size_t min_n, std::size_t max_n)
      : words_(std::move(split)), min_n_(min_n), max_n_(max_n) {}
  Texts read(std::string_view text) {
    padded_.read(words_.read(text), min_n_, max_n_);
    return padded_.grams;
  }
  const char* readable_end() const noexcept { return padded_.readable_end(); }

 private:
  Pieces<Words> words_;
  std::size_t min_n_, max_n_;
  PaddedWords padded_;
};

}  // namespace lineal
