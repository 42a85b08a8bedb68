// The k nearest of what was met so far, and loops over queries.
//
// One order holds for every index: nearer first, and of equal distances the lower row. It is a total order,
// so which rows are the k nearest does not depend on the order in which they are met, on the index or on
// threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal::near {

struct Neighbor {
  double distance;
  Index row;

  bool operator<(const Neighbor& other) const noexcept {
    return distance < other.distance || (distance == other.distance && row < other.row);
  }
};

// A heap whose top is the worst of the k best.
class Nearest {
 public:
  explicit Nearest(Index k) : k_(std::size_t(k)) { heap_.reserve(k_); }

  std::size_t k() const noexcept { return k_; }
  void clear() noexcept { heap_.clear(); }
  bool is_full() const noexcept { return heap_.size() == k_; }
  // What a newcomer has to beat.
  Neighbor worst() const noexcept {
    if (!is_full()) return {std::numeric_limits<double>::infinity(), std::numeric_limits<Index>::max()};
    return heap_.front();
  }
  void offer(double distance, Index row) {
    const Neighbor one{distance, row};
    if (!is_full()) {
      heap_.push_back(one);
      std::push_heap(heap_.begin(), heap_.end());
    } else if (one < heap_.front()) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = one;
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
  // Nearest first; the heap is empty afterwards.
  void write(double* distance, Index* row) {
    std::sort_heap(heap_.begin(), heap_.end());
    for (std::size_t i = 0; i < heap_.size(); ++i) distance[i] = heap_[i].distance, row[i] = heap_[i].row;
    heap_.clear();
  }

 private:
  std::size_t k_;
  std::vector<Neighbor> heap_;
};

// Where the answers to n_queries questions go, k to a row.
struct Answers {
  Index k;
  double* distance;
  Index* row;

  void take(Nearest& nearest, Index query) const { nearest.write(distance + query * k, row + query * k); }
};

// Whether the search should end, asked by any of its threads.
class Ending {
 public:
  explicit Ending(Watch& watch) : watch_(watch) {}
  bool is_near(int part, Index work) { return watch_.says_stop(part, std::size_t(work)); }

 private:
  SharedWatch watch_;
};

// Calls body(scratch, part, first, last) for blocks of queries, taken by whichever thread is free: a query is
// answered by one thread alone, so who takes it does not show. make() makes a thread's scratch.
template <class Make, class Body>
void each_block(Index n_queries, Index block, int n_threads, Ending& ending, Make&& make, Body&& body) {
  std::atomic<Index> next{0};
  const Index n_blocks = (n_queries + block - 1) / block;
  parallel(int(std::clamp<Index>(n_blocks, 1, n_threads)), [&](int part) {
    auto scratch = make();
    while (true) {
      const Index first = next.fetch_add(block, std::memory_order_relaxed);
      if (first >= n_queries || ending.is_near(part, 0)) return;
      body(scratch, part, first, std::min(first + block, n_queries));
    }
  });
}

}  // namespace lineal::near
