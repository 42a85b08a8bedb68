// All n-grams of tokenised documents, with the documents they are in: sorted, not hashed.
//
// Level by level: an occurrence of an n-gram is an occurrence of an (n-1)-gram, its prefix, and the token
// behind it. The pairs (prefix, token) of a level are thrown into buckets of neighbouring prefixes, each
// small enough for a cache, and sorted there with their documents; equal pairs then lie side by side. Their
// number of documents is counted, rare ones are dropped, and the rest becomes one entry (document, count) for
// each document, in place. An n-gram is in no more documents than its prefix or its last token, so whatever
// holds a dropped one is never made.
//
// The n-grams of a level come in the order of their tokens, and a walk that visits each before its
// continuations meets all levels in the order of the tuples of tokens. No n-gram is ever spelt out.
//
// Cost: 8 bytes for each occurrence in a level; three passes over them. Buckets and results depend on the
// documents alone, never on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/raw.h"
#include "lineal/text/radix.h"
#include "lineal/text/tokens.h"

namespace lineal {

// The n-grams of one length.
struct Level {
  std::vector<std::uint32_t> prefix;  // which n-gram of the level before it continues; of single tokens: 0
  std::vector<std::uint32_t> token;   // its last token
  std::vector<std::uint64_t> total;   // how often it occurs
  std::vector<std::size_t> first;     // where its entries begin; one more than there are n-grams
  Raw<std::uint64_t> entries;         // count << 32 | document, in each n-gram by document

  std::size_t size() const noexcept { return token.size(); }
  std::uint64_t n_documents(std::size_t k) const noexcept { return first[k + 1] - first[k]; }
};

namespace ngrams {

inline constexpr std::uint32_t none = Tokens::none;

// The tokens as the levels need them: numbered among those that are left, and which n-gram of the level
// before begins at each of them.
class Stream {
 public:
  explicit Stream(const Tokens& tokens) {
    std::size_t document = 0, position = 0;
    for (const Part& part : tokens.parts()) {
      ends_.push_back(&part.end);
      first_document_.push_back(document);
      first_position_.push_back(position);
      document += part.end.size();
      position += part.word.size();
    }
    first_position_.push_back(position);
  }
  void take(const Tokens& tokens, const std::vector<std::uint32_t>& left) {
    std::vector<std::uint32_t> to(tokens.words().size(), none);
    for (std::size_t k = 0; k < left.size(); ++k) to[left[k]] = std::uint32_t(k);
    token_ = Raw<std::uint32_t>(tokens.size());
    parallel(n_parts(), [&](int p) {
      const Growing<std::uint32_t>& word = tokens.parts()[std::size_t(p)].word;
      std::uint32_t* const out = token_.data() + first_position(p);
      for (std::size_t k = 0; k < word.size(); ++k) out[k] = to[word[k]];
    });
  }

  int n_parts() const noexcept { return int(ends_.size()); }
  std::size_t first_position(int p) const noexcept { return first_position_[std::size_t(p)]; }
  const std::uint32_t* token(int p) const noexcept { return token_.data() + first_position(p); }
  const std::uint32_t* prefix(int p) const noexcept {
    return prefix_.data() ? prefix_.data() + first_position(p) : token(p);
  }
  // Calls use(document, first token, behind its last token); tokens are counted from the part's first.
  template <class Use>
  void each_document(int p, Use&& use) const {
    std::size_t first = 0, document = first_document_[std::size_t(p)];
    for (const std::size_t end : *ends_[std::size_t(p)]) {
      use(document++, first, end);
      first = end;
    }
  }

  std::uint32_t document(std::uint64_t position) const noexcept { return document_[position]; }
  // Prefixes are set anew while the old ones are no longer looked at.
  void expect_prefixes() {
    const std::size_t n = first_position_.back();
    if (!document_.data()) {
      document_ = Raw<std::uint32_t>(n);
      for (int p = 0; p < n_parts(); ++p)
        each_document(p, [&](std::size_t document, std::size_t first, std::size_t last) {
          std::fill(document_.data() + first_position(p) + first, document_.data() + first_position(p) + last,
                    std::uint32_t(document));
        });
    }
    coming_ = Raw<std::uint32_t>(n);
    std::fill_n(coming_.data(), n, none);
  }
  void set_prefix(std::uint64_t position, std::uint64_t found) const noexcept {
    coming_[position] = std::uint32_t(found);
  }
  // `number` turns what was set into the number of an n-gram.
  template <class Number>
  void settle_prefixes(const Number& number) {
    parallel(n_parts(), [&](int p) {
      for (std::size_t k = first_position(p); k < first_position_[std::size_t(p) + 1]; ++k)
        if (coming_[k] != none) coming_[k] = number(coming_[k]);
    });
    prefix_ = std::move(coming_);
  }

