// Documents as numbers: every token's word, in order, and the distinct words.
//
// Threads read contiguous ranges of the documents, each with a map of its own; the maps are then joined,
// words numbered as they are first met. So the numbers do not depend on how many threads there were. Nothing
// of the text is looked at again.
//
// Cost: one look at each byte, one look-up in a table for each token, 4 bytes of memory for a token.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/raw.h"
#include "lineal/text/documents.h"
#include "lineal/text/names.h"
#include "lineal/text/word_map.h"
#include "lineal/text/words.h"
#include "lineal/watch.h"

namespace lineal {

// What a block of documents is used for; returns whether to go on. `ends` tells where each document of the
// block ends among the words. These may be read up to readable_end, or only themselves where that is null.
using UseBlock =
    std::function<bool(Texts words, std::span<const std::size_t> ends, const char* readable_end)>;

// Gives the words of documents, block by block. Calls for a block of some kilobytes, not for a word, so that
// whatever reads words is compiled once for all sources.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::size_t size() const noexcept = 0;  // documents
  virtual std::size_t n_bytes() const noexcept = 0;
  virtual std::size_t n_bytes_of(std::size_t document) const noexcept = 0;
  // Where to cut the documents into parts of about equal work.
  virtual std::vector<std::size_t> cuts(int n_parts) const = 0;

  // One for each thread: it keeps its memory from call to call. It looks at what its source looks at. It is
  // written to all the time, and has cache lines of its own: beside what another thread writes to, both wait.
  class alignas(128) Reader {
   public:
    virtual ~Reader() = default;
    virtual void blocks(std::size_t first, std::size_t last, const UseBlock& use) = 0;
  };
  virtual std::unique_ptr<Reader> reader() const = 0;
};

// Texts, split by what has append(text), clear(), text() and split(...) as Words has them.
template <class Split>
class SplitTexts : public Source {
 public:
  SplitTexts(Texts texts, Split split) : texts_(texts), split_(std::move(split)) {
    for (const std::string_view text : texts) n_bytes_ += text.size();
  }
  std::size_t size() const noexcept override { return texts_.size(); }
  std::size_t n_bytes() const noexcept override { return n_bytes_; }
  std::size_t n_bytes_of(std::size_t k) const noexcept override { return texts_[k].size(); }
  std::vector<std::size_t> cuts(int n_parts) const override {
    std::vector<std::size_t> made{0};
    std::size_t sum = 0, at = 0;
    for (int part = 1; part < n_parts; ++part) {
      while (at < texts_.size() && sum < n_bytes_ / std::size_t(n_parts) * std::size_t(part))
        sum += texts_[at++].size();
      made.push_back(at);
    }
    made.push_back(texts_.size());
    return made;
  }
  std::unique_ptr<Reader> reader() const override { return std::make_unique<SplitReader>(texts_, split_); }

 private:
  class SplitReader : public Reader {
   public:
    SplitReader(Texts texts, const Split& split) : texts_(texts), split_(split) {}
    void blocks(std::size_t first, std::size_t last, const UseBlock& use) override {
      constexpr std::size_t block = 16384;  // bytes that are looked at together: the first cache holds them
      for (std::size_t k = first; k < last;) {
        split_.clear();
        text_ends_.clear();
        do {
          if (const std::size_t bad = split_.append(texts_[k]); bad != Split::well_formed)
            throw Malformed(k, bad);
          text_ends_.push_back(split_.text().size());
        } while (++k < last && text_ends_.back() < block);
        const Texts words = split_.split(text_ends_, words_, ends_);
        if (!use(words, ends_, split_.readable_end())) return;
      }
    }

   private:
    Texts texts_;
    Split split_;
    std::vector<std::string_view> words_;  // room for those of a block
    std::vector<std::size_t> text_ends_, ends_;
  };

  Texts texts_;
  Split split_;
  std::size_t n_bytes_ = 0;
};

// Words that somebody else found: those of all documents, and where each document ends among them.
class GivenWords : public Source {
 public:
  GivenWords(Texts words, std::span<const std::size_t> ends) : words_(words), ends_(ends) {}
  std::size_t size() const noexcept override { return ends_.size(); }
  std::size_t n_bytes() const noexcept override { return 8 * words_.size(); }
  std::size_t n_bytes_of(std::size_t k) const noexcept override {
    return 8 * (ends_[k] - (k > 0 ? ends_[k - 1] : 0));
  }
  std::vector<std::size_t> cuts(int n_parts) const override {
    std::vector<std::size_t> made;
    for (int part = 0; part <= n_parts; ++part)
      made.push_back(std::size_t(share(std::int64_t(size()), part, n_parts).first));
    return made;
  }
  std::unique_ptr<Reader> reader() const override { return std::make_unique<GivenReader>(words_, ends_); }

 private:
  class GivenReader : public Reader {
   public:
    GivenReader(Texts words, std::span<const std::size_t> ends) : words_(words), ends_(ends) {}
    void blocks(std::size_t first, std::size_t last, const UseBlock& use) override {
      for (std::size_t k = first; k < last; ++k) {
        const std::size_t begin = k > 0 ? ends_[k - 1] : 0, size = ends_[k] - begin;
        if (!use(words_.subspan(begin, size), {&size, 1}, nullptr)) return;
      }
    }

   private:
    Texts words_;
    std::span<const std::size_t> ends_;
  };

  Texts words_;
  std::span<const std::size_t> ends_;
};

