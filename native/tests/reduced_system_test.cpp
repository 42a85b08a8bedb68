#include "lineal/epoch/reduced_system.h"

#include <cmath>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;

namespace {

// Hinges of one output or joint ones of K, with an intercept; some rows lie far out.
IntervalProgramme programme_of(Rng& rng, const check::Sample<double>& X, int K, double l2) {
  IntervalProgramme p;
  p.n_rows = X.n_rows, p.n_parts = p.n_outputs = K, p.is_joint = K > 1, p.has_constant = true;
  std::vector<int> y;
  for (Index i = 0; i < X.n_rows; ++i)
    y.push_back(int(X.at(i, 0) + 0.5 * check::uniform(rng, -1, 1) > 0.3) + (K > 2 && X.at(i, 1) > 0.6));
  for (int k = 0; k < K; ++k)
    for (Index i = 0; i < X.n_rows; ++i) {
      const bool own = K > 1 ? k == y[std::size_t(i)] : y[std::size_t(i)] > 0;
      p.low.push_back(own ? -1.0 : 0.0);
      p.high.push_back(K > 1 ? HUGE_VAL : own ? 0.0 : 1.0);
      p.place.push_back(K > 1 ? (own ? 0.0 : -1.0) : own ? 1.0 : -1.0);
      p.bend.push_back(0.0);
      p.weight.push_back(K > 1 ? 1.0 : 0.5 + double(i % 3));
    }
  for (int k = 0; k < K; ++k) {
    p.l2.insert(p.l2.end(), std::size_t(X.n_columns), l2);
    p.l2.push_back(0.0);
  }
  return p;
}

using Rows = Dense<double>;
using Map = ProgrammeMap<Rows>;

THEOREM("what is said to be left of a right side is left, and little; all rows and few lead to one optimum") {
  Rng rng(5);
  for (const int K : {1, 3})
    for (const double l2 : {1e-3, 1.0}) {
      const auto X = check::sample_matrix<double>(rng, 400, 12, 1.0);
      const Rows rows = X.dense();
      const IntervalProgramme p = programme_of(rng, X, K, l2);
      const std::vector<Index> used;
      const Map A(rows, p, used, 1);
      PlainGram plain = PlainGram::of(rows, p.weight.data(), true, 1);
      plain.far = 3.0;
      InteriorPoint few(p), all(p);
      Watch watch;
      int n_reduced = 0;
      const auto enough = [](const InteriorPoint& run) {
        return run.is_done() || (run.has_begun() && run.gap() <= 1e-10 * std::abs(run.value()));
      };
      for (int count = 0; count < 80 && !enough(few); ++count) {
        few.renew();
        ReducedSystem<Rows, Map> system(rows, A, used, plain, few, 1);
        CHECK(system.factorise(watch));
        if (!few.has_begun()) CHECK(system.is_exact());  // all thetas are 1
        n_reduced += few.has_begun() && !system.is_exact();
        // Later thetas are so large that products with them are rounded by more than this.
        if (few.has_begun() && !system.is_exact() && few.gap() > 1e-5 * std::abs(few.value())) {
          Numbers right(std::size_t(p.n_weights())), x(right.size()), bent(right.size());
          for (double& each : right) each = check::uniform(rng, -1, 1);
          for (Index j = 0; K > 1 && j <= X.n_columns; ++j)  // no score may move with all others
            for (int k = 1; k < K; ++k)
              right[std::size_t(j)] -= right[std::size_t(k * (X.n_columns + 1) + j)];
          system.solve(right.data(), x.data(), HUGE_VAL);
          if (!system.is_exact()) {
            Numbers scored(std::size_t(p.n_variables()));
            few.curve(A, x.data(), scored, bent);
            double size = 0.0;
            for (const double each : right) size = std::max(size, std::abs(each));
            for (std::size_t j = 0; j < right.size(); ++j)
              CHECK_NEAR(right[j] - bent[j], system.missed()[j], 1e-7 * size);
            for (std::size_t i = 0; i < scored.size(); ++i)
              CHECK_NEAR(scored[i], system.scored()[i], 1e-9 * (1.0 + std::abs(scored[i])));
          }
          system.begin_at_zero();
        }
        if (few.has_begun())
          few.step(A, system);
        else
          few.begin(A, system);
      }
      for (int count = 0; count < 80 && !enough(all); ++count) {
        all.renew();
        ColumnSystem columns;
        JointSystem joint;
        std::vector<double> G(std::size_t((X.n_columns + 1) * (X.n_columns + 1)));
        if (K == 1) {
          gram_pass(rows, all.curvatures().data(), true, G.data(), 1);
          CHECK(columns.factorise(G.data(), all, watch));
        } else {
          CHECK(joint.factorise(rows, used, all, 1, watch));
        }
        const auto go = [&](auto& system) {
          if (all.has_begun())
            all.step(A, system);
          else
            all.begin(A, system);
        };
        K == 1 ? go(columns) : go(joint);
      }
      CHECK(n_reduced > 3);
      CHECK(few.gap() <= 1e-9 * std::abs(few.value()));
      CHECK_NEAR(few.value(), all.value(), 1e-8 * std::abs(all.value()));
    }
}

THEOREM("a watch that says stop leaves the state of a run as it was") {
  Rng rng(6);
  const auto X = check::sample_matrix<double>(rng, 400, 12, 1.0);
  const Rows rows = X.dense();
  const IntervalProgramme p = programme_of(rng, X, 1, 0.1);
  const std::vector<Index> used;
  const Map A(rows, p, used, 1);
  const PlainGram plain = PlainGram::of(rows, p.weight.data(), true, 1);
  InteriorPoint run(p);
  for (int count = 0; count < 6; ++count) {
    Watch watch;
    run.renew();
    ReducedSystem<Rows, Map> system(rows, A, used, plain, run, 1);
    CHECK(system.factorise(watch));
    if (!run.has_begun()) {
      run.begin(A, system);
      continue;
    }
    if (count == 5) {
      const Numbers before = run.state();
      watch.end();
      run.step(A, system);
      CHECK(system.is_exact() || run.state() == before);
      CHECK(!run.is_done());
    } else {
      run.step(A, system);
    }
  }
}

}  // namespace
