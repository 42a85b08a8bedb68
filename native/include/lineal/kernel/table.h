// Tables of values of all pairs of two sets, in tiles that threads take as they come.
//
// Every value is computed by one thread from its two items alone, so threads change no bit. A set with itself
// is computed on and above the diagonal, and each value is written twice: the table is exactly symmetric.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "lineal/parallel.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal::kernel {

struct Table {
  Index n_rows, n_columns;
  bool is_symmetric;
  double* value;  // row-major

  void put(Index i, Index j, double k) const noexcept {
    value[i * n_columns + j] = k;
    if (is_symmetric) value[j * n_columns + i] = k;
  }
};

// Columns of a tile. Narrow, so that few long items keep all threads busy.
inline constexpr Index tile_width = 64;

// Takes units 0 .. n_units-1 as they come: body(scratch, part, unit). The first thread, on which signals
// arrive, asks for them until the last thread has ended.
template <class Make, class Body>
void each_unit(Index n_units, int n_threads, SharedWatch& watch, Make&& make, Body&& body) {
  std::atomic<Index> next{0};
  const int n_parts = int(std::clamp<Index>(n_units, 1, n_threads));
  std::atomic<int> n_running{n_parts - 1};
  struct Ended {
    std::atomic<int>* running;
    ~Ended() {
      if (running != nullptr) running->fetch_sub(1);
    }
  };
  parallel(n_parts, [&](int part) {
    const Ended at_the_end{part == 0 ? nullptr : &n_running};
    auto scratch = make();
    for (Index unit; !watch.is_over() && (unit = next.fetch_add(1, std::memory_order_relaxed)) < n_units;)
      body(scratch, part, unit);
    while (part == 0 && n_running.load() > 0 && !watch.is_over()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      watch.says_stop(0, std::size_t(1) << 20);
    }
  });
}

// body(scratch, part, row, first, last): the columns first .. last of a row.
template <class Make, class Body>
void each_tile(const Table& table, int n_threads, SharedWatch& watch, Make&& make, Body&& body) {
  const Index n_across = (table.n_columns + tile_width - 1) / tile_width;
  each_unit(table.n_rows * n_across, n_threads, watch, make, [&](auto& scratch, int part, Index unit) {
    const Index row = unit / n_across, begin = unit % n_across * tile_width;
    const Index last = std::min(begin + tile_width, table.n_columns);
    const Index first = table.is_symmetric ? std::max(begin, row) : begin;
    if (first < last) body(scratch, part, row, first, last);
  });
}

}  // namespace lineal::kernel
