// Counted terms in order, as bytes that go to a file and come back through small buffers.
//
//   RunWriter    terms in rising order of their bytes, each written against the one before it:
//                shared bytes, further bytes, those bytes, documents, occurrences (numbers 7 bits at a time)
//   RunReader    the same terms back, one at a time
//   merge_runs   the terms of many runs in order; the numbers of equal terms are added up
//
// Cost of a merge: log2(runs) comparisons for each term of each run; memory for one buffer a run. Bytes that
// come back are not trusted: what no writer can have written is refused, and nothing beyond them is read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lineal/watch.h"

namespace lineal {

struct DamagedRun : std::runtime_error {
  DamagedRun() : std::runtime_error("a temporary file of counted terms was damaged while it was in use") {}
};

// `write(data, n)` takes n bytes, behind those before.
template <class Write>
class RunWriter {
 public:
  explicit RunWriter(Write write, std::size_t buffer_size = std::size_t(1) << 20)
      : write_(std::move(write)), buffer_size_(buffer_size) {}

  void add(std::string_view term, std::uint64_t n_documents, std::uint64_t total) {
    const std::size_t most = std::min(before_.size(), term.size());
    const std::size_t shared =
        std::size_t(std::mismatch(term.begin(), term.begin() + std::ptrdiff_t(most), before_.begin()).first -
                    term.begin());
    put(shared);
    put(term.size() - shared);
    buffer_ += term.substr(shared);
    put(n_documents);
    put(total);
    before_.replace(shared, std::string::npos, term.substr(shared));
    if (buffer_.size() >= buffer_size_) flush();
  }
  // Nothing is complete before. Returns how many bytes were written in all.
  std::uint64_t finish() {
    if (!buffer_.empty()) flush();
    return n_bytes_;
  }

 private:
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) buffer_ += char(0x80 | (number & 0x7F));
    buffer_ += char(number);
  }
  void flush() {
    write_(buffer_.data(), buffer_.size());
    n_bytes_ += buffer_.size();
    buffer_.clear();
  }
  Write write_;
  std::size_t buffer_size_;
  std::string buffer_, before_;
  std::uint64_t n_bytes_ = 0;
};

// `read(at, to, n)` puts up to n bytes of the file there and returns how many it had.
template <class Read>
class RunReader {
 public:
  RunReader(Read read, std::uint64_t first, std::uint64_t n_bytes, std::size_t buffer_size)
      : read_(std::move(read)),
        next_(first),
        left_(n_bytes),
        buffer_size_(std::max<std::size_t>(buffer_size, 1)) {}

  // The next term; false behind the last.
  bool next() {
    if (n_buffered() == 0 && left_ == 0) {
      buffer_ = std::vector<char>();
      return false;
    }
    const std::uint64_t shared = number(), further = number();
    if (shared > term_.size() || further > n_buffered() + left_) throw DamagedRun();
    const std::size_t before = term_.size();
    const char replaced = shared < before ? term_[shared] : '\0';
    term_.resize(shared);
    for (std::uint64_t wanted = further; wanted > 0;) {
      if (n_buffered() == 0) fill();
      const std::size_t n = std::size_t(std::min<std::uint64_t>(wanted, n_buffered()));
      term_.append(buffer_.data() + at_, n);
      at_ += n;
      wanted -= n;
    }
    // Terms rise; only the first one may be empty.
    const bool is_above = further > 0 && (shared == before || static_cast<unsigned char>(term_[shared]) >
                                                                  static_cast<unsigned char>(replaced));
    if (!is_above && !is_first_) throw DamagedRun();
    is_first_ = false;
    n_documents_ = number();
    total_ = number();
    return true;
  }
  const std::string& term() const noexcept { return term_; }
  std::uint64_t n_documents() const noexcept { return n_documents_; }
  std::uint64_t total() const noexcept { return total_; }

 private:
  std::size_t n_buffered() const noexcept { return end_ - at_; }
  void fill() {
    const std::size_t wanted = std::size_t(std::min<std::uint64_t>(left_, buffer_size_));
    buffer_.resize(buffer_size_);
    at_ = 0;
    end_ = wanted > 0 ? read_(next_, buffer_.data(), wanted) : 0;
    if (end_ == 0 || end_ > wanted) throw DamagedRun();
    next_ += end_;
    left_ -= end_;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (n_buffered() == 0) fill();
      const auto byte = static_cast<unsigned char>(buffer_[at_++]);
      value |= std::uint64_t(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    throw DamagedRun();
  }
  Read read_;
  std::uint64_t next_, left_;  // of the file
  std::size_t buffer_size_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  bool is_first_ = true;
  std::string term_;
  std::uint64_t n_documents_ = 0, total_ = 0;
};

// Calls use(term, documents, occurrences) for each distinct term of all runs, in order, until the watch says
// stop.
template <class Read, class Use>
void merge_runs(std::vector<RunReader<Read>>& runs, Watch& watch, Use&& use) {
  // A heap of runs, that with the lowest term on top.
  std::vector<std::size_t> heap;
  const auto is_above = [&](std::size_t a, std::size_t b) { return runs[a].term() > runs[b].term(); };
  for (std::size_t k = 0; k < runs.size(); ++k)
    if (runs[k].next()) heap.push_back(k);
  std::make_heap(heap.begin(), heap.end(), is_above);
  const auto advance = [&] {
    if (!runs[heap[0]].next()) {
      heap[0] = heap.back();
      heap.pop_back();
    }
    for (std::size_t at = 0, child; (child = 2 * at + 1) < heap.size(); at = child) {
      if (child + 1 < heap.size() && is_above(heap[child], heap[child + 1])) ++child;
      if (!is_above(heap[at], heap[child])) break;
      std::swap(heap[at], heap[child]);
    }
  };
  std::string term;
  while (!heap.empty()) {
    term = runs[heap[0]].term();
    std::uint64_t n_documents = 0, total = 0;
    do {
      n_documents += runs[heap[0]].n_documents();
      total += runs[heap[0]].total();
      advance();
      if (watch.says_stop(64)) return;
    } while (!heap.empty() && runs[heap[0]].term() == term);
    use(std::string_view(term), n_documents, total);
  }
}

}  // namespace lineal
