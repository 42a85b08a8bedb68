// N-grams hashed to columns: nothing is learned, nothing is kept, any text has a row.
//
// Two ways to a column. Our own: a 64-bit hash of each word, that of an n-gram from its prefix's and its last
// word's by one product more; the column is hash * n_columns / 2^64, the sign the lowest bit. scikit-learn's:
// MurmurHash3 of the n-gram spelt out, the column |hash| mod n_columns, the sign that of the hash. Both are
// promises: a model that was trained with hashed columns needs the same ones for ever.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "lineal/text/document_rows.h"
#include "lineal/text/document_sets.h"
#include "lineal/text/hash.h"
#include "lineal/text/murmur.h"
#include "lineal/text/tokens.h"

namespace lineal {

struct Hashing {
  std::size_t min_n = 1, max_n = 1, n_columns = 1;
  bool is_murmur = false;
  char separator = ' ';  // between the words of an n-gram that is spelt out; 0: nothing

  struct Place {
    std::size_t column;
    bool is_negative;
    std::uint64_t hash;  // of the n-gram, before it became a column
  };
  // Of a power of two a product is a shift, and a division, which takes longer than all else, a mask.
  bool is_power() const noexcept { return std::has_single_bit(n_columns) && n_columns > 1; }
  Place place_of_murmur(std::uint32_t hash) const noexcept {
    const auto as_signed = std::int32_t(hash);
    const std::uint32_t size = as_signed < 0 ? 0u - hash : hash;
    return {is_power() ? size & std::uint32_t(n_columns - 1) : size % std::uint32_t(n_columns), as_signed < 0,
            hash};
  }

  // How many n-grams so many words have.
  std::size_t n_ngrams(std::size_t n_words) const noexcept {
    std::size_t sum = 0;
    for (std::size_t n = min_n; n <= max_n && n <= n_words; ++n) sum += n_words - n + 1;
    return sum;
  }

