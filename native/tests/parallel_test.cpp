#include "lineal/parallel.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

using lineal::parallel;
using lineal::Range;
using lineal::share;

THEOREM("every part runs exactly once, part 0 on the calling thread, and all have ended on return") {
  for (int n_parts = 1; n_parts <= 9; ++n_parts) {
    std::vector<int> n_runs(std::size_t(n_parts), 0);  // not atomic: no part may touch another's
    std::vector<std::thread::id> who(static_cast<std::size_t>(n_parts));
    std::atomic<int> n_ended{0};
    parallel(n_parts, [&](int part) {
      ++n_runs[std::size_t(part)];
      who[std::size_t(part)] = std::this_thread::get_id();
      ++n_ended;
    });
    CHECK(n_ended == n_parts);
    for (const int count : n_runs) CHECK(count == 1);
    CHECK(who[0] == std::this_thread::get_id());
    for (std::size_t part = 1; part < who.size(); ++part) CHECK(who[part] != std::this_thread::get_id());
  }
}

THEOREM("what a part wrote is seen by the caller and by the next parallel loop") {
  std::vector<long> cells(64, 0);
  for (int round = 1; round <= 20; ++round)
    parallel(4, [&](int part) {
      // Read what another part wrote in the round before, then write one's own half.
      const Range own = share(32, part, 4);
      const bool is_even = round % 2 == 0;
      for (auto k = own.first; k < own.last; ++k)
        cells[std::size_t(is_even ? k : k + 32)] = cells[std::size_t(is_even ? 63 - k : 31 - k)] + 1;
    });
  for (std::size_t k = 0; k < 32; ++k) CHECK(cells[k] == 20);
}

THEOREM("parallel loops may run side by side and one inside another") {
  std::atomic<int> total{0};
  parallel(3, [&](int) { parallel(3, [&](int) { ++total; }); });
  CHECK(total == 9);
}

THEOREM("shares tile [0, n) in order, and their lengths differ by at most one") {
  for (const std::int64_t n : {0LL, 1LL, 2LL, 3LL, 7LL, 100LL, 4000000000000LL})
    for (int n_parts = 1; n_parts <= 9; ++n_parts) {
      std::int64_t end = 0, shortest = n, longest = 0;
      for (int part = 0; part < n_parts; ++part) {
        const Range range = share(n, part, n_parts);
        CHECK(range.first == end);
        CHECK(range.last >= range.first);
        end = range.last;
        shortest = std::min(shortest, range.last - range.first);
        longest = std::max(longest, range.last - range.first);
      }
      CHECK(end == n);
      CHECK(longest - shortest <= 1);
    }
}

THEOREM("what a part throws reaches the caller after all parts have ended, the first part's first") {
  for (const int n_parts : {1, 2, 5})
    for (int guilty = 0; guilty < n_parts; ++guilty) {
      std::atomic<int> n_ended{0};
      std::string message;
      try {
        parallel(n_parts, [&](int part) {
          ++n_ended;
          if (part >= guilty) throw std::runtime_error(std::to_string(part));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      CHECK(message == std::to_string(guilty));
      CHECK(n_ended == n_parts);
    }
}
