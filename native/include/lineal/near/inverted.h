// An inverted index over sparse rows: for each column, the rows that have it.
//
// A query's columns are walked one by one and add q_j x_j to the sums of the rows that have column j, rarest
// columns first, level by level (inverted_block.h). After a level the rest of q.x is bounded for each row by
// the smaller of |q_rest| |x_rest| and sum_j |q_j| max |x_j| (the max-weight bound of Turtle and Flood 1995).
// If few rows can still be among the k nearest, the rest is left undone. Sums are in single precision with a
// known error (product.h); rows that no bound excludes get their exact distance (exact.h).
//
// Rows come in blocks, so that the sums of a block stay in cache.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "lineal/near/inverted_block.h"

namespace lineal::near {

// A sparse row's numbers in an array of all columns while it lives; zeros before and after.
class Spread {
 public:
  Spread(CsrRow<double> row, std::vector<double>& columns) noexcept : row_(row), columns_(columns) {
    for (Index k = 0; k < row.size; ++k) columns[std::size_t(row.index[k])] = row.value[k];
  }
  ~Spread() {
    for (Index k = 0; k < row_.size; ++k) columns_[std::size_t(row_.index[k])] = 0.0;
  }
  Spread(const Spread&) = delete;
  Spread& operator=(const Spread&) = delete;

 private:
  CsrRow<double> row_;
  std::vector<double>& columns_;
};

template <class Metric>
class InvertedIndex {
 public:
  // The rows are borrowed; of length 1 or 0 for the cosine.
  explicit InvertedIndex(const Csr<double>& rows) : rows_(rows) {
    double longest = 0;
    for (Index i = 0; i < rows.n_rows; ++i) longest = std::max(longest, length(rows[i].value, rows[i].size));
    if (is_euclidean && longest > 0) unit_ = std::ldexp(1.0, -std::clamp(std::ilogb(longest), -900, 900));
    longest_ = longest * unit_;
    for (Index first = 0; first < rows.n_rows; first += inverted_block)
      blocks_.emplace_back(rows, first, std::min(inverted_block, rows.n_rows - first), unit_, is_euclidean);
  }

  const Csr<double>& rows() const noexcept { return rows_; }

  void search(const Csr<double>& queries, const Answers& answers, int n_threads, Watch& watch) const {
    Ending ending(watch);
    each_block(
        queries.n_rows, turn, n_threads, ending, [&] { return Scratch(rows_, answers.k); },
        [&](Scratch& scratch, int part, Index first, Index last) {
          for (const InvertedBlock& block : blocks_)
            for (Index i = first; i < last; ++i) {
              meet(queries[i], block, scratch, scratch.nearest[std::size_t(i - first)]);
              if (ending.is_near(part, block.size)) return;
            }
          for (Index i = first; i < last; ++i) answers.take(scratch.nearest[std::size_t(i - first)], i);
        });
  }

 private:
  static constexpr bool is_euclidean = std::is_same_v<Metric, Euclidean>;
  static constexpr Index turn = 16, lanes = Index(sizeof(Floats) / sizeof(float));
  static constexpr float factor = is_euclidean ? 2.0f : 1.0f;

  struct Terms {
    std::vector<std::int32_t> column;
    std::vector<float> value;
  };
  struct Scratch {
    Scratch(const Csr<double>& rows, Index k)
        : columns(std::size_t(rows.n_columns), 0.0),
          sums(std::size_t(std::min(inverted_block, (rows.n_rows + 15) / 16 * 16))) {
      for (Index i = 0; i < turn; ++i) nearest.emplace_back(k);
    }
    std::vector<double> columns;
    std::vector<float> sums, best;
    std::vector<Nearest> nearest;
    std::array<Terms, n_levels> terms;
  };
  // What a query does not know yet about the rows of a block, from a level on.
  struct Doubt {
    double length = 0;               // |q|
    double tail[n_levels + 1] = {};  // |q_rest|
    double most[n_levels + 1] = {};  // sum_j |q_j| max |x_j|
    Index work[n_levels + 1] = {};   // additions
    double error = 0;                // of a key whose sum is complete
  };

  Doubt sort_terms(CsrRow<double> q, const InvertedBlock& block, Scratch& scratch) const {
    Doubt doubt;
    double squares[n_levels] = {}, all = 0;
    for (Terms& terms : scratch.terms) terms.column.clear(), terms.value.clear();
    for (Index k = 0; k < q.size; ++k) {
      const std::int32_t j = q.index[k];
      const float value = float(q.value[k] * unit_);
      all += double(value) * double(value);
      if (block.most(j) == 0) continue;
      const Index l = block.level(j);
      scratch.terms[std::size_t(l)].column.push_back(j);
      scratch.terms[std::size_t(l)].value.push_back(value);
      squares[l] += double(value) * double(value);
      doubt.most[l] += double(std::abs(value)) * double(block.most(j));
      doubt.work[l] += block.work(j);
    }
    doubt.length = std::sqrt(all);
    double rest = 0;
    for (Index l = n_levels - 1; l >= 0; --l) {
      rest += squares[l];
      doubt.tail[l] = std::sqrt(rest) * (1 + 0x1p-20);
      doubt.most[l] = (doubt.most[l] + doubt.most[l + 1]) * (1 + 0x1p-20);
      doubt.work[l] += doubt.work[l + 1];
    }
    const double both = is_euclidean ? doubt.length + longest_ : 1.0;
    doubt.error = 1.01 * (product_error(q.size) + 2 * distance_error(rows_.n_columns)) * both * both + 1e-30;
    return doubt;
  }

