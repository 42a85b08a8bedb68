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

#include "lineal/dense_products.h"
#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

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
  const auto meet = [&]<int R>(Index i, const V* const* x, double* sum) {
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
      in_row_groups(X, rows, [&]<int R>(Index i, const V* const* x) {
        meet.template operator()<R>(i, x, partial.data() + part * d);
      });
    }
  });
  std::fill(v, v + d, 0.0);
  for (Index part = 0; part < n_shares; ++part)
    for (Index k = 0; k < d; ++k) v[k] += partial[std::size_t(part * d + k)];
}

}  // namespace lineal
