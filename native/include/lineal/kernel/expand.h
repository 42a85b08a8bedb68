// Sums of kernel values times coefficients, for rows of another matrix: what a kernel machine predicts with.
//
// Everything is in float64. Support vectors are met panel by panel (panels.h); a panel belongs to one segment
// of them, whose sums are kept apart (one-vs-one machines sum over the classes of support vectors). Of pairs
// of classes most support vectors serve a few only: there the rows to predict stand in panels, a support
// vector meets all of a panel, and its values are added where it has a coefficient.
#pragma once

#include <algorithm>
#include <vector>

#include "lineal/kernel/source.h"
#include "lineal/watch.h"

namespace lineal::kernel {

// Sums of kernel values times coefficients for many outputs: outputs stand side by side, up to 32 of them in
// registers, and a kernel value meets all of them.
class Outputs {
 public:
  explicit Outputs(Index n) : n_(n), n_wide_((n + lanes - 1) / lanes) {}

  // Coefficients of `count` kernel values: those of one value side by side.
  std::vector<double> laid(const double* coefficient, Index stride, Index count) const {
    std::vector<double> weights(std::size_t(count * n_wide_ * lanes));
    for (Index k = 0; k < count; ++k)
      for (Index o = 0; o < n_; ++o)
        weights[std::size_t(k * n_wide_ * lanes + o)] = coefficient[o * stride + k];
    return weights;
  }

  Index padded() const noexcept { return n_wide_ * lanes; }

  // To padded() sums.
  void add(const double* value, const double* weights, Index count, double* to) const {
    Index first = 0;
    for (; first + 8 <= n_wide_; first += 8) add_part<8>(value, weights, count, first, to);
    switch (n_wide_ - first) {
      case 1:
        return add_part<1>(value, weights, count, first, to);
      case 2:
        return add_part<2>(value, weights, count, first, to);
      case 3:
        return add_part<3>(value, weights, count, first, to);
      case 4:
        return add_part<4>(value, weights, count, first, to);
      case 5:
        return add_part<5>(value, weights, count, first, to);
      case 6:
        return add_part<6>(value, weights, count, first, to);
      case 7:
        return add_part<7>(value, weights, count, first, to);
      default:
        return;
    }
  }

 private:
  using Vector = kernel::Vector<double>;
  static constexpr Index lanes = Lanes<double>::n;

  template <int wide>
  void add_part(const double* value, const double* weights, Index count, Index first, double* to) const {
    // An addition waits for the last one to the same sum: few outputs take turns in several sums.
    constexpr int turns = wide <= 2 ? 4 : wide <= 4 ? 2 : 1;
    Vector sum[turns][wide] = {};
    const double* from = weights + first * lanes;
    Index k = 0;
    for (; k + turns <= count; k += turns)
      for (int t = 0; t < turns; ++t, from += n_wide_ * lanes) {
        const Vector factor = in_all_lanes<double>(value[k + t]);
        for (int w = 0; w < wide; ++w) sum[t][w] += factor * load(from + w * lanes);
      }
    for (; k < count; ++k, from += n_wide_ * lanes) {
      const Vector factor = in_all_lanes<double>(value[k]);
      for (int w = 0; w < wide; ++w) sum[0][w] += factor * load(from + w * lanes);
    }
    for (int w = 0; w < wide; ++w) {
      for (int t = 1; t < turns; ++t) sum[0][w] += sum[t][w];
      store(to + (first + w) * lanes, load(to + (first + w) * lanes) + sum[0][w]);
    }
  }

  Index n_, n_wide_;
};

// Coefficients of support vectors: coefficient[o * size + k] is that of row[k] for output o, and segments
// begin and end at segment[0] .. segment[n_segments].
struct SupportSums {
  const Index* row;
  const double* coefficient;
  Index size, n_outputs;
  const Index* segment;
  Index n_segments;
};

// One thread's part of the rows, panel after panel.
template <class VectorKernel>
class Expander {
 public:
  Expander(const VectorKernel& source, const PackedRows<double>& others, const SupportSums& support,
           Range mine)
      : source_(source),
        others_(others),
        support_(support),
        first_(mine.first),
        outputs_(support.n_outputs),
        panel_(source.exact()) {
    for (Index i = mine.first; i < mine.last; ++i) rows_.push_back(i);
    if (support.n_outputs > 1) sums_.resize(rows_.size() * std::size_t(outputs_.padded()));
  }

