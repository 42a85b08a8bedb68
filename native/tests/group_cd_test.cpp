#include "lineal/epoch/group_cd.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::uniform;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

// Eigenvalues of a symmetric matrix of n rows, which become the rows of Q' (Jacobi's rotations).
Numbers eigenvalues(Numbers A, Index n, double* Q) {
  const auto at = [n](Index i, Index j) { return std::size_t(i * n + j); };
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) Q[i * n + j] = i == j;
  for (int sweep = 0; sweep < 60; ++sweep)
    for (Index p = 0; p < n; ++p)
      for (Index q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * A[at(p, q)], A[at(p, p)] - A[at(q, q)]);
        const double c = std::cos(angle), s = std::sin(angle);
        for (Index k = 0; k < n; ++k) {
          const double x = A[at(k, p)], y = A[at(k, q)], u = Q[k * n + p], v = Q[k * n + q];
          A[at(k, p)] = c * x + s * y;
          A[at(k, q)] = c * y - s * x;
          Q[k * n + p] = c * u + s * v;
          Q[k * n + q] = c * v - s * u;
        }
        for (Index k = 0; k < n; ++k) {
          const double x = A[at(p, k)], y = A[at(q, k)];
          A[at(p, k)] = c * x + s * y;
          A[at(q, k)] = c * y - s * x;
        }
      }
  Numbers values;
  for (Index i = 0; i < n; ++i) values.push_back(A[at(i, i)]);
  return values;
}

// A model of ten columns in groups that are not side by side; the last one has no penalty.
struct Model {
  Index m = 10, n_matrices, n_outputs;
  std::vector<Index> order{3, 0, 7, 1, 2, 9, 4, 5, 8, 6}, start{0, 3, 4, 6, 9, 10};
  Numbers strength, G, values, vectors, g0, w0;

  Model(std::uint64_t seed, Index n_matrices_, Index n_outputs_, double scale)
      : n_matrices(n_matrices_), n_outputs(n_outputs_), strength{scale, 2 * scale, scale, 0.5 * scale, 0.0} {
    Rng rng(seed);
    const Index n = 25;
    for (Index l = 0; l < n_matrices; ++l) {
      const Numbers X = uniforms(rng, n * m, -1, 1);
      for (Index r = 0; r < m; ++r)
        for (Index c = 0; c < m; ++c) {
          double sum = 0;
          for (Index i = 0; i < n; ++i) sum += X[std::size_t(i * m + r)] * X[std::size_t(i * m + c)];
          G.push_back(sum);
        }
      for (std::size_t g = 0; g + 1 < start.size(); ++g) {
        const Index size = start[g + 1] - start[g];
        Numbers block, Q(std::size_t(size * size));
        for (Index a = 0; a < size; ++a)
          for (Index b = 0; b < size; ++b) block.push_back(at(l, column(g, a), column(g, b)));
        const Numbers found = eigenvalues(block, size, Q.data());
        values.insert(values.end(), found.begin(), found.end());
        vectors.insert(vectors.end(), Q.begin(), Q.end());
      }
    }
    g0 = uniforms(rng, m * n_outputs, -4, 4);
    w0 = uniforms(rng, m * n_outputs, -1, 1);
    for (Index k = 0; k < n_outputs; ++k) w0[std::size_t(k * m + 4)] = w0[std::size_t(k * m + 1)] = 0.0;
  }
  Index column(std::size_t g, Index place) const { return order[std::size_t(start[g] + place)]; }
  double at(Index k, Index r, Index c) const {
    return G[std::size_t(((n_matrices == 1 ? 0 : k) * m + r) * m + c)];
  }
  ColumnGroups groups() const {
    return {order.data(), start.data(), strength.data(), Index(strength.size())};
  }

  Numbers gradient(const Numbers& w) const {
    Numbers g = g0;
    for (Index k = 0; k < n_outputs; ++k)
      for (Index r = 0; r < m; ++r)
        for (Index c = 0; c < m; ++c)
          g[std::size_t(k * m + r)] += at(k, r, c) * (w[std::size_t(k * m + c)] - w0[std::size_t(k * m + c)]);
    return g;
  }
  double norm(std::size_t g, const Numbers& x) const {
    double square = 0;
    for (Index k = 0; k < n_outputs; ++k)
      for (Index p = 0; p < start[g + 1] - start[g]; ++p)
        square += std::pow(x[std::size_t(k * m + column(g, p))], 2);
    return std::sqrt(square);
  }
  double value(const Numbers& w) const {
    const Numbers g = gradient(w);
    double sum = 0;
    for (std::size_t i = 0; i < w.size(); ++i) sum += 0.5 * (g[i] + g0[i]) * (w[i] - w0[i]);
    for (std::size_t g_ = 0; g_ < strength.size(); ++g_) sum += strength[g_] * norm(g_, w);
    return sum;
  }
  // How far the conditions of the minimum are from holding.
  double violation(const Numbers& w) const {
    const Numbers g = gradient(w);
    double worst = 0;
    for (std::size_t group = 0; group < strength.size(); ++group) {
      const double size = norm(group, w);
      if (size == 0.0) {
        worst = std::max(worst, norm(group, g) - strength[group]);
        continue;
      }
      Numbers slope = g;
      for (std::size_t i = 0; i < w.size(); ++i) slope[i] += strength[group] / size * w[i];
      worst = std::max(worst, norm(group, slope));
    }
    return worst;
  }
};