 private:
  std::vector<const std::vector<std::size_t>*> ends_;
  std::vector<std::size_t> first_document_, first_position_;
  Raw<std::uint32_t> token_, prefix_, coming_, document_;
};

// One level's occurrences, sorted into n-grams. A record is (prefix - the bucket's first | token | payload),
// payload being a document, or a position where a further level is to come.
class Sorting {
 public:
  Sorting(std::uint64_t min_documents, int n_threads, Watch& watch)
      : min_documents_(min_documents), n_threads_(n_threads), watch_(watch) {}

  // each(part, use) calls use(prefix, token, payload) for the part's occurrences; document(payload) is where
  // one is; kept(payload, found) is told of each occurrence of what is kept, `found` as operator() takes it.
  template <class Each, class Document, class Kept>
  Level sort(const Stream& stream, std::size_t n_prefixes, std::size_t n_tokens, std::size_t n_payloads,
             const Each& each, const Document& document, const Kept& kept) {
    payload_bits_ = bits_below(n_payloads);
    token_bits_ = bits_below(n_tokens);
    const int n_parts = stream.n_parts();
    std::vector<std::vector<std::uint32_t>> counts{std::size_t(n_parts),
                                                   std::vector<std::uint32_t>(n_prefixes)};
    parallel(n_parts, [&](int p) {
      auto& own = counts[std::size_t(p)];
      each(p, [&](std::uint32_t prefix, std::uint32_t, std::size_t) { ++own[prefix]; });
    });
    const std::vector<std::uint32_t> bucket_of = make_buckets(counts, n_prefixes);
    Raw<std::uint64_t> records(buckets_.back().first);
    scatter(n_parts, counts, bucket_of, each, records);
    counts.clear();
    return collect(records, document, kept);
  }

  // Which n-gram was announced as `found`.
  std::uint32_t operator()(std::uint32_t found) const noexcept {
    const auto at = std::upper_bound(buckets_.begin(), buckets_.end(), found,
                                     [](std::uint32_t record, const Bucket& b) { return record < b.first; }) -
                    1;
    return std::uint32_t(at->first_ngram + (found - at->first));
  }

 private:
  struct Bucket {
    std::size_t first;     // record
    std::uint32_t prefix;  // the first of its prefixes
    std::size_t first_ngram = 0;
  };
  struct Found {
    std::uint32_t prefix, token;
    std::uint64_t total;
    std::size_t n_documents;
  };

  static int bits_below(std::size_t n) noexcept { return int(std::bit_width(n > 0 ? n - 1 : 0)); }

  // Neighbouring prefixes, as many as a cache and a record's bits have room for.
  std::vector<std::uint32_t> make_buckets(const std::vector<std::vector<std::uint32_t>>& counts,
                                          std::size_t n_prefixes) {
    constexpr std::size_t cache = 32768;
    const int spare_bits = 64 - token_bits_ - payload_bits_;
    const std::size_t most = std::size_t(1) << std::min(spare_bits, 31);
    std::vector<std::uint32_t> bucket_of(n_prefixes);
    buckets_.assign(1, {0, 0});
    std::size_t sum = 0;
    for (std::size_t g = 0; g < n_prefixes; ++g) {
      std::size_t here = 0;
      for (const auto& own : counts) here += own[g];
      const Bucket& last = buckets_.back();
      if (g > last.prefix && (sum + here - last.first > cache || g - last.prefix >= most))
        buckets_.push_back({sum, std::uint32_t(g)});
      bucket_of[g] = std::uint32_t(buckets_.size() - 1);
      sum += here;
    }
    buckets_.push_back({sum, std::uint32_t(n_prefixes)});
    return bucket_of;
  }

