// Kernel values that are there: a matrix of them.
#pragma once

#include <algorithm>
#include <cmath>

#include "lineal/kernel/source.h"

namespace lineal::kernel {

// A matrix of kernel values, borrowed: row-major, n x n, symmetric, each within `error` of what it should be.
class GramSource final : public Source {
 public:
  GramSource(const double* G, Index n, double error = 0) : G_(G), n_(n), own_error_(error) {
    for (Index i = 0; i < n; ++i) {
      // Several at once: a comparison waits for the last one.
      double most[at_once] = {};
      const double* values = G + i * n;
      for (Index j = 0; j < n; ++j) most[j % at_once] = std::max(most[j % at_once], std::abs(values[j]));
      largest_ = std::max(largest_, *std::max_element(most, most + at_once));
    }
  }
  Index n_rows() const noexcept override { return n_; }
  // A block's values are floats, and sums over a whole block are made of them.
  double error() const noexcept override { return exact_error() + 4 * unit_roundoff<float> * largest_; }
  // A sum rounds within its chunk, and once for each chunk.
  double exact_error() const noexcept override {
    return own_error_ + double(4 + chunk + n_ / chunk) * unit_roundoff<double> * largest_;
  }
  double largest() const noexcept override { return largest_; }
  double diagonal(Index row) const noexcept override { return G_[row * n_ + row]; }

  void block(const Index* row, Index q, float* out, Index stride, int n_threads,
             Watch* watch = nullptr) const override {
    rows(row, q, row, q, out, stride, n_threads, watch);
  }
  void rows(const Index* which, Index count, const Index* row, Index n, float* out, Index stride,
            int n_threads, Watch* watch = nullptr) const override {
    PassWatch shared(watch);
    n_threads = worthwhile_threads(n_threads, count * n / 8);
    parallel(n_threads, [&](int part) {
      const Range mine = share(count, part, n_threads);
      for (Index k = mine.first; k < mine.last && !shared.says_stop(part, n); ++k) {
        const double* values = G_ + which[k] * n_;
        float* to = out + k * stride;
        for (Index i = 0; i < n; ++i) to[i] = float(values[row[i]]);
      }
    });
  }
  void add(const Index* row, Index n, const Expansion& sum, double* F, int n_threads,
           Watch* watch = nullptr) const override {
    add_exact(row, n, sum, F, n_threads, watch);
  }
  void add_exact(const Index* row, Index n, const Expansion& sum, double* F, int n_threads,
                 Watch* watch = nullptr) const override {
    PassWatch shared(watch);
    n_threads = worthwhile_threads(n_threads, n * sum.size / 4);
    const Index n_groups = n / at_once;
    parallel(n_threads, [&](int part) {
      const Range mine = share(n_groups, part, n_threads);
      for (Index g = mine.first; g < mine.last && !shared.says_stop(part, at_once * sum.size); ++g)
        add_rows<at_once>(row + g * at_once, sum, F + g * at_once);
    });
    for (Index i = n_groups * at_once; i < n; ++i) add_rows<1>(row + i, sum, F + i);
  }

 private:
  // Rows that are summed side by side, since an addition waits for the last one to the same sum; and how many
  // values are added before they join the others.
  static constexpr Index at_once = 8, chunk = 64;

  template <Index count>
  void add_rows(const Index* row, const Expansion& sum, double* F) const {
    const double* values[count];
    for (Index r = 0; r < count; ++r) values[r] = G_ + row[r] * n_;
    double whole[count] = {};
    for (Index first = 0; first < sum.size; first += chunk) {
      const Index last = std::min(first + chunk, sum.size);
      double total[count] = {};
      for (Index k = first; k < last; ++k) {
        const double a = sum.coefficient[k];
        const Index column = sum.row[k];
        for (Index r = 0; r < count; ++r) total[r] += a * values[r][column];
      }
      for (Index r = 0; r < count; ++r) whole[r] += total[r];
    }
    for (Index r = 0; r < count; ++r) F[r] += whole[r];
  }

  const double* G_;
  Index n_;
  double own_error_, largest_ = 0;
};

}  // namespace lineal::kernel
