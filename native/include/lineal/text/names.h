// Many short strings in one block of bytes.
#pragma once

#include <cstddef>
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

}  // namespace lineal
