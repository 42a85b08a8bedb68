// Kernels of strings of symbols.
//
// Subsequences (Lodhi et al. 2002): sum over strings u of a length, and over all places i in x and j in z
// that spell u, of decay^(span of i + span of j). In O(length |x| |z|), by their K' and K'':
//
//     K''_l(a, b) = decay K''_l(a, b-1) + [x_a = z_b] decay^2 K'_{l-1}(a-1, b-1)
//     K'_l(a, b)  = decay K'_l(a-1, b) + K''_l(a, b),   K'_0 = 1
//     k(x, z)     = sum_ab [x_a = z_b] decay^2 K'_{length-1}(a-1, b-1)
//
// A row of the recurrence is a chain along b, so eight pairs of strings are computed side by side. A shorter
// string is filled up with symbols that equal none: they add nothing, so a pair's value does not depend on
// the pairs beside it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "lineal/kernel/table.h"

namespace lineal::kernel {

using Symbol = std::uint32_t;
inline constexpr Symbol no_symbol = 0xffffffffu, no_other_symbol = 0xfffffffeu;  // beyond code points and ids

struct Sequence {
  const Symbol* symbol;
  Index size;
};

// Sequences one after another: the i-th is symbols start[i] .. start[i + 1].
struct Sequences {
  const Symbol* symbol;
  const Index* start;
  Index size;

  Sequence operator[](Index i) const noexcept { return {symbol + start[i], start[i + 1] - start[i]}; }
};

// Eight pairs of sequences at once.
class SubsequenceOctet {
 public:
  static constexpr int n_lanes = 8;
  struct Pair {
    Sequence x{nullptr, 0}, z{nullptr, 0};
  };

  SubsequenceOctet(int length, double decay) : length_(length), decay_(decay) {}

  // False where the watch ended it.
  bool evaluate(const std::array<Pair, n_lanes>& pairs, double (&value)[n_lanes], int part,
                SharedWatch& watch) {
    pack(pairs);
    Eight total{};
    for (Index a = 0; a < n_x_; ++a) {
      match(a);
      row(total);
      if (watch.says_stop(part, std::size_t(n_z_) * std::size_t(length_) * n_lanes)) return false;
    }
    for (int lane = 0; lane < n_lanes; ++lane) value[lane] = total.half[lane / 4][lane % 4];
    return true;
  }

 private:
  typedef double Four __attribute__((vector_size(32)));
  struct Eight {
    Four half[2];
  };

  void pack(const std::array<Pair, n_lanes>& pairs) {
    n_x_ = n_z_ = 0;
    for (const Pair& pair : pairs) n_x_ = std::max(n_x_, pair.x.size), n_z_ = std::max(n_z_, pair.z.size);
    x_.assign(std::size_t(n_x_) * n_lanes, no_symbol);
    z_.assign(std::size_t(n_z_) * n_lanes, no_other_symbol);
    for (std::size_t lane = 0; lane < n_lanes; ++lane) {
      const Pair& pair = pairs[lane];
      for (Index a = 0; a < pair.x.size; ++a) x_[std::size_t(a) * n_lanes + lane] = pair.x.symbol[a];
      for (Index b = 0; b < pair.z.size; ++b) z_[std::size_t(b) * n_lanes + lane] = pair.z.symbol[b];
    }
    equal_.resize(std::size_t(n_z_));
    // Level 0 is 1 everywhere, the others 0 before the first symbol.
    level_.assign(std::size_t(length_) * std::size_t(n_z_ + 1), Eight{});
    std::fill(level_.begin(), level_.begin() + std::ptrdiff_t(n_z_ + 1), Eight{Four{} + 1.0, Four{} + 1.0});
  }

  // decay^2 where the a-th symbol of x is the b-th of z, else 0.
  void match(Index a) noexcept {
    const double both = decay_ * decay_;
    const Symbol* const x = x_.data() + a * n_lanes;
    for (Index b = 0; b < n_z_; ++b) {
      const Symbol* const z = z_.data() + b * n_lanes;
      Eight& equal = equal_[std::size_t(b)];
      for (int lane = 0; lane < n_lanes; ++lane)
        equal.half[lane / 4][lane % 4] = x[lane] == z[lane] ? both : 0;
    }
  }

