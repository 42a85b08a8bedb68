// Many short strings in one block of bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lineal {

class Names {
 public:
  std::size_t size() const noexcept { return starts_.size() - 1; }
  std::string_view operator[](std::size_t k) const noexcept {
    return {bytes_.data() + starts_[k], starts_[k + 1] - starts_[k]};
  }
  void add(std::string_view name) {
    bytes_.insert(bytes_.end(), name.begin(), name.end());
    starts_.push_back(bytes_.size());
  }
  std::span<const char> bytes() const noexcept { return bytes_; }
  std::span<const std::size_t> starts() const noexcept { return starts_; }

 private:
  std::vector<char> bytes_;
  std::vector<std::size_t> starts_{0};
};

// Their numbers in the order of their bytes, which in UTF-8 is that of code points.
inline std::vector<std::uint32_t> sorted(const Names& names) {
  struct Named {
    std::uint64_t head;  // the first eight bytes as a number that compares as they do
    std::uint32_t id;
  };
  std::vector<Named> order(names.size());
  for (std::uint32_t id = 0; id < order.size(); ++id) {
    const std::string_view name = names[id];
    std::uint64_t head = 0;
    for (std::size_t k = 0; k < 8; ++k)
      head = head << 8 | (k < name.size() ? static_cast<unsigned char>(name[k]) : 0u);
    order[id] = {head, id};
  }
  std::sort(order.begin(), order.end(), [&](const Named& a, const Named& b) {
    return a.head != b.head ? a.head < b.head : names[a.id] < names[b.id];
  });
  std::vector<std::uint32_t> ids(order.size());
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = order[k].id;
  return ids;
}

}  // namespace lineal
