#include "lineal/epoch/prox_cd.h"

#include <algorithm>
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

// A weighted least-squares model in both forms. XT holds the columns of X as rows; one of them is empty.
struct Model {
  Index n = 40, d = 15;
  Sample<double> XT;
  Numbers h, slopes, curvature, w0;
  double b0;

  explicit Model(std::uint64_t seed) {
    Rng rng(seed);
    XT = sample_matrix<double>(rng, d, n, 0.4);
    ++d;
    ++XT.n_rows;
    XT.start.push_back(XT.start.back());
    XT.full.resize(std::size_t(d * n), 0.0);
    h = uniforms(rng, n, 0.0, 1.0);
    h[5] = 0.0;
    slopes = uniforms(rng, n, -1, 1);  // s u at w0
    w0 = uniforms(rng, d, -0.5, 0.5);
    for (std::size_t j = 0; j < w0.size(); j += 3) w0[j] = 0.0;
    b0 = 0.25;
    curvature.assign(std::size_t(d), 0.0);
    for (Index j = 0; j < d; ++j)
      for (Index i = 0; i < n; ++i)
        curvature[std::size_t(j)] += h[std::size_t(i)] * XT.at(j, i) * XT.at(j, i);
  }
  // Column j of [X 1] at row i.
  double entry(Index i, Index j) const { return j < d ? XT.at(j, i) : 1.0; }

  Numbers gram(Index size) const {
    Numbers G(std::size_t(size * size), 0.0);
    for (Index r = 0; r < size; ++r)
      for (Index c = 0; c < size; ++c)
        for (Index i = 0; i < n; ++i)
          G[std::size_t(r * size + c)] += h[std::size_t(i)] * entry(i, r) * entry(i, c);
    return G;
  }
  // The model's slope in each score at (w, b).
  Numbers residual(const Numbers& w, double b) const {
    Numbers r = slopes;
    for (Index i = 0; i < n; ++i) {
      double moved = b - b0;
      for (Index j = 0; j < d; ++j) moved += XT.at(j, i) * (w[std::size_t(j)] - w0[std::size_t(j)]);
      r[std::size_t(i)] += h[std::size_t(i)] * moved;
    }
    return r;
  }
  Numbers gradient(const Numbers& w, double b, Index size) const {
    const Numbers r = residual(w, b);
    Numbers g(std::size_t(size), 0.0);
    for (Index j = 0; j < size; ++j)
      for (Index i = 0; i < n; ++i) g[std::size_t(j)] += entry(i, j) * r[std::size_t(i)];
    return g;
  }
  // The model and its penalty at (w, b), the constant left out.
  double value(const Numbers& w, double b, CoordinatePenalty penalty) const {
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      double moved = b - b0;
      for (Index j = 0; j < d; ++j) moved += XT.at(j, i) * (w[std::size_t(j)] - w0[std::size_t(j)]);
      sum += slopes[std::size_t(i)] * moved + 0.5 * h[std::size_t(i)] * moved * moved;
    }
    for (const double each : w) sum += penalty.l1 * std::abs(each) + 0.5 * penalty.l2 * each * each;
    return sum;
  }
};

struct Point {
  Numbers w;
  double b;
  Sweeps done;
};

// The parts of the penalty of each weight, those of a free intercept behind them.
struct Parts {
  Numbers l1, l2;
  Parts(Index d, bool has_intercept, CoordinatePenalty penalty)
      : l1(std::size_t(d), penalty.l1), l2(std::size_t(d), penalty.l2) {
    l1.resize(std::size_t(d + has_intercept), 0.0);
    l2.resize(std::size_t(d + has_intercept), 0.0);
  }
  WeightPenalties each() const { return {l1.data(), l2.data()}; }
};

Point by_gram(const Model& model, bool has_intercept, CoordinatePenalty penalty, double tol, Index max_sweeps,
              Watch watch = Watch()) {
  const Index size = model.d + has_intercept;
  const Numbers G = model.gram(size);
  Numbers gradient = model.gradient(model.w0, model.b0, size), w = model.w0;
  if (has_intercept) w.push_back(model.b0);
  const Parts parts(model.d, has_intercept, penalty);
  const Sweeps done =
      gram_cd({G.data(), size}, parts.each(), gradient.data(), w.data(), tol, max_sweeps, watch);
  double b = model.b0;
  if (has_intercept) {
    b = w.back();
    w.pop_back();
  }
  const Numbers fresh = model.gradient(w, b, size);
  for (std::size_t j = 0; j < fresh.size(); ++j) CHECK_NEAR(gradient[j], fresh[j], 1e-10);  // kept up to date
  return {w, b, done};
}

Point by_columns(const Model& model, bool has_intercept, CoordinatePenalty penalty, double tol,
                 Index max_sweeps, Watch watch = Watch()) {
  Numbers residual = model.slopes, w = model.w0;
  double b = model.b0;
  const Parts parts(model.d, has_intercept, penalty);
  const Sweeps done = column_cd(model.XT.csr(), model.h.data(), has_intercept, parts.each(),
                                model.curvature.data(), residual.data(), w.data(), b, tol, max_sweeps, watch);
  const Numbers fresh = model.residual(w, b);
  for (std::size_t i = 0; i < fresh.size(); ++i) CHECK_NEAR(residual[i], fresh[i], 1e-10);
  return {w, b, done};
}

const CoordinatePenalty penalties[] = {{0.5, 0.0}, {0.05, 0.0}, {0.5, 0.7}, {0.0, 0.3}, {100.0, 0.0}};

}  // namespace

