// Dot products of many rows with many rows, in registers, without a library.
//
// A panel holds up to panel_width rows column by column, so that one entry of another row meets all of them
// in n_vectors multiplications. Sparse rows are streamed entry by entry; dense ones six at a time, two
// vectors of the panel after another. Wide sparse data are packed by the columns that occur in a panel
// (`slot_`). What becomes of the products is the caller's business: they are handed over row by row.
//
// Packing costs as much as streaming panel_width rows; a thread packs its own panels, and no number depends
// on how rows are dealt to threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lineal/kernel/lanes.h"
#include "lineal/rows.h"

namespace lineal::kernel {

// Rows in the type that products are computed in: dense ones less `centre`, which may be empty.
template <class Real>
class PackedRows {
 public:
  template <class Rows>
  PackedRows(const Rows& X, const std::vector<double>& centre) : n_rows_(X.n_rows), n_columns_(X.n_columns) {
    squared_.resize(std::size_t(n_rows_));
    if constexpr (requires { X.index; })
      take_sparse(X);
    else
      take_dense(X, centre);
  }

  Index n_rows() const noexcept { return n_rows_; }
  Index n_columns() const noexcept { return n_columns_; }
  bool is_sparse() const noexcept { return start_ != nullptr; }
  CsrRow<Real> sparse(Index i) const noexcept {
    return {index_ + start_[i], value_.data() + start_[i], start_[i + 1] - start_[i]};
  }
  const Real* dense(Index i) const noexcept { return value_.data() + i * n_columns_; }
  double squared(Index i) const noexcept { return squared_[std::size_t(i)]; }
  // The most entries of a row, and the greatest length.
  Index size() const noexcept { return size_; }
  double radius() const noexcept { return radius_; }

 private:
  template <class V>
  void take_sparse(const Csr<V>& X) {
    start_ = X.start;
    index_ = X.index;
    value_.assign(X.value, X.value + X.start[X.n_rows]);
    for (Index i = 0; i < n_rows_; ++i) measure(i, value_.data() + X.start[i], X.start[i + 1] - X.start[i]);
  }
  template <class V>
  void take_dense(const Dense<V>& X, const std::vector<double>& centre) {
    value_.resize(std::size_t(n_rows_ * n_columns_));
    for (Index i = 0; i < n_rows_; ++i) {
      const V* from = X.value + i * n_columns_;
      Real* to = value_.data() + i * n_columns_;
      if (centre.empty())
        for (Index j = 0; j < n_columns_; ++j) to[j] = Real(from[j]);
      else
        for (Index j = 0; j < n_columns_; ++j) to[j] = Real(double(from[j]) - centre[std::size_t(j)]);
      measure(i, to, n_columns_);
    }
  }
  void measure(Index i, const Real* value, Index size) {
    squared_[std::size_t(i)] = squared_norm(DenseRow<Real>{value, size});
    size_ = std::max(size_, size);
    radius_ = std::max(radius_, std::sqrt(squared_[std::size_t(i)]));
  }

  Index n_rows_, n_columns_, size_ = 0;
  double radius_ = 0;
  const Index* start_ = nullptr;  // borrowed
  const std::int32_t* index_ = nullptr;
  std::vector<Real> value_;
  std::vector<double> squared_;
};

// |x - z|^2 of row i of one set and row j of the other, from differences.
template <class Real>
double squared_distance(const PackedRows<Real>& X, Index i, const PackedRows<Real>& Z, Index j) noexcept {
  double sum = 0;
  const auto add = [&](double difference) { sum += difference * difference; };
  if (!X.is_sparse()) {
    const Real *x = X.dense(i), *z = Z.dense(j);
    for (Index k = 0; k < X.n_columns(); ++k) add(double(x[k]) - double(z[k]));
    return sum;
  }
  const CsrRow<Real> x = X.sparse(i), z = Z.sparse(j);
  for (Index a = 0, b = 0; a < x.size || b < z.size;) {
    const std::int64_t of_x = a < x.size ? x.index[a] : std::int64_t(1) << 32;
    const std::int64_t of_z = b < z.size ? z.index[b] : std::int64_t(1) << 32;
    add((of_x <= of_z ? double(x.value[a]) : 0.0) - (of_z <= of_x ? double(z.value[b]) : 0.0));
    a += of_x <= of_z;
    b += of_z <= of_x;
  }
  return sum;
}

template <class Real>
class Panel {
 public:
  static constexpr int width = panel_width<Real>;
  using V = Vector<Real>;

  explicit Panel(const PackedRows<Real>& rows) : rows_(rows) {
    // A panel of all columns that fits the first cache needs no look-up.
    is_whole_ = !rows.is_sparse() || rows.n_columns() <= 32768 / Index(width * sizeof(Real));
    if (is_whole_)
      value_.resize(std::size_t(rows.n_columns() * width));
    else
      slot_.assign(std::size_t(rows.n_columns()), -1);
  }

