// Memory that nobody has written to yet, and that grows and shrinks where it lies.
//
// Large blocks ask for large pages: the first touch of a page costs about as much as filling it, and a large
// one stands for 512 small ones. Growing moves pages, not bytes, where the system can.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lineal {

// Asks for large pages where a block has room for some; a wish: whether it is granted is all one.
inline void want_large_pages(void* data, std::size_t n_bytes) noexcept {
#if defined(__linux__)
  constexpr std::size_t large = std::size_t(1) << 21, small = 4096;
  if (n_bytes < large) return;
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + small - 1) / small * small;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + n_bytes) / small * small;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  static_cast<void>(data);
  static_cast<void>(n_bytes);
#endif
}

// For vectors that are looked at all over the place: with large pages, half of their misses cost half as
// much.
template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) noexcept {}
  T* allocate(std::size_t n) {
    constexpr std::size_t large = std::size_t(1) << 21;
    const std::size_t n_bytes = n * sizeof(T);
    const std::size_t border = n_bytes < large ? 64 : large;  // at least a cache line
    void* const data =
        std::aligned_alloc(border, (std::max<std::size_t>(n_bytes, 1) + border - 1) / border * border);
    if (data == nullptr) throw std::bad_alloc();
    want_large_pages(data, n_bytes);
    return static_cast<T*>(data);
  }
  void deallocate(T* data, std::size_t) noexcept { std::free(data); }
  bool operator==(const LargePages&) const noexcept { return true; }
};

template <class T>
class Raw {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Raw() = default;
  explicit Raw(std::size_t n) { resize(n); }
  T* data() const noexcept { return data_.get(); }
  T& operator[](std::size_t k) const noexcept { return data_.get()[k]; }
  T* release() noexcept { return data_.release(); }
  // Room for n; of what was written, the first n are kept.
  void resize(std::size_t n) {
    void* const moved = std::realloc(data_.get(), std::max<std::size_t>(n, 1) * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(static_cast<T*>(moved));
    want_large_pages(moved, n * sizeof(T));
  }

 private:
  struct Free {
    void operator()(T* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
};

// A Raw that is filled from its front.
template <class T>
class Growing {
 public:
  std::size_t size() const noexcept { return size_; }
  T* data() const noexcept { return raw_.data(); }
  T& operator[](std::size_t k) const noexcept { return raw_[k]; }
  T* begin() const noexcept { return raw_.data(); }
  T* end() const noexcept { return raw_.data() + size_; }
  // Room that will probably be needed: pages that are never written to cost nothing.
  void expect(std::size_t n) {
    if (n <= room_) return;
    raw_.resize(n);
    room_ = n;
  }
  // Room for n more, to be written by the caller; where it begins.
  T* extend(std::size_t n) {
    if (size_ + n > room_) {
      const std::size_t room = std::max(size_ + n, room_ + room_ / 2);
      raw_.resize(room);
      room_ = room;
    }
    T* const begin = raw_.data() + size_;
    size_ += n;
    return begin;
  }
  // Gives the last n back.
  void cut(std::size_t n) noexcept { size_ -= n; }
  // The block, cut to what was written; nothing is left here.
  Raw<T> take() {
    raw_.resize(size_);
    size_ = room_ = 0;
    return std::move(raw_);
  }

 private:
  Raw<T> raw_;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace lineal