  template <class Each>
  void scatter(int n_parts, const std::vector<std::vector<std::uint32_t>>& counts,
               const std::vector<std::uint32_t>& bucket_of, const Each& each,
               const Raw<std::uint64_t>& records) {
    // Each part's records of a bucket lie behind those of the parts before it.
    std::vector<std::vector<std::size_t>> at{std::size_t(n_parts), std::vector<std::size_t>(buckets_.size())};
    for (std::size_t p = 0; p < at.size(); ++p)
      for (std::size_t g = 0; g < bucket_of.size(); ++g) at[p][bucket_of[g]] += counts[p][g];
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      std::size_t next = buckets_[b].first;
      for (auto& own : at) next += std::exchange(own[b], next);
    }
    parallel(n_parts, [&](int p) {
      auto& own = at[std::size_t(p)];
      each(p, [&](std::uint32_t prefix, std::uint32_t token, std::size_t payload) {
        const std::uint32_t b = bucket_of[prefix];
        const std::uint64_t above = std::uint64_t(prefix - buckets_[b].prefix) << token_bits_ | token;
        records[own[b]++] = above << payload_bits_ | payload;
      });
    });
  }

  template <class Document, class Kept>
  Level collect(Raw<std::uint64_t>& records, const Document& document, const Kept& kept) {
    const std::size_t n_buckets = buckets_.size() - 1;
    std::vector<std::vector<Found>> found(n_buckets);
    std::vector<std::size_t> n_entries(n_buckets);
    std::atomic<std::size_t> next = 0;
    SharedWatch shared(watch_);
    parallel(n_threads_, [&](int p) {
      std::vector<std::uint64_t> spare;
      for (std::size_t b; (b = next.fetch_add(1)) < n_buckets;) {
        const std::span<std::uint64_t> own(records.data() + buckets_[b].first,
                                           buckets_[b + 1].first - buckets_[b].first);
        const int width = bits_below(buckets_[b + 1].prefix - buckets_[b].prefix);
        radix_sort(own, spare, payload_bits_, payload_bits_ + token_bits_ + width);
        n_entries[b] = compress(own, buckets_[b], document, kept, found[b]);
        if (shared.says_stop(p, 8 * own.size())) return;
      }
    });
    // The kept entries move together.
    Level level;
    std::size_t n = 0, first = 0;
    for (const auto& own : found) n += own.size();
    level.prefix.reserve(n);
    level.token.reserve(n);
    level.total.reserve(n);
    level.first.reserve(n + 1);
    for (std::size_t b = 0; b < n_buckets; ++b) {
      std::copy_n(records.data() + buckets_[b].first, n_entries[b], records.data() + first);
      buckets_[b].first_ngram = level.size();
      for (const Found& one : found[b]) {
        level.prefix.push_back(one.prefix);
        level.token.push_back(one.token);
        level.total.push_back(one.total);
        level.first.push_back(first);
        first += one.n_documents;
      }
    }
    level.first.push_back(first);
    records.resize(first);
    level.entries = std::move(records);
    return level;
  }

  // Sorted records become entries at their front; returns how many.
  template <class Document, class Kept>
  std::size_t compress(std::span<std::uint64_t> sorted, const Bucket& bucket, const Document& document,
                       const Kept& kept, std::vector<Found>& found) const {
    std::uint64_t* const records = sorted.data();
    std::size_t n = 0;
    const std::uint64_t payload_mask = (std::uint64_t(1) << payload_bits_) - 1;
    const std::uint64_t token_mask = (std::uint64_t(1) << token_bits_) - 1;
    for (std::size_t first = 0, last = 0; first < sorted.size(); first = last) {
      const std::uint64_t key = records[first] >> payload_bits_;
      std::size_t n_documents = 0;
      std::uint32_t before = none;
      for (last = first; last < sorted.size() && records[last] >> payload_bits_ == key; ++last) {
        const std::uint32_t here = document(records[last] & payload_mask);
        n_documents += last == first || here != before;
        before = here;
      }
      if (n_documents < min_documents_) continue;
      const std::size_t begin = n;
      for (const std::uint64_t *record = records + first, *end = records + last; record != end; ++record) {
        const std::uint64_t payload = *record & payload_mask;
        kept(payload, bucket.first + found.size());
        const std::uint32_t here = document(payload);
        if (n > begin && std::uint32_t(records[n - 1]) == here)
          records[n - 1] += std::uint64_t(1) << 32;
        else
          records[n++] = std::uint64_t(1) << 32 | here;
      }
      found.push_back({bucket.prefix + std::uint32_t(key >> token_bits_), std::uint32_t(key & token_mask),
                       last - first, n_documents});
    }
    return n;
  }

  std::uint64_t min_documents_;
  int n_threads_;
  Watch& watch_;
  int payload_bits_ = 0, token_bits_ = 0;
  std::vector<Bucket> buckets_;
};

}  // namespace ngrams

class NGrams {
 public:
  static constexpr std::uint32_t none = Tokens::none;

