// Rows visited one after another by two threads, each with half of the columns.
//
// Coordinate ascent is sequential: a row's scores need every update before it. What two threads can share
// is the row itself. The leader has the columns left of a cut, the helper those right of it: each posts its
// half of the scores and reads the other's, both decide the same step, and each updates its half of the
// weights, which stay in its own cache. Deciding twice is cheaper than sending the decision: a hand-over
// has to wait for the stores before it. The sums are formed from the two halves whoever forms them, so the
// bits do not depend on the number of threads.
//
// Cost: one hand-over a row, 0.1 to 0.3 microseconds where both threads have a core to themselves; worth it
// from some hundred numbers a row (are_worth_halving). Where they have not, a hand-over takes as long as
// the scheduler pleases: the leader goes on alone until the helper runs, and for good when it was late too
// often. Where the cores are far apart, as those of a virtual machine may be at one time and not at another,
// a hand-over costs more than it saves: some rows are visited alone and some together, and the clock decides
// who visits the rest.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "lineal/passes.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// Whether rows are long enough to be shared; `width` is how many numbers a stored entry meets, in lanes.
inline bool are_worth_halving(Index n_rows, Index n_stored, Index width) noexcept {
  return n_stored * width >= 96 * n_rows && n_rows > 0;
}

// The stored entries of a row that belong to one half, and the column their numbering starts from.
template <class Row>
struct HalfRow {
  Row x;
  Index offset;
};

// Rows cut at one column, with about as many stored entries on each side.
template <class Rows>
struct Halves {
  Rows X;
  const std::int32_t* middle;  // how many entries of each row lie left of the cut; nullptr: rows are whole

  int count() const noexcept { return middle ? 2 : 1; }
  LINEAL_HINT void hint_place(Index i) const noexcept {
    X.hint_place(i);
    if (middle) hint(middle + i);
  }
  auto row(int half, Index i) const noexcept {
    const auto x = X[i];
    const Index first = half == 0 ? 0 : middle[i], last = half == 0 && middle ? middle[i] : x.size;
    return HalfRow<std::decay_t<decltype(x)>>{slice(x, first, last), first_column(x, first)};
  }
};

template <class Rows>
void halve(const Rows& X, std::int32_t* middle, int n_threads) {
  const Index cut = column_cuts(X, 2)[1];
  parallel(n_threads, [&](int part) {
    const Range rows = share(X.n_rows, part, n_threads);
    for (Index i = rows.first; i < rows.last; ++i) middle[i] = std::int32_t(lower_bound(X[i], cut));
  });
}

// Tells the processor that this thread only waits.
inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Numbers on their way from one thread to the other, in turns 1, 2, 3 ... A turn's numbers stay readable
// until the second turn after it; the first of them share a cache line with the turn, so that a single number
// costs a single transfer.
template <class T>
class Mailbox {
 public:
  explicit Mailbox(Index count)
      : stride_((header + std::size_t(count) * sizeof(T) + line - 1) / line * line) {
    bytes_ = static_cast<std::byte*>(::operator new(2 * stride_, std::align_val_t(line)));
    for (const int slot : {0, 1}) new (bytes_ + std::size_t(slot) * stride_) std::atomic<std::int64_t>(0);
  }
  ~Mailbox() { ::operator delete(bytes_, std::align_val_t(line)); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  T* content(std::int64_t turn) noexcept { return reinterpret_cast<T*>(slot(turn) + header); }
  void post(std::int64_t turn) noexcept { number(turn).store(turn, std::memory_order_release); }
  bool arrived(std::int64_t turn) noexcept { return number(turn).load(std::memory_order_acquire) == turn; }

 private:
  static constexpr std::size_t header = 32, line = 128;  // processors fetch lines in pairs
  std::byte* slot(std::int64_t turn) noexcept { return bytes_ + std::size_t(turn % 2) * stride_; }
  std::atomic<std::int64_t>& number(std::int64_t turn) noexcept {
    return *std::launder(reinterpret_cast<std::atomic<std::int64_t>*>(slot(turn)));
  }
  std::size_t stride_;
  std::byte* bytes_;
};

// Waits until ready() holds; false when that took so long that the other thread cannot have been running.
template <class Ready>
inline bool wait_until(Ready&& ready) noexcept {
  constexpr int patience = 4096;  // pauses, about 0.1 ms
  for (int n = 0; n < patience; ++n) {
    if (ready()) return true;
    pause_briefly();
  }
  while (!ready()) std::this_thread::yield();
  return false;
}

// What the two threads of a visit share, each thing on cache lines of its own.
template <class T>
struct Meeting {
  explicit Meeting(Index count) : left(count), right(count) {}
  Mailbox<T> left, right;
  alignas(128) std::atomic<bool> is_helper_here{false};
  alignas(128) std::atomic<std::int64_t> first{-1};  // the row from which both work
  alignas(128) std::atomic<bool> is_over{false};
};

// One side of a visit. Each thread has its own copy of all of it: what lies on the other thread's stack
// would travel between the cores whenever that thread writes to the same cache line.
template <class T, class Rows, class Score, class Decide, class Apply>
struct Side {
  Halves<Rows> rows;
  std::span<const std::int32_t> order;
  Index count;
  Score score;
  Decide decide;
  Apply apply;
  std::array<double, 2> told{};  // what the updates of each half said, added up in the order of the rows
  std::vector<T> z = std::vector<T>(std::size_t(count), T(0)), other = z, step = z;