  struct Scratch {
    std::vector<std::uint64_t> word, ngram;
    std::vector<char> spelt;
    std::vector<std::size_t> start;     // of each word in what is spelt, and behind the last
    std::vector<std::uint32_t> murmur;  // the state of the n-gram that begins with each word
    Distinct distinct;
  };
  // Calls use(place, first word, number of words, which of all n-grams) for every n-gram of a document.
  template <class Use>
  void each(Texts words, const char* readable_end, Scratch& scratch, Use&& use) const {
    if (is_murmur) {
      std::size_t n_before = 0;  // n-grams of fewer words
      spell(words, readable_end, scratch);
      scratch.murmur.assign(words.size(), 0);
      for (std::size_t n = 1; n <= max_n && n <= words.size(); ++n) {
        for (std::size_t k = 0; k + n <= words.size(); k += EightMurmurs::n_lanes) {
          std::uint32_t hash[EightMurmurs::n_lanes];
          const std::size_t count = hash_eight(words.size(), k, n, scratch, hash);
          if (n >= min_n)
            for (std::size_t e = 0; e < count; ++e) use(place_of_murmur(hash[e]), k + e, n, n_before + k + e);
        }
        if (n >= min_n) n_before += words.size() - n + 1;
      }
      return;
    }
    if (is_power())
      each_by_own(words, readable_end, scratch, use,
                  [shift = std::countl_zero(n_columns) + 1](std::uint64_t hash) { return hash >> shift; });
    else
      each_by_own(words, readable_end, scratch, use,
                  [n = n_columns](std::uint64_t hash) { return std::uint64_t(Wide(hash) * n >> 64); });
  }
  template <class Use, class ColumnOf>
  void each_by_own(Texts words, const char* readable_end, Scratch& scratch, Use& use,
                   const ColumnOf& column_of) const {
    const auto place = [&](std::uint64_t hash) {
      return Place{std::size_t(column_of(hash)), (hash & 1) != 0, hash};
    };
    if (scratch.word.size() < words.size()) {
      scratch.word.resize(words.size());
      scratch.ngram.resize(words.size());
    }
    std::size_t n_before = 0;  // n-grams of fewer words
    std::uint64_t* const word = scratch.word.data();
    for (std::size_t k = 0; k < words.size(); ++k) {
      const Head head(words[k], readable_end ? std::size_t(readable_end - words[k].data()) : words[k].size());
      word[k] = hash_word(words[k], head, 0);
      if (min_n <= 1) use(place(word[k]), k, 1, k);
    }
    if (min_n <= 1) n_before = words.size();
    const std::uint64_t* prefix = word;
    std::uint64_t* const ngram = scratch.ngram.data();
    for (std::size_t n = 2; n <= max_n && n <= words.size(); ++n) {
      for (std::size_t k = 0; k + n <= words.size(); ++k) {
        ngram[k] = hash_pair(prefix[k], word[k + n - 1]);
        if (n >= min_n) use(place(ngram[k]), k, n, n_before + k);
      }
      if (n >= min_n) n_before += words.size() - n + 1;
      prefix = ngram;
    }
  }
  // The hashes of up to eight n-grams from the k-th word on, n words each; how many. Lanes to spare repeat
  // the last one.
  std::size_t hash_eight(std::size_t n_words, std::size_t k, std::size_t n, Scratch& scratch,
                         std::uint32_t* hash) const noexcept {
    const std::size_t count = std::min(EightMurmurs::n_lanes, n_words - n + 1 - k);
    EightMurmurs murmurs;
    for (std::size_t e = 0; e < EightMurmurs::n_lanes; ++e) {
      const std::size_t first = k + std::min(e, count - 1), begin = scratch.start[first];
      const auto size_of = [&](std::size_t n_first) {
        return std::uint32_t(scratch.start[first + n_first] - gap() - begin);
      };
      murmurs.text[e] = scratch.spelt.data() + begin;
      murmurs.size[e] = size_of(n);
      murmurs.taken[e] = n > 1 ? size_of(n - 1) & ~3u : 0u;
      murmurs.state[e] = scratch.murmur[first];
    }
    murmurs.finish(hash);
    std::copy_n(murmurs.state, count, scratch.murmur.data() + k);
    return count;
  }
  // The words one behind the other, so that every n-gram is a slice.
  void spell(Texts words, const char* readable_end, Scratch& scratch) const {
    constexpr std::size_t at_once = 16;
    std::size_t size = at_once + EightMurmurs::readable;
    for (const std::string_view word : words) size += word.size() + gap();
    if (size > 0xFFFFFFFF) throw std::length_error("a text of more than 4 GB has no MurmurHash3: split it");
    if (scratch.spelt.size() < size) scratch.spelt.resize(std::max(size, 2 * scratch.spelt.size()));
    scratch.start.resize(words.size() + 1);
    char* out = scratch.spelt.data();
    for (std::size_t k = 0; k < words.size(); ++k) {
      const std::string_view word = words[k];
      scratch.start[k] = std::size_t(out - scratch.spelt.data());
      if (word.size() <= at_once && readable_end && readable_end - word.data() >= std::ptrdiff_t(at_once))
        std::memcpy(out, word.data(), at_once);
      else if (!word.empty())
        std::memcpy(out, word.data(), word.size());
      out += word.size();
      if (separator != 0) *out++ = separator;
    }
    scratch.start[words.size()] = std::size_t(out - scratch.spelt.data());
  }
  std::size_t gap() const noexcept { return separator != 0 ? 1 : 0; }
};

// Adds a row for each document of a block.
template <class V>
void add_hashed_rows(const Hashing& hashing, bool is_signed, Texts words, std::span<const std::size_t> ends,
                     const char* readable_end, Hashing::Scratch& scratch, DocumentRows<V>& rows) {
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    std::uint32_t* const met = rows.meet_many(hashing.n_ngrams(end - begin));
    hashing.each(words.subspan(begin, end - begin), readable_end, scratch,
                 [=](const Hashing::Place& place, std::size_t, std::size_t, std::size_t which) {
                   met[which] = DocumentRows<V>::occurrence(place.column, is_signed & place.is_negative);
                 });
    rows.end();
    begin = end;
  }
}