  // Adds a panel of segment s: `count` support vectors from `first` on.
  void add(Index s, Index first, Index count, double* out) {
    double lane_own[width];
    source_.pack(panel_, source_.exact(), support_.row + first, count, lane_own);
    const double* coefficient = support_.coefficient + first;
    double alone[width] = {};
    if (support_.n_outputs == 1)
      std::copy_n(coefficient, count, alone);
    else
      weights_ = outputs_.laid(coefficient, support_.size, count);
    const Index n_outputs = support_.n_outputs, stride = support_.n_segments * n_outputs;
    if (source_.is_far()) return add_by_differences(s, first, count, out);
    panel_.stream(others_, rows_.data(), Index(rows_.size()), [&](Index i, const Vector<double>* product) {
      const double own = source_.profile().own(others_.squared(first_ + i));
      double* to = out + (first_ + i) * stride + s * n_outputs;
      if (n_outputs == 1) {  // whose lanes are the support vectors
        Vector<double> total{};
        for (int v = 0; v < n_vectors; ++v)
          total += load(alone + v * lanes) * value(product[v], lane_own + v * lanes, own);
        to[0] += sum_of_lanes<double>(total);
        return;
      }
      double values[width];
      for (int v = 0; v < n_vectors; ++v)
        store(values + v * lanes, value(product[v], lane_own + v * lanes, own));
      outputs_.add(values, weights_.data(), count, sums_.data() + i * outputs_.padded());
    });
  }

  // The same one value after another.
  [[gnu::noinline]] void add_by_differences(Index s, Index first, Index count, double* out) {
    const Index n_outputs = support_.n_outputs, stride = support_.n_segments * n_outputs;
    const double* coefficient = support_.coefficient + first;
    double values[width];
    for (Index i = 0; i < Index(rows_.size()); ++i) {
      source_.values_by_differences(support_.row + first, count, others_, first_ + i, values);
      if (n_outputs == 1)
        for (Index k = 0; k < count; ++k) out[(first_ + i) * stride + s] += coefficient[k] * values[k];
      else
        outputs_.add(values, weights_.data(), count, sums_.data() + i * outputs_.padded());
    }
  }

  // The sums of a segment that is done.
  void finish(Index s, double* out) {
    if (support_.n_outputs == 1) return;
    const Index n_outputs = support_.n_outputs, stride = support_.n_segments * n_outputs;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      std::copy_n(sums_.data() + Index(i) * outputs_.padded(), n_outputs,
                  out + (first_ + Index(i)) * stride + s * n_outputs);
    std::fill(sums_.begin(), sums_.end(), 0.0);
  }

 private:
  static constexpr Index width = Panel<double>::width, lanes = Lanes<double>::n;
  Vector<double> value(Vector<double> product, const double* lane_own, double own) const noexcept {
    return source_.profile().template value<double>(product, load(lane_own), own);
  }

  const VectorKernel& source_;
  const PackedRows<double>& others_;
  const SupportSums& support_;
  Index first_;
  Outputs outputs_;
  Panel<double> panel_;
  std::vector<Index> rows_;
  std::vector<double> weights_, sums_;
};

// Coefficients that are not 0, by support vector.
class FewCoefficients {
 public:
  explicit FewCoefficients(const SupportSums& support) : start_(std::size_t(support.size) + 1) {
    const auto at = [&](Index k, Index o) { return support.coefficient[o * support.size + k]; };
    std::size_t n = 0;
    for (Index e = 0; e < support.size * support.n_outputs; ++e) n += support.coefficient[e] != 0;
    entries_.resize(n + 1);
    // Which ones are 0 cannot be guessed, so all are written, and the next one over those that are.
    n = 0;
    for (Index k = 0; k < support.size; ++k) {
      for (Index o = 0; o < support.n_outputs; ++o) {
        entries_[n] = {o, at(k, o)};
        n += at(k, o) != 0;
      }
      start_[std::size_t(k) + 1] = n;
    }
  }
  struct Entry {
    Index output;
    double coefficient;
  };
  const Entry* begin(Index k) const noexcept { return entries_.data() + start_[std::size_t(k)]; }
  const Entry* end(Index k) const noexcept { return entries_.data() + start_[std::size_t(k) + 1]; }

