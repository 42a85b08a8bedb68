#include "lineal/epoch/active_set.h"

#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::uniform;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

// Least squares in m columns of n rows; every third column is the sum of the two before it when
// `is_collinear`.
struct Squares {
  Index n, m;
  Numbers columns, target;

  Squares(std::uint64_t seed, Index n_rows, Index n_columns, bool is_collinear) : n(n_rows), m(n_columns) {
    Rng rng(seed);
    columns = uniforms(rng, n * m, -1, 1);
    target = uniforms(rng, n, -2, 2);
    if (is_collinear)
      for (Index j = 2; j < m; j += 3)
        for (Index i = 0; i < n; ++i) at(i, j) = at(i, j - 1) + at(i, j - 2);
  }
  double& at(Index i, Index j) { return columns[std::size_t(j * n + i)]; }
  double at(Index i, Index j) const { return columns[std::size_t(j * n + i)]; }

  Numbers gram() const {
    Numbers G(std::size_t(m * m), 0.0);
    for (Index a = 0; a < m; ++a)
      for (Index b = 0; b < m; ++b)
        for (Index i = 0; i < n; ++i) G[std::size_t(a * m + b)] += at(i, a) * at(i, b);
    return G;
  }
  Numbers residual(const Numbers& w) const {
    Numbers r(std::size_t(n), 0.0);
    for (Index i = 0; i < n; ++i) {
      r[std::size_t(i)] = -target[std::size_t(i)];
      for (Index j = 0; j < m; ++j) r[std::size_t(i)] += at(i, j) * w[std::size_t(j)];
    }
    return r;
  }
  Numbers gradient(const Numbers& w) const {
    const Numbers r = residual(w);
    Numbers g(std::size_t(m), 0.0);
    for (Index j = 0; j < m; ++j)
      for (Index i = 0; i < n; ++i) g[std::size_t(j)] += at(i, j) * r[std::size_t(i)];
    return g;
  }
  double value(const Numbers& w, Index n_free, CoordinatePenalty penalty) const {
    double sum = 0;
    for (const double r : residual(w)) sum += r * r / 2;
    for (Index j = 0; j < m - n_free; ++j) {
      const double each = w[std::size_t(j)];
      sum += penalty.l1 * std::abs(each) + penalty.l2 / 2 * each * each;
    }
    return sum;
  }
  // The last sweep's worth: how far w is from optimal.
  double violation(const Numbers& w, Index n_free, CoordinatePenalty penalty) const {
    const Numbers g = gradient(w);
    double worst = 0;
    for (Index j = 0; j < m; ++j) {
      const CoordinatePenalty own = j >= m - n_free ? CoordinatePenalty{0.0, 0.0} : penalty;
      worst = std::max(worst, own.violation(w[std::size_t(j)], g[std::size_t(j)]));
    }
    return worst;
  }
  Numbers solved(Numbers w, Index n_free, CoordinatePenalty penalty, double tol, Index max_events) const {
    const Numbers G = gram();
    Numbers g = gradient(w), l1(std::size_t(m), penalty.l1), l2(std::size_t(m), penalty.l2);
    std::fill(l1.end() - n_free, l1.end(), 0.0);
    std::fill(l2.end() - n_free, l2.end(), 0.0);
    Watch watch;
    ActiveSet set;
    set.take({G.data(), m}, {l1.data(), l2.data()}, g.data(), w.data(), 0);
    set.run(tol, max_events, watch);
    const Numbers fresh = gradient(w);
    for (std::size_t j = 0; j < fresh.size(); ++j) CHECK_NEAR(g[j], fresh[j], 1e-8);  // kept up to date
    return w;
  }
};

const CoordinatePenalty penalties[] = {{0.5, 0.0}, {1e-4, 0.0}, {0.5, 0.7}, {1e-3, 1e-3}, {100.0, 0.0}};

}  // namespace

