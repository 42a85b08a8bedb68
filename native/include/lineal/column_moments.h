// What scores of dense columns are made of, in one pass: of each class and column the sums of s (x - c) and
// s (x - c)^2 about the first row c, and of each column the sum of s t (x - c) for numbers t of the rows.
//
// A row of the data is a better origin than 0: nothing is lost to an offset. Columns are one thread's, a few
// at a time, so that their sums stay in a cache; each is summed in the order of the rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

// sum and square are (K x n_columns), product is (n_columns), or null as t is; all of them are set here.
template <class V>
void column_moments_pass(const Dense<V>& X, const std::int32_t* codes, const double* s, const double* t,
                         Index K, double* sum, double* square, double* product, int n_threads) {
  constexpr Index run = 512;
  const Index d = X.n_columns, n_runs = (d + run - 1) / run;
  parallel(n_threads, [&](int part) {
    const Range mine = share(n_runs, part, n_threads);
    for (Index first = mine.first * run; first < std::min(mine.last * run, d); first += run) {
      const Index width = std::min(run, d - first);
      for (Index k = 0; k < K; ++k) {
        std::fill_n(sum + k * d + first, width, 0.0);
        std::fill_n(square + k * d + first, width, 0.0);
      }
      if (t != nullptr) std::fill_n(product + first, width, 0.0);
      const V* const origin = X.value + first;
      for (Index i = 0; i < X.n_rows; ++i) {
        const V* const x = X.value + i * d + first;
        double* const own_sum = sum + codes[i] * d + first;
        double* const own_square = square + codes[i] * d + first;
        const double weight = s[i];
        if (t == nullptr) {
#pragma omp simd
          for (Index j = 0; j < width; ++j) {
            const double apart = double(x[j]) - double(origin[j]);
            own_sum[j] += weight * apart;
            own_square[j] += weight * apart * apart;
          }
        } else {
          const double number = weight * t[i];
          double* const own_product = product + first;
#pragma omp simd
          for (Index j = 0; j < width; ++j) {
            const double apart = double(x[j]) - double(origin[j]);
            own_sum[j] += weight * apart;
            own_square[j] += weight * apart * apart;
            own_product[j] += number * apart;
          }
        }
      }
    }
  });
}

// The least and the greatest number of each column.
template <class V>
void column_ranges_pass(const Dense<V>& X, V* least, V* greatest, int n_threads) {
  constexpr Index run = 1024;
  const Index d = X.n_columns, n_runs = (d + run - 1) / run;
  parallel(n_threads, [&](int part) {
    const Range mine = share(n_runs, part, n_threads);
    for (Index first = mine.first * run; first < std::min(mine.last * run, d); first += run) {
      const Index width = std::min(run, d - first);
      std::copy_n(X.value + first, width, least + first);
      std::copy_n(X.value + first, width, greatest + first);
      V *const low = least + first, *const high = greatest + first;
      for (Index i = 1; i < X.n_rows; ++i) {
        const V* const x = X.value + i * d + first;
#pragma omp simd
        for (Index j = 0; j < width; ++j) {
          low[j] = x[j] < low[j] ? x[j] : low[j];
          high[j] = x[j] > high[j] ? x[j] : high[j];
        }
      }
    }
  });
}

}  // namespace lineal
