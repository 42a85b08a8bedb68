#include "lineal/rng.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <vector>

#include "check.h"

using lineal::Rng;

// Published by the authors' reference code (prng.di.unimi.it) and repeated in Rust's rand_xoshiro.
THEOREM("seed 0 gives the published stream of xoshiro256** seeded by splitmix64") {
  Rng rng(0);
  CHECK(rng.next() == 11091344671253066420ULL);
  CHECK(rng.next() == 13793997310169335082ULL);
  CHECK(rng.next() == 1900383378846508768ULL);
}

THEOREM("one seed gives one stream, two seeds give two") {
  Rng a(7), b(7), c(8);
  int n_equal = 0;
  for (int k = 0; k < 1000; ++k) {
    const std::uint64_t next = a.next();
    CHECK(next == b.next());
    n_equal += next == c.next();
  }
  CHECK(n_equal == 0);
}

THEOREM("a generator that takes another one's state gives the numbers that come there") {
  Rng a(7), b(8);
  for (int k = 0; k < 10; ++k) a.next();
  b.restore(a.state());
  for (int k = 0; k < 1000; ++k) CHECK(a.next() == b.next());
}

THEOREM("below(n) is in [0, n) and every number is about equally frequent") {
  Rng rng(1);
  for (const std::uint64_t n : {1ULL, 2ULL, 3ULL, 1000ULL, 1ULL << 40, ~0ULL})
    for (int k = 0; k < 1000; ++k) CHECK(rng.below(n) < n);
  std::array<int, 10> counts{};
  for (int k = 0; k < 100000; ++k) ++counts[rng.below(10)];
  // Six standard deviations of a binomial with n = 1e5, p = 0.1 (95 each).
  for (const int count : counts) CHECK(std::abs(count - 10000) < 570);
}

THEOREM("a shuffle is a permutation, the same for the same seed") {
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<int> items(n), again(n), sorted(n);
    std::iota(items.begin(), items.end(), 0);
    again = sorted = items;
    Rng a(n), b(n);
    a.shuffle(std::span<int>(items));
    b.shuffle(std::span<int>(again));
    CHECK(items == again);
    std::sort(items.begin(), items.end());
    CHECK(items == sorted);
  }
}

THEOREM("all 24 orders of four items are about equally frequent") {
  Rng rng(3);
  std::map<std::array<int, 4>, int> counts;
  for (int k = 0; k < 24000; ++k) {
    std::array<int, 4> items{0, 1, 2, 3};
    rng.shuffle(std::span<int>(items));
    ++counts[items];
  }
  CHECK(counts.size() == 24);
  // Six standard deviations of a binomial with n = 24000, p = 1/24 (31 each).
  for (const auto& [order, count] : counts) CHECK(std::abs(count - 1000) < 186);
}