// The same where only occurrence counts.
inline void add_hashed_rows(const Hashing& hashing, bool, Texts words, std::span<const std::size_t> ends,
                            const char* readable_end, Hashing::Scratch& scratch, DocumentSets& rows) {
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    const std::size_t n = hashing.n_ngrams(end - begin);
    std::uint32_t* const met = scratch.distinct.met(n);
    hashing.each(words.subspan(begin, end - begin), readable_end, scratch,
                 [=](const Hashing::Place& place, std::size_t, std::size_t, std::size_t which) {
                   met[which] = std::uint32_t(place.column);
                 });
    rows.add(scratch.distinct, n);
    begin = end;
  }
}

// Which n-gram was met first in each column, and whether another one met it there. Memory: for the columns
// that were met, not for all there are.
class HashedNames {
 public:
  struct Column {
    std::uint32_t column = none;
    std::uint32_t name = 0;
    std::uint64_t hash = 0;
    bool is_shared = false;
  };
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  void read(const Source& source, const Hashing& hashing, int n_threads, Watch& watch) {
    std::vector<HashedNames> parts(std::size_t(n_parts_of(source, n_threads)) - 1);
    SharedWatch shared(watch);
    parallel_parts(source, n_threads, [&](std::size_t p, std::size_t first, std::size_t last) {
      HashedNames& own = p == 0 ? *this : parts[p - 1];
      Hashing::Scratch scratch;
      source.reader()->blocks(
          first, last, [&](Texts words, std::span<const std::size_t> ends, const char* readable_end) {
            std::size_t begin = 0;
            for (const std::size_t end : ends) {
              own.read_document(words.subspan(begin, end - begin), readable_end, hashing, scratch);
              begin = end;
            }
            return !shared.says_stop(int(p), 8 * words.size());
          });
    });
    for (const HashedNames& part : parts)
      for (const Column& met : part.slots_) {
        if (met.column == none) continue;
        Column& own = slot(met.column, met.hash);
        if (own.column == none) add(own, met.column, met.hash, part.names_[met.name]);
        // The slot may have moved.
        if (met.is_shared) slot(met.column, met.hash).is_shared = true;
      }
  }

  // By column.
  std::vector<Column> columns() const {
    std::vector<Column> all;
    for (const Column& met : slots_)
      if (met.column != none) all.push_back(met);
    std::sort(all.begin(), all.end(), [](const Column& a, const Column& b) { return a.column < b.column; });
    return all;
  }
  std::string_view name(const Column& column) const noexcept { return names_[column.name]; }

 private:
  void read_document(Texts words, const char* readable_end, const Hashing& hashing,
                     Hashing::Scratch& scratch) {
    hashing.each(words, readable_end, scratch,
                 [&](const Hashing::Place& at, std::size_t k, std::size_t n, std::size_t) {
                   Column& met = slot(std::uint32_t(at.column), at.hash);
                   if (met.column != none) return;
                   std::string name(words[k]);
                   for (std::size_t e = 1; e < n; ++e) {
                     if (hashing.separator != 0) name += hashing.separator;
                     name += words[k + e];
                   }
                   add(met, std::uint32_t(at.column), at.hash, name);
                 });
  }
  // Where the column is, or where it belongs; another n-gram in it is noted.
  Column& slot(std::uint32_t column, std::uint64_t hash) {
    std::size_t at = std::size_t(column * 0x9E3779B97F4A7C15u >> 20) & (slots_.size() - 1);
    while (slots_[at].column != none && slots_[at].column != column) at = (at + 1) & (slots_.size() - 1);
    if (slots_[at].column == column && slots_[at].hash != hash) slots_[at].is_shared = true;
    return slots_[at];
  }
  void add(Column& empty, std::uint32_t column, std::uint64_t hash, std::string_view name) {
    empty = {column, std::uint32_t(names_.size()), hash, false};
    names_.add(name);
    if (2 * names_.size() < slots_.size()) return;
    std::vector<Column> old(2 * slots_.size());
    old.swap(slots_);
    for (const Column& met : old)
      if (met.column != none) slot(met.column, met.hash) = met;
  }
  std::vector<Column> slots_ = std::vector<Column>(1024);
  Names names_;
};

}  // namespace lineal
