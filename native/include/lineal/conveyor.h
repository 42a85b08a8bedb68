// Blocks that several threads fill and one thread uses, strictly in order.
//
// The items of a task are cut into blocks of neighbours. Each thread takes the first block that nobody has
// taken, fills it and marks it ready; the calling thread uses the ready ones, one after the other. Where the
// next one is not ready, the calling thread fills another one rather than wait: so no thread idles, whether
// filling or using is the slower half. Blocks are cut by the task alone and used in order, so what comes of
// them does not depend on how many threads there are.
//
// Memory: four blocks a thread, filled again and again; who finds none of them free sleeps. Cost: a lock
// three times a block, and waking whoever sleeps. Threads that the system refuses are done without.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "lineal/watch.h"

namespace lineal {

// A task has
//   size()                          how many items there are
//   end_of(first)                   where the block that begins with item `first` ends; throws nothing
//   block()                         an empty Block
//   room()                          a Room: what a thread needs to fill blocks, kept from one to the next
//   fill(first, last, room, block, goes_on)
//                                   fills a block, whatever was in it; returns early if goes_on(work) is
//                                   false
template <class Task>
class Conveyor {
 public:
  Conveyor(const Task& task, int n_threads, Watch& watch) : task_(task), watch_(watch) {
    const auto n = std::size_t(n_threads);
    const std::size_t n_places = n == 1 ? 1 : 4 * n;
    places_.reserve(n_places);
    while (places_.size() < n_places) places_.emplace_back(task.block());
    desks_.reserve(n);
    while (desks_.size() < n) desks_.emplace_back(task.room());
    threads_.reserve(n - 1);
  }
  Conveyor(const Conveyor&) = delete;
  Conveyor& operator=(const Conveyor&) = delete;
  ~Conveyor() {
    {
      const std::lock_guard lock(mutex_);
      watch_.end();
    }
    has_room_.notify_all();
  }  // jthread joins

  // Calls use(block, first item) for the blocks in order, on this thread, until all are used, the watch says
  // stop, or something is thrown: by `use`, or by the filling of a block, and then when it is this block's
  // turn. Blocks before it have been used, blocks behind it will not be.
  template <class Use>
  void run(Use&& use) {
    start();
    std::unique_lock lock(mutex_);
    while (!watch_.is_over() && (n_used_ < n_taken_ || first_ < task_.size())) {
      Place& next = places_[n_used_ % places_.size()];
      if (n_used_ < n_taken_ && next.is_ready) {
        lock.unlock();
        if (next.thrown) std::rethrow_exception(next.thrown);
        use(std::as_const(next.block), next.first);
        watch_.says_stop(0, a_block_of_work);
        lock.lock();
        ++n_used_;
        // Woken up for each block, threads that are the faster half would be put to sleep by the next one.
        if (2 * (n_taken_ - n_used_) <= places_.size()) has_room_.notify_all();
      } else if (has_room()) {
        fill_next(0, lock);
      } else if (is_ready_.wait_for(lock, std::chrono::milliseconds(10)) == std::cv_status::timeout) {
        lock.unlock();
        watch_.says_stop(0, a_block_of_work);
        lock.lock();
      }
    }
  }

 private:
  static constexpr std::size_t a_block_of_work = 1 << 14;  // is worth a look at the clock

  // Threads write to both all the time: cache lines of their own, which processors fetch in pairs.
  struct alignas(128) Place {
    explicit Place(typename Task::Block made) : block(std::move(made)) {}
    typename Task::Block block;
    std::size_t first = 0;
    bool is_ready = false;
    std::exception_ptr thrown;
  };
  struct alignas(128) Desk {
    explicit Desk(typename Task::Room made) : room(std::move(made)) {}
    typename Task::Room room;
  };

  void start() {
    try {
      for (int part = 1; part < int(desks_.size()); ++part)
        threads_.emplace_back([this, part] { work(part); });
    } catch (const std::system_error&) {
      // The system refuses more threads: those that are there do the work, with the same result.
    }
  }

  bool has_room() const { return first_ < task_.size() && n_taken_ - n_used_ < places_.size(); }

  void work(int part) noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      has_room_.wait(lock, [&] { return has_room() || first_ == task_.size() || watch_.is_over(); });
      if (first_ == task_.size() || watch_.is_over()) return;
      fill_next(part, lock);
    }
  }

  // Takes the next block and fills it, the lock given back meanwhile.
  void fill_next(int part, std::unique_lock<std::mutex>& lock) noexcept {
    const std::size_t number = n_taken_++;
    Place& place = places_[number % places_.size()];
    const std::size_t first = first_, last = first_ = task_.end_of(first);
    place.is_ready = false;
    lock.unlock();
    place.first = first;
    try {
      task_.fill(first, last, desks_[std::size_t(part)].room, place.block,
                 [&](std::size_t work) { return !watch_.says_stop(part, work); });
    } catch (...) {
      place.thrown = std::current_exception();
    }
    lock.lock();
    // One that was given up is not used: the watch says so to the calling thread first.
    place.is_ready = true;
    if (part != 0 && number == n_used_) is_ready_.notify_one();
  }

  const Task& task_;
  SharedWatch watch_;
  std::vector<Place> places_;
  std::vector<Desk> desks_;  // of the threads, the calling one's first

  std::mutex mutex_;  // for what follows and the places' is_ready
  std::condition_variable has_room_, is_ready_;
  std::size_t n_taken_ = 0, n_used_ = 0;  // blocks
  std::size_t first_ = 0;                 // item of the next block
  std::vector<std::jthread> threads_;
};

}  // namespace lineal
