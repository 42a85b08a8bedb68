// How counts of terms become numbers of a feature vector.
//
//   value = tf(count) * weight of the column, then the row divided by its norm
//
// tf is the count, whether there is one, 1 + log(count), or BM25's
//   count (k + 1) / (count + k (1 - b + b length / mean length)),    length: the sum of the row's counts.
// Rows are looked at one by one, in the order of their columns, so a row's numbers depend on nothing else.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace lineal {

enum class Tf { count, occurrence, logarithm, bm25 };
enum class Norm { none, l1, l2 };

class Weighing {
 public:
  Tf tf = Tf::count;
  Norm norm = Norm::none;
  std::span<const double> weight;  // of each column; none: all are 1
  double k = 1.2, b = 0.75, mean_length = 1.0;

  Weighing() {
    for (std::size_t count = 1; count < logarithm_.size(); ++count)
      logarithm_[count] = std::log(double(count)) + 1.0;
  }

  // Weights that nobody else keeps.
  void own(std::vector<double> values) {
    own_ = std::make_shared<const std::vector<double>>(std::move(values));
    weight = *own_;
  }

  // Whether every number is 1 that counts above 0 have.
  bool makes_ones() const noexcept { return tf == Tf::occurrence && norm == Norm::none && weight.empty(); }

  // The numbers of a row from its columns, in order, and their counts.
  template <class V>
  void weigh(std::span<const std::int32_t> columns, const std::int32_t* counts, V* values) const {
    if (weight.empty())
      weigh(columns.size(), counts, [](std::size_t) { return 1.0; }, values);
    else
      weigh(columns.size(), counts, [&](std::size_t e) { return weight[std::size_t(columns[e])]; }, values);
  }
  // The same with weight_of(e), the weight of the e-th column.
  template <class V, class WeightOf>
  void weigh(std::size_t n, const std::int32_t* counts, const WeightOf& weight_of, V* values) const {
    switch (tf) {
      case Tf::count:
        return weigh(n, counts, [](std::int32_t count) { return double(count); }, weight_of, values);
      case Tf::occurrence:
        return weigh(
            n, counts, [](std::int32_t count) { return double((count > 0) - (count < 0)); }, weight_of,
            values);
      case Tf::logarithm:
        return weigh(n, counts, [&](std::int32_t count) { return logarithm(count); }, weight_of, values);
      case Tf::bm25:
        double length = 0.0;
        for (std::size_t e = 0; e < n; ++e) length += std::abs(counts[e]);
        length = k * (1.0 - b + b * length / mean_length);
        return weigh(
            n, counts,
            [&](std::int32_t count) {
              return count == 0 ? 0.0 : count * (k + 1.0) / (std::abs(count) + length);
            },
            weight_of, values);
    }
  }

 private:
  // With tf_of(count): a loop of its own for each, since a choice for every count would cost more than all
  // else. Hashed terms may count below 0; then so do their numbers.
  template <class V, class TfOf, class WeightOf>
  void weigh(std::size_t n, const std::int32_t* counts, const TfOf& tf_of, const WeightOf& weight_of,
             V* values) const {
    if (norm == Norm::none) {
      for (std::size_t e = 0; e < n; ++e) values[e] = V(tf_of(counts[e]) * weight_of(e));
      return;
    }
    double sum = 0.0;
    for (std::size_t e = 0; e < n; ++e) {
      const double value = tf_of(counts[e]) * weight_of(e);
      sum += norm == Norm::l2 ? value * value : std::abs(value);
      values[e] = V(value);
    }
    if (sum == 0.0) return;
    const double by = norm == Norm::l2 ? std::sqrt(sum) : sum;
    for (std::size_t e = 0; e < n; ++e) values[e] = V(double(values[e]) / by);
  }
  double logarithm(std::int32_t count) const noexcept {
    const auto size = std::size_t(std::abs(count));
    const double value = size < logarithm_.size() ? logarithm_[size] : std::log(double(size)) + 1.0;
    return count < 0 ? -value : value;
  }

  std::array<double, 256> logarithm_{};
  std::shared_ptr<const std::vector<double>> own_;
};

}  // namespace lineal
