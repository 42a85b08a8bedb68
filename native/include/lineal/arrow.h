// The Arrow C data interface: how other libraries lend their columns, and who gives them back.
//
// The three structures are the published ABI (arrow.apache.org/docs/format/CDataInterface.html), guarded as
// it asks. A structure is moved, never copied: what was taken is marked as released in its old place, and
// what is owned here is released exactly once, by a destructor.
#pragma once

#include <cstdint>
#include <utility>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
}

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

extern "C" {
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

#endif

namespace lineal {

// One of the three, owned; empty when its release is null.
template <class Struct>
class ArrowOwned {
 public:
  ArrowOwned() noexcept = default;
  explicit ArrowOwned(Struct* lent) noexcept : held_(std::exchange(*lent, Struct{})) {}
  ArrowOwned(ArrowOwned&& other) noexcept : held_(std::exchange(other.held_, Struct{})) {}
  ArrowOwned& operator=(ArrowOwned other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~ArrowOwned() {
    if (held_.release != nullptr) held_.release(&held_);
  }

  bool is_empty() const noexcept { return held_.release == nullptr; }
  Struct* get() noexcept { return &held_; }
  const Struct& operator*() const noexcept { return held_; }

 private:
  Struct held_{};
};

}  // namespace lineal
