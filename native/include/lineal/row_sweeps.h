// Products with one vector of weights and one of slopes, some rows at a time: z = X w + b, v = X'g and, in
// one sweep over X, both of X'diag(h) X w.
//
// Four dense rows meet each number of w and of v together, and are still in the first cache when the second
// product wants them: X comes from further away once. A fixed number of shares of the rows have a v of their
// own, added in order: threads change no bit.
#pragma once

#include <algorithm>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

inline constexpr Index rows_together = 4;

// Whether the numbers of a row lie side by side, those of its columns in order.
template <class Rows>
inline constexpr bool has_full_rows =
    requires(const Rows& X) { X[0].value + 1; } && !requires(const Rows& X) { X[0].index; };

template <class V>
inline void dots_of_rows(const V* x, const V* y, const V* t, const V* u, Index d, const double* w,
                         double* z) {
  using L = Lane<double>;
  using Vector = typename L::Vector;
  // Two chains of sums a row hide what an addition takes.
  Vector even_x = {}, even_y = {}, even_t = {}, even_u = {}, odd_x = {}, odd_y = {}, odd_t = {}, odd_u = {};
  Index c = 0;
  for (; c + 2 * L::size <= d; c += 2 * L::size) {
    const Vector near = L::load(w + c), far = L::load(w + c + L::size);
    even_x += load_as<double>(x + c) * near;
    even_y += load_as<double>(y + c) * near;
    even_t += load_as<double>(t + c) * near;
    even_u += load_as<double>(u + c) * near;
    odd_x += load_as<double>(x + c + L::size) * far;
    odd_y += load_as<double>(y + c + L::size) * far;
    odd_t += load_as<double>(t + c + L::size) * far;
    odd_u += load_as<double>(u + c + L::size) * far;
  }
  const auto total = [](Vector sum) { return (sum[0] + sum[2]) + (sum[1] + sum[3]); };
  z[0] = total(even_x + odd_x);
  z[1] = total(even_y + odd_y);
  z[2] = total(even_t + odd_t);
  z[3] = total(even_u + odd_u);
  for (; c < d; ++c) {
    z[0] += double(x[c]) * w[c];
    z[1] += double(y[c]) * w[c];
    z[2] += double(t[c]) * w[c];
    z[3] += double(u[c]) * w[c];
  }
}

template <class V>
inline void add_rows(const V* x, const V* y, const V* t, const V* u, Index d, const double* g, double* v) {
  const double of_x = g[0], of_y = g[1], of_t = g[2], of_u = g[3];
#pragma omp simd
  for (Index c = 0; c < d; ++c)
    v[c] += (of_x * double(x[c]) + of_y * double(y[c])) + (of_t * double(t[c]) + of_u * double(u[c]));
}
static_assert(rows_together == 4);

enum class Sweep { dots, adjoint, both };

// z = X w + b where it has dots; slopes are given, or h z where it has both; v = X'slopes and, behind them,
// their sum.
template <Sweep sweep, class Rows>
void sweep_rows(const Rows& X, const double* w, double b, const double* h, double* z, double* v,
                int n_threads) {
  const Index d = X.n_columns;
  const int n_shares = sweep == Sweep::dots ? n_threads : n_row_shares(X.n_rows);
  const int n_workers = std::min(n_threads, n_shares);
  std::vector<double> partial(sweep == Sweep::dots ? 0 : std::size_t((d + 1) * n_shares), 0.0);
  parallel(n_workers, [&](int worker) {
    const Range mine = share(n_shares, worker, n_workers);
    for (Index part = mine.first; part < mine.last; ++part) {
      const Range rows = share(X.n_rows, int(part), n_shares);
      double* const own = partial.data() + part * (d + 1);
      double total = 0.0;
      Index i = rows.first;
      if constexpr (has_full_rows<Rows>) {
        for (; i + rows_together <= rows.last; i += rows_together) {
          const auto *x = X[i].value, *y = X[i + 1].value, *t = X[i + 2].value, *u = X[i + 3].value;
          double slopes[rows_together];
          if constexpr (sweep != Sweep::adjoint) dots_of_rows(x, y, t, u, d, w, z + i);
          if constexpr (sweep == Sweep::dots) {
            for (Index r = 0; r < rows_together; ++r) z[i + r] += b;
          } else {
            for (Index r = 0; r < rows_together; ++r) {
              if constexpr (sweep == Sweep::both) z[i + r] += b;
              slopes[r] = sweep == Sweep::both ? h[i + r] * z[i + r] : h[i + r];
              total += slopes[r];
            }
            add_rows(x, y, t, u, d, slopes, own);
          }
        }
      }
      for (; i < rows.last; ++i) {
        const auto x = X[i];
        if constexpr (sweep != Sweep::adjoint) z[i] = dot(x, w) + b;
        if constexpr (sweep != Sweep::dots) {
          const double slope = sweep == Sweep::both ? h[i] * z[i] : h[i];
          total += slope;
          axpy(slope, x, own);
        }
      }
      if constexpr (sweep != Sweep::dots) own[d] = total;
    }
  });
  if constexpr (sweep != Sweep::dots)
    for (Index c = 0; c <= d; ++c) {
      double sum = 0.0;
      for (Index part = 0; part < n_shares; ++part) sum += partial[std::size_t(part * (d + 1) + c)];
      v[c] = sum;
    }
}

}  // namespace lineal
