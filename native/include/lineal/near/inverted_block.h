// A block of an inverted index: for each column, the rows of the block that have it, on three levels.
//
// Columns that few rows have are on level 0, common ones on level 1, both as postings: a row's number within
// the block, in two bytes, and its value. Those that an eighth of the rows have are on level 2 and stored in
// full, to be added as vectors. Values are in single precision.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lineal/near/product.h"

namespace lineal::near {

inline constexpr Index n_levels = 3, inverted_block = 1 << 15;

class InvertedBlock {
 public:
  // Rows [first, first + size), multiplied by unit; keys start from |x|^2 or from 0.
  InvertedBlock(const Csr<double>& rows, Index first, Index size, double unit, bool has_squares)
      : first(first), size(size), stride((size + padding - 1) / padding * padding) {
    lay_out(rows);
    base.assign(std::size_t(stride), std::numeric_limits<float>::infinity());
    for (auto& each : tail) each.assign(std::size_t(stride), 0.0f);
    std::vector<std::uint32_t> next;
    for (const Column& column : columns_) next.push_back(column.start);
    for (Index r = 0; r < size; ++r) {
      const double squared = place(rows[first + r], r, unit, next);
      base[std::size_t(r)] = has_squares ? float(squared) : 0.0f;
    }
  }

  Index level(std::int32_t j) const noexcept {
    if (columns_[std::size_t(j)].place >= 0) return 2;
    return n_postings(j) * common > size ? 1 : 0;
  }
  // The largest |x_j|; 0 if no row has the column.
  float most(std::int32_t j) const noexcept { return columns_[std::size_t(j)].most; }
  // About how many additions a column costs.
  Index work(std::int32_t j) const noexcept { return level(j) == 2 ? size / 8 + 1 : 2 * n_postings(j); }

  // sums += q x_j, from postings.
  void add_postings(std::int32_t j, float q, float* sums) const noexcept {
    const std::uint32_t start = columns_[std::size_t(j)].start, end = columns_[std::size_t(j) + 1].start;
    const std::uint16_t* row = row_.data();
    const float* value = value_.data();
    for (std::uint32_t k = start; k < end; ++k) sums[row[k]] += q * value[k];
  }
  // The same for n <= 4 columns that are stored in full, in one go.
  void add_whole(const std::int32_t* j, const float* q, Index n, float* sums) const noexcept {
    const float* column[4];
    Floats factor[4];
    for (Index t = 0; t < 4; ++t) {
      column[t] = whole_.data() + columns_[std::size_t(j[t < n ? t : 0])].place * stride;
      factor[t] = in_all_lanes(t < n ? q[t] : 0.0f);
    }
    for (Index r = 0; r < stride; r += Index(sizeof(Floats) / sizeof(float))) {
      Floats sum = load(sums + r);
      for (Index t = 0; t < 4; ++t) sum = fused(factor[t], load(column[t] + r), sum);
      __builtin_memcpy(sums + r, &sum, sizeof sum);
    }
  }

  Index first, size, stride;                      // stride: whole registers
  std::vector<float> base;                        // infinite beyond the block's end
  std::array<std::vector<float>, n_levels> tail;  // the length of what is on a level or above, rounded up

 private:
  // Shares of the rows from which on a column is common, and stored in full.
  static constexpr Index common = 32, full = 8, padding = 16;
  struct Column {
    std::uint32_t start = 0;  // of its postings
    std::int32_t place = -1;  // among those stored in full
    float most = 0;
  };

  Index n_postings(std::int32_t j) const noexcept {
    return Index(columns_[std::size_t(j) + 1].start) - Index(columns_[std::size_t(j)].start);
  }

  void lay_out(const Csr<double>& rows) {
    columns_.resize(std::size_t(rows.n_columns) + 1);
    std::vector<std::uint32_t> n_having(std::size_t(rows.n_columns), 0);
    for (Index k = rows.start[first]; k < rows.start[first + size]; ++k)
      ++n_having[std::size_t(rows.index[k])];
    std::uint32_t start = 0;
    std::int32_t n_whole = 0;
    for (std::size_t j = 0; j < n_having.size(); ++j) {
      const bool is_full = Index(n_having[j]) * full > size;
      columns_[j].start = start;
      if (is_full) columns_[j].place = n_whole++;
      start += is_full ? 0 : n_having[j];
    }
    columns_.back().start = start;
    row_.resize(start);
    value_.resize(start);
    whole_.assign(std::size_t(n_whole) * std::size_t(stride), 0.0f);
  }

  // Returns the row's squared length.
  double place(CsrRow<double> x, Index r, double unit, std::vector<std::uint32_t>& next) {
    double squares[n_levels] = {};
    for (Index k = 0; k < x.size; ++k) {
      const std::int32_t j = x.index[k];
      Column& column = columns_[std::size_t(j)];
      const float value = float(x.value[k] * unit);
      column.most = std::max(column.most, std::abs(value));
      squares[level(j)] += double(value) * double(value);
      if (column.place >= 0) {
        whole_[std::size_t(column.place * stride + r)] = value;
      } else {
        const std::uint32_t at = next[std::size_t(j)]++;
        row_[at] = std::uint16_t(r);
        value_[at] = value;
      }
    }
    double sum = 0;
    for (Index l = n_levels - 1; l >= 0; --l) {
      sum += squares[l];
      tail[std::size_t(l)][std::size_t(r)] = float(std::sqrt(sum) * (1 + 0x1p-20)) + 1e-37f;
    }
    return sum;
  }

  std::vector<Column> columns_;  // one more than there are
  std::vector<std::uint16_t> row_;
  std::vector<float> value_, whole_;
};

}  // namespace lineal::near
