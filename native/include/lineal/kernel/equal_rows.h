// Which rows are equal: kernel machines work on each distinct row once.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "lineal/rows.h"

namespace lineal::kernel {

template <class V>
inline std::uint64_t mixed(std::uint64_t hash, V value) noexcept {
  std::uint64_t bits = 0;
  if constexpr (std::is_floating_point_v<V>) value += V(0);  // -0 is 0
  std::memcpy(&bits, &value, sizeof value);
  hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

template <class V>
std::uint64_t hash_of(CsrRow<V> x) noexcept {
  std::uint64_t hash = std::uint64_t(x.size);
  for (Index k = 0; k < x.size; ++k) hash = mixed(mixed(hash, x.index[k]), x.value[k]);
  return hash;
}
template <class V>
std::uint64_t hash_of(DenseRow<V> x) noexcept {
  std::uint64_t hash = 0;
  for (Index k = 0; k < x.size; ++k) hash = mixed(hash, x.value[k]);
  return hash;
}
template <class V>
bool are_equal(CsrRow<V> a, CsrRow<V> b) noexcept {
  if (a.size != b.size) return false;
  for (Index k = 0; k < a.size; ++k)
    if (a.index[k] != b.index[k] || a.value[k] != b.value[k]) return false;
  return true;
}
template <class V>
bool are_equal(DenseRow<V> a, DenseRow<V> b) noexcept {
  for (Index k = 0; k < a.size; ++k)
    if (a.value[k] != b.value[k]) return false;
  return true;
}

// first[i] = the lowest row equal to row i. A table of hashes with open addressing.
template <class Rows>
std::vector<Index> first_equal_rows(const Rows& X) {
  std::size_t size = 16;
  while (size < 2 * std::size_t(X.n_rows)) size *= 2;
  std::vector<Index> table(size, -1), first(static_cast<std::size_t>(X.n_rows));
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(X.n_rows));
  for (Index i = 0; i < X.n_rows; ++i) {
    const std::uint64_t hash = hashes[std::size_t(i)] = hash_of(X[i]);
    std::size_t slot = std::size_t(hash >> 7) & (size - 1);
    while (table[slot] >= 0 && !(hashes[std::size_t(table[slot])] == hash && are_equal(X[table[slot]], X[i])))
      slot = (slot + 1) & (size - 1);
    if (table[slot] < 0) table[slot] = i;
    first[std::size_t(i)] = table[slot];
  }
  return first;
}

}  // namespace lineal::kernel