  void meet(CsrRow<double> q, const InvertedBlock& block, Scratch& scratch, Nearest& nearest) const {
    const Doubt doubt = sort_terms(q, block, scratch);
    const Spread spread(q, scratch.columns);
    if (!(doubt.length < longest_query)) return sift_all(q, block, scratch, nearest);
    std::fill(scratch.sums.begin(), scratch.sums.begin() + block.stride, 0.0f);
    for (Index l = 0; l < n_levels; ++l) {
      if (doubt.work[l] == 0) continue;
      // A look costs two passes over the sums: only before work that is worth more.
      if (l > 0 && doubt.work[l] > block.size / 2) {
        const float cut = lowest_cut(block, doubt, l, scratch, nearest);
        Index n_left = 0;
        each_bound(block, doubt, l, scratch.sums.data(), -1.0f, cut, [&](Index, float) { ++n_left; });
        const Index per_row = 8 * (rows_.start[rows_.n_rows] / rows_.n_rows + 8);
        if (n_left * per_row < doubt.work[l]) return sift(q, block, doubt, l, scratch, cut, nearest);
      }
      add(block, l, scratch);
    }
    sift(q, block, doubt, n_levels, scratch, lowest_cut(block, doubt, n_levels, scratch, nearest), nearest);
  }

  static void add(const InvertedBlock& block, Index l, Scratch& scratch) noexcept {
    const Terms& terms = scratch.terms[std::size_t(l)];
    const Index n = Index(terms.column.size());
    float* sums = scratch.sums.data();
    if (l < 2)
      for (Index t = 0; t < n; ++t)
        block.add_postings(terms.column[std::size_t(t)], terms.value[std::size_t(t)], sums);
    else
      for (Index t = 0; t < n; t += 4)
        block.add_whole(terms.column.data() + t, terms.value.data() + t, std::min<Index>(4, n - t), sums);
  }

  // A row's key, |x|^2 - 2 q.x or -q.x in units, is within a slack of what its sum says. Calls see(r, bound)
  // for rows whose key plus side times slack is at most `cut`, which see may lower.
  template <class See>
  static void each_bound(const InvertedBlock& block, const Doubt& doubt, Index l, const float* sums,
                         float side, const float& cut, See&& see) {
    const bool is_complete = l == n_levels;
    const float* tails = block.tail[std::size_t(is_complete ? 0 : l)].data();
    const Floats tail = in_all_lanes(float(is_complete ? 0.0 : doubt.tail[l] * (1 + 0x1p-20)));
    const Floats most = in_all_lanes(float(is_complete ? 0.0 : doubt.most[l] * (1 + 0x1p-20)));
    const float error = float(doubt.error * (1 + 0x1p-20));
    for (Index r = 0; r < block.stride; r += lanes) {
      const Floats rest = tail * load(tails + r);
      const Floats slack = factor * (rest < most ? rest : most) + error;
      const Floats bound = load(block.base.data() + r) - factor * load(sums + r) + side * slack;
      if (!any_at_most(bound, cut)) continue;
      for (Index t = 0; t < lanes; ++t)
        if (bound[t] <= cut && r + t < block.size) see(r + t, bound[t]);
    }
  }

  // No key of the k nearest is above this: neither above what k rows of this block can have at most, nor
  // above what the kept ones have.
  float lowest_cut(const InvertedBlock& block, const Doubt& doubt, Index l, Scratch& scratch,
                   const Nearest& nearest) const {
    const std::size_t k = nearest.k();
    float cut = std::numeric_limits<float>::infinity();
    if (nearest.is_full()) {
      const double worst = nearest.worst().distance;
      const double reach = worst * unit_ * (1 + distance_error(rows_.n_columns));
      const double key = is_euclidean ? reach * reach - doubt.length * doubt.length : worst - 1.0;
      cut = float(key + 0x1p-22 * std::abs(key) + doubt.error);
    }
    if (Index(k) > block.size) return cut;
    std::vector<float>& best = scratch.best;
    best.clear();
    each_bound(block, doubt, l, scratch.sums.data(), 1.0f, cut, [&](Index, float bound) {
      if (best.size() == k) {
        std::pop_heap(best.begin(), best.end());
        best.back() = bound;
      } else {
        best.push_back(bound);
      }
      std::push_heap(best.begin(), best.end());
      if (best.size() == k) cut = best.front();
    });
    return cut;
  }

  void sift(CsrRow<double> q, const InvertedBlock& block, const Doubt& doubt, Index l, const Scratch& scratch,
            float cut, Nearest& nearest) const {
    each_bound(block, doubt, l, scratch.sums.data(), -1.0f, cut, [&](Index r, float) {
      const Index row = block.first + r;
      nearest.offer(exact(q, scratch, row), row);
    });
  }

  double exact(CsrRow<double> q, const Scratch& scratch, Index row) const noexcept {
    if constexpr (is_euclidean)
      return distance<Euclidean>(q, rows_[row]);
    else
      return cosine_distance(scratch.columns.data(), rows_[row]);
  }

  void sift_all(CsrRow<double> q, const InvertedBlock& block, const Scratch& scratch,
                Nearest& nearest) const {
    for (Index row = block.first; row < block.first + block.size; ++row)
      nearest.offer(exact(q, scratch, row), row);
  }

  Csr<double> rows_;
  double unit_ = 1.0, longest_ = 0.0;
  std::vector<InvertedBlock> blocks_;
};

}  // namespace lineal::near
