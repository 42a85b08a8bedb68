// Sums of absolute differences of all pairs of rows; the same bits for (x, z) and (z, x).
#pragma once

#include <cmath>

#include "lineal/kernel/table.h"

namespace lineal::kernel {

inline double absolute_distance(DenseRow<double> x, DenseRow<double> z) noexcept {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index k = 0; k < x.size; ++k) sum += std::abs(x.value[k] - z.value[k]);
  return sum;
}

inline double absolute_distance(CsrRow<double> x, CsrRow<double> z) noexcept {
  double sum = 0;
  Index k = 0, l = 0;
  while (k < x.size && l < z.size) {
    const std::int32_t a = x.index[k], b = z.index[l];
    sum += std::abs((a <= b ? x.value[k] : 0.0) - (b <= a ? z.value[l] : 0.0));
    k += a <= b;
    l += b <= a;
  }
  for (; k < x.size; ++k) sum += std::abs(x.value[k]);
  for (; l < z.size; ++l) sum += std::abs(z.value[l]);
  return sum;
}

template <class Rows>
void absolute_distances(const Rows& X, const Rows& Z, const Table& table, int n_threads, Watch& watch) {
  SharedWatch shared(watch);
  each_tile(
      table, n_threads, shared, [] { return 0; },
      [&](int, int part, Index i, Index first, Index last) {
        const auto x = X[i];
        for (Index j = first; j < last; ++j) {
          const auto z = Z[j];
          table.put(i, j, absolute_distance(x, z));
          if (shared.says_stop(part, std::size_t(x.size + z.size))) return;
        }
      });
}

}  // namespace lineal::kernel