// A thread is worth its start from 64 kB on.
inline int n_parts_of(const Source& source, int n_threads) noexcept {
  return int(std::clamp<std::size_t>(source.n_bytes() >> 16, 1, std::size_t(n_threads)));
}
// Runs body(part, first, last) for parts of a source's documents.
template <class Body>
void parallel_parts(const Source& source, int n_threads, Body&& body) {
  const int n_parts = n_parts_of(source, n_threads);
  const std::vector<std::size_t> cuts = source.cuts(n_parts);
  parallel(n_parts, [&](int p) { body(std::size_t(p), cuts[std::size_t(p)], cuts[std::size_t(p) + 1]); });
}
// The documents that one thread read: the words of all of them, and where each of them ends.
struct Part {
  Growing<std::uint32_t> word;
  std::vector<std::size_t> end;
};

class Tokens {
 public:
  static constexpr std::uint32_t none = WordMap::none;

  Tokens() = default;
  Tokens(Tokens&&) = default;
  Tokens& operator=(Tokens&&) = default;

  static Tokens read(const Source& source, int n_threads, Watch& watch) {
    Tokens tokens;
    tokens.parts_.resize(std::size_t(n_parts_of(source, n_threads)));
    std::vector<WordMap> maps(tokens.parts_.size());
    SharedWatch shared(watch);
    parallel_parts(source, n_threads, [&](std::size_t p, std::size_t first, std::size_t last) {
      Part& part = tokens.parts_[p];
      part.end.reserve(last - first);
      part.word.expect(source.n_bytes() / tokens.parts_.size() / 4 + 1);  // few words are shorter
      source.reader()->blocks(first, last,
                              [&](Texts words, std::span<const std::size_t> ends, const char* readable_end) {
                                const std::size_t before = part.word.size();
                                maps[p].add(words, readable_end, part.word.extend(words.size()));
                                for (const std::size_t end : ends) {
                                  const std::size_t begin = part.end.empty() ? 0 : part.end.back();
                                  // Counts of a document's terms have 31 bits.
                                  if (before + end - begin >= std::size_t(1) << 31)
                                    throw InputFlaw("a document of 2^31 or more tokens: cut it into several");
                                  part.end.push_back(before + end);
                                }
                                return !shared.says_stop(int(p), 8 * words.size());
                              });
    });
    if (!watch.is_over()) tokens.join(maps);
    return tokens;
  }

  const std::vector<Part>& parts() const noexcept { return parts_; }
  const WordMap& words() const noexcept { return words_; }
  std::size_t n_documents() const noexcept {
    std::size_t n = 0;
    for (const Part& part : parts_) n += part.end.size();
    return n;
  }
  std::size_t size() const noexcept {
    std::size_t n = 0;
    for (const Part& part : parts_) n += part.word.size();
    return n;
  }

  // Each distinct word becomes another one, or none: then its tokens leave the documents.
  void rename(const std::vector<std::optional<std::string>>& names) {
    if (names.size() != words_.size()) throw std::invalid_argument("one name for each word is needed");
    WordMap renamed;
    std::vector<std::uint32_t> to(names.size(), none);
    for (std::size_t k = 0; k < names.size(); ++k)
      if (names[k]) to[k] = renamed.add(*names[k]);
    words_ = std::move(renamed);
    parallel(int(parts_.size()), [&](int p) {
      Part& part = parts_[std::size_t(p)];
      std::size_t kept = 0, first = 0;
      for (std::size_t& end : part.end) {
        for (std::size_t k = first; k < end; ++k)
          if (const std::uint32_t word = to[part.word[k]]; word != none) part.word[kept++] = word;
        first = end;
        end = kept;
      }
      part.word.cut(part.word.size() - kept);
    });
  }

  // A token right behind one of these becomes a new word, its own behind the prefix, in place of both. Of
  // several in a row the last one counts. `filler` between the two is left out (the t of "isn't"); with it
  // behind them, some more words are such ones ("can't").
  void join_behind(const std::vector<bool>& is_first, const std::vector<bool>& is_first_with_filler,
                   std::string_view filler, std::string_view prefix) {
    if (is_first.size() != words_.size() || is_first_with_filler.size() != words_.size())
      throw std::invalid_argument("one answer for each word is needed");
    const std::uint32_t filling = filler.empty() ? none : words_.find(filler);
    std::vector<std::uint32_t> joined(words_.size(), none);
    for (Part& part : parts_) {
      std::size_t kept = 0, first = 0;
      for (std::size_t& end : part.end) {
        for (std::size_t k = first; k < end; ++k) {
          const std::uint32_t word = part.word[k];
          const bool is_filled = k + 1 < end && part.word[k + 1] == filling;
          const std::size_t behind = k + 1 + is_filled;
          const bool is_one = is_first[word] || (is_filled && is_first_with_filler[word]);
          if (!is_one || behind >= end || is_first[part.word[behind]]) {
            part.word[kept++] = word;
            continue;
          }
          k = behind;
          const std::uint32_t next = part.word[k];
          if (joined[next] == none)
            joined[next] = words_.add(std::string(prefix) + std::string(words_.name(next)));
          part.word[kept++] = joined[next];
        }
        first = end;
        end = kept;
      }
      part.word.cut(part.word.size() - kept);
    }
  }

 private:
  void join(std::vector<WordMap>& maps) {
    words_ = std::move(maps[0]);
    std::vector<std::vector<std::uint32_t>> to(maps.size());
    for (std::size_t p = 1; p < maps.size(); ++p)
      for (std::uint32_t id = 0; id < maps[p].size(); ++id) to[p].push_back(words_.add(maps[p].name(id)));
    parallel(int(parts_.size()), [&](int p) {
      if (p > 0)
        for (std::uint32_t& word : parts_[std::size_t(p)].word) word = to[std::size_t(p)][word];
    });
  }

  std::vector<Part> parts_;
  WordMap words_;
};

}  // namespace lineal
