// Laws of the Arrow reader: whatever an array's numbers are, it is refused with a reason or read within
// bounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "law.h"
#include "lineal/text/arrow_texts.h"

namespace lineal::fuzz {

// An Arrow array whose every number comes from the input. The interface does not tell how long the text under
// offsets is, so no offset is beyond it; everything else may be as wrong as it likes.
class MadeArray {
 public:
  MadeArray(std::span<const std::uint8_t> options, std::span<const std::uint8_t> rest) : rest_(rest) {
    constexpr const char* formats[] = {"u", "U", "vu", "n"};
    const unsigned kind = options[0] >> 1 & 3;
    const bool is_dictionary = options[0] & 8, is_table = options[0] & 16;
    n_rows_ = next() % 24;
    fill(values_, kind, is_dictionary ? next() % 8 : n_rows_);
    schema_.format = formats[kind];
    schema_.release = [](ArrowSchema*) {};
    array_ = &values_.array;
    if (is_dictionary) {
      static constexpr const char* indices[] = {"c", "C", "s", "S", "i", "I", "l", "L"};
      const unsigned width = options[1] & 7;
      values_schema_ = schema_;
      schema_.format = indices[width];
      schema_.dictionary = &values_schema_;
      Buffers& own = index_;
      own.validity = bytes((n_rows_ + 8) / 8 + 1);
      own.first.clear();
      for (std::size_t k = 0; k < n_rows_ + 2; ++k)
        for (unsigned b = 0; b < 1u << width / 2; ++b)
          own.first.push_back(b == 0         ? std::uint8_t(next() % 12 - 2)
                              : next() > 250 ? next()
                                             : std::uint8_t(0));
      own.buffers = {next() & 1 ? own.validity.data() : nullptr, own.first.data()};
      describe(own, n_rows_);
      own.array.dictionary = next() > 3 ? &values_.array : nullptr;
      array_ = &own.array;
    }
    if (is_table) {
      column_ = array_;
      table_.validity = bytes((n_rows_ + 8) / 8 + 1);
      table_.buffers = {next() & 1 ? table_.validity.data() : nullptr};
      describe(table_, std::size_t(array_->length));
      table_.array.length -= next() % 3;
      table_.array.n_children = next() > 3;
      table_.array.children = &column_;
      column_schema_ = schema_;
      schema_ = {};
      schema_.format = "+s";
      schema_.n_children = 1;
      schema_.children = &children_;
      schema_.release = [](ArrowSchema*) {};
      array_ = &table_.array;
    }
  }
  ArrowSchema& schema() { return schema_; }
  ArrowArray& array() { return *array_; }

 private:
  struct Buffers {
    std::vector<std::uint8_t> validity, first;
    std::vector<char> data;
    std::vector<std::int64_t> sizes;
    std::vector<const void*> buffers;
    ArrowArray array{};
  };
  std::uint8_t next() { return at_ < rest_.size() ? rest_[at_++] : std::uint8_t(0); }
  std::vector<std::uint8_t> bytes(std::size_t n) {
    std::vector<std::uint8_t> all(n);
    for (std::uint8_t& byte : all) byte = next();
    return all;
  }
  void put(std::vector<std::uint8_t>& to, std::int64_t value, std::size_t size) {
    for (std::size_t k = 0; k < size; ++k) to.push_back(std::uint8_t(value >> 8 * k));
  }
  // Rows and an offset that together have buffers; now and then a number that none can have.
  void describe(Buffers& own, std::size_t n) {
    ArrowArray& array = own.array;
    array.offset = n > 2 ? next() % 2 : 0;
    array.length = std::int64_t(n) - array.offset;
    array.null_count = std::int64_t(next() % 4) - 1;
    array.n_buffers = std::int64_t(own.buffers.size());
    array.buffers = own.buffers.data();
    array.release = next() > 2 ? [](ArrowArray*) {} : static_cast<void (*)(ArrowArray*)>(nullptr);
    const std::uint8_t wrong = next();
    if (wrong == 255) array.length = -1;
    if (wrong == 254) array.offset = std::numeric_limits<std::int64_t>::max();
    if (wrong == 253) array.n_buffers = 1;
    if (wrong == 252) array.length = std::numeric_limits<std::int64_t>::max();
  }
  void fill(Buffers& own, unsigned kind, std::size_t n) {
    own.validity = bytes((n + 8) / 8 + 1);
    const std::vector<std::uint8_t> text = bytes(40);
    own.data.assign(text.begin(), text.end());
    const void* const validity = next() & 1 ? own.validity.data() : nullptr;
    if (kind == 3) own.buffers = {};
    if (kind < 2) {
      std::int64_t before = 0;
      for (std::size_t k = 0; k <= n; ++k) {
        const std::uint8_t step = next();
        before = step > 250 ? std::int64_t(step) - 254 : std::min<std::int64_t>(before + step % 9, 40);
        put(own.first, before, kind == 0 ? 4 : 8);
      }
      own.buffers = {validity, own.first.data(), next() > 3 ? own.data.data() : nullptr};
    }
    if (kind == 2) {
      for (std::size_t k = 0; k < n; ++k) {
        put(own.first, next() > 250 ? -1 : next() % 48, 4);
        put(own.first, next(), 4);
        put(own.first, next() % 4 - 1, 4);
        put(own.first, next() > 250 ? -1 : next() % 48, 4);
      }
      own.sizes = {40, 40};
      own.buffers = {validity, own.first.data(), own.data.data(), next() > 3 ? own.data.data() : nullptr,
                     next() > 3 ? own.sizes.data() : nullptr};
    }
    describe(own, n);
  }

  std::span<const std::uint8_t> rest_;
  std::size_t at_ = 0, n_rows_ = 0;
  ArrowSchema schema_{}, values_schema_{}, column_schema_{};
  ArrowSchema* children_ = &column_schema_;
  Buffers values_, index_, table_;
  ArrowArray* array_ = nullptr;
  ArrowArray* column_ = nullptr;
};

inline void arrow_obeys(std::span<const std::uint8_t> options, std::span<const std::uint8_t> rest) {
  MadeArray made(options, rest);
  try {
    const TextLayout layout = text_layout(made.schema(), std::nullopt);
    std::vector<std::string_view> texts;
    append_texts(layout, made.array(), options[1] & 8 ? Missing::empty : Missing::refuse, 0, texts);
    law(texts.size() == std::size_t(made.array().length), "an array has as many texts as rows");
    const Documents documents(texts, {}, false);
    const auto [row, byte] = documents.first_flaw();  // looks at every byte, where none is malformed
    law(row == no_flaw || (row < texts.size() && slow_first_malformed(texts[row], false) == byte),
        "a flaw is there");
  } catch (const InputFlaw& flaw) {
    law(*flaw.what() != 0, "a refusal says why");
  }
}

}  // namespace lineal::fuzz