struct Point {
  Numbers w;
  Sweeps done;
};

Point descend(const Model& model, double tol, Index max_sweeps, Watch watch = Watch()) {
  Numbers w = model.w0, gradient = model.g0;
  const GramSlopes slopes{model.G.data(), model.n_matrices, model.m, gradient.data()};
  const GroupFactors factors{model.values.data(), model.vectors.data()};
  const Sweeps done =
      GroupDescent(slopes, model.n_outputs, model.groups(), factors, w.data()).run(tol, max_sweeps, watch);
  const Numbers fresh = model.gradient(w);
  for (std::size_t i = 0; i < fresh.size(); ++i) CHECK_NEAR(gradient[i], fresh[i], 1e-10);  // kept up to date
  return {w, done};
}

struct Shape {
  Index n_matrices, n_outputs;
};
const Shape shapes[] = {{1, 1}, {1, 3}, {3, 3}};

}  // namespace

THEOREM("the norm of a block's minimiser solves the secular equation, from any guess") {
  Rng rng(1);
  for (int trial = 0; trial < 200; ++trial) {
    const Index n = 1 + Index(rng.below(6));
    const Numbers r = uniforms(rng, n, -3, 3);
    Numbers e = uniforms(rng, n, 1e-6, 2);
    if (trial % 3 == 0) e[0] = 1e6;
    double square = 0;
    for (const double each : r) square += each * each;
    const double strength = std::sqrt(square) * uniform(rng, 0.01, 0.999);
    for (const double guess : {0.0, 1e-8, 1.0, 1e8}) {
      const double t = norm_of_minimiser(r.data(), e.data(), n, strength, guess);
      double sum = 0;
      for (std::size_t i = 0; i < r.size(); ++i) sum += std::pow(r[i] / (e[i] * t + strength), 2);
      CHECK_NEAR(sum, 1.0, 1e-9);
    }
  }
}