THEOREM("a factor that columns joined and left solves the system of those that stayed") {
  const Squares data(1, 30, 12, false);
  const Numbers G = data.gram();
  Rng rng(2);
  for (int round = 0; round < 50; ++round) {
    GrowingCholesky factor;
    factor.reserve(data.m);
    std::vector<Index> members;
    for (int change = 0; change < 40; ++change) {
      const Index j = Index(uniform(rng, 0, double(data.m)));
      const auto found = std::find(members.begin(), members.end(), j);
      if (found != members.end()) {
        factor.leave({Index(found - members.begin())});
        members.erase(found);
        continue;
      }
      Numbers column(std::size_t(data.m), 0.0);
      for (std::size_t r = 0; r < members.size(); ++r) column[r] = G[std::size_t(j * data.m + members[r])];
      const double rest = factor.reduce(column.data(), G[std::size_t(j * data.m + j)]);
      CHECK(rest > 0);
      factor.join(column.data(), rest);
      members.push_back(j);
    }
    CHECK(factor.size() == Index(members.size()));
    Numbers x = uniforms(rng, data.m, -1, 1);
    const Numbers right = x;
    factor.forward(x.data());
    factor.backward(x.data());
    for (std::size_t r = 0; r < members.size(); ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < members.size(); ++c)
        sum += G[std::size_t(members[r] * data.m + members[c])] * x[c];
      CHECK_NEAR(sum, right[r], 1e-10);
    }
  }
}

THEOREM("columns that join many at once, and leave many at once, leave the factor of those that stay") {
  const Squares data(7, 220, 150, false);
  const Numbers G = data.gram();
  const auto of = [&](Index a, Index b) { return G[std::size_t(a * data.m + b)]; };
  Rng rng(8);
  for (int round = 0; round < 6; ++round) {
    GrowingCholesky factor;
    factor.reserve(data.m);
    std::vector<Index> members, others;
    for (Index j = 0; j < data.m; ++j) others.push_back(j);
    for (int change = 0; change < 8; ++change) {
      const Index size = Index(members.size()),
                  count = std::min(Index(uniform(rng, 1, 70)), Index(others.size()));
      for (Index t = 0; t < count; ++t) {
        const Index j = others[std::size_t(t)];
        for (Index r = 0; r < size; ++r) factor.room(t)[r] = of(j, members[std::size_t(r)]);
        for (Index k = 0; k <= t; ++k) factor.room(t)[size + k] = of(j, others[std::size_t(k)]);
      }
      CHECK(factor.extend(count) == count);
      members.insert(members.end(), others.begin(), others.begin() + count);
      others.erase(others.begin(), others.begin() + count);
      std::vector<Index> places, kept;
      for (Index r = 0; r < Index(members.size()); ++r)
        (uniform(rng, 0, 1) < 0.2 ? places : kept).push_back(r);
      for (const Index r : places) others.push_back(members[std::size_t(r)]);
      factor.leave(places);
      std::vector<Index> left;
      for (const Index r : kept) left.push_back(members[std::size_t(r)]);
      members = left;
    }
    CHECK(factor.size() == Index(members.size()));
    Numbers x = uniforms(rng, data.m, -1, 1);
    const Numbers right = x;
    factor.forward(x.data());
    factor.backward(x.data());
    for (std::size_t r = 0; r < members.size(); ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < members.size(); ++c) sum += of(members[r], members[c]) * x[c];
      CHECK_NEAR(sum, right[r], 1e-9);
    }
  }
}

THEOREM("many columns join up to the first that depends on those before it") {
  const Squares data(9, 60, 48, true);  // the third is the sum of the first two
  const Numbers G = data.gram();
  GrowingCholesky factor;
  factor.reserve(data.m);
  for (Index t = 0; t < 40; ++t)
    for (Index k = 0; k <= t; ++k) factor.room(t)[k] = G[std::size_t(t * data.m + k)];
  CHECK(factor.extend(40) == 2);
  CHECK(factor.size() == 2);
}

THEOREM("the active set ends at the optimum where many weights come and go") {
  for (const bool is_collinear : {false, true})
    for (const CoordinatePenalty& penalty : penalties) {
      const Squares data(11, 200, 120, is_collinear);
      Rng rng(12);
      const Numbers cold(std::size_t(data.m), 0.0), full = uniforms(rng, data.m, -1, 1);
      for (const Numbers& start : {cold, full})
        CHECK(data.violation(data.solved(start, 1, penalty, 1e-7, 10000), 1, penalty) <= 1e-6);
    }
}

