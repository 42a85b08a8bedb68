#include "lineal/conveyor.h"

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

using namespace lineal;
using namespace std::chrono_literals;

namespace {

std::atomic<int> n_fillers_alive = 0;

// One of a thread that ever filled a block. It is gone when the thread has been joined.
struct Filler {
  Filler() { ++n_fillers_alive; }
  ~Filler() { --n_fillers_alive; }
};

// Waits for what another thread does; false where it does not come about. No test waits for ever.
template <class Condition>
bool comes_about(Condition&& condition) {
  for (const auto end = std::chrono::steady_clock::now() + 5s; std::chrono::steady_clock::now() < end;) {
    if (condition()) return true;
    std::this_thread::sleep_for(100us);
  }
  return false;
}

using GoesOn = std::function<bool()>;

// Items 0, 1, ... in blocks of one to four; a block is full when it holds all its items' squares.
struct Squares {
  using Block = std::vector<std::size_t>;
  struct Room {
    std::size_t n_filled = 0;  // not atomic: no two threads have the same
  };
  std::size_t n_items;
  // What else happens while the block of this item is being filled: it may take its time, or throw.
  std::function<void(std::size_t first, const GoesOn& goes_on)> at_work = [](std::size_t, const GoesOn&) {};

  std::size_t size() const { return n_items; }
  std::size_t end_of(std::size_t first) const { return std::min(n_items, first + 1 + first * 7 % 4); }
  Block block() const { return {}; }
  Room room() const { return {}; }
  template <class Ask>
  void fill(std::size_t first, std::size_t last, Room& room, Block& block, Ask&& goes_on) const {
    static thread_local Filler filler;
    static_cast<void>(filler);
    block.clear();
    at_work(first, [&] { return goes_on(1); });
    for (std::size_t k = first; k < last && goes_on(1); ++k) block.push_back(k * k);
    ++room.n_filled;
  }
  bool is_full(const Block& block, std::size_t first) const {
    std::size_t k = first;
    for (const std::size_t square : block)
      if (k++, square != (k - 1) * (k - 1)) return false;
    return k == end_of(first);
  }
  std::size_t n_blocks() const {
    std::size_t n = 0;
    for (std::size_t first = 0; first < n_items; first = end_of(first)) ++n;
    return n;
  }
};

// Runs a task, and checks that full blocks are used one after the other and on this thread, and that no
// thread is left. What else happens while a block is being used is up to `at_use`.
struct Outcome {
  std::size_t n_used = 0;
  std::string thrown;
};

Outcome run(
    const Squares& task, int n_threads, Watch& watch,
    const std::function<void(std::size_t first)>& at_use = [](std::size_t) {}) {
  Outcome out;
  const auto caller = std::this_thread::get_id();
  std::size_t next = 0;
  try {
    Conveyor conveyor(task, n_threads, watch);
    conveyor.run([&](const Squares::Block& block, std::size_t first) {
      CHECK(std::this_thread::get_id() == caller);
      CHECK(first == next);
      CHECK(task.is_full(block, first));
      next = task.end_of(first);
      ++out.n_used;
      at_use(first);
      CHECK(task.is_full(block, first));  // nobody has taken the place in the meantime
    });
  } catch (const std::runtime_error& error) {
    out.thrown = error.what();
  }
  CHECK(n_fillers_alive <= 1);  // this thread
  return out;
}

// Some threads ahead of others, differently each time.
void linger(std::size_t k) {
  std::atomic<std::size_t> spin = k * 2654435761u % 4096;
  while (spin > 0) --spin;
  if (k % 31 == 7) std::this_thread::yield();
}

void linger_at_work(std::size_t first, const GoesOn&) { linger(first + 1); }

}  // namespace

THEOREM(
    "every block is filled once and used once, in order, on the calling thread, by any number of threads") {
  for (int n_threads = 1; n_threads <= 9; n_threads += n_threads < 4 ? 1 : 5)
    for (const std::size_t n_items : {0u, 1u, 2u, 3u, 10u, 2000u})
      for (const bool is_use_slow : {false, true}) {
        std::vector<std::atomic<int>> n_fills(n_items);
        Watch watch;
        Squares task{n_items};
        task.at_work = [&](std::size_t first, const GoesOn&) {
          ++n_fills[first];
          if (!is_use_slow) linger(first);
        };
        const Outcome out = run(task, n_threads, watch, [&](std::size_t first) {
          if (is_use_slow) linger(first);
        });
        CHECK(out.n_used == task.n_blocks() && out.thrown.empty());
        for (std::size_t first = 0; first < n_items; first = task.end_of(first)) CHECK(n_fills[first] == 1);
      }
}

