// Runs of n symbols as columns: each sequence becomes a sparse row of how often it has each run.
//
// Runs are named exactly, without hashing them to numbers that might meet: a run of 2k symbols is the pair of
// the names of its halves, a run of n symbols the pair of two runs that overlap (Karp, Miller and Rosenberg
// 1972). In O(symbols log n).
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "lineal/kernel/strings.h"

namespace lineal::kernel {

// Numbers for pairs of numbers, in the order in which they are met.
class PairNames {
 public:
  PairNames() : slots_(1024, Slot{0, none}) {}

  std::uint32_t operator()(std::uint32_t first, std::uint32_t second) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = find(slots_, std::uint64_t(first) << 32 | second);
    if (slot.name == none) {
      if (size_ >= std::size_t(0x7fffffff))
        throw std::length_error("more different runs than can be numbered");
      slot = {std::uint64_t(first) << 32 | second, std::uint32_t(size_++)};
    }
    return slot.name;
  }
  std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  struct Slot {
    std::uint64_t key;
    std::uint32_t name;
  };
  static Slot& find(std::vector<Slot>& slots, std::uint64_t key) noexcept {
    std::uint64_t hash = key * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    std::size_t at = std::size_t(hash * 0x9e3779b97f4a7c15u >> 20) & (slots.size() - 1);
    while (slots[at].name != none && slots[at].key != key) at = (at + 1) & (slots.size() - 1);
    return slots[at];
  }
  void grow() {
    std::vector<Slot> larger(2 * slots_.size(), Slot{0, none});
    for (const Slot& slot : slots_)
      if (slot.name != none) find(larger, slot.key) = slot;
    slots_.swap(larger);
  }
  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

struct CountRows {
  std::vector<Index> start;
  std::vector<std::int32_t> column;
  std::vector<double> count;
  Index n_columns = 0;
};

// Names of runs of `width` symbols become those of runs of `width + step`; a sequence that is too short for
// one keeps none.
inline std::size_t join_runs(const Sequences& all, std::vector<std::uint32_t>& name, Index width, Index step,
                             Watch& watch) {
  PairNames names;
  for (Index i = 0; i < all.size && !watch.is_over(); ++i) {
    const Index begin = all.start[i], size = all[i].size;
    // In place: what is written at p is not read again.
    for (Index p = 0; p + width + step <= size; ++p)
      name[std::size_t(begin + p)] = names(name[std::size_t(begin + p)], name[std::size_t(begin + p + step)]);
    watch.says_stop(4 * size);
  }
  return names.size();
}

inline CountRows run_counts(const Sequences& all, Index n, Watch& watch) {
  std::vector<std::uint32_t> name(all.symbol, all.symbol + all.start[all.size]);
  Index width = 1;
  CountRows rows;
  rows.n_columns = Index(join_runs(all, name, 1, 0, watch));  // symbols get numbers without gaps
  while (2 * width <= n) rows.n_columns = Index(join_runs(all, name, width, width, watch)), width *= 2;
  if (width < n) rows.n_columns = Index(join_runs(all, name, width, n - width, watch));
  rows.start.push_back(0);
  for (Index i = 0; i < all.size && !watch.is_over(); ++i) {
    const Index begin = all.start[i], n_runs = std::max<Index>(all[i].size - n + 1, 0);
    const auto first = name.begin() + begin, last = first + n_runs;
    std::sort(first, last);
    for (auto at = first; at != last;) {
      const auto next = std::upper_bound(at, last, *at);
      rows.column.push_back(std::int32_t(*at));
      rows.count.push_back(double(next - at));
      at = next;
    }
    rows.start.push_back(Index(rows.column.size()));
    watch.says_stop(8 * n_runs);
  }
  return rows;
}

}  // namespace lineal::kernel
