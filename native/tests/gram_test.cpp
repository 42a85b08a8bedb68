#include "lineal/gram.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Sample;
using check::sample_matrix;
using check::uniform;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

// [X 1]'diag(h)[X 1] by the definition.
template <class V>
Numbers plain_gram(const Sample<V>& X, const Numbers& h, bool with_constant) {
  const Index d = X.n_columns, size = d + with_constant;
  Numbers G(std::size_t(size * size), 0.0);
  const auto entry = [&](Index i, Index j) { return j < d ? X.at(i, j) : 1.0; };
  for (Index i = 0; i < X.n_rows; ++i)
    for (Index r = 0; r < size; ++r) {
      const double a = h[std::size_t(i)] * entry(i, r);
      if (a == 0.0) continue;
      for (Index c = 0; c < size; ++c) G[std::size_t(r * size + c)] += a * entry(i, c);
    }
  return G;
}

// Curvatures, a fifth of them 0 as those of flat losses are.
Numbers sample_curvatures(Rng& rng, Index n) {
  Numbers h = uniforms(rng, n, 0, 1);
  for (double& each : h)
    if (rng.below(5) == 0) each = 0.0;
  return h;
}

template <class V, class Rows>
void check_gram(Rng& rng, const Sample<V>& X, const Rows& rows) {
  const Numbers h = sample_curvatures(rng, X.n_rows);
  for (const bool with_constant : {false, true}) {
    const Index size = X.n_columns + with_constant;
    const Numbers wanted = plain_gram(X, h, with_constant);
    Numbers first;
    for (const int n_threads : {1, 2, 3, 5, 20}) {
      Numbers G(wanted.size(), std::numeric_limits<double>::quiet_NaN());
      gram_pass(rows, h.data(), with_constant, G.data(), n_threads);
      for (std::size_t k = 0; k < G.size(); ++k)
        CHECK_NEAR(G[k], wanted[k], 1e-14 * double(X.n_rows + 1) * 4);  // terms below 4, in another order
      for (Index r = 0; r < size; ++r)
        for (Index c = 0; c < r; ++c) CHECK(G[std::size_t(r * size + c)] == G[std::size_t(c * size + r)]);
      if (n_threads == 1) first = G;
      CHECK(G.empty() || std::memcmp(G.data(), first.data(), G.size() * sizeof(double)) == 0);
    }
  }
}

}  // namespace

THEOREM("gram_pass is [X 1]'diag(h)[X 1], both halves equal, with the same bits for any number of threads") {
  Rng rng(1);
  const auto of_type = [&]<class V>(V) {
    for (const Index n : {0, 1, 40, 1100})                    // one share of rows, and several
      for (const Index d : {0, 1, 3, 8, 22, 61})              // less than a tile, whole tiles, a ragged edge
        for (const double density : {0.05, 0.2, 0.6, 1.0}) {  // entry by entry, and in tiles
          if (n == 1100 && d == 61 && density > 0.6) continue;  // nothing new, and slow under a sanitizer
          const Sample<V> X = sample_matrix<V>(rng, n, d, density);
          check_gram(rng, X, X.csr());
          if constexpr (sizeof(V) == 8) check_gram(rng, X, X.dense());
        }
  };
  of_type(float{});
  of_type(double{});
}

THEOREM("beyond small_gram columns, where threads own rows of G, it is the same matrix") {
  Rng rng(2);
  for (const Index d : {small_gram, small_gram + 1, full_small_gram + 1}) {
    const auto X = sample_matrix<double>(rng, 30, d, 0.1);
    check_gram(rng, X, X.csr());
    check_gram(rng, X, X.dense());
  }
}

THEOREM("grams_pass is gram_pass of each column; a watch that says stop ends it after one") {
  Rng rng(3);
  const auto X = sample_matrix<double>(rng, 700, 9, 0.5);
  constexpr Index K = 3, size = 10, area = size * size;
  const Numbers H = uniforms(rng, X.n_rows * K, 0, 1);
  const auto check = [&](const auto& rows) {
    Numbers G(static_cast<std::size_t>(K * area)), own(static_cast<std::size_t>(area));
    Numbers h(static_cast<std::size_t>(X.n_rows));
    Watch watch;
    grams_pass(rows, H.data(), K, true, G.data(), 2, watch);
    for (Index k = 0; k < K; ++k) {
      for (Index i = 0; i < X.n_rows; ++i) h[std::size_t(i)] = H[std::size_t(i * K + k)];
      gram_pass(rows, h.data(), true, own.data(), 1);
      CHECK(std::memcmp(own.data(), G.data() + k * area, std::size_t(area) * sizeof(double)) == 0);
    }
    Numbers broken(G.size(), -1.0);
    Watch over;
    over.end();
    grams_pass(rows, H.data(), K, true, broken.data(), 1, over);
    CHECK(broken[0] == G[0] && broken[std::size_t(area)] == -1.0);
  };
  check(X.csr());
  check(X.dense());
}

THEOREM("rows of weight 0 change no bit of a Gram matrix, wherever they stand") {
  Rng rng(4);
  const auto X = sample_matrix<double>(rng, 300, 11, 1.0);
  Sample<double> heavy;
  heavy.n_columns = X.n_columns;
  Numbers h, own;
  for (Index i = 0; i < X.n_rows; ++i) {
    h.push_back(i % 3 == 0 ? 0.0 : uniform(rng, 0, 1));
    if (h.back() == 0.0) continue;
    own.push_back(h.back());
    for (Index j = 0; j < X.n_columns; ++j) heavy.full.push_back(X.at(i, j));
    ++heavy.n_rows;
  }
  Numbers all(std::size_t(12 * 12)), some(all.size());
  gram_pass(X.dense(), h.data(), true, all.data(), 1);
  gram_pass(heavy.dense(), own.data(), true, some.data(), 1);
  CHECK(check::same_bits(all, some));
}
