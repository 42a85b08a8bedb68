// Hashed rows of texts, block by block: what an online learner reads, and what matrices are made of.
//
// Workers hash blocks of documents ahead; the calling thread takes them in order and, where it would wait,
// hashes as well (conveyor.h). The blocks depend on the documents alone: so does everything that is computed
// from them, whatever the number of threads.
//
// Memory: four blocks a thread, each of the rows of some 32 kB of text or of one longer document. Once the
// buffers have the size of the largest block nothing is allocated.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>

#include "lineal/conveyor.h"
#include "lineal/rows.h"
#include "lineal/text/document_rows.h"
#include "lineal/text/hashing.h"
#include "lineal/text/tokens.h"

namespace lineal {

// The task of a Conveyor.
template <class Made>
struct HashedBlocks {
  using Block = Made;
  struct Room {
    std::unique_ptr<Source::Reader> reader;
    Hashing::Scratch scratch;
  };
  const Source& source;
  const Hashing& hashing;
  bool is_signed;
  const Weighing& weighing;

  std::size_t size() const { return source.size(); }
  // Enough text to make handing it over cheap; not so many documents that their rows, though empty, are many.
  std::size_t end_of(std::size_t first) const {
    constexpr std::size_t enough_bytes = 32768, enough_documents = 1024;
    std::size_t n_bytes = 0, last = first;
    while (last < size() && n_bytes < enough_bytes && last - first < enough_documents)
      n_bytes += source.n_bytes_of(last++);
    return last;
  }
  Block block() const {
    if constexpr (std::is_same_v<Block, DocumentSets>)
      return Block(hashing.n_columns);
    else
      return Block(hashing.n_columns, weighing, Columns::hashed);
  }
  Room room() const { return {source.reader(), {}}; }
  template <class GoesOn>
  void fill(std::size_t first, std::size_t last, Room& room, Block& block, GoesOn&& goes_on) const {
    block.clear();
    const auto add = [&](Texts words, std::span<const std::size_t> ends, const char* readable_end) {
      add_hashed_rows(hashing, is_signed, words, ends, readable_end, room.scratch, block);
      return goes_on(8 * words.size());
    };
    room.reader->blocks(first, last, std::ref(add));  // a reference: it is not copied to the heap
  }
};

// Calls use(rows, first document) for block after block of the documents' rows, in order, on the calling
// thread; the rows may be looked at until it returns. Made is what they are made in: DocumentRows<V>, or
// DocumentSets where they are sets. A flaw of a document (Malformed) is thrown when all blocks before the
// document's own have been used, and none behind them; what `use` throws passes through. When the watch says
// stop, in `use` as well, the blocks that are left are not used. No thread is left behind.
template <class Made, class Use>
void stream_hashed_rows(const Source& source, const Hashing& hashing, bool is_signed,
                        const Weighing& weighing, int n_threads, Watch& watch, Use&& use) {
  const HashedBlocks<Made> blocks{source, hashing, is_signed, weighing};
  Conveyor conveyor(blocks, n_parts_of(source, n_threads), watch);
  conveyor.run([&](const Made& block, std::size_t first) { use(block.rows(), Index(first)); });
}

// All rows. Blocks are made in memory that is used again and again, and go from there to where they stay: so
// no page of the result is touched by more than one thread, or twice.
template <class V>
TermMatrix<V> hashed_rows(const Source& source, const Hashing& hashing, bool is_signed,
                          const Weighing& weighing, int n_threads, Watch& watch) {
  TermMatrix<V> made{{0}, {}, {}};
  made.start.reserve(source.size() + 1);
  Growing<std::int32_t> column;
  Growing<V> value;
  // Words of four letters; texts may be too short for most of many lengths.
  const std::size_t expected =
      source.n_bytes() / 5 * std::min<std::size_t>(hashing.max_n - hashing.min_n + 1, 8);
  column.expect(expected);
  value.expect(expected);
  stream_hashed_rows<DocumentRows<V>>(source, hashing, is_signed, weighing, n_threads, watch,
                                      [&](const Csr<V>& rows, Index) {
                                        const Index before = made.start.back();
                                        for (Index i = 1; i <= rows.n_rows; ++i)
                                          made.start.push_back(before + rows.start[i]);
                                        const auto n = std::size_t(rows.start[rows.n_rows]);
                                        std::copy_n(rows.index, n, column.extend(n));
                                        std::copy_n(rows.value, n, value.extend(n));
                                      });
  made.column = column.take();
  made.value = value.take();
  return made;
}

}  // namespace lineal