THEOREM("of blocks that throw while they are filled the first one's arrives, when its turn has come") {
  for (int n_threads = 1; n_threads <= 4; ++n_threads)
    for (const std::size_t guilty : {0u, 1u, 30u, 99u}) {
      Watch watch;
      Squares task{100};
      std::size_t before = 0, first_guilty = 0;
      while (first_guilty < guilty && task.end_of(first_guilty) < 100)
        first_guilty = task.end_of(first_guilty), ++before;
      task.at_work = [&](std::size_t first, const GoesOn&) {
        linger(first);
        if (first >= first_guilty) throw std::runtime_error(std::to_string(first));
      };
      const Outcome out = run(task, n_threads, watch);
      CHECK(out.thrown == std::to_string(first_guilty));
      CHECK(out.n_used == before);
    }
}

THEOREM("what the user of a block throws passes through, and no other block is used") {
  for (int n_threads = 1; n_threads <= 4; ++n_threads)
    for (const std::size_t last : {1u, 2u, 20u}) {
      Watch watch;
      std::size_t n_used = 0;
      const Outcome out = run({100, linger_at_work}, n_threads, watch, [&](std::size_t) {
        if (++n_used == last) throw std::runtime_error("enough");
      });
      CHECK(out.thrown == "enough" && out.n_used == last);
    }
}

THEOREM("a watch that is over before the start lets nothing be used") {
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    Watch watch([] { return true; }, Watch::Wait(0), 1);
    CHECK(watch.says_stop(1));
    CHECK(run({100}, n_threads, watch).n_used == 0);
  }
}

THEOREM("a stop while a block is used ends it there, whoever asked the watch, and only the caller asks") {
  for (int n_threads = 1; n_threads <= 4; ++n_threads)
    for (const bool is_asked_by_user : {false, true}) {
      bool is_wanted = false;  // not atomic: only this thread may ask
      Watch watch([&] { return is_wanted; }, Watch::Wait(0), 1);
      std::size_t n_used = 0;
      const Outcome out = run({1000, linger_at_work}, n_threads, watch, [&](std::size_t) {
        is_wanted = ++n_used == 7;
        if (is_asked_by_user) watch.says_stop(1);
      });
      CHECK(out.n_used == 7 && out.thrown.empty());
    }
}

THEOREM("a stop while blocks are filled: full ones before it may be used, given up ones are not") {
  for (int n_threads = 1; n_threads <= 4; ++n_threads)
    for (const std::size_t at : {0u, 40u, 99u}) {
      std::atomic<bool> is_wanted = false;
      Watch watch([&] { return is_wanted.load(); }, Watch::Wait(0), 1);
      Squares task{100};
      std::size_t n_before = 0, first_stopped = 0;
      while (task.end_of(first_stopped) <= at) first_stopped = task.end_of(first_stopped), ++n_before;
      task.at_work = [&](std::size_t first, const GoesOn&) {
        linger(first);
        if (first == first_stopped) is_wanted = true;
      };
      const Outcome out = run(task, n_threads, watch);
      CHECK(out.thrown.empty());
      // Alone, the caller is told right there. Threads may be ahead of it, and it of being told.
      if (n_threads == 1) CHECK(out.n_used == n_before);
    }
}

THEOREM("the caller goes on asking its watch while it waits for a block, and the thread in it is told") {
  std::atomic<bool> is_stuck = false, is_told = false;
  int n_asked = 0;
  Watch watch([&] { return is_stuck && ++n_asked > 20; }, Watch::Wait(0), 1 << 14);
  const auto caller = std::this_thread::get_id();
  Squares task{1000};
  // The first thread beside the caller ends when it is told to and not before.
  task.at_work = [&](std::size_t, const GoesOn& goes_on) {
    if (std::this_thread::get_id() == caller)
      comes_about([&] { return is_stuck.load(); });
    else if (!is_stuck.exchange(true))
      is_told = comes_about([&] { return !goes_on(); });
  };
  const Outcome out = run(task, 2, watch);
  CHECK(is_told && watch.is_over());
  CHECK(out.n_used <= 8);
}

THEOREM("threads that found no room are woken when there is some again, and stay within four blocks each") {
  for (int n_threads = 2; n_threads <= 4; ++n_threads) {
    Watch watch;
    Squares task{400};
    std::vector<std::atomic<bool>> is_begun(400);
    std::atomic<std::size_t> n_begun = 0;
    task.at_work = [&](std::size_t first, const GoesOn&) {
      is_begun[first] = true;
      ++n_begun;
    };
    std::size_t n_used = 0;
    // The user waits for the block behind its own, which only another thread can begin meanwhile.
    const Outcome out = run(task, n_threads, watch, [&](std::size_t first) {
      const std::size_t next = task.end_of(first);
      if (next < 400 && !comes_about([&] { return is_begun[next].load(); }))
        throw std::runtime_error("nobody was woken");
      CHECK(n_begun <= n_used + 4 * std::size_t(n_threads));
      ++n_used;
    });
    CHECK(out.thrown.empty() && out.n_used == task.n_blocks());
  }
}

THEOREM("a conveyor that never ran ends") {
  Watch watch;
  for (int n_threads = 1; n_threads <= 4; ++n_threads) {
    const Squares task{100};
    const Conveyor never(task, n_threads, watch);
  }
  CHECK(!watch.is_over());
}
