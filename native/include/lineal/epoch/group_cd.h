// Block coordinate descent on a quadratic model under norms of groups of weights, the inner loop of proximal
// Newton for the group lasso:
//
//     minimise  g.(W - W0) + (1/2) sum_k (w_k - w0_k)'G_k(w_k - w0_k) + sum_g strength_g |W_g|,
//
// group by group, each exactly. w_k are the weights of output k, W_g those of the columns of group g in all
// outputs; G_k is one matrix for all outputs, or one for each. With G_gg = Q diag(e) Q' and r = G_gg W_g - g,
// the minimiser is 0 where |r| <= strength, and otherwise Q x with
//
//     x_i = t r~_i / (e_i t + strength),     t = |x| the root of  1 / |r~ / (e t + strength)| = 1,
//
// whose left side is concave and increases in t (the secular equation of trust regions; Yang and Hastie
// 2024).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lineal/epoch/prox_cd.h"
#include "lineal/rows.h"
#include "lineal/watch.h"

namespace lineal {

// Columns in groups: group g has the columns order[start[g]], ..., order[start[g + 1] - 1] and weighs
// strength[g]; 0 is a group without a penalty, such as a free intercept.
struct ColumnGroups {
  const Index *order, *start;
  const double* strength;
  Index count;

  Index size(Index g) const noexcept { return start[g + 1] - start[g]; }
  const Index* columns(Index g) const noexcept { return order + start[g]; }
};

// G_gg = Q diag(e) Q' for each group and matrix. `value` holds the e of matrix l from l * m on, in the
// columns' order; `vector` the matrices Q, row by row, group after group and matrix after matrix.
struct GroupFactors {
  const double *value, *vector;
};

// t > 0 with sum_i (r_i / (e_i t + strength))^2 = 1, for |r| > strength > 0 and e >= 0; begins near `guess`.
inline double norm_of_minimiser(const double* r, const double* e, Index n, double strength,
                                double guess) noexcept {
  double square = 0, largest = 0;
  for (Index i = 0; i < n; ++i) {
    square += r[i] * r[i];
    largest = std::max(largest, e[i]);
  }
  // All curvatures count as the largest: the root is not to the left of this.
  const double least = (std::sqrt(square) - strength) / largest;
  double t = std::max(guess, least);
  for (int step = 0; step < 60; ++step) {
    double sum = 0, slope = 0;
    for (Index i = 0; i < n; ++i) {
      const double below = 1 / (e[i] * t + strength), v = r[i] * below;
      sum += v * v;
      slope += v * v * e[i] * below;
    }
    // Newton on 1 / |v| - 1: from the left it never passes the root, from the right it passes once.
    const double next = std::max(least, t + sum * (std::sqrt(sum) - 1) / slope);
    if (!(std::abs(next - t) > 1e-14 * t)) return next;
    t = next;
  }
  return t;
}

// The model's gradient on explicit matrices G, (n_matrices, m, m), one for all outputs or one for each:
// `gradient`, (n_outputs, m), is that at the weights always.
struct GramSlopes {
  const double* G;
  Index n_matrices, m;
  double* gradient;

  Index work(const Index*, Index) const noexcept { return m; }
  void load(const Index*, Index, Index) const noexcept {}
  // The weights of some columns have moved in output k: four rows of G at a time.
  void follow(const Index* columns, Index n, Index k, const double* moved) const noexcept {
    const double* Gk = G + (n_matrices == 1 ? 0 : k * m * m);
    double* g = gradient + k * m;
    Index c = 0;
    for (; c + 4 <= n; c += 4) {
      const double *a = Gk + columns[c] * m, *b = Gk + columns[c + 1] * m, *d = Gk + columns[c + 2] * m,
                   *e = Gk + columns[c + 3] * m;
      const double wa = moved[c], wb = moved[c + 1], wd = moved[c + 2], we = moved[c + 3];
#pragma omp simd
      for (Index j = 0; j < m; ++j) g[j] += (wa * a[j] + wb * b[j]) + (wd * d[j] + we * e[j]);
    }
    for (; c < n; ++c) axpy(moved[c], DenseRow<double>{Gk + columns[c] * m, m}, g);
  }
};

// r += moved diag(h) x.
template <class V>
inline void bend(CsrRow<V> x, const double* h, double moved, double* r) noexcept {
  for (Index p = 0; p < x.size; ++p) r[x.index[p]] += h[x.index[p]] * double(x.value[p]) * moved;
}
template <class V>
inline void bend(DenseRow<V> x, const double* h, double moved, double* r) noexcept {
#pragma omp simd
  for (Index i = 0; i < x.size; ++i) r[i] += h[i] * double(x.value[i]) * moved;
}

// The same on columns, which are the rows of XT: `residual`, (n_outputs, n), is the model's slope in each
// score, h, (n_matrices, n), how it bends, and `gradient` holds what was last asked for. Column XT.n_rows is
// a constant 1.
template <class Rows>
struct ColumnSlopes {
  const Rows& XT;
  const double* h;
  Index n_matrices, m;
  double *residual, *gradient;

