// Where kernel values come from: rows of numbers and a formula (VectorSource), or a matrix (gram_source.h).
//
// Both give blocks of values in float32, sums of values times coefficients in float32 (fast: `add`) and in
// float64 (`add_exact`), and a bound on how far a value used by `add` may be from the value itself.
//
// A pass that is given a watch looks at it after each panel; what it leaves when it was told to stop is no
// result, and the caller throws it away.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "lineal/kernel/panels.h"
#include "lineal/kernel/profile.h"
#include "lineal/parallel.h"
#include "lineal/watch.h"

namespace lineal::kernel {

// Coefficients of rows: sum_k coefficient[k] k(., row[k]).
struct Expansion {
  const Index* row;
  const double* coefficient;
  Index size;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual Index n_rows() const noexcept = 0;
  // out[i * stride + j] = k(row[i], row[j]) for i, j < q; the diagonal is exact.
  virtual void block(const Index* row, Index q, float* out, Index stride, int n_threads,
                     Watch* watch = nullptr) const = 0;
  // out[k * stride + i] = k(which[k], row[i]) for k < count, i < n.
  virtual void rows(const Index* which, Index count, const Index* row, Index n, float* out, Index stride,
                    int n_threads, Watch* watch = nullptr) const = 0;
  // F[i] += the expansion at row[i], i < n.
  virtual void add(const Index* row, Index n, const Expansion& sum, double* F, int n_threads,
                   Watch* watch = nullptr) const = 0;
  virtual void add_exact(const Index* row, Index n, const Expansion& sum, double* F, int n_threads,
                         Watch* watch = nullptr) const = 0;
  // |value used - value| is at most this, in `block`, `rows` and `add`, and in `add_exact`.
  virtual double error() const noexcept = 0;
  virtual double exact_error() const noexcept = 0;
  // No value is larger than this.
  virtual double largest() const noexcept = 0;
  virtual double diagonal(Index row) const noexcept = 0;
};

// What the threads of a pass look at: the watch, where there is one.
class PassWatch {
 public:
  explicit PassWatch(Watch* watch) {
    if (watch) shared_.emplace(*watch);
  }
  bool says_stop(int part, Index work) { return shared_ && shared_->says_stop(part, std::size_t(work)); }

 private:
  std::optional<SharedWatch> shared_;
};

// How many of the threads so many kernel values are worth.
inline int worthwhile_threads(int n_threads, Index n_values) noexcept {
  return int(std::clamp<Index>(n_values / 32768, 1, n_threads));
}

// to[c * stride + r] = from[r * stride + c] for 8 x 8 numbers, in registers.
inline void transpose_tile(const float* from, float* to, Index stride) noexcept {
  using V = Vector<float>;
  using Bits = Lanes<float>::Bits;
  V row[8], pair[8];
  for (int r = 0; r < 8; ++r) row[r] = load(from + r * stride);
  for (int r = 0; r < 4; ++r) {  // by halves, then quarters, then neighbours
    pair[r] = __builtin_shuffle(row[r], row[r + 4], Bits{0, 1, 2, 3, 8, 9, 10, 11});
    pair[r + 4] = __builtin_shuffle(row[r], row[r + 4], Bits{4, 5, 6, 7, 12, 13, 14, 15});
  }
  for (int h = 0; h < 8; h += 4)
    for (int r = h; r < h + 2; ++r) {
      row[r] = __builtin_shuffle(pair[r], pair[r + 2], Bits{0, 1, 8, 9, 4, 5, 12, 13});
      row[r + 2] = __builtin_shuffle(pair[r], pair[r + 2], Bits{2, 3, 10, 11, 6, 7, 14, 15});
    }
  for (int r = 0; r < 8; r += 2) {
    store(to + r * stride, __builtin_shuffle(row[r], row[r + 1], Bits{0, 8, 2, 10, 4, 12, 6, 14}));
    store(to + (r + 1) * stride, __builtin_shuffle(row[r], row[r + 1], Bits{1, 9, 3, 11, 5, 13, 7, 15}));
  }
}

// Rows [first, last) of the lower triangle into the upper one: first is a multiple of 8. Tiles of 64 x 64
// stay in cache; what does not fill 8 x 8 numbers, and tiles on the diagonal, go one by one.
inline void mirror(float* out, Index first, Index last, Index stride) noexcept {
  constexpr Index tile = 64, small = 8;
  for (Index i = first; i < last; i += tile)
    for (Index j = 0; j < std::min(i + tile, last); j += tile)
      for (Index r = i; r < std::min(i + tile, last); r += small)
        for (Index c = j; c < std::min({j + tile, r + small, last}); c += small) {
          if (c + small <= r && r + small <= last) {
            transpose_tile(out + r * stride + c, out + c * stride + r, stride);
            continue;
          }
          for (Index k = r; k < std::min(r + small, last); ++k)
            for (Index l = c; l < std::min(c + small, k); ++l) out[l * stride + k] = out[k * stride + l];
        }
}

template <class Profile>
class VectorSource final : public Source {
 public:
  template <class Rows>
  VectorSource(const Rows& X, Profile profile, std::vector<double> centre)
      : profile_(profile), centre_(std::move(centre)), fast_(X, centre_), exact_(X, centre_) {
    if (centre_.empty() || !is_far()) return;
    centre_.clear();  // differences of the rows as they are have lost nothing
    exact_ = PackedRows<double>(X, centre_);
  }