THEOREM("a watch that says stop leaves the model's slopes those of the weights") {
  const Model model(4);
  for (int n_moves = 0; n_moves < 12; ++n_moves) {
    int left = n_moves, same = n_moves;
    // The checks of up-to-date slopes are inside.
    by_gram(model, true, {0.05, 0.0}, 1e-12, 50, Watch([&] { return left-- == 0; }, Watch::Wait::zero(), 1));
    by_columns(model, true, {0.05, 0.0}, 1e-12, 50,
               Watch([&] { return same-- == 0; }, Watch::Wait::zero(), 1));
    CHECK(left == -1 && same == -1);
  }
}

THEOREM("minimise gives the minimiser over one coordinate, and violation is 0 exactly there") {
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    const CoordinatePenalty p{round % 5 == 0 ? 0.0 : uniform(rng, 0, 2),
                              round % 3 == 0 ? 0.0 : uniform(rng, 0, 2)};
    const double w = round % 4 == 0 ? 0.0 : uniform(rng, -2, 2), g = uniform(rng, -3, 3),
                 c = uniform(rng, 0.1, 4);
    const double best = p.minimise(w, g, c);
    const auto cost = [&](double v) {
      return g * (v - w) + 0.5 * c * (v - w) * (v - w) + p.l1 * std::abs(v) + 0.5 * p.l2 * v * v;
    };
    for (const double v : {0.0, w, best + 1e-3, best - 1e-3, uniform(rng, -3, 3)})
      CHECK(cost(best) <= cost(v) + 1e-13);
    CHECK_NEAR(p.violation(best, g + c * (best - w)), 0.0, 1e-13);
    CHECK(p.violation(w, g) >= 0.0);
    CHECK((p.violation(w, g) > 1e-12) == (std::abs(best - w) > 1e-12 / c) || std::abs(best - w) < 1e-11);
  }
}

THEOREM("both forms satisfy every coordinate's optimality condition, and reach the same point") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (const CoordinatePenalty& penalty : penalties)
      for (const bool has_intercept : {false, true}) {
        const Model model(seed);
        const Index size = model.d + has_intercept;
        const Point dense = by_gram(model, has_intercept, penalty, 1e-11, 100000);
        const Point sparse = by_columns(model, has_intercept, penalty, 1e-11, 100000);
        for (const Point* point : {&dense, &sparse}) {
          CHECK(point->done.count < 100000 && point->done.violation <= 1e-11);
          const Numbers g = model.gradient(point->w, point->b, size);
          // The last sweep saw violations below 1e-11; moves and rounding add a little to them.
          for (Index j = 0; j + 1 < model.d; ++j)
            CHECK(penalty.violation(point->w[std::size_t(j)], g[std::size_t(j)]) <= 1e-9);
          if (has_intercept)
            CHECK_NEAR(g.back(), 0.0, 1e-9);
          else
            CHECK(point->b == model.b0);
        }
        for (std::size_t j = 0; j < dense.w.size(); ++j) CHECK_NEAR(dense.w[j], sparse.w[j], 1e-7);
        CHECK_NEAR(dense.b, sparse.b, 1e-7);
      }
}

THEOREM("a column of zeros keeps its weight without l2, and loses it to l2") {
  for (const double l2 : {0.0, 0.5}) {
    Model model(7);
    model.w0.back() = 0.75;  // the empty column
    const Point dense = by_gram(model, true, {0.1, l2}, 1e-9, 1000);
    const Point sparse = by_columns(model, true, {0.1, l2}, 1e-9, 1000);
    for (const Point* point : {&dense, &sparse}) CHECK(point->w.back() == (l2 > 0 ? 0.0 : 0.75));
  }
}

THEOREM("a model of zeros moves nothing") {
  Model model(8);
  std::fill(model.h.begin(), model.h.end(), 0.0);
  std::fill(model.curvature.begin(), model.curvature.end(), 0.0);
  const Point dense = by_gram(model, true, {0.1, 0.0}, 1e-9, 1000);
  const Point sparse = by_columns(model, true, {0.1, 0.0}, 1e-9, 1000);
  CHECK(dense.w == model.w0 && dense.b == model.b0 && sparse.w == model.w0 && sparse.b == model.b0);
}

THEOREM("every sweep lowers the model, and at most max_sweeps are made") {
  for (const CoordinatePenalty& penalty : penalties)
    for (const bool has_intercept : {false, true}) {
      const Model model(9);
      double dense_before = model.value(model.w0, model.b0, penalty), sparse_before = dense_before;
      for (Index n_sweeps = 0; n_sweeps <= 25; ++n_sweeps) {
        const Point dense = by_gram(model, has_intercept, penalty, 0.0, n_sweeps);
        const Point sparse = by_columns(model, has_intercept, penalty, 0.0, n_sweeps);
        CHECK(dense.done.count <= n_sweeps && sparse.done.count <= n_sweeps);
        const double dense_value = model.value(dense.w, dense.b, penalty),
                     sparse_value = model.value(sparse.w, sparse.b, penalty);
        CHECK(dense_value <= dense_before + 1e-12);
        CHECK(sparse_value <= sparse_before + 1e-12);
        dense_before = dense_value;
        sparse_before = sparse_value;
      }
    }
}

THEOREM("an l1 above every gradient leaves only zeros and the intercept") {
  Model model(10);
  std::fill(model.w0.begin(), model.w0.end(), 0.0);
  const Point dense = by_gram(model, true, {1e3, 0.0}, 1e-10, 100);
  const Point sparse = by_columns(model, true, {1e3, 0.0}, 1e-10, 100);
  for (const Point* point : {&dense, &sparse}) {
    for (const double w : point->w) CHECK(w == 0.0);
    CHECK(point->b != model.b0);
  }
}
