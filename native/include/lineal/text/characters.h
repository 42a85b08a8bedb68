// The characters of a text, each a token: for n-grams that cross from word to word.
//
// Two or more white-space characters in a row are one space, as scikit-learn's analyser has it.
#pragma once

#include "lineal/text/words.h"

namespace lineal {

class Characters {
 public:
  static constexpr std::size_t well_formed = Words::well_formed;

  Characters(bool lowercase, bool fold_accents) : words_(lowercase, 1, Runs::spaced, fold_accents) {}

  void clear() noexcept {
    words_.clear();
    text_.clear();
  }
  std::size_t append(std::string_view source) {
    words_.clear();
    const std::size_t bad = words_.append(source);
    if (bad != well_formed) {
      clear();
      return bad;
    }
    const std::string_view text = words_.text();
    std::size_t before = 0;
    const auto gap = [&](std::size_t behind) {
      // One white-space character stays what it is.
      const std::size_t n = behind - before;
      if (n == 0) return;
      if (n == size_of(text[before]))
        text_.insert(text_.end(), text.begin() + std::ptrdiff_t(before),
                     text.begin() + std::ptrdiff_t(behind));
      else
        text_.push_back(' ');
    };
    words_.each([&](Word word) {
      gap(word.first);
      text_.insert(text_.end(), text.begin() + std::ptrdiff_t(word.first),
                   text.begin() + std::ptrdiff_t(word.first + word.size));
      before = word.first + word.size;
    });
    gap(text.size());
    return well_formed;
  }

  std::string_view text() const noexcept { return {text_.data(), text_.size()}; }
  const char* readable_end() const noexcept { return text_.data() + text_.size(); }

  template <class Use>
  void each(Use&& use) const {
    for (std::size_t k = 0; k < text_.size();) {
      const std::size_t size = size_of(text_[k]);
      use(Word{k, size});
      k += size;
    }
  }
  Texts split(std::span<const std::size_t> text_ends, std::vector<std::string_view>& room,
              std::vector<std::size_t>& ends) const {
    room.clear();
    ends.clear();
    each([&](Word character) {
      while (character.first >= text_ends[ends.size()]) ends.push_back(room.size());
      room.emplace_back(text_.data() + character.first, character.size);
    });
    ends.resize(text_ends.size(), room.size());
    return room;
  }
  // How many bytes a character has, by its first one.
  static std::size_t size_of(char lead) noexcept {
    const auto byte = static_cast<unsigned char>(lead);
    return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  }

 private:
  Words words_;
  std::vector<char> text_;
};

}  // namespace lineal
