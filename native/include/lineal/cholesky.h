// The Cholesky factor of a symmetric positive definite matrix, and solutions by it.
//
// The matrix is scaled to a unit diagonal first, so that the units of its columns do not matter; where it is
// singular to rounding, a little is added to that diagonal, as little as lets it be factorised. Solutions are
// refined with the matrix as it was given: what damping and rounding took away is given back.
//
// Rows of L lie in memory one after another, and an entry of L needs the product of two rows: the products of
// four rows with four others are summed at once, in registers. Cost: n^3 / 6 multiplications and additions.
//
// Our own, and not LAPACK's: systems of a few columns are solved thousands of times, where a call through
// Python takes longer than the work, and models are to be fitted without loading SciPy.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lineal/gram.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// A register of numbers of either width.
template <class T>
struct RegisterOf {
  using type = Register;
};
template <>
struct RegisterOf<float> {
  typedef float type __attribute__((vector_size(sizeof(Register))));
};

// The products of the first `length` numbers, a multiple of a register's, of four rows with four others.
inline constexpr Index product_tile = 4;
template <class T = double>
struct TileProducts {
  T of[product_tile][product_tile];

  TileProducts(const T* const* down, const T* const* across, Index length) noexcept {
    using Numbers = typename RegisterOf<T>::type;
    constexpr Index lanes = Index(sizeof(Numbers) / sizeof(T));
    Numbers sum[product_tile][product_tile] = {};
    for (Index k = 0; k < length; k += lanes) {
      Numbers right[product_tile];
      for (Index c = 0; c < product_tile; ++c) __builtin_memcpy(&right[c], across[c] + k, sizeof(Numbers));
      for (Index r = 0; r < product_tile; ++r) {
        Numbers left;
        __builtin_memcpy(&left, down[r] + k, sizeof left);
        for (Index c = 0; c < product_tile; ++c) sum[r][c] += left * right[c];
      }
    }
    for (Index r = 0; r < product_tile; ++r)
      for (Index c = 0; c < product_tile; ++c) {
        of[r][c] = T(0);
        for (Index lane = 0; lane < lanes; ++lane) of[r][c] += sum[r][c][lane];
      }
  }
};

class Cholesky {
 public:
  // Dampings of the unit diagonal that are tried in turn.
  static constexpr double dampings[] = {0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-4};

  // Factorises A (size x size, row by row; its upper half is not read). False: A is not positive definite
  // even when damped, or holds a number that is none, or the watch said stop. A must outlive the solutions.
  bool factorise(const double* A, Index size, Watch& watch) {
    A_ = A;
    size_ = size;
    padded_ = (size + tile - 1) / tile * tile;
    scale_.resize(std::size_t(size));
    for (Index i = 0; i < size; ++i) {
      const double square = A[i * size + i];
      if (!(square >= 0.0 && square < HUGE_VAL)) return false;
      // An empty column keeps its unit, and takes no step of its own.
      scale_[std::size_t(i)] = square > 0.0 ? 1.0 / std::sqrt(square) : 1.0;
    }
    L_.resize(std::size_t(padded_ * padded_));
    for (const double damping : dampings)
      if (attempt(damping, watch))
        return true;
      else if (watch.is_over())
        return false;
    return false;
  }

  // x = A^-1 right, with so many rounds of refinement.
  void solve(const double* right, double* x, int refinements) {
    residue_.resize(std::size_t(size_));
    correction_.resize(std::size_t(padded_));
    rough(right, x, false);
    for (int round = 0; round < refinements; ++round) {
      for (Index i = 0; i < size_; ++i) residue_[std::size_t(i)] = right[i] - product(i, x);
      rough(residue_.data(), x, true);
    }
  }

 private:
  static constexpr Index tile = product_tile, block = 32;
  static_assert(block % tile == 0 && tile % register_size == 0);

  double* row(Index i) { return L_.data() + i * padded_; }

  // Row i of A times x; A is symmetric.
  double product(Index i, const double* x) const {
    const double* a = A_ + i * size_;
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (Index j = 0; j < size_; ++j) sum += a[j] * x[j];
    return sum;
  }

  bool attempt(double damping, Watch& watch) {
    for (Index i = 0; i < size_; ++i) {
      const double* from = A_ + i * size_;
      double* to = row(i);
      const double unit = scale_[std::size_t(i)];
      for (Index j = 0; j < i; ++j) to[j] = unit * scale_[std::size_t(j)] * from[j];
      to[i] = 1.0 + damping;
    }
    for (Index i = size_; i < padded_; ++i) {
      std::fill(row(i), row(i) + i, 0.0);
      row(i)[i] = 1.0;
    }
    for (Index first = 0; first < padded_; first += block) {
      const Index last = std::min(first + block, padded_);
      for (Index i = first; i < padded_; i += tile) {
        for (Index j = first; j < std::min(last, i + tile); j += tile) subtract_products(i, j, first);
        if (watch.says_stop(4 * first * block)) return false;
      }
      if (!factorise_block(first, last)) return false;
    }
    return true;
  }