  Index work(const Index* columns, Index n) const noexcept {
    Index sum = 0;
    for (Index c = 0; c < n; ++c) sum += columns[c] < XT.n_rows ? XT[columns[c]].size : XT.n_columns;
    return 2 * sum;
  }
  void load(const Index* columns, Index n, Index k) const noexcept {
    const double* r = residual + k * XT.n_columns;
    for (Index c = 0; c < n; ++c) {
      if (columns[c] < XT.n_rows) {
        gradient[k * m + columns[c]] = dot(XT[columns[c]], r);
        continue;
      }
      double sum = 0;
      for (Index i = 0; i < XT.n_columns; ++i) sum += r[i];
      gradient[k * m + columns[c]] = sum;
    }
  }
  void follow(const Index* columns, Index n, Index k, const double* moved) const noexcept {
    const double* hk = h + (n_matrices == 1 ? 0 : k * XT.n_columns);
    double* r = residual + k * XT.n_columns;
    for (Index c = 0; c < n; ++c) {
      if (columns[c] < XT.n_rows)
        bend(XT[columns[c]], hk, moved[c], r);
      else
        for (Index i = 0; i < XT.n_columns; ++i) r[i] += hk[i] * moved[c];
    }
  }
};

// column *= h and column = 0, where x is.
template <class V>
inline void weigh(CsrRow<V> x, const double* h, double* column) noexcept {
  for (Index p = 0; p < x.size; ++p) column[x.index[p]] *= h[x.index[p]];
}
template <class V>
inline void weigh(DenseRow<V> x, const double* h, double* column) noexcept {
  for (Index i = 0; i < x.size; ++i) column[i] *= h[i];
}
template <class V>
inline void clear(CsrRow<V> x, double* column) noexcept {
  for (Index p = 0; p < x.size; ++p) column[x.index[p]] = 0.0;
}
template <class V>
inline void clear(DenseRow<V> x, double* column) noexcept {
  std::fill(column, column + x.size, 0.0);
}

// X_g'diag(h)X_g of each group, row by row, group after group; `column` has room for a score of each row.
template <class Rows>
void group_blocks(const Rows& XT, const double* h, ColumnGroups groups, double* column, double* blocks) {
  std::fill(column, column + XT.n_columns, 0.0);
  for (Index g = 0; g < groups.count; ++g) {
    const Index n = groups.size(g);
    const Index* columns = groups.columns(g);
    for (Index a = 0; a < n; ++a) {
      if (columns[a] >= XT.n_rows) {  // the constant, which is a group of its own
        double sum = 0;
        for (Index i = 0; i < XT.n_columns; ++i) sum += h[i];
        blocks[a * n + a] = sum;
        continue;
      }
      const auto x = XT[columns[a]];
      axpy(1.0, x, column);
      weigh(x, h, column);
      for (Index b = a; b < n; ++b)
        blocks[a * n + b] = blocks[b * n + a] = dot(XT[columns[b]], static_cast<const double*>(column));
      clear(x, column);
    }
    blocks += n * n;
  }
}
template <class Slopes>
class GroupDescent {
 public:
  // w: (n_outputs, m), kept up to date, as what the slopes keep is.
  GroupDescent(const Slopes& slopes, Index n_outputs, ColumnGroups groups, GroupFactors factors, double* w)
      : slopes_(slopes),
        n_matrices_(slopes.n_matrices),
        m_(slopes.m),
        n_outputs_(n_outputs),
        groups_(groups),
        factors_(factors),
        gradient_(slopes.gradient),
        w_(w) {
    Index most = 0, squares = 0;
    first_vector_.reserve(std::size_t(groups.count));
    for (Index g = 0; g < groups.count; ++g) {
      first_vector_.push_back(squares);
      squares += groups.size(g) * groups.size(g);
      most = std::max(most, groups.size(g));
    }
    n_vectors_ = squares;
    const auto room = std::size_t(most * n_outputs);
    turned_.resize(room);
    right_.resize(room);
    value_.resize(room);
    moved_.resize(room);
  }

  // Sweeps alternate: one over everything, then up to ten over what is not resting at 0.
  Sweeps run(double tol, Index max_sweeps, Watch& watch) {
    Sweeps done{0, 0.0};
    Index since_full = 0;
    bool full = true;
    while (done.count < max_sweeps) {
      ++done.count;
      double worst = 0;
      for (Index g = 0; g < groups_.count; ++g) {
        const double size = norm(w_, g);
        if (!full && size == 0.0 && groups_.strength[g] > 0) continue;
        if (watch.says_stop(slopes_.work(groups_.columns(g), groups_.size(g)))) return done;
        worst = std::max(worst, visit(g, size));
      }
      if (full) done.violation = worst;
      if (full && worst <= tol) break;
      since_full = full ? 0 : since_full + 1;
      full = !full && (worst <= 0.3 * tol || since_full >= 10);
    }
    return done;
  }

