// One step of Craig's method (1955), which is conjugate gradients on (A A' + lam I) a = b for a wide dense A,
// here diag(root) X without its part along a unit vector `level`, in one pass over X.
//
// With p = A's and the residual t the length of a step, |t|^2 / (|p|^2 + lam |s|^2), is known before any row
// is met. So while a row is in the cache it gives its entry of A p, by which t moves, and takes the moved t
// into the sum A't of the next direction: two products for one pass. The slow twin is `craig_step` in
// tests/reference/craig.py.
#pragma once

#include <algorithm>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

// Rows that are met together: what they multiply is read once for all of them.
inline constexpr int craig_rows = 4;

// The products of R rows with p.
template <int R, class V>
void dot_rows(const V* x, Index d, const double* p, double* q) noexcept {
  using L = Lane<double>;
  typename L::Vector sum[R][2] = {};
  Index k = 0;
  for (; k + 2 * L::size <= d; k += 2 * L::size) {
    const typename L::Vector near = L::load(p + k), far = L::load(p + k + L::size);
    for (int r = 0; r < R; ++r) {
      sum[r][0] += load_as<double>(x + r * d + k) * near;
      sum[r][1] += load_as<double>(x + r * d + k + L::size) * far;
    }
  }
  for (int r = 0; r < R; ++r) {
    const typename L::Vector both = sum[r][0] + sum[r][1];
    q[r] = (both[0] + both[2]) + (both[1] + both[3]);
    for (Index j = k; j < d; ++j) q[r] += double(x[r * d + j]) * p[j];
  }
}

// v += sum_r u_r x_r.
template <int R, class V>
void add_rows(const V* x, Index d, const double* u, double* v) noexcept {
  using L = Lane<double>;
  Index k = 0;
  for (; k + L::size <= d; k += L::size) {
    typename L::Vector sum = L::load(v + k);
    for (int r = 0; r < R; ++r) sum += u[r] * load_as<double>(x + r * d + k);
    L::store(v + k, sum);
  }
  for (; k < d; ++k)
    for (int r = 0; r < R; ++r) v[k] += u[r] * double(x[r * d + k]);
}

// What a step is made of: directions s and p = A's, its length, and the entry of A p along `level`.
struct CraigStep {
  const double *root, *level, *s, *p;
  double length, lean, strength;
};

// t -= length ((A A' + strength I) s), then v = X' diag(root) t.
template <class V>
void craig_pass(const Dense<V>& X, const CraigStep& by, double* t, double* v, int n_threads) {
  const Index d = X.n_columns;
  // A number that depends on the data alone, so that threads change no bit.
  const int n_shares = int(std::clamp<Index>(X.n_rows / 64, 1, 8));
  const int n_workers = std::min(n_threads, n_shares);
  std::vector<double> partial(std::size_t(d * n_shares), 0.0);
  const auto meet = [&]<int R>(Index i, double* sum) {
    const V* x = X.value + i * d;
    double q[R], u[R];
    dot_rows<R>(x, d, by.p, q);
    for (int r = 0; r < R; ++r) {
      const double root = by.root[i + r];
      t[i + r] -= by.length * (root * q[r] - by.lean * by.level[i + r] + by.strength * by.s[i + r]);
      u[r] = root * t[i + r];
    }
    add_rows<R>(x, d, u, sum);
  };
  parallel(n_workers, [&](int worker) {
    const Range mine = share(n_shares, worker, n_workers);
    for (Index part = mine.first; part < mine.last; ++part) {
      const Range rows = share(X.n_rows, int(part), n_shares);
      double* sum = partial.data() + part * d;
      Index i = rows.first;
      for (; i + craig_rows <= rows.last; i += craig_rows) meet.template operator()<craig_rows>(i, sum);
      for (; i < rows.last; ++i) meet.template operator()<1>(i, sum);
    }
  });
  std::fill(v, v + d, 0.0);
  for (Index part = 0; part < n_shares; ++part)
    for (Index k = 0; k < d; ++k) v[k] += partial[std::size_t(part * d + k)];
}

}  // namespace lineal
