// Where kernel values come from: rows of numbers and a formula (VectorSource), or a matrix (GramSource).
//
// Both give blocks of values in float32, sums of values times coefficients in float32 (fast: `add`) and in
// float64 (`add_exact`), and a bound on how far a value used by `add` may be from the value itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "lineal/kernel/panels.h"
#include "lineal/kernel/profile.h"
#include "lineal/parallel.h"

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
  virtual void block(const Index* row, Index q, float* out, Index stride, int n_threads) const = 0;
  // F[i] += the expansion at row[i], i < n.
  virtual void add(const Index* row, Index n, const Expansion& sum, double* F, int n_threads) const = 0;
  virtual void add_exact(const Index* row, Index n, const Expansion& sum, double* F, int n_threads) const = 0;
  // |value used - value| is at most this, in `add` and in `add_exact`.
  virtual double error() const noexcept = 0;
  virtual double exact_error() const noexcept = 0;
  virtual double diagonal(Index row) const noexcept = 0;
};

// Ranges of rows are dealt to threads in pieces of this many, so that none waits long for another.
inline constexpr Index piece = 240;  // a multiple of the rows that Panel streams at once

// How many of the threads so many kernel values are worth.
inline int worthwhile_threads(int n_threads, Index n_values) noexcept {
  return int(std::clamp<Index>(n_values / 32768, 1, n_threads));
}

// The lower triangle into the upper one, by tiles that stay in cache.
inline void mirror(float* out, Index q, Index stride) noexcept {
  constexpr Index tile = 32;
  for (Index i = 0; i < q; i += tile)
    for (Index j = 0; j <= i; j += tile)
      for (Index r = i; r < std::min(i + tile, q); ++r)
        for (Index c = j; c < std::min(j + tile, r); ++c) out[c * stride + r] = out[r * stride + c];
}

template <class Profile>
class VectorSource final : public Source {
 public:
  template <class Rows>
  VectorSource(const Rows& X, Profile profile, std::vector<double> centre)
      : profile_(profile), centre_(std::move(centre)), fast_(X, centre_), exact_(X, centre_) {}

  Index n_rows() const noexcept override { return fast_.n_rows(); }
  double error() const noexcept override { return error_in<float>(); }
  double exact_error() const noexcept override { return error_in<double>(); }
  double diagonal(Index row) const noexcept override { return profile_.diagonal(exact_.squared(row)); }
  const Profile& profile() const noexcept { return profile_; }
  const std::vector<double>& centre() const noexcept { return centre_; }
  const PackedRows<double>& exact() const noexcept { return exact_; }

  void block(const Index* row, Index q, float* out, Index stride, int n_threads) const override {
    constexpr Index width = Panel<float>::width;
    const Index n_panels = (q + width - 1) / width;
    n_threads = worthwhile_threads(n_threads, q * q / 2);
    // Panel p meets the rows from its own on: long panels first, dealt in turn, is even enough.
    parallel(n_threads, [&](int part) {
      Panel<float> panel(fast_);
      float lane_own[width];
      for (Index p = part; p < n_panels; p += n_threads) {
        const Index first = p * width, count = std::min(width, q - first);
        pack(panel, fast_, row + first, count, lane_own);
        panel.stream(fast_, row + first, q - first, [&](Index k, const Vector<float>* product) {
          float* to = out + (first + k) * stride + first;
          const float own = float(profile_.own(fast_.squared(row[first + k])));
          float values[width];
          for (int v = 0; v < n_vectors; ++v) {
            const int lane = v * Lanes<float>::n;
            store(values + lane, profile_.template value<float>(product[v], load(lane_own + lane), own));
          }
          std::copy_n(values, count, to);
        });
      }
    });
    for (Index i = 0; i < q; ++i) out[i * stride + i] = float(diagonal(row[i]));
    mirror(out, q, stride);
  }

  void add(const Index* row, Index n, const Expansion& sum, double* F, int n_threads) const override {
    add_in<float>(fast_, fast_, row, n, sum, F, n_threads);
  }
  void add_exact(const Index* row, Index n, const Expansion& sum, double* F, int n_threads) const override {
    add_in<double>(exact_, exact_, row, n, sum, F, n_threads);
  }
  // The expansion at rows of another matrix, in float64.
  void add_elsewhere(const PackedRows<double>& others, const Index* row, Index n, const Expansion& sum,
                     double* F, int n_threads) const {
    add_in<double>(exact_, others, row, n, sum, F, n_threads);
  }

  template <class Real>
  void pack(Panel<Real>& panel, const PackedRows<Real>& rows, const Index* row, Index count,
            Real* lane_own) const {
    panel.pack(row, count);
    for (Index k = 0; k < Panel<Real>::width; ++k)
      lane_own[k] = k < count ? Real(profile_.own(rows.squared(row[k]))) : Real(0);
  }

 private:
  // Of a value, and of its share in a sum of a panel's values times rounded coefficients.
  template <class Real>
  double error_in() const noexcept {
    const double radius = exact_.radius();
    return profile_.template error<Real>(exact_.size(), radius) +
           16 * unit_roundoff<Real> * profile_.largest(radius);
  }

  template <class Real>
  void add_in(const PackedRows<Real>& rows, const PackedRows<Real>& others, const Index* row, Index n,
              const Expansion& sum, double* F, int n_threads) const {
    constexpr Index width = Panel<Real>::width;
    n_threads = worthwhile_threads(n_threads, n * sum.size);
    parallel(n_threads, [&](int part) {
      const Range mine = share(n, part, n_threads);
      Panel<Real> panel(rows);
      Real lane_own[width], coefficient[width];
      for (Index first = 0; first < sum.size; first += width) {
        const Index count = std::min(width, sum.size - first);
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

// A matrix of kernel values, borrowed: row-major, n x n, symmetric.
class GramSource final : public Source {
 public:
  GramSource(const double* G, Index n) : G_(G), n_(n) {
    for (Index i = 0; i < n * n; ++i) largest_ = std::max(largest_, std::abs(G[i]));
  }
  Index n_rows() const noexcept override { return n_; }
  double error() const noexcept override { return exact_error(); }
  double exact_error() const noexcept override { return 4 * unit_roundoff<double> * largest_; }
  double diagonal(Index row) const noexcept override { return G_[row * n_ + row]; }
  void block(const Index* row, Index q, float* out, Index stride, int n_threads) const override {
    parallel(worthwhile_threads(n_threads, q * q / 8),
             [&, parts = worthwhile_threads(n_threads, q * q / 8)](int part) {
               const Range mine = share(q, part, parts);
               for (Index i = mine.first; i < mine.last; ++i)
                 for (Index j = 0; j < q; ++j) out[i * stride + j] = float(G_[row[i] * n_ + row[j]]);
             });
  }
  void add(const Index* row, Index n, const Expansion& sum, double* F, int n_threads) const override {
    n_threads = worthwhile_threads(n_threads, n * sum.size / 2);
    parallel(n_threads, [&](int part) {
      const Range mine = share(n, part, n_threads);
      for (Index i = mine.first; i < mine.last; ++i) {
        const double* values = G_ + row[i] * n_;
        double total = 0;
        for (Index k = 0; k < sum.size; ++k) total += sum.coefficient[k] * values[sum.row[k]];
        F[i] += total;
      }
    });
  }
  void add_exact(const Index* row, Index n, const Expansion& sum, double* F, int n_threads) const override {
    add(row, n, sum, F, n_threads);
  }

 private:
  const double* G_;
  Index n_;
  double largest_ = 0;
};

}  // namespace lineal::kernel