 private:
  double norm(const double* x, Index g) const noexcept {
    const Index* columns = groups_.columns(g);
    double square = 0;
    for (Index k = 0; k < n_outputs_; ++k)
      for (Index c = 0; c < groups_.size(g); ++c) square += sqr(x[k * m_ + columns[c]]);
    return std::sqrt(square);
  }
  static double sqr(double x) noexcept { return x * x; }

  const double* vectors(Index g, Index k) const noexcept {
    return factors_.vector + (n_matrices_ == 1 ? 0 : k * n_vectors_) + first_vector_[std::size_t(g)];
  }
  const double* values(Index g, Index k) const noexcept {
    return factors_.value + (n_matrices_ == 1 ? 0 : k * m_) + groups_.start[g];
  }

  // Minimises over one group; returns how far its condition was from holding.
  double visit(Index g, double size) noexcept {
    const double strength = groups_.strength[g];
    for (Index k = 0; k < n_outputs_; ++k) slopes_.load(groups_.columns(g), groups_.size(g), k);
    if (size == 0.0 && strength > 0) {
      const double excess = norm(gradient_, g) - strength;
      if (excess <= 0) return 0;
      turn(g);
      move(g, strength, size);
      return excess;
    }
    const double violation = slope(g, size);
    if (violation == 0.0) return 0;
    turn(g);
    move(g, strength, size);
    return violation;
  }

  // The norm of the objective's gradient in a group that is not 0.
  double slope(Index g, double size) const noexcept {
    const double pull = size > 0 ? groups_.strength[g] / size : 0.0;
    const Index* columns = groups_.columns(g);
    double square = 0;
    for (Index k = 0; k < n_outputs_; ++k)
      for (Index c = 0; c < groups_.size(g); ++c) {
        const Index at = k * m_ + columns[c];
        square += sqr(gradient_[at] + pull * w_[at]);
      }
    return std::sqrt(square);
  }

  // turned_ = Q'w, right_ = r~ = e Q'w - Q'gradient, value_ = e: output after output.
  void turn(Index g) noexcept {
    const Index n = groups_.size(g);
    const Index* columns = groups_.columns(g);
    for (Index k = 0; k < n_outputs_; ++k) {
      const double *Q = vectors(g, k), *e = values(g, k), *w = w_ + k * m_, *slope = gradient_ + k * m_;
      double *turned = turned_.data() + k * n, *right = right_.data() + k * n, *value = value_.data() + k * n;
      std::fill(turned, turned + n, 0.0);
      std::fill(right, right + n, 0.0);
      for (Index c = 0; c < n; ++c) {
        const double wc = w[columns[c]], gc = slope[columns[c]];
        for (Index i = 0; i < n; ++i) {
          turned[i] += Q[c * n + i] * wc;
          right[i] -= Q[c * n + i] * gc;
        }
      }
      for (Index i = 0; i < n; ++i) {
        value[i] = e[i];
        right[i] += e[i] * turned[i];
      }
    }
  }

  // From turned_ to the minimiser.
  void move(Index g, double strength, double size) noexcept {
    const Index n = groups_.size(g), total = n * n_outputs_;
    double square = 0, largest = 0;
    for (Index i = 0; i < total; ++i) {
      square += sqr(right_[std::size_t(i)]);
      largest = std::max(largest, value_[std::size_t(i)]);
    }
    const bool vanishes = strength > 0 && square <= strength * strength;
    if (largest <= 0 && !vanishes) return;  // columns of zeros have nothing to say about their weights
    double t = 0;
    if (!vanishes && strength > 0) t = norm_of_minimiser(right_.data(), value_.data(), total, strength, size);
    for (Index i = 0; i < total; ++i) {
      const double e = value_[std::size_t(i)], r = right_[std::size_t(i)];
      double x = 0;
      if (strength > 0)
        x = vanishes ? 0.0 : t * r / (e * t + strength);
      else  // where nothing curves nothing moves
        x = e > 1e-12 * largest ? r / e : turned_[std::size_t(i)];
      right_[std::size_t(i)] = x - turned_[std::size_t(i)];
    }
    const Index* columns = groups_.columns(g);
    for (Index k = 0; k < n_outputs_; ++k) {
      const double *Q = vectors(g, k), *x = right_.data() + k * n;
      double *w = w_ + k * m_, *moved = moved_.data() + k * n;
      for (Index c = 0; c < n; ++c) {
        const double next = vanishes ? 0.0 : w[columns[c]] + dot(DenseRow<double>{Q + c * n, n}, x);
        moved[c] = next - w[columns[c]];
        w[columns[c]] = next;
      }
      slopes_.follow(columns, n, k, moved);
    }
  }

  Slopes slopes_;
  Index n_matrices_, m_, n_outputs_, n_vectors_ = 0;
  ColumnGroups groups_;
  GroupFactors factors_;
  const double* gradient_;
  double* w_;
  std::vector<Index> first_vector_;
  std::vector<double> turned_, right_, value_, moved_;
};

}  // namespace lineal
