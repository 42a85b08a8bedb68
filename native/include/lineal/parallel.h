// Deterministic parallel loops.
//
// Work is split so that every number is computed by one thread in an order that does not depend on
// how many threads there are; no reduction ever crosses a thread. Threads are started per call
// (about 20 microseconds) rather than kept in a pool: a pool does not survive fork(), and forking is
// what Python's multiprocessing does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace lineal {

// Runs body(part) for part = 0 .. n_parts-1, part 0 on the calling thread. What a part throws, out of memory
// as a rule, is thrown again on the calling thread once all parts have ended; of several, the first part's.
template <class Body>
void parallel(int n_parts, Body&& body) {
  if (n_parts <= 1) {
    body(0);
    return;
  }
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(n_parts));
  const auto run = [&](int part) noexcept {
    try {
      body(part);
    } catch (...) {
      thrown[std::size_t(part)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(std::size_t(n_parts - 1));
    int started = 1;
    try {
      for (; started < n_parts; ++started) threads.emplace_back([&run, part = started] { run(part); });
    } catch (const std::system_error&) {
      // The system refuses more threads: the caller does the rest itself, with the same result.
      for (int part = started; part < n_parts; ++part) run(part);
    }
    run(0);
  }  // jthread joins
  for (const std::exception_ptr& each : thrown)
    if (each) std::rethrow_exception(each);
}

struct Range {
  std::int64_t first, last;
};

// In how many shares rows are summed where each share has sums of its own, added in order afterwards: a
// number that depends on the data alone, so that threads change no bit.
inline int n_row_shares(std::int64_t n_rows) noexcept {
  return int(std::clamp<std::int64_t>(n_rows / 512, 1, 8));
}

// The part-th of n_parts ranges of [0, n), nearly equal in length.
inline Range share(std::int64_t n, int part, int n_parts) noexcept {
  return {n * part / n_parts, n * (part + 1) / n_parts};
}

}  // namespace lineal
