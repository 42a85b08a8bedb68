// Cancellation: a flag that any thread may raise, and a deadline.
//
// A token is over when it was cancelled or its deadline has passed, or when that holds for a token above it.
// Tokens live on the heap and are shared: whoever reads one keeps it and all above it alive.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

namespace lineal {

class Token {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point never = Clock::time_point::max();

  explicit Token(std::shared_ptr<const Token> parent = nullptr, Clock::time_point deadline = never)
      : parent_(std::move(parent)),
        // The earliest deadline of all is kept here, so that a look reads the clock once, or not at all.
        deadline_(parent_ && parent_->deadline_ < deadline ? parent_->deadline_ : deadline) {}
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;

  void cancel() noexcept { is_cancelled_.store(true, std::memory_order_relaxed); }

  // Whether it, or a token above it, was cancelled; deadlines do not count.
  bool is_cancelled() const noexcept {
    for (const Token* token = this; token != nullptr; token = token->parent_.get())
      if (token->is_cancelled_.load(std::memory_order_relaxed)) return true;
    return false;
  }
  bool is_over() const noexcept {
    return is_cancelled() || (deadline_ != never && Clock::now() >= deadline_);
  }
  // The earliest deadline, its own or of a token above it.
  Clock::time_point deadline() const noexcept { return deadline_; }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "cancel() may be called in a signal handler");
  std::shared_ptr<const Token> parent_;
  Clock::time_point deadline_;
  std::atomic<bool> is_cancelled_{false};
};

}  // namespace lineal
