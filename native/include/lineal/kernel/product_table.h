// Dot products of every two rows, computed once in float64: all that kernels of dot products ask of the data,
// whatever their parameters are.
//
// Who tries many parameters on the same rows (svm_grid) pays for the columns once; values for a gamma are
// then an exponent each. They are those of VectorSource's exact sums to the bit, and no bit depends on
// threads.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "lineal/kernel/panels.h"
#include "lineal/kernel/profile.h"
#include "lineal/kernel/table.h"

namespace lineal::kernel {

class ProductTable {
 public:
  // Of rows less `centre`, which may be empty. Where the watch ends it the table is not whole.
  template <class Rows>
  ProductTable(const Rows& X, const std::vector<double>& centre, int n_threads, Watch& watch) {
    const PackedRows<double> rows(X, centre);
    n_ = rows.n_rows();
    size_ = rows.size();
    radius_ = rows.radius();
    for (Index i = 0; i < n_; ++i) squared_.push_back(rows.squared(i));
    const Index n_values = n_ * (n_ + 1) / 2;
    product_.reset(new double[std::size_t(n_values + tile)]);  // not zeroed: all but the end is written
    std::fill_n(product_.get() + n_values, tile, 0.0);
    take(rows, n_threads, watch);
  }

  Index n_rows() const noexcept { return n_; }
  // |value - the kernel's value| is at most this.
  template <class Profile>
  double error(const Profile& profile) const noexcept {
    return profile.template error<double>(size_, radius_);
  }

  // K[i * n + j] = k(i, j) for all i, j; the diagonal is exact.
  template <class Profile>
  void fill(const Profile& profile, double* K, int n_threads) const {
    std::vector<double> own(std::size_t(n_ + tile));
    for (Index i = 0; i < n_; ++i) own[std::size_t(i)] = profile.own(squared_[std::size_t(i)]);
    const Index n_tiles = (n_ + tile - 1) / tile;
    parallel(n_threads, [&](int part) {
      double values[tile * tile];
      for (Index across = part; across < n_tiles; across += n_threads)
        for (Index down = 0; down <= across; ++down) {
          const Index i = across * tile, j = down * tile, last = std::min(i + tile, n_);
          compute(profile, own.data(), i, last, j, values);
          write(values, i, last, j, K);
        }
    });
    for (Index i = 0; i < n_; ++i) K[i * n_ + i] = profile.diagonal(squared_[std::size_t(i)]);
  }

 private:
  static constexpr Index tile = 32;

  // Products of row i with the rows before it, and with itself.
  double* products(Index i) const noexcept { return product_.get() + i * (i + 1) / 2; }

  void take(const PackedRows<double>& rows, int n_threads, Watch& watch) {
    constexpr Index width = Panel<double>::width;
    std::vector<Index> all(squared_.size());
    std::iota(all.begin(), all.end(), Index(0));
    SharedWatch shared(watch);
    const auto panel = [&] { return Panel<double>(rows); };
    each_unit(
        (n_ + width - 1) / width, n_threads, shared, panel, [&](Panel<double>& mine, int part, Index p) {
          const Index first = p * width;
          mine.pack(all.data() + first, std::min(width, n_ - first));
          mine.stream(rows, all.data() + first, n_ - first, [&](Index k, const Vector<double>* product) {
            double* to = products(first + k) + first;
            if (k + 1 >= width) {
              for (int v = 0; v < n_vectors; ++v) store(to + v * Lanes<double>::n, product[v]);
              return;
            }
            double lanes[width];
            for (int v = 0; v < n_vectors; ++v) store(lanes + v * Lanes<double>::n, product[v]);
            std::copy_n(lanes, k + 1, to);
          });
          shared.says_stop(part, std::size_t((n_ - first) * width * size_));
        });
  }

  // Rows i .. last, columns from j on. Past the diagonal products are of other rows, and values of no use.
  template <class Profile>
  void compute(const Profile& profile, const double* own, Index i, Index last, Index j,
               double* values) const {
    for (; i < last; ++i, values += tile) {
      const double* from = products(i) + j;
      for (Index l = 0; l < tile; l += Lanes<double>::n)
        store(values + l, profile.template value<double>(load(from + l), load(own + j + l), own[i]));
    }
  }
  // Both halves of the matrix.
  void write(const double* values, Index first, Index last, Index j, double* K) const {
    if (j < first) {
      for (Index i = first; i < last; ++i) std::copy_n(values + (i - first) * tile, tile, K + i * n_ + j);
      for (Index l = 0; l < tile; ++l)
        for (Index i = first; i < last; ++i) K[(j + l) * n_ + i] = values[(i - first) * tile + l];
      return;
    }
    for (Index i = first; i < last; ++i)
      for (Index l = 0; l <= i - first; ++l)
        K[i * n_ + j + l] = K[(j + l) * n_ + i] = values[(i - first) * tile + l];
  }

  Index n_ = 0, size_ = 0;
  double radius_ = 0;
  std::vector<double> squared_;
  std::unique_ptr<double[]> product_;  // the lower triangle, row after row
};

}  // namespace lineal::kernel