  // What is known about a row, and where its numbers are, is hinted so early that reading it to hint the
  // numbers themselves waits for nothing; those in time to hide the latency of memory behind the rows
  // between.
  template <class State>
  LINEAL_HINT void look_ahead(const State& state, int half, std::size_t k) const noexcept {
    constexpr std::size_t numbers_ahead = 4, state_ahead = 8;
    if (k + state_ahead < order.size()) {
      state.hint(order[k + state_ahead]);
      rows.hint_place(order[k + state_ahead]);
    }
    if (k + numbers_ahead < order.size()) prefetch(rows.row(half, order[k + numbers_ahead]).x);
  }
  template <class State>
  void visit_alone(State& state, std::size_t k) {
    const Index i = order[k];
    for (int half = 0; half < rows.count(); ++half) {
      look_ahead(state, half, k);
      score(rows.row(half, i), half == 0 ? z.data() : other.data());
    }
    if (rows.count() == 2)
      for (std::size_t j = 0; j < z.size(); ++j) z[j] += other[j];
    if (!decide(state, i, static_cast<const T*>(z.data()), step.data())) return;
    for (int half = 0; half < rows.count(); ++half)
      told[std::size_t(half)] += apply(i, rows.row(half, i), static_cast<const T*>(step.data()));
  }
  enum class Outcome { in_time, late, over };
  template <class State>
  Outcome visit_half(State& state, std::size_t k, int half, Meeting<T>& meeting) {
    Mailbox<T>& own = half == 0 ? meeting.left : meeting.right;
    Mailbox<T>& others = half == 0 ? meeting.right : meeting.left;
    const std::int64_t turn = std::int64_t(k) + 1;
    const Index i = order[k];
    const auto x = rows.row(half, i);
    look_ahead(state, half, k);
    score(x, own.content(turn));
    own.post(turn);
    const bool in_time = wait_until([&] {
      return others.arrived(turn) || (half == 1 && meeting.is_over.load(std::memory_order_acquire));
    });
    if (!others.arrived(turn)) return Outcome::over;
    const T *left = meeting.left.content(turn), *right = meeting.right.content(turn);
    for (std::size_t j = 0; j < z.size(); ++j) z[j] = left[j] + right[j];
    if (decide(state, i, static_cast<const T*>(z.data()), step.data()))
      told[std::size_t(half)] += apply(i, x, static_cast<const T*>(step.data()));
    return in_time ? Outcome::in_time : Outcome::late;
  }
};

// How long a stored entry takes, over some rows.
class Pace {
 public:
  void begin() noexcept { began_ = std::chrono::steady_clock::now(); }
  void add(Index n_entries) noexcept { n_entries_ += n_entries; }
  double end() const noexcept {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
    return passed.count() / double(n_entries_ + 1);
  }

