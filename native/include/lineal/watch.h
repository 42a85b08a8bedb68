// Long loops that can be asked to end early.
//
// A loop tells its watch how much work it has done; now and then the watch looks at its token (token.h), and
// more rarely asks the function it was made with, whether somebody wants the loop to end (the bindings ask
// Python for pending signals, without which no handler would run). A loop that is told to stop leaves its
// state as after the last finished row or sweep, and its caller goes on as if the epoch had been a short one.
//
// Cost: an addition and a comparison a row; a look at the token and the clock for some ten thousand
// multiplications.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "lineal/token.h"

namespace lineal {

class Watch {
 public:
  using Wait = std::chrono::steady_clock::duration;

  Watch() = default;  // never stops anybody
  // Asks when `wait` has passed since the last time, and looks at the clock after `glance` multiplications.
  explicit Watch(std::function<bool()> is_wanted, Wait wait = std::chrono::milliseconds(20),
                 std::int64_t glance = 1 << 14)
      : Watch(nullptr, std::move(is_wanted), wait, glance) {}
  // Looks at the token, which outlives it, at every glance.
  explicit Watch(const Token* token, std::function<bool()> is_wanted = {},
                 Wait wait = std::chrono::milliseconds(20), std::int64_t glance = 1 << 14)
      : token_(token), is_wanted_(std::move(is_wanted)), wait_(wait), glance_(glance) {}

  // Whether to stop, after so many more multiplications; once it was said it stays so.
  bool says_stop(std::int64_t work) {
    work_ += work;
    return work_ < glance_ ? is_over() : look();
  }
  bool is_over() const noexcept { return is_over_.value.load(std::memory_order_relaxed); }
  // Says stop from now on; any thread may call it.
  void end() noexcept { is_over_.value.store(true, std::memory_order_relaxed); }

  const Token* token() const noexcept { return token_; }
  std::int64_t glance() const noexcept { return glance_; }

 private:
  // Written by threads that share the watch, copied by one that has it for itself.
  struct Flag {
    Flag() = default;
    Flag(const Flag& other) noexcept : value(other.value.load(std::memory_order_relaxed)) {}
    Flag& operator=(const Flag& other) noexcept {
      value.store(other.value.load(std::memory_order_relaxed), std::memory_order_relaxed);
      return *this;
    }
    std::atomic<bool> value{false};
  };

  bool look() {
    work_ = 0;
    if (is_over()) return true;
    if (token_ != nullptr && token_->is_over()) {
      end();
    } else if (is_wanted_) {
      const auto now = std::chrono::steady_clock::now();
      if (now - asked_ < wait_) return false;
      asked_ = now;
      if (is_wanted_()) end();
    }
    return is_over();
  }

  const Token* token_ = nullptr;
  std::function<bool()> is_wanted_;
  Wait wait_{};
  std::int64_t glance_ = std::numeric_limits<std::int64_t>::max();
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::int64_t work_ = 0;
  Flag is_over_;
};

// What the threads of a loop share. Part 0, on whose thread signals arrive, asks the watch; every other part
// looks at the token by itself, since part 0 may have nothing left to do.
class SharedWatch {
 public:
  explicit SharedWatch(Watch& watch) : watch_(watch), is_over_(watch.is_over()) {}
  bool says_stop(int part, std::size_t work) {
    if (part == 0 ? watch_.says_stop(std::int64_t(work)) : looks_over(std::int64_t(work))) end();
    return is_over();
  }
  bool is_over() const noexcept { return is_over_.load(std::memory_order_relaxed); }
  // Ends the loop for another reason.
  void end() noexcept { is_over_.store(true, std::memory_order_relaxed); }

 private:
  bool looks_over(std::int64_t work) {
    static thread_local std::int64_t since = 0;  // multiplications since this thread's last look
    if (watch_.token() == nullptr || (since += work) < watch_.glance()) return false;
    since = 0;
    if (!watch_.token()->is_over()) return false;
    watch_.end();
    return true;
  }
  Watch& watch_;
  std::atomic<bool> is_over_;
};

}  // namespace lineal
