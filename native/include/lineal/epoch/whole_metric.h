// The whole metric of a few columns: A = D + sum of bend x x', by a factor of its inverse.
//
// A diagonal does not know that columns move together, and along what they share its steps fade too soon. Of
// up to `most_columns` columns the whole matrix is kept, as S with A^-1 = S S'. A row changes it by
//
//     A + b x x':   S -= beta (S t) t',   t = S'x,  beta = (1 - 1 / sqrt(1 + b q)) / q,   q = |t|^2
//
// (Potter 1963), which keeps S S' positive whatever is rounded. For the squared loss the steps in this metric
// are recursive least squares: the weights are the ridge regression's after every row.
// Cost of a row: three passes over S.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "lineal/rows.h"

namespace lineal {

class WholeMetric {
 public:
  static constexpr Index most_columns = 64;
  static constexpr Index intercept = most_columns;  // the place of the constant 1
  static constexpr Index size = most_columns + 1;
  static constexpr Index width = size + 1;  // a row of S, and whether its place was begun

  explicit WholeMetric(double* S) : S_(S) {}

  bool is_begun(Index place) const noexcept { return S_[place * width + size] != 0.0; }
  // A place that was never met starts with this entry of A, apart from all others.
  void begin(Index place, double precision) noexcept {
    S_[place * width + place] = 1.0 / std::sqrt(precision);
    S_[place * width + size] = 1.0;
  }
  // Takes back what begin did, right behind it.
  void forget(Index place) noexcept { S_[place * width + place] = S_[place * width + size] = 0.0; }
  // t = S'x, for the places of x that are not 0; returns q.
  double norm(std::span<const Index> places, const double* x, double* t) const noexcept {
    std::fill(t, t + size, 0.0);
    for (const Index j : places) {
      const double* row = S_ + j * width;
      for (Index k = 0; k < size; ++k) t[k] += x[j] * row[k];
    }
    double q = 0;
    for (Index k = 0; k < size; ++k) q += t[k] * t[k];
    return q;
  }
  // d = S t = A^-1 x; then A gains bend x x'.
  void grow(const double* t, double q, double bend, double* d) noexcept {
    const double beta = q > 0 ? (1.0 - 1.0 / std::sqrt(1.0 + bend * q)) / q : 0.0;
    for (Index j = 0; j < size; ++j) {
      double* row = S_ + j * width;
      d[j] = 0.0;
      if (row[size] == 0.0) continue;
      double sum[4] = {};
      Index k = 0;
      for (; k + 4 <= size; k += 4)
        for (int lane = 0; lane < 4; ++lane) sum[lane] += row[k + lane] * t[k + lane];
      for (; k < size; ++k) sum[0] += row[k] * t[k];
      d[j] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
      const double change = beta * d[j];
      if (change != 0.0)
        for (Index l = 0; l < size; ++l) row[l] -= change * t[l];
    }
  }

 private:
  double* S_;  // size x width
};

}  // namespace lineal