 private:
  std::chrono::steady_clock::time_point began_{};
  Index n_entries_ = 0;
};

// Visits the rows in `order`:  score(half row, z) writes `count` halves of scores, decide(state, i, z, step)
// settles row i and says whether anything moved, apply(i, half row, step) updates a half of the weights and
// says a number; all three are copied for the helper, which decides on a copy of the state: state.room() has
// the space for one, copy_from fills it. Returns the sums of what was said of each half, whose bits do not
// depend on the threads either. A positive `patience` asks for a helper; each time it is late costs one, and
// not having been worth it several. When the watch says stop, the rows that are left are not visited.
template <class T, class Rows, class State, class Score, class Decide, class Apply>
std::array<double, 2> visit_rows(const Halves<Rows>& rows, std::span<const std::int32_t> order, Index count,
                                 int& patience, Watch& watch, State& state, const Score& score,
                                 const Decide& decide, const Apply& apply) {
  using ThisSide = Side<T, Rows, Score, Decide, Apply>;
  ThisSide leader{rows, order, count, score, decide, apply};
  const std::size_t n = order.size();
  std::size_t k = 0;
  const auto goes_on = [&] { return k < n && !watch.says_stop(rows.X[order[k]].size * count); };
  if (patience > 0 && rows.count() == 2) {
    Meeting<T> meeting(count);
    std::jthread thread;
    try {
      thread = std::jthread([&]() noexcept {
        try {
          ThisSide helper{rows, order, count, score, decide, apply};
          State copy = state.room();
          meeting.is_helper_here.store(true, std::memory_order_release);
          wait_until(
              [&] { return meeting.first.load(std::memory_order_acquire) >= 0 || meeting.is_over.load(); });
          const std::int64_t first = meeting.first.load(std::memory_order_acquire);
          if (first < 0) return;
          copy.copy_from(state);  // the leader is waiting for the first scores
          helper.told[1] = leader.told[1];
          for (std::size_t turn = std::size_t(first); turn < helper.order.size(); ++turn)
            if (helper.visit_half(copy, turn, 1, meeting) == ThisSide::Outcome::over) break;
          leader.told[1] = helper.told[1];  // the leader looks at it again when this thread has ended
        } catch (const std::bad_alloc&) {
          // Memory is needed before the helper announces itself and never after: the leader goes on alone.
        }
      });
    } catch (const std::system_error&) {
      patience = 0;  // the system refuses another thread
    }
    // Few rows are not worth a trial; the first ones together wait for the helper's copy of the state.
    constexpr std::size_t n_tried = 256, n_settling = 32;
    constexpr int cost = 6;
    constexpr double share = 0.9;  // of the time alone
    const bool is_tried = n >= 16 * n_tried;
    Pace alone, together;
    alone.begin();
    for (;
         (!meeting.is_helper_here.load(std::memory_order_acquire) || (is_tried && k < n_tried)) && goes_on();
         ++k) {
      alone.add(rows.X[order[k]].size);
      leader.visit_alone(state, k);
    }
    const double pace_alone = alone.end();
    const std::size_t met = k;
    if (k < n && !watch.is_over()) meeting.first.store(std::int64_t(k), std::memory_order_release);
    for (bool is_worth_it = true; is_worth_it && patience > 0 && goes_on(); ++k) {
      if (k == met + n_settling) together.begin();
      if (k >= met + n_settling) together.add(rows.X[order[k]].size);
      patience -= leader.visit_half(state, k, 0, meeting) == ThisSide::Outcome::late;
      if (is_tried && k + 1 == met + n_settling + n_tried && together.end() > share * pace_alone) {
        is_worth_it = false;
        patience -= cost;
      }
    }
    // A dismissed helper still settles the last row; it stops where it would wait for another.
    meeting.is_over.store(true, std::memory_order_release);
  }  // the helper is joined: its half of every update is done
  for (; goes_on(); ++k) leader.visit_alone(state, k);
  return leader.told;
}

}  // namespace lineal