  Index n_rows() const noexcept override { return fast_.n_rows(); }
  double error() const noexcept override { return error_in<float>(); }
  double exact_error() const noexcept override { return error_in<double>(); }
  double largest() const noexcept override { return profile_.largest(exact_.radius()); }
  double diagonal(Index row) const noexcept override { return profile_.diagonal(exact_.squared(row)); }
  const Profile& profile() const noexcept { return profile_; }
  const std::vector<double>& centre() const noexcept { return centre_; }
  const PackedRows<double>& exact() const noexcept { return exact_; }
  // Whether values are computed one by one from differences, in float64; see GaussianProfile.
  bool is_far() const noexcept { return profile_.is_far(exact_.radius()); }
  // k(row[k], row i of others) for k < count.
  void values_by_differences(const Index* row, Index count, const PackedRows<double>& others, Index i,
                             double* out) const noexcept {
    if constexpr (requires { profile_.of_distance(0.0); })
      for (Index k = 0; k < count; ++k)
        out[k] = profile_.of_distance(squared_distance(exact_, row[k], others, i));
  }

  void block(const Index* row, Index q, float* out, Index stride, int n_threads,
             Watch* watch = nullptr) const override {
    if (is_far()) return rows_by_differences(row, q, row, q, out, stride, n_threads, watch);
    PassWatch shared(watch);
    constexpr Index width = Panel<float>::width;
    const Index n_panels = (q + width - 1) / width;
    n_threads = worthwhile_threads(n_threads, q * q / 2);
    // Panel p meets the rows from its own on: long panels first, dealt in turn, is even enough.
    parallel(n_threads, [&](int part) {
      Panel<float> panel(fast_);
      float lane_own[width];
      for (Index p = part; p < n_panels; p += n_threads) {
        const Index first = p * width, count = std::min(width, q - first);
        if (shared.says_stop(part, (q - first) * width * fast_.size())) return;
        pack(panel, fast_, row + first, count, lane_own);
        panel.stream(fast_, row + first, q - first, [&](Index k, const Vector<float>* product) {
          const float own = float(profile_.own(fast_.squared(row[first + k])));
          write(product, lane_own, own, out + (first + k) * stride + first, count);
        });
      }
    });
    if (watch && watch->is_over()) return;
    for (Index i = 0; i < q; ++i) out[i * stride + i] = float(diagonal(row[i]));
    parallel(n_threads, [&](int part) {
      // The square roots of equal shares, so that threads copy as much as each other.
      const auto end = [&](int p) { return Index(double(q) * std::sqrt(double(p) / n_threads)) / 64 * 64; };
      const Index last = part + 1 == n_threads ? q : end(part + 1);
      for (Index first = end(part); first < last && !shared.says_stop(part, 64 * q); first += 64)
        mirror(out, first, std::min(first + 64, last), stride);
    });
  }

  void rows(const Index* which, Index count, const Index* row, Index n, float* out, Index stride,
            int n_threads, Watch* watch = nullptr) const override {
    if (is_far()) return rows_by_differences(which, count, row, n, out, stride, n_threads, watch);
    PassWatch shared(watch);
    constexpr Index width = Panel<float>::width;
    n_threads = worthwhile_threads(n_threads, count * n);
    parallel(n_threads, [&](int part) {
      const Range mine = share((n + width - 1) / width, part, n_threads);
      Panel<float> panel(fast_);
      float lane_own[width];
      for (Index first = mine.first * width; first < std::min(mine.last * width, n); first += width) {
        const Index in_panel = std::min(width, n - first);
        if (shared.says_stop(part, count * width * fast_.size())) return;
        pack(panel, fast_, row + first, in_panel, lane_own);
        panel.stream(fast_, which, count, [&](Index k, const Vector<float>* product) {
          const float own = float(profile_.own(fast_.squared(which[k])));
          write(product, lane_own, own, out + k * stride + first, in_panel);
        });
      }
    });
  }

  void add(const Index* row, Index n, const Expansion& sum, double* F, int n_threads,
           Watch* watch = nullptr) const override {
    if (is_far()) return add_by_differences(row, n, sum, F, n_threads, watch);
    add_in<float>(fast_, fast_, row, n, sum, F, n_threads, watch);
  }
  void add_exact(const Index* row, Index n, const Expansion& sum, double* F, int n_threads,
                 Watch* watch = nullptr) const override {
    if (is_far()) return add_by_differences(row, n, sum, F, n_threads, watch);
    add_in<double>(exact_, exact_, row, n, sum, F, n_threads, watch);
  }

