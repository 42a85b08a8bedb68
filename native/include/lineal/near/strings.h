// Strings under the Levenshtein distance, looked at by length: nearest lengths first.
//
// Strings whose lengths differ by l are at least l apart, so the search ends at the first length that is
// farther away than the worst kept neighbour; within a string it ends as soon as the distance must be larger.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "lineal/near/edit_distance.h"
#include "lineal/near/nearest.h"

namespace lineal::near {

// Strings one after another: the i-th is characters start[i] .. start[i + 1].
struct Strings {
  const Symbol* characters;
  const Index* start;
  Index size;

  Text operator[](Index i) const noexcept {
    return {characters + start[i], std::size_t(start[i + 1] - start[i])};
  }
  Index length(Index i) const noexcept { return start[i + 1] - start[i]; }
};

class StringIndex {
 public:
  // The strings are borrowed.
  explicit StringIndex(const Strings& strings) : strings_(strings), order_(std::size_t(strings.size)) {
    std::iota(order_.begin(), order_.end(), Index(0));
    std::stable_sort(order_.begin(), order_.end(),
                     [&](Index a, Index b) { return strings.length(a) < strings.length(b); });
  }

  Index n_rows() const noexcept { return strings_.size; }

  void search(const Strings& queries, const Answers& answers, int n_threads, Watch& watch) const {
    struct Scratch {
      Pattern pattern;
      Nearest nearest;
    };
    Ending ending(watch);
    each_block(
        queries.size, 1, n_threads, ending, [&] { return Scratch{{}, Nearest(answers.k)}; },
        [&](Scratch& scratch, int part, Index i, Index) {
          scratch.pattern.set(queries[i]);
          if (find(scratch.pattern, scratch.nearest, ending, part)) answers.take(scratch.nearest, i);
        });
  }

  void all_distances(const Strings& queries, double* out, int n_threads, Watch& watch) const {
    Ending ending(watch);
    each_block(
        queries.size, 1, n_threads, ending, [] { return Pattern(); },
        [&](Pattern& pattern, int part, Index i, Index) {
          pattern.set(queries[i]);
          for (Index r = 0; r < strings_.size; ++r) {
            out[i * strings_.size + r] = double(pattern.distance(strings_[r], farthest));
            if (ending.is_near(part, strings_.length(r) * (1 + pattern.size() / 64))) return;
          }
        });
  }

 private:
  static constexpr Index farthest = std::numeric_limits<Index>::max() / 2;

  // False if it was told to end.
  bool find(Pattern& pattern, Nearest& nearest, Ending& ending, int part) const {
    const auto length = [&](Index at) { return strings_.length(order_[std::size_t(at)]); };
    Index right = std::partition_point(order_.begin(), order_.end(),
                                       [&](Index r) { return strings_.length(r) < pattern.size(); }) -
                  order_.begin();
    Index left = right - 1;
    while (left >= 0 || right < strings_.size) {
      const Index shorter = left >= 0 ? pattern.size() - length(left) : farthest;
      const Index longer = right < strings_.size ? length(right) - pattern.size() : farthest;
      const Neighbor worst = nearest.worst();
      if (double(std::min(shorter, longer)) > worst.distance) break;
      const Index row = order_[std::size_t(shorter < longer ? left-- : right++)];
      const Index limit = nearest.is_full() ? Index(worst.distance) : farthest;
      nearest.offer(double(pattern.distance(strings_[row], limit)), row);
      if (ending.is_near(part, strings_.length(row) * (1 + pattern.size() / 64))) return false;
    }
    return true;
  }

  Strings strings_;
  std::vector<Index> order_;
};

}  // namespace lineal::near
