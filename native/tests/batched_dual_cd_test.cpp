#include "lineal/epoch/batched_dual_cd.h"

#include <vector>

#include "check.h"
#include "lineal/passes.h"
#include "samples.h"

using namespace lineal;
using check::Sample;
using check::sample_matrix;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

// Rows that overlap little, as texts do, and enough of them for two workers.
struct Texts {
  Sample<double> X;
  Numbers y, s, norm2;
  std::vector<std::int32_t> cut;

  explicit Texts(std::uint64_t seed, Index n = 900, Index d = 400) {
    Rng rng(seed);
    X = sample_matrix<double>(rng, n, d, 0.02);
    y = uniforms(rng, n, -1, 1);
    for (double& each : y) each = each < 0 ? -1.0 : 1.0;
    s = uniforms(rng, n, 0.5, 2.0);
    s[7] = 0.0;
    norm2 = X.squared_norms();
    const Index middle = column_cuts(X.csr(), 2)[1];
    for (Index i = 0; i < n; ++i) cut.push_back(std::int32_t(lower_bound(X.csr()[i], middle)));
  }
};

struct Run {
  Numbers u, t;
  double b = 0, gap = 0;
};

template <class Loss>
Run run(const Loss& loss, const Texts& texts, DualSettings set, int n_threads, int n_epochs) {
  const std::size_t n = texts.y.size();
  Run state{Numbers(n, 0.0), Numbers(std::size_t(texts.X.n_columns), 0.0)};
  Rng rng(5);
  std::vector<std::int32_t> order(n);
  std::vector<Rest> rest(n);
  Numbers share(n, 0.0);
  for (int epoch = 0; epoch < n_epochs; ++epoch)
    state.gap = batched_dual_cd_epoch(loss, texts.X.csr(), texts.cut.data(), texts.y.data(), texts.s.data(),
                                      texts.norm2.data(), set, rng, std::span(order), rest.data(),
                                      state.u.data(), share.data(), state.t.data(), state.b, n_threads);
  return state;
}

template <class Loss>
double relative_gap(const Loss& loss, const Texts& texts, const Run& state) {
  double gap = 0, zero = 0;
  for (std::size_t i = 0; i < texts.y.size(); ++i) {
    const double z = texts.X.dot(Index(i), state.t.data()) + state.b;
    gap += texts.s[i] * residual(loss, texts.y[i], z, state.u[i]);
    zero += texts.s[i] * loss.value(texts.y[i], 0.0);
  }
  return gap / zero;
}

}  // namespace

THEOREM("one worker and two compute the same bits, with an intercept and without") {
  const Texts texts(1);
  for (const DualSettings set : {DualSettings{1.0, 0.0, 0.0, false}, DualSettings{0.3, 0.0, 0.1, true}}) {
    const auto same = [&](const auto& loss) {
      const Run one = run(loss, texts, set, 1, 12);
      for (const int n_threads : {2, 3, 8}) {
        const Run two = run(loss, texts, set, n_threads, 12);
        CHECK(one.t == two.t && one.u == two.u && one.b == two.b && one.gap == two.gap);
      }
    };
    same(Hinge{});
    same(Log{});
    same(Squared{});
  }
}

THEOREM("batches of rows that overlap little reach the optimum: the residuals vanish") {
  const Texts texts(2);
  const DualSettings set{1.0, 0.0, 0.0, false};
  CHECK((batch_rows - 1) * mean_cosine(texts.X.csr(), texts.norm2.data()) < 0.7);
  CHECK(relative_gap(SquaredHinge{}, texts, run(SquaredHinge{}, texts, set, 2, 400)) < 1e-9);
  CHECK(relative_gap(Log{}, texts, run(Log{}, texts, set, 2, 400)) < 1e-9);
  CHECK(relative_gap(Squared{}, texts, run(Squared{}, texts, set, 2, 400)) < 1e-9);
}

THEOREM("the weights are those of the dual point: t = -X'(s u) / l2") {
  const Texts texts(3);
  const DualSettings set{0.7, 0.0, 0.0, false};
  const Run state = run(Hinge{}, texts, set, 2, 7);
  for (Index j = 0; j < texts.X.n_columns; ++j) {
    double v = 0;
    for (std::size_t i = 0; i < texts.y.size(); ++i) v += texts.s[i] * state.u[i] * texts.X.at(Index(i), j);
    CHECK_NEAR(state.t[std::size_t(j)], -v / set.l2, 1e-12);
  }
}

THEOREM("mean_cosine is 1 for copies of one row and 0 for rows that share nothing") {
  Sample<double> copies, apart;
  copies.n_rows = apart.n_rows = 60;
  copies.n_columns = apart.n_columns = 60;
  for (std::int32_t i = 0; i < 60; ++i) {
    copies.index.insert(copies.index.end(), {3, 9});
    copies.value.insert(copies.value.end(), {2.0, -1.0});
    copies.start.push_back(Index(copies.index.size()));
    apart.index.push_back(i);
    apart.value.push_back(double(i) - 30.5);
    apart.start.push_back(Index(apart.index.size()));
  }
  CHECK_NEAR(mean_cosine(copies.csr(), Numbers(60, 5.0).data()), 1.0, 1e-12);
  CHECK_NEAR(mean_cosine(apart.csr(), Numbers(60, 1.0).data()), 0.0, 0.0);
}