  // A tile of A less the products of the first `length` entries of its rows of L.
  void subtract_products(Index i, Index j, Index length) {
    const double *down[tile], *across[tile];
    for (Index r = 0; r < tile; ++r) down[r] = row(i + r), across[r] = row(j + r);
    const TileProducts products(down, across, length);
    for (Index r = 0; r < tile; ++r)
      for (Index c = 0; c < tile && j + c <= i + r; ++c) row(i + r)[j + c] -= products.of[r][c];
  }

  // Columns first .. last of L, whose products with earlier columns were subtracted.
  bool factorise_block(Index first, Index last) {
    for (Index i = first; i < padded_; ++i) {
      double* const x = row(i);
      for (Index j = first; j < std::min(i + 1, last); ++j) {
        const double* y = row(j);
        double sum = x[j];
        for (Index k = first; k < j; ++k) sum -= x[k] * y[k];
        if (j < i) {
          x[j] = sum / y[j];
        } else {
          // What is left of a unit diagonal is below rounding: singular, or no number at all.
          if (!(sum > least)) return false;
          x[i] = std::sqrt(sum);
        }
      }
    }
    return true;
  }

  // x = (L L')^-1 right in the units of A, or added to x.
  void rough(const double* right, double* x, bool adds) {
    double* const v = correction_.data();
    for (Index i = 0; i < size_; ++i) {
      const double* const l = row(i);
      double sum = 0.0;
#pragma omp simd reduction(+ : sum)
      for (Index k = 0; k < i; ++k) sum += l[k] * v[k];
      v[i] = (scale_[std::size_t(i)] * right[i] - sum) / l[i];
    }
    for (Index i = size_ - 1; i >= 0; --i) {
      const double* const l = row(i);
      v[i] /= l[i];
      const double value = v[i];
      for (Index k = 0; k < i; ++k) v[k] -= value * l[k];
    }
    for (Index i = 0; i < size_; ++i) {
      const double step = scale_[std::size_t(i)] * v[i];
      x[i] = adds ? x[i] + step : step;
    }
  }

  static constexpr double least = 1e-16;

  const double* A_ = nullptr;
  Index size_ = 0, padded_ = 0;
  std::vector<double> scale_, L_, residue_, correction_;
};

// Factors of a symmetric positive definite matrix for each of K outputs, whose parameters do not meet.
//
// Vectors are (size x K), as weights are. An output whose matrix is not positive definite even when damped
// has the inverse of its diagonal in place of its own.
class BlockFactors {
 public:
  // Of matrices A, one after another, which must outlive this. False: the watch said stop.
  bool factorise(const double* A, Index K, Index size, Watch& watch) {
    size_ = size;
    factors_.resize(std::size_t(K));
    scale_.assign(std::size_t(K), {});
    for (Index k = 0; k < K; ++k) {
      const double* own = A + k * size * size;
      if (!factors_[std::size_t(k)].factorise(own, size, watch)) {
        if (watch.is_over()) return false;
        for (Index i = 0; i < size; ++i) {
          const double square = own[i * size + i];
          scale_[std::size_t(k)].push_back(square > 0.0 ? 1.0 / square : 1.0);
        }
      }
    }
    return true;
  }

  // The inverses times `right`, with so many rounds of refinement.
  void solve(const double* right, double* x, int refinements) {
    const Index K = Index(factors_.size());
    std::vector<double> column(static_cast<std::size_t>(size_)), found(column.size());
    for (Index k = 0; k < K; ++k) {
      for (Index i = 0; i < size_; ++i) column[std::size_t(i)] = right[i * K + k];
      if (const auto& scale = scale_[std::size_t(k)]; scale.empty())
        factors_[std::size_t(k)].solve(column.data(), found.data(), refinements);
      else
        for (std::size_t i = 0; i < scale.size(); ++i) found[i] = scale[i] * column[i];
      for (Index i = 0; i < size_; ++i) x[i * K + k] = found[std::size_t(i)];
    }
  }

  Index size() const noexcept { return size_; }
  Index n_blocks() const noexcept { return Index(factors_.size()); }

 private:
  Index size_ = 0;
  std::vector<Cholesky> factors_;
  std::vector<std::vector<double>> scale_;  // of the outputs without a factor
};

}  // namespace lineal