  // One more symbol of x: the last level is summed, then each level moves on, the highest first, which needs
  // the one below as it was.
  void row(Eight& total) noexcept {
    const Eight* const equal = equal_.data();
    const Index stride = n_z_ + 1;
    const Eight* const last = level_.data() + (length_ - 1) * stride;
    Eight sum = total;
    for (Index b = 0; b < n_z_; ++b)
      for (int h = 0; h < 2; ++h) sum.half[h] += equal[b].half[h] * last[b].half[h];
    total = sum;
    for (int l = length_ - 1; l >= 1; --l) {
      Eight* const here = level_.data() + l * stride;
      const Eight* const below = here - stride;
      Four carry0{}, carry1{};
      for (Index b = 0; b < n_z_; ++b) {
        carry0 = decay_ * carry0 + equal[b].half[0] * below[b].half[0];
        carry1 = decay_ * carry1 + equal[b].half[1] * below[b].half[1];
        here[b + 1].half[0] = decay_ * here[b + 1].half[0] + carry0;
        here[b + 1].half[1] = decay_ * here[b + 1].half[1] + carry1;
      }
    }
  }

  int length_;
  double decay_;
  Index n_x_ = 0, n_z_ = 0;
  std::vector<Symbol> x_, z_;
  std::vector<Eight> equal_, level_;
};

// Places of the sequences by length, so that those computed side by side are about equally long.
inline std::vector<Index> by_length(const Sequences& all) {
  std::vector<Index> order(static_cast<std::size_t>(all.size));
  std::iota(order.begin(), order.end(), Index(0));
  std::stable_sort(order.begin(), order.end(), [&](Index i, Index j) { return all[i].size < all[j].size; });
  return order;
}

// All pairs of X and Z; with is_symmetric Z is X, and a pair is computed once.
inline void subsequence_table(const Sequences& X, const Sequences& Z, const Table& table, int length,
                              double decay, int n_threads, Watch& watch) {
  SharedWatch shared(watch);
  const std::vector<Index> order = by_length(Z);
  constexpr Index n_lanes = SubsequenceOctet::n_lanes;
  each_tile(
      table, n_threads, shared, [&] { return SubsequenceOctet(length, decay); },
      [&](SubsequenceOctet& octet, int part, Index row, Index first, Index last) {
        const Index i = table.is_symmetric ? order[std::size_t(row)] : row;
        for (Index begin = first; begin < last; begin += n_lanes) {
          const Index end = std::min(begin + n_lanes, last);
          std::array<SubsequenceOctet::Pair, n_lanes> pairs;
          for (Index q = begin; q < end; ++q)
            pairs[std::size_t(q - begin)] = {X[i], Z[order[std::size_t(q)]]};
          double value[n_lanes];
          if (!octet.evaluate(pairs, value, part, shared)) return;
          for (Index q = begin; q < end; ++q) table.put(i, order[std::size_t(q)], value[q - begin]);
        }
      });
}

// Every sequence with itself.
inline void subsequence_diagonal(const Sequences& X, double* out, int length, double decay, int n_threads,
                                 Watch& watch) {
  SharedWatch shared(watch);
  const std::vector<Index> order = by_length(X);
  constexpr Index n_lanes = SubsequenceOctet::n_lanes;
  each_unit((X.size + n_lanes - 1) / n_lanes, n_threads, shared,
            [&] { return SubsequenceOctet(length, decay); },
            [&](SubsequenceOctet& octet, int part, Index unit) {
              const Index begin = unit * n_lanes, end = std::min(begin + n_lanes, X.size);
              std::array<SubsequenceOctet::Pair, n_lanes> pairs;
              for (Index q = begin; q < end; ++q) {
                const Sequence x = X[order[std::size_t(q)]];
                pairs[std::size_t(q - begin)] = {x, x};
              }
              double value[n_lanes];
              if (!octet.evaluate(pairs, value, part, shared)) return;
              for (Index q = begin; q < end; ++q) out[order[std::size_t(q)]] = value[q - begin];
            });
}

}  // namespace lineal::kernel