  template <class Real>
  void pack(Panel<Real>& panel, const PackedRows<Real>& rows, const Index* row, Index count,
            Real* lane_own) const {
    panel.pack(row, count);
    for (Index k = 0; k < Panel<Real>::width; ++k)
      lane_own[k] = k < count ? Real(profile_.own(rows.squared(row[k]))) : Real(0);
  }

 private:
  [[gnu::noinline]] void rows_by_differences(const Index* which, Index count, const Index* row, Index n,
                                             float* out, Index stride, int n_threads, Watch* watch) const {
    PassWatch shared(watch);
    n_threads = worthwhile_threads(n_threads, count * n);
    parallel(n_threads, [&](int part) {
      const Range mine = share(count, part, n_threads);
      std::vector<double> values(std::size_t(n), 0.0);
      for (Index k = mine.first; k < mine.last && !shared.says_stop(part, n * exact_.size()); ++k) {
        values_by_differences(row, n, exact_, which[k], values.data());
        std::transform(values.begin(), values.begin() + n, out + k * stride,
                       [](double value) { return float(value); });
      }
    });
  }
  [[gnu::noinline]] void add_by_differences(const Index* row, Index n, const Expansion& sum, double* F,
                                            int n_threads, Watch* watch) const {
    PassWatch shared(watch);
    n_threads = worthwhile_threads(n_threads, n * sum.size);
    parallel(n_threads, [&](int part) {
      const Range mine = share(n, part, n_threads);
      std::vector<double> values(std::size_t(sum.size), 0.0);
      for (Index i = mine.first; i < mine.last && !shared.says_stop(part, sum.size * exact_.size()); ++i) {
        values_by_differences(sum.row, sum.size, exact_, row[i], values.data());
        double total = 0;
        for (Index k = 0; k < sum.size; ++k) total += sum.coefficient[k] * values[std::size_t(k)];
        F[i] += total;
      }
    });
  }

  // Values of a panel's first `count` lanes.
  void write(const Vector<float>* product, const float* lane_own, float own, float* to, Index count) const {
    const auto value = [&](int v) {
      return profile_.template value<float>(product[v], load(lane_own + v * Lanes<float>::n), own);
    };
    if (count == Panel<float>::width) {
      for (int v = 0; v < n_vectors; ++v) store(to + v * Lanes<float>::n, value(v));
      return;
    }
    float values[Panel<float>::width];
    for (int v = 0; v < n_vectors; ++v) store(values + v * Lanes<float>::n, value(v));
    std::copy_n(values, count, to);
  }

  // Of a value, and of its share in a sum of a panel's values times rounded coefficients.
  template <class Real>
  double error_in() const noexcept {
    const double radius = exact_.radius(), in_sum = 16 * unit_roundoff<Real> * profile_.largest(radius);
    if constexpr (requires { profile_.template error_by_differences<Real>(Index(0)); })
      if (is_far()) return profile_.template error_by_differences<Real>(exact_.size()) + in_sum;
    return profile_.template error<Real>(exact_.size(), radius) + in_sum;
  }

  template <class Real>
  void add_in(const PackedRows<Real>& rows, const PackedRows<Real>& others, const Index* row, Index n,
              const Expansion& sum, double* F, int n_threads, Watch* watch) const {
    constexpr Index width = Panel<Real>::width;
    PassWatch shared(watch);
    n_threads = worthwhile_threads(n_threads, n * sum.size);
    parallel(n_threads, [&](int part) {
      const Range mine = share(n, part, n_threads);
      Panel<Real> panel(rows);
      Real lane_own[width], coefficient[width];
      for (Index first = 0; first < sum.size; first += width) {
        const Index count = std::min(width, sum.size - first);
        if (shared.says_stop(part, (mine.last - mine.first) * width * rows.size())) return;
        pack(panel, rows, sum.row + first, count, lane_own);
        for (Index k = 0; k < width; ++k)
          coefficient[k] = k < count ? Real(sum.coefficient[first + k]) : Real(0);
        panel.stream(others, row + mine.first, mine.last - mine.first,
                     [&](Index k, const Vector<Real>* product) {
                       const Index i = mine.first + k;
                       const Real own = Real(profile_.own(others.squared(row[i])));
                       Vector<Real> total{};
                       for (int v = 0; v < n_vectors; ++v) {
                         const int lane = v * Lanes<Real>::n;
                         total += load(coefficient + lane) *
                                  profile_.template value<Real>(product[v], load(lane_own + lane), own);
                       }
                       F[i] += double(sum_of_lanes<Real>(total));
                     });
      }
    });
  }

  Profile profile_;
  std::vector<double> centre_;
  PackedRows<float> fast_;
  PackedRows<double> exact_;
};

}  // namespace lineal::kernel
