#include "lineal/rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::whole;

namespace {

// Every number of whole tiles and lanes of rows.h, with and without a remainder.
constexpr Index widths[] = {1, 3, 4, 8, 15, 16, 25, 32, 45, 70};
constexpr Index largest = 33;  // past two rounds of the widest unrolled loop, with every remainder

// A row of `size` whole numbers on about three times as many columns. Columns that are not stored hold
// NaN wherever a weight is expected: reading one would show.
template <class V>
struct Row {
  std::vector<std::int32_t> index;
  std::vector<V> value;
  Index n_columns;

  Row(Rng& rng, Index size, bool is_dense) : n_columns(is_dense ? size : 3 * size + 1) {
    std::int32_t c = 0;
    for (Index k = 0; k < size; ++k) {
      if (!is_dense) c += std::int32_t(rng.below(3));
      index.push_back(c++);
      value.push_back(V(whole(rng)));
    }
    index.shrink_to_fit();
    value.shrink_to_fit();
  }
  CsrRow<V> csr() const { return {index.data(), value.data(), Index(value.size())}; }
  DenseRow<V> dense() const { return {value.data(), Index(value.size())}; }

  template <class T>
  std::vector<T> weights(Rng& rng, Index width) const {
    std::vector<T> W(std::size_t(n_columns * width), std::numeric_limits<T>::quiet_NaN());
    for (const std::int32_t c : index)
      for (Index j = 0; j < width; ++j) W[std::size_t(c * width + j)] = T(whole(rng));
    return W;
  }
};

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](T x, T y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

// Calls f(row, view) for both storage types, both layouts and every size.
template <class F>
void each_row(F&& f) {
  Rng rng(1);
  const auto of_type = [&]<class V>(V) {
    for (Index size = 0; size <= largest; ++size) {
      const Row<V> sparse(rng, size, false), dense(rng, size, true);
      f(rng, sparse, sparse.csr());
      f(rng, dense, dense.csr());
      f(rng, dense, dense.dense());
    }
  };
  of_type(float{});
  of_type(double{});
}

}  // namespace

THEOREM("dot is the sum of products over the stored columns, and reads no other") {
  each_row([](Rng& rng, const auto& row, auto x) {
    const auto of_type = [&]<class T>(T) {
      const std::vector<T> w = row.template weights<T>(rng, 1);
      double sum = 0;
      for (std::size_t k = 0; k < row.index.size(); ++k)
        sum += double(row.value[k]) * double(w[std::size_t(row.index[k])]);
      CHECK(dot(x, w.data()) == sum);
    };
    of_type(float{});
    of_type(double{});
  });
}

THEOREM("axpy adds a multiple of the row to the stored columns, and touches no other") {
  each_row([](Rng& rng, const auto& row, auto x) {
    const auto of_type = [&]<class T>(T) {
      std::vector<T> w = row.template weights<T>(rng, 1), wanted = w;
      const double a = whole(rng);
      for (std::size_t k = 0; k < row.index.size(); ++k)
        wanted[std::size_t(row.index[k])] += T(a * double(row.value[k]));
      axpy(a, x, w.data());
      CHECK(same(w, wanted));
    };
    of_type(float{});
    of_type(double{});
  });
}

THEOREM("dot_block adds the K scores, update_block the rank-one matrix, padding included") {
  each_row([](Rng& rng, const auto& row, auto x) {
    const auto of_type = [&]<class T>(T) {
      for (const Index width : widths) {
        std::vector<T> W = row.template weights<T>(rng, width), wanted = W;
        std::vector<T> d(static_cast<std::size_t>(width)), z(static_cast<std::size_t>(width));
        for (T& each : d) each = T(whole(rng));
        for (T& each : z) each = T(whole(rng));
        std::vector<T> scores = z;
        for (std::size_t k = 0; k < row.index.size(); ++k)
          for (Index j = 0; j < width; ++j) {
            const std::size_t place = std::size_t(row.index[k] * width + j);
            z[std::size_t(j)] += T(row.value[k]) * W[place];
            wanted[place] += T(row.value[k]) * d[std::size_t(j)];
          }
        dot_block(x, static_cast<const T*>(W.data()), width, width, scores.data());
        CHECK(same(scores, z));
        update_block(x, static_cast<const T*>(d.data()), width, width, W.data());
        CHECK(same(W, wanted));
      }
    };
    of_type(float{});
    of_type(double{});
  });
}

THEOREM("squared_norm is the sum of squares") {
  each_row([](Rng&, const auto& row, auto x) {
    double sum = 0;
    for (const auto a : row.value) sum += double(a) * double(a);
    CHECK(squared_norm(x) == sum);
  });
}

THEOREM("sums over float values are accumulated in double") {
  // 1 + 2^-40 needs 41 bits: more than a float's 24, fewer than a double's 53.
  const std::vector<std::int32_t> index{0, 1};
  const std::vector<float> value{1.0f, 0x1p-20f}, w{1.0f, 0x1p-20f};
  const double wanted = 1.0 + 0x1p-40;
  CHECK(dot(CsrRow<float>{index.data(), value.data(), 2}, w.data()) == wanted);
  CHECK(dot(DenseRow<float>{value.data(), 2}, w.data()) == wanted);
  CHECK(squared_norm(CsrRow<float>{index.data(), value.data(), 2}) == wanted);
  CHECK(squared_norm(DenseRow<float>{value.data(), 2}) == wanted);
}

THEOREM("lower_bound is the first stored entry whose column is not below c") {
  each_row([](Rng&, const auto& row, auto x) {
    for (Index c = 0; c <= row.n_columns + 1; ++c) {
      const auto found = std::lower_bound(row.index.begin(), row.index.end(), c);
      CHECK(lower_bound(x, c) == found - row.index.begin());
    }
  });
}

THEOREM("column names the column of each stored entry") {
  each_row([](Rng&, const auto& row, auto x) {
    for (Index k = 0; k < x.size; ++k) CHECK(column(x, k) == row.index[std::size_t(k)]);
  });
}

THEOREM("the two layouts of one matrix have the same rows, and stored counts their entries") {
  Rng rng(5);
  for (const Index n : {0, 1, 9})
    for (const Index d : {0, 1, 40}) {
      const auto X = check::sample_matrix<double>(rng, n, d, 0.3);
      const auto sparse = X.csr();
      const auto dense = X.dense();
      const auto w = check::uniforms(rng, d, -1, 1);
      for (Index i = 0; i < n; ++i) {
        // Four and eight chains add up in different orders: equal up to rounding of 40 terms below 2.
        CHECK_NEAR(dot(sparse[i], w.data()), dot(dense[i], w.data()), 1e-13);
        CHECK_NEAR(dot(sparse[i], w.data()), X.dot(i, w.data()), 1e-13);
        CHECK(sparse.stored(0, i) == X.start[std::size_t(i)]);
        CHECK(dense.stored(i, n) == (n - i) * d);
      }
      CHECK(sparse.stored(0, n) == Index(X.value.size()));
    }
}
