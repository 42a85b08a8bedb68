// Long loops that can be asked to end early.
//
// A loop tells its watch how much work it has done; now and then the watch asks, through the function it was
// made with, whether somebody wants the loop to end (the bindings ask Python for pending signals). A loop
// that is told to stop leaves its state as after the last finished row or sweep, and its caller goes on as if
// the epoch had been a short one.
//
// Cost: an addition and a comparison a row; one look at the clock for some ten thousand multiplications.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace lineal {

class Watch {
 public:
  using Wait = std::chrono::steady_clock::duration;

  Watch() = default;  // never asks
  // Asks when `wait` has passed since the last time, and looks at the clock after `glance` multiplications.
  explicit Watch(std::function<bool()> is_wanted, Wait wait = std::chrono::milliseconds(20),
                 std::int64_t glance = 1 << 14)
      : is_wanted_(std::move(is_wanted)), wait_(wait), glance_(glance) {}

  // Whether to stop, after so many more multiplications; once it was said it stays so.
  bool says_stop(std::int64_t work) {
    work_ += work;
    return work_ < glance_ ? is_over_ : look();
  }
  bool is_over() const noexcept { return is_over_; }

 private:
  bool look() {
    work_ = 0;
    if (is_over_ || !is_wanted_) return is_over_;
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < wait_) return false;
    asked_ = now;
    return is_over_ = is_wanted_();
  }
  std::function<bool()> is_wanted_;
  Wait wait_{};
  std::int64_t glance_ = std::numeric_limits<std::int64_t>::max();
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::int64_t work_ = 0;
  bool is_over_ = false;
};

// What the threads of a loop share when one of them, part 0, on whose thread signals arrive, is asked to end.
class SharedWatch {
 public:
  explicit SharedWatch(Watch& watch) : watch_(watch), is_over_(watch.is_over()) {}
  bool says_stop(int part, std::size_t work) {
    if (part == 0 && watch_.says_stop(std::int64_t(work))) end();
    return is_over();
  }
  bool is_over() const noexcept { return is_over_.load(std::memory_order_relaxed); }
  // Ends the loop for another reason.
  void end() noexcept { is_over_.store(true, std::memory_order_relaxed); }

 private:
  Watch& watch_;
  std::atomic<bool> is_over_;
};

}  // namespace lineal