THEOREM("block descent ends where the conditions of the minimum hold") {
  for (const Shape shape : shapes)
    for (const double scale : {0.3, 3.0, 10.0, 1000.0}) {
      const Model model(7, shape.n_matrices, shape.n_outputs, scale);
      const Point point = descend(model, 1e-9, 10'000);
      CHECK(point.done.violation <= 1e-9);
      CHECK(model.violation(point.w) <= 1e-8);
      CHECK(scale < 1000 || (model.norm(0, point.w) == 0.0 && model.norm(4, point.w) > 0.0));
    }
}

THEOREM("no sweep raises the model, and groups of one column are soft thresholding") {
  for (const Shape shape : shapes) {
    const Model model(3, shape.n_matrices, shape.n_outputs, 2.0);
    double before = model.value(model.w0);
    for (Index sweeps = 1; sweeps < 30; ++sweeps) {
      const double there = model.value(descend(model, 0.0, sweeps).w);
      CHECK(there <= before + 1e-12);
      before = there;
    }
  }
  Model single(5, 1, 1, 1.0);
  single.order.resize(10);
  std::iota(single.order.begin(), single.order.end(), 0);
  single.start.resize(11);
  std::iota(single.start.begin(), single.start.end(), 0);
  single.strength.assign(10, 1.5);
  single.vectors.assign(10, 1.0);
  single.values.clear();
  for (Index j = 0; j < 10; ++j) single.values.push_back(single.at(0, j, j));
  Numbers w = single.w0, gradient = single.g0;
  const Numbers l1(10, 1.5), l2(10, 0.0);
  Watch watch;
  gram_cd({single.G.data(), 10}, {l1.data(), l2.data()}, gradient.data(), w.data(), 1e-11, 10'000, watch);
  const Point point = descend(single, 1e-11, 10'000);
  for (std::size_t j = 0; j < w.size(); ++j) CHECK_NEAR(point.w[j], w[j], 1e-9);
}

THEOREM("a watch that says stop leaves the gradient that of the weights") {
  const Model model(4, 1, 3, 1.0);
  for (int n_moves = 0; n_moves < 12; ++n_moves) {
    int left = n_moves;
    descend(model, 0.0, 100, Watch([&] { return left-- <= 0; }, Watch::Wait::zero(), 1));
  }
}

THEOREM("columns of zeros lose the weights that cost something, and keep the others") {
  Model model(6, 1, 1, 1.0);
  std::fill(model.G.begin(), model.G.end(), 0.0);
  std::fill(model.values.begin(), model.values.end(), 0.0);
  std::fill(model.g0.begin(), model.g0.end(), 0.0);
  const Point point = descend(model, 0.0, 3);
  for (std::size_t g = 0; g < 4; ++g) CHECK(model.norm(g, point.w) == 0.0);
  CHECK(model.norm(4, point.w) == model.norm(4, model.w0));
}

THEOREM("descent on columns, dense or sparse, is descent on their Gram matrices, a constant included") {
  const Index n = 25, d = 9, m = d + 1;
  for (const Shape shape : shapes) {
    Rng rng(11);
    Model model(8, shape.n_matrices, shape.n_outputs, 1.0);
    model.order = {3, 0, 7, 1, 2, 8, 4, 5, 6, 9};  // the constant is the last group
    const check::Sample<double> XT = check::sample_matrix<double>(rng, d, n, 0.5);
    const Numbers h = uniforms(rng, n * shape.n_matrices, 0.0, 1.0);
    const Numbers start = uniforms(rng, n * shape.n_outputs, -1, 1);
    const auto entry = [&](Index i, Index j) { return j < d ? XT.at(j, i) : 1.0; };
    model.G.clear();
    model.values.clear();
    model.vectors.clear();
    Numbers column = uniforms(rng, n, 0, 0);
    for (Index l = 0; l < shape.n_matrices; ++l) {
      for (Index r = 0; r < m; ++r)
        for (Index c = 0; c < m; ++c) {
          double sum = 0;
          for (Index i = 0; i < n; ++i) sum += h[std::size_t(l * n + i)] * entry(i, r) * entry(i, c);
          model.G.push_back(sum);
        }
      Numbers blocks(9 + 1 + 4 + 9 + 1), again(blocks.size());
      group_blocks(XT.csr(), h.data() + l * n, model.groups(), column.data(), blocks.data());
      group_blocks(XT.dense(), h.data() + l * n, model.groups(), column.data(), again.data());
      const double* block = blocks.data();
      for (std::size_t g = 0; g < 5; ++g) {
        const Index size = model.groups().size(Index(g));
        for (Index a = 0; a < size; ++a)
          for (Index b = 0; b < size; ++b)
            CHECK_NEAR(block[a * size + b], model.at(l, model.column(g, a), model.column(g, b)), 1e-12);
        Numbers Q(std::size_t(size * size));
        const Numbers found = eigenvalues(Numbers(block, block + size * size), size, Q.data());
        model.values.insert(model.values.end(), found.begin(), found.end());
        model.vectors.insert(model.vectors.end(), Q.begin(), Q.end());
        block += size * size;
      }
      for (std::size_t i = 0; i < blocks.size(); ++i) CHECK_NEAR(blocks[i], again[i], 1e-12);
    }
    for (Index k = 0; k < shape.n_outputs; ++k)
      for (Index j = 0; j < m; ++j) {
        double sum = 0;
        for (Index i = 0; i < n; ++i) sum += entry(i, j) * start[std::size_t(k * n + i)];
        model.g0[std::size_t(k * m + j)] = sum;
      }
    const Point by_gram = descend(model, 1e-10, 10'000);
    const auto by_columns = [&](const auto& rows) {
      Numbers residual = start, gradient(std::size_t(m * shape.n_outputs)), w = model.w0;
      const ColumnSlopes slopes{rows, h.data(), shape.n_matrices, m, residual.data(), gradient.data()};
      Watch watch;
      const GroupFactors factors{model.values.data(), model.vectors.data()};
      const Sweeps done =
          GroupDescent(slopes, shape.n_outputs, model.groups(), factors, w.data()).run(1e-10, 10'000, watch);
      CHECK(done.count == by_gram.done.count);
      for (std::size_t j = 0; j < w.size(); ++j) CHECK_NEAR(w[j], by_gram.w[j], 1e-7);
    };
    by_columns(XT.csr());
    by_columns(XT.dense());
  }
}