 private:
  std::vector<Entry> entries_;
  std::vector<std::size_t> start_;
};

// Sums over all segments for a panel of rows after another: done(first, count, sums) gets them for `count`
// rows from `first` on, that of segment s and output o at row first + l in sums[(s * n_outputs + o) * width +
// l]. It is called by several threads.
template <class VectorKernel, class Done>
void expand_panels(const VectorKernel& source, const PackedRows<double>& others, const SupportSums& support,
                   int n_threads, Watch& watch, const Done& done) {
  constexpr Index width = Panel<double>::width, lanes = Lanes<double>::n;
  const Index n = others.n_rows(), n_panels = (n + width - 1) / width;
  n_threads =
      int(std::min<Index>(worthwhile_threads(n_threads, n * support.size), std::max<Index>(n_panels, 1)));
  const FewCoefficients few(support);
  SharedWatch shared(watch);
  parallel(n_threads, [&](int part) {
    const Range mine = share(n_panels, part, n_threads);
    Panel<double> panel(others);
    std::vector<double> sums(std::size_t(support.n_segments * support.n_outputs * width));
    Index row[width];
    double lane_own[width];
    for (Index first = mine.first * width; first < std::min(mine.last * width, n); first += width) {
      const Index count = std::min(width, n - first);
      const int used = Panel<double>::n_used(count);
      for (Index l = 0; l < count; ++l) row[l] = first + l;
      source.pack(panel, others, row, count, lane_own);
      std::fill(sums.begin(), sums.end(), 0.0);
      for (Index s = 0; s < support.n_segments; ++s) {
        const Index begin = support.segment[s];
        double* to = sums.data() + s * support.n_outputs * width;
        const auto add = [&](Index k, const Vector<double>* value) {
          for (auto each = few.begin(begin + k); each != few.end(begin + k); ++each) {
            double* sum = to + each->output * width;
            for (int v = 0; v < used; ++v, sum += lanes) store(sum, load(sum) + each->coefficient * value[v]);
          }
        };
        if (source.is_far()) {
          for (Index k = 0; k < support.segment[s + 1] - begin; ++k) {
            double one[width], by_row[width] = {};
            for (Index l = 0; l < count; ++l) {
              source.values_by_differences(support.row + begin + k, 1, others, row[l], one);
              by_row[l] = one[0];
            }
            Vector<double> value[n_vectors];
            for (int v = 0; v < used; ++v) value[v] = load(by_row + v * lanes);
            add(k, value);
          }
          continue;
        }
        panel.stream(
            source.exact(), support.row + begin, support.segment[s + 1] - begin,
            [&](Index k, const Vector<double>* product) {
              const double own = source.profile().own(source.exact().squared(support.row[begin + k]));
              Vector<double> value[n_vectors];
              for (int v = 0; v < used; ++v)
                value[v] =
                    source.profile().template value<double>(product[v], load(lane_own + v * lanes), own);
              add(k, value);
            },
            used);
        if (shared.says_stop(part, std::size_t((support.segment[s + 1] - begin) * width * 8))) return;
      }
      done(first, count, sums.data());
    }
  });
}

// Which class wins the most of its pairs, the first of equals; sums are those of segments of classes, whose
// outputs are the other classes in order, and a score of a pair i < j, its two sums and intercept, speaks for
// i unless it is below 0.
template <class VectorKernel>
void votes(const VectorKernel& source, const PackedRows<double>& others, const SupportSums& support,
           const double* intercept, Index* winner, int n_threads, Watch& watch) {
  constexpr Index width = Panel<double>::width, lanes = Lanes<double>::n;
  const Index K = support.n_segments;
  expand_panels(source, others, support, n_threads, watch, [&](Index first, Index count, const double* sums) {
    std::vector<double> won(std::size_t(K * width));
    const double* b = intercept;
    for (Index i = 0; i < K; ++i)
      for (Index j = i + 1; j < K; ++j, ++b)
        for (Index l = 0; l < width; l += lanes) {
          const Vector<double> z = load(sums + (i * (K - 1) + j - 1) * width + l) +
                                   load(sums + (j * (K - 1) + i) * width + l) + *b;
          const Vector<double> is_second = z < 0 ? Vector<double>{} + 1.0 : Vector<double>{};
          double *of_i = won.data() + i * width + l, *of_j = won.data() + j * width + l;
          store(of_i, load(of_i) + (1.0 - is_second));
          store(of_j, load(of_j) + is_second);
        }
    for (Index l = 0; l < count; ++l) {
      Index best = 0;
      for (Index i = 1; i < K; ++i)
        if (won[std::size_t(i * width + l)] > won[std::size_t(best * width + l)]) best = i;
      winner[first + l] = best;
    }
  });
}

// out[(i * n_segments + s) * n_outputs + o] = the sum over segment s for output o at row i of others; out
// comes as zeros.
template <class VectorKernel>
void expand(const VectorKernel& source, const PackedRows<double>& others, const SupportSums& support,
            double* out, int n_threads, Watch& watch) {
  const Index n = others.n_rows();
  if (support.n_segments > 1 && support.n_outputs > 1) {
    const Index n_sums = support.n_segments * support.n_outputs;
    expand_panels(source, others, support, n_threads, watch,
                  [&](Index first, Index count, const double* sums) {
                    constexpr Index at_once = 64;  // so many sums of all lanes fit the first cache
                    for (Index from = 0; from < n_sums; from += at_once)
                      for (Index l = 0; l < count; ++l)
                        for (Index k = from; k < std::min(from + at_once, n_sums); ++k)
                          out[(first + l) * n_sums + k] = sums[k * Panel<double>::width + l];
                  });
    return;
  }
  n_threads = worthwhile_threads(n_threads, n * support.size);
  SharedWatch shared(watch);
  parallel(n_threads, [&](int part) {
    const Range mine = share(n, part, n_threads);
    Expander<VectorKernel> expander(source, others, support, mine);
    constexpr Index width = Panel<double>::width;
    for (Index s = 0; s < support.n_segments; ++s) {
      for (Index first = support.segment[s]; first < support.segment[s + 1]; first += width) {
        expander.add(s, first, std::min(width, support.segment[s + 1] - first), out);
        if (shared.says_stop(part, std::size_t((mine.last - mine.first) * width * 8))) return;
      }
      expander.finish(s, out);
    }
  });
}

}  // namespace lineal::kernel