THEOREM("in float32 the active set ends where rounding of its matrix lets it") {
  for (const CoordinatePenalty& penalty : penalties) {
    const Squares data(13, 200, 120, false);
    const Numbers G = data.gram(), l1(std::size_t(data.m), penalty.l1), l2(std::size_t(data.m), penalty.l2);
    const std::vector<float> narrow(G.begin(), G.end());
    Rng rng(14);
    const Numbers cold(std::size_t(data.m), 0.0), full = uniforms(rng, data.m, -1, 1);
    for (const Numbers& start : {cold, full}) {
      Numbers w = start, g = data.gradient(w);
      Watch watch;
      ActiveSetOf<float> set;
      set.take({narrow.data(), data.m}, {l1.data(), l2.data()}, g.data(), w.data(), 0);
      set.run(1e-5, 10000, watch);
      CHECK(data.violation(w, 0, penalty) <= 1e-3);
    }
  }
}

THEOREM("a factor in float32 is that of the same columns to its rounding") {
  const Squares data(15, 90, 40, false);
  const Numbers G = data.gram();
  GrowingCholesky<float> factor;
  factor.reserve(data.m);
  for (Index t = 0; t < data.m; ++t)
    for (Index k = 0; k <= t; ++k) factor.room(t)[k] = float(G[std::size_t(t * data.m + k)]);
  CHECK(factor.extend(data.m) == data.m);
  factor.leave({3, 4, 17, 39});
  std::vector<Index> members;
  for (Index j = 0; j < data.m; ++j)
    if (j != 3 && j != 4 && j != 17 && j != 39) members.push_back(j);
  Rng rng(16);
  Numbers x = uniforms(rng, data.m, -1, 1);
  const Numbers right = x;
  factor.forward(x.data());
  factor.backward(x.data());
  for (std::size_t r = 0; r < members.size(); ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < members.size(); ++c)
      sum += G[std::size_t(members[r] * data.m + members[c])] * x[c];
    CHECK_NEAR(sum, right[r], 1e-4);
  }
}

THEOREM("the active set ends at the optimum, from 0 or anywhere, columns independent or not") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const bool is_collinear : {false, true})
      for (const Index n_rows : {60, 10})  // more rows than columns, and fewer
        for (const CoordinatePenalty& penalty : penalties)
          for (const Index n_free : {0, 1}) {
            const Squares data(seed, n_rows, 24, is_collinear);
            Rng rng(seed + 100);
            const Numbers cold(std::size_t(data.m), 0.0), full = uniforms(rng, data.m, -1, 1);
            double best = std::numeric_limits<double>::infinity();
            for (const Numbers& start : {cold, full}) {
              const Numbers w = data.solved(start, n_free, penalty, 1e-7, 10000);
              CHECK(data.violation(w, n_free, penalty) <= 1e-6);
              const double value = data.value(w, n_free, penalty);
              if (std::isfinite(best)) CHECK_NEAR(value, best, 1e-5);
              best = value;
            }
          }
}

THEOREM("without l2 no more weights stay than the columns have dimensions") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Squares data(seed, 10, 40, false);
    Rng rng(seed);
    const Numbers w = data.solved(uniforms(rng, data.m, -1, 1), 0, {1e-3, 0.0}, 1e-9, 10000);
    Index n_left = 0;
    for (const double each : w) n_left += each != 0.0;
    CHECK(n_left <= data.n);
  }
}

THEOREM("more events never raise the model") {
  for (const bool is_collinear : {false, true})
    for (const CoordinatePenalty& penalty : penalties) {
      const Squares data(3, 12, 24, is_collinear);
      Rng rng(4);
      const Numbers start = uniforms(rng, data.m, -1, 1);
      double before = data.value(start, 1, penalty);
      for (Index n_events = 0; n_events <= 60; ++n_events) {
        const double value = data.value(data.solved(start, 1, penalty, 0.0, n_events), 1, penalty);
        CHECK(value <= before + 1e-10);
        before = value;
      }
    }
}

THEOREM("a column of zeros keeps its weight without l2, and loses it to l2") {
  for (const double l2 : {0.0, 0.5}) {
    Squares data(5, 20, 9, false);
    for (Index i = 0; i < data.n; ++i) data.at(i, 4) = 0.0;
    Numbers start(std::size_t(data.m), 0.0);
    start[4] = 0.75;
    const Numbers w = data.solved(start, 0, {0.1, l2}, 1e-9, 1000);
    CHECK(w[4] == (l2 > 0 ? 0.0 : 0.75));
  }
}
