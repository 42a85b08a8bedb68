// From terms with their documents to documents with their terms: the rows of a sparse matrix.
//
// Terms are visited in the order of their columns, so rows come out sorted without being sorted. Documents
// are taken in blocks whose rows a cache holds: first every entry goes to its block's share of two arrays,
// its column to where the columns will be and (document in the block, count) to another; then each block is
// dealt out to its rows and weighed. Both steps write to few places at a time.
//
// Memory: 8 bytes an entry in the first step, beside the terms' entries; the terms may then be given back,
// and the second step adds the values.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/text/ngrams.h"
#include "lineal/text/weighing.h"

namespace lineal {

template <class V>
struct TermMatrix {
  std::vector<std::int64_t> start;  // of each row; one more than there are rows
  Raw<std::int32_t> column;
  Raw<V> value;
};

// A term with its column: where its entries (count << 32 | document, by document) are.
struct Term {
  std::span<const std::uint64_t> entries;
  std::int32_t column;
};

// `terms` in the order of their columns; release() is called when their entries are no longer looked at.
template <class V, class Release>
TermMatrix<V> term_matrix(std::span<const Term> terms, std::size_t n_documents, const Weighing& weighing,
                          int n_threads, Release&& release) {
  std::size_t n_entries = 0;
  for (const Term& term : terms) n_entries += term.entries.size();
  const int n_parts = int(std::clamp<std::size_t>(n_entries >> 16, 1, std::size_t(n_threads)));
  std::vector<std::size_t> cuts{0};
  for (std::size_t at = 0, sum = 0; cuts.size() <= std::size_t(n_parts);) {
    while (at < terms.size() && sum < n_entries / std::size_t(n_parts) * cuts.size())
      sum += terms[at++].entries.size();
    cuts.push_back(cuts.size() == std::size_t(n_parts) ? terms.size() : at);
  }

  // How many entries each document has, in the terms of each part.
  std::vector<std::vector<std::uint32_t>> counts{std::size_t(n_parts)};
  std::vector<std::uint32_t> largest(counts.size(), 1);
  parallel(n_parts, [&](int p) {
    auto& own = counts[std::size_t(p)];
    own.resize(n_documents);
    std::uint32_t most = 1;
    for (std::size_t t = cuts[std::size_t(p)]; t < cuts[std::size_t(p) + 1]; ++t)
      for (const std::uint64_t entry : terms[t].entries) {
        ++own[std::uint32_t(entry)];
        most = std::max(most, std::uint32_t(entry >> 32));
      }
    largest[std::size_t(p)] = most;
  });
  TermMatrix<V> made;
  made.start.resize(n_documents + 1);
  for (std::size_t d = 0; d < n_documents; ++d) {
    std::int64_t here = 0;
    for (const auto& own : counts) here += own[d];
    made.start[d + 1] = made.start[d] + here;
  }
  made.column = Raw<std::int32_t>(n_entries);
  Raw<std::uint32_t> packed(n_entries);

  // Blocks of 2^shift documents: (document in the block | count) has 32 bits.
  const int count_bits = int(std::bit_width(*std::max_element(largest.begin(), largest.end())));
  const std::size_t wanted =
      std::max<std::size_t>(n_documents * 65536 / std::max<std::size_t>(n_entries, 1), 1);
  const int shift = std::min(int(std::bit_width(wanted)) - 1, 32 - count_bits);
  const std::size_t n_blocks = (n_documents + (std::size_t(1) << shift) - 1) >> shift;
  const auto first_document = [&](std::size_t block) { return std::min(block << shift, n_documents); };
  std::vector<std::vector<std::int64_t>> at(counts.size());
  for (std::size_t block = 0; block < n_blocks; ++block) {
    std::int64_t next = made.start[first_document(block)];
    for (std::size_t p = 0; p < counts.size(); ++p) {
      at[p].push_back(next);
      for (std::size_t d = first_document(block); d < first_document(block + 1); ++d) next += counts[p][d];
    }
  }
  counts.clear();
  parallel(n_parts, [&](int p) {
    auto& own = at[std::size_t(p)];
    for (std::size_t t = cuts[std::size_t(p)]; t < cuts[std::size_t(p) + 1]; ++t)
      for (const std::uint64_t entry : terms[t].entries) {
        const std::uint32_t document = std::uint32_t(entry), count = std::uint32_t(entry >> 32);
        const std::size_t place = std::size_t(own[document >> shift]++);
        made.column[place] = terms[t].column;
        packed[place] = std::uint32_t(std::uint64_t(document & ((1u << shift) - 1)) << count_bits) | count;
      }
  });
  release();
  made.value = Raw<V>(n_entries);

  std::atomic<std::size_t> next = 0;
  parallel(n_parts, [&](int) {
    std::vector<std::int32_t> columns;
    std::vector<std::int32_t> row_counts;
    std::vector<std::int64_t> cursor;
    for (std::size_t block; (block = next.fetch_add(1)) < n_blocks;) {
      const std::size_t first = first_document(block), last = first_document(block + 1);
      const std::int64_t begin = made.start[first];
      const std::size_t n = std::size_t(made.start[last] - begin);
      columns.resize(n);
      row_counts.resize(n);
      cursor.assign(made.start.begin() + std::int64_t(first), made.start.begin() + std::int64_t(last));
      for (std::int64_t& place : cursor) place -= begin;
      for (std::size_t e = 0; e < n; ++e) {
        const std::uint64_t entry = packed[std::size_t(begin) + e];
        const std::size_t place = std::size_t(cursor[entry >> count_bits]++);
        columns[place] = made.column[std::size_t(begin) + e];
        row_counts[place] = std::int32_t(entry & ((std::uint64_t(1) << count_bits) - 1));
      }
      std::copy(columns.begin(), columns.end(), made.column.data() + begin);
      for (std::size_t d = first; d < last; ++d) {
        const std::size_t row = std::size_t(made.start[d] - begin),
                          size = std::size_t(made.start[d + 1] - made.start[d]);
        weighing.weigh<V>({columns.data() + row, size}, row_counts.data() + row,
                          made.value.data() + made.start[d]);
      }
    }
  });
  return made;
}

}  // namespace lineal