  // All of up to max_n tokens that are in at least min_documents documents.
  NGrams(const Tokens& tokens, int max_n, std::uint64_t min_documents, int n_threads, Watch& watch)
      : n_documents_(tokens.n_documents()) {
    if (n_documents_ > none || tokens.size() > none)
      throw std::length_error("more than 2^32 - 1 tokens or documents: fit in parts");
    // Single tokens are sorted by the order of their words.
    const std::vector<std::uint32_t> in_order = sorted(tokens.words().names());
    std::vector<std::uint32_t> rank(in_order.size());
    for (std::size_t k = 0; k < rank.size(); ++k) rank[in_order[k]] = std::uint32_t(k);
    ngrams::Stream stream(tokens);
    ngrams::Sorting sorting{min_documents, n_threads, watch};
    levels_.push_back(sorting.sort(
        stream, in_order.size(), 1, std::max<std::size_t>(n_documents_, 1),
        [&](int p, auto&& use) {
          const Part& part = tokens.parts()[std::size_t(p)];
          stream.each_document(p, [&](std::size_t document, std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last; ++k) use(rank[part.word[k]], 0, document);
          });
        },
        [](std::uint64_t document) { return std::uint32_t(document); }, [](std::uint64_t, std::uint64_t) {}));
    // From here on tokens are numbered among those that are left.
    for (const std::uint32_t k : levels_[0].prefix) tokens_.push_back(in_order[k]);
    levels_[0].prefix.assign(tokens_.size(), 0);
    std::iota(levels_[0].token.begin(), levels_[0].token.end(), 0u);
    if (max_n > 1) stream.take(tokens, tokens_);
    for (int n = 2; n <= max_n && levels_.back().size() > 0 && !watch.is_over(); ++n) {
      const std::size_t n_prefixes = levels_.back().size(),
                        n_tokens = std::max<std::size_t>(tokens_.size(), 1);
      const auto each = [&](auto payload) {
        return [&, payload](int p, auto&& use) {
          const std::uint32_t *const token = stream.token(p), *const prefix = stream.prefix(p);
          const std::size_t further = std::size_t(n) - 1;
          stream.each_document(p, [&](std::size_t document, std::size_t first, std::size_t last) {
            for (std::size_t k = first; k + further < last; ++k)
              if (prefix[k] != none && token[k + further] != none)
                use(prefix[k], token[k + further], payload(document, stream.first_position(p) + k));
          });
        };
      };
      if (n == max_n) {
        levels_.push_back(sorting.sort(
            stream, n_prefixes, n_tokens, n_documents_,
            each([](std::size_t document, std::size_t) { return document; }),
            [](std::uint64_t document) { return std::uint32_t(document); },
            [](std::uint64_t, std::uint64_t) {}));
      } else {
        stream.expect_prefixes();
        levels_.push_back(sorting.sort(
            stream, n_prefixes, n_tokens, tokens.size(),
            each([](std::size_t, std::size_t position) { return position; }),
            [&](std::uint64_t position) { return stream.document(position); },
            [&](std::uint64_t position, std::uint64_t found) { stream.set_prefix(position, found); }));
        stream.settle_prefixes(sorting);
      }
    }
  }

  std::size_t n_documents() const noexcept { return n_documents_; }
  const std::vector<Level>& levels() const noexcept { return levels_; }
  // From then on it is known which n-grams there are and how often, but not where.
  void forget_entries() noexcept {
    for (Level& level : levels_) level.entries = {};
  }
  // Which words the tokens of the levels are, as they are numbered in Tokens.
  const std::vector<std::uint32_t>& tokens() const noexcept { return tokens_; }

  // Calls visit(n - 1, k) for the k-th n-gram of length n, all of them in the order of their tokens.
  template <class Visit>
  void walk(Visit&& visit) const {
    std::vector<std::size_t> next(levels_.size(), 0);
    for (std::size_t k = 0; k < levels_[0].size(); ++k) walk(0, k, next, visit);
  }

 private:
  template <class Visit>
  void walk(std::size_t level, std::size_t k, std::vector<std::size_t>& next, Visit& visit) const {
    visit(level, k);
    if (level + 1 == levels_.size()) return;
    const Level& longer = levels_[level + 1];
    std::size_t& child = next[level + 1];
    for (; child < longer.size() && longer.prefix[child] == k; ++child) walk(level + 1, child, next, visit);
  }

  std::size_t n_documents_;
  std::vector<Level> levels_;
  std::vector<std::uint32_t> tokens_;
};

}  // namespace lineal