  // Lane k becomes row which[k]; lanes past count are 0.
  void pack(const Index* which, Index count) {
    if (!rows_.is_sparse())
      pack_dense(which, count);
    else if (is_whole_)
      pack_whole(which, count);
    else
      pack_slots(which, count);
  }

  // How many vectors hold so many lanes, for `stream`.
  static int n_used(Index count) noexcept {
    const Index at_once = Index(wide) * Lanes<Real>::n;
    return int((count + at_once - 1) / at_once) * wide;
  }

  // take(k, products): products of row which[k] of `others` with all lanes, for k = 0 .. count-1. Only the
  // first `used` vectors of products are sure to be there.
  template <class Take>
  void stream(const PackedRows<Real>& others, const Index* which, Index count, Take&& take,
              int used = n_vectors) const {
    if (!others.is_sparse())
      stream_dense(others, which, count, take, used);
    else if (is_whole_)
      stream_sparse<true>(others, which, count, take);
    else
      stream_sparse<false>(others, which, count, take);
  }

 private:
  static constexpr int tall = 6, wide = 2;  // 12 sums, 2 vectors of the panel and one entry: 15 registers

  void pack_dense(const Index* which, Index count) {
    const Index d = rows_.n_columns();
    for (Index k = 0; k < width; ++k) {
      const Real* row = k < count ? rows_.dense(which[k]) : nullptr;
      for (Index j = 0; j < d; ++j) value_[std::size_t(j * width + k)] = row ? row[j] : Real(0);
    }
  }
  void pack_whole(const Index* which, Index count) {
    std::fill(value_.begin(), value_.end(), Real(0));
    for (Index k = 0; k < count; ++k) {
      const CsrRow<Real> row = rows_.sparse(which[k]);
      for (Index e = 0; e < row.size; ++e) value_[std::size_t(row.index[e] * width + k)] = row.value[e];
    }
  }
  void pack_slots(const Index* which, Index count) {
    for (const std::int32_t column : columns_) slot_[std::size_t(column)] = -1;
    columns_.clear();
    for (Index k = 0; k < count; ++k) {
      const CsrRow<Real> row = rows_.sparse(which[k]);
      for (Index e = 0; e < row.size; ++e) {
        std::int32_t& slot = slot_[std::size_t(row.index[e])];
        if (slot < 0) {
          slot = std::int32_t(columns_.size());
          columns_.push_back(row.index[e]);
        }
      }
    }
    value_.assign(columns_.size() * std::size_t(width), Real(0));
    for (Index k = 0; k < count; ++k) {
      const CsrRow<Real> row = rows_.sparse(which[k]);
      for (Index e = 0; e < row.size; ++e)
        value_[std::size_t(Index(slot_[std::size_t(row.index[e])]) * width + k)] = row.value[e];
    }
  }

  template <bool whole, class Take>
  void stream_sparse(const PackedRows<Real>& others, const Index* which, Index count, Take& take) const {
    for (Index k = 0; k < count; ++k) {
      const CsrRow<Real> row = others.sparse(which[k]);
      V sum[n_vectors] = {};
      for (Index e = 0; e < row.size; ++e) {
        Index place = row.index[e];
        if constexpr (!whole) {
          place = slot_[std::size_t(place)];
          if (place < 0) continue;
        }
        const Real* lanes = value_.data() + place * width;
        for (int v = 0; v < n_vectors; ++v) sum[v] += row.value[e] * load(lanes + v * Lanes<Real>::n);
      }
      take(k, sum);
    }
  }

  template <class Take>
  void stream_dense(const PackedRows<Real>& others, const Index* which, Index count, Take& take,
                    int used) const {
    for (Index first = 0; first < count; first += tall) {
      const Index last = std::min<Index>(first + tall, count);
      const Real* row[tall];
      for (int r = 0; r < tall; ++r) row[r] = others.dense(which[std::min(first + r, last - 1)]);
      V sum[tall][n_vectors];
      for (int v = 0; v < used; v += wide) multiply(row, v, sum);
      for (Index k = first; k < last; ++k) take(k, sum[k - first]);
    }
  }
  void multiply(const Real* const* row, int v, V (&sum)[tall][n_vectors]) const {
    V part[tall][wide] = {};
    const Real* lanes = value_.data() + v * Lanes<Real>::n;
    const Index d = rows_.n_columns();
    for (Index j = 0; j < d; ++j, lanes += width) {
      const V left = load(lanes), right = load(lanes + Lanes<Real>::n);
      for (int r = 0; r < tall; ++r) {
        part[r][0] += row[r][j] * left;
        part[r][1] += row[r][j] * right;
      }
    }
    for (int r = 0; r < tall; ++r)
      for (int w = 0; w < wide; ++w) sum[r][v + w] = part[r][w];
  }

  const PackedRows<Real>& rows_;
  bool is_whole_;
  std::vector<Real> value_;
  std::vector<std::int32_t> slot_, columns_;
};

}  // namespace lineal::kernel
