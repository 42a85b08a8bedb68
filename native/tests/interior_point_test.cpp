#include "lineal/epoch/interior_point.h"

#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "lineal/epoch/column_system.h"
#include "lineal/epoch/joint_system.h"
#include "samples.h"

using namespace lineal;

namespace {

const double none = std::numeric_limits<double>::infinity();

// X with rows, an intercept and corners as a learner of one output would have them.
struct Run {
  check::Sample<double> X;
  IntervalProgramme programme;
  std::vector<Index> used;

  // [X 1]'diag(h)[X 1], or X diag(1 / m) X'.
  std::vector<double> matrix(const Numbers& h, const Numbers& diagonal, bool by_rows) const {
    const Index n = X.n_rows, d = X.n_columns, m = programme.n_weights();
    const Index size = by_rows ? n : m;
    std::vector<double> out(static_cast<std::size_t>(size * size), 0.0);
    const auto at = [&](Index i, Index j) { return j < d ? X.at(i, j) : 1.0; };
    if (by_rows) {
      for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < n; ++k)
          for (Index j = 0; j < d; ++j)
            out[std::size_t(i * n + k)] += X.at(i, j) * X.at(k, j) / diagonal[std::size_t(j)];
    } else {
      for (Index j = 0; j < m; ++j)
        for (Index k = 0; k < m; ++k)
          for (Index i = 0; i < n; ++i)
            out[std::size_t(j * m + k)] += h[std::size_t(i)] * at(i, j) * at(i, k);
    }
    return out;
  }

  InteriorPoint finish(bool by_rows) const {
    InteriorPoint state(programme);
    Watch watch;
    const auto rows = X.dense();
    const ProgrammeMap A(rows, programme, used, 1);
    for (int count = 0; count < 100 && !state.is_done(); ++count) {
      state.renew();
      auto G = matrix(state.curvatures(), state.diagonal(), by_rows);
      bool is_found;
      const auto go = [&](auto& system) {
        if (!is_found)
          state.end();
        else if (state.has_begun())
          state.step(A, system);
        else
          state.begin(A, system);
      };
      if (by_rows) {
        RowSystem system(A, X.n_rows, programme.has_constant);
        is_found = system.factorise(G.data(), state.curvatures(), state.diagonal(), watch);
        go(system);
      } else {
        ColumnSystem system;
        is_found = system.factorise(G.data(), state, watch);
        go(system);
      }
      if (state.gap() <= 1e-11 * std::abs(state.value())) break;
    }
    return state;
  }
};

// Hinges max(0, 1 - y z): -y u in [0, 1], at a price of y u; or a tube around targets.
Run sample_run(Rng& rng, Index n, Index d, double l2, double l1, bool has_tube) {
  Run run{check::sample_matrix<double>(rng, n, d, 1.0), {}, {}};
  IntervalProgramme& p = run.programme;
  p.n_rows = n;
  p.n_parts = has_tube ? 2 : 1;
  p.has_constant = true;
  for (int part = 0; part < p.n_parts; ++part)
    for (Index i = 0; i < n; ++i) {
      const double y = run.X.at(i, 0) + check::uniform(rng, -2, 2) > 0.2 ? 1.0 : -1.0;
      p.low.push_back(has_tube ? (part == 0 ? 0.0 : -1.0) : (y > 0 ? -1.0 : 0.0));
      p.high.push_back(has_tube ? (part == 0 ? 1.0 : 0.0) : (y > 0 ? 0.0 : 1.0));
      p.place.push_back(has_tube ? 3 * run.X.at(i, 0) + check::uniform(rng, 0, 1) * (part == 0 ? 1 : 0) : y);
      p.bend.push_back(0.0);
      p.weight.push_back(0.5 + check::uniform(rng, 0, 1));
    }
  if (has_tube)
    for (Index i = 0; i < n; ++i)
      p.place[std::size_t(n + i)] = p.place[std::size_t(i)] - 0.4,
                              p.weight[std::size_t(n + i)] = p.weight[std::size_t(i)];
  p.l2.assign(std::size_t(d), l2);
  p.l2.push_back(0.0);
  if (l1 > 0.0)
    for (Index j = 0; j < d; ++j) {
      p.corners.push_back(j);
      p.low.push_back(-l1), p.high.push_back(l1), p.place.push_back(0.0), p.bend.push_back(0.0);
      p.weight.push_back(1.0);
      p.corner_square.push_back(1.0);
    }
  return run;
}

// The loss and penalty at weights, from the definitions: sup over u of u z - c u - q u^2 / 2 in the interval.
double primal(const Run& run, const std::vector<double>& w) {
  const IntervalProgramme& p = run.programme;
  double sum = 0.0;
  for (Index i = 0; i < p.n_rows; ++i) {
    double z = p.has_constant ? w.back() : 0.0;
    for (Index j = 0; j < run.X.n_columns; ++j) z += run.X.at(i, j) * w[std::size_t(j)];
    for (int part = 0; part < p.n_parts; ++part) {
      const std::size_t v = std::size_t(part * p.n_rows + i);
      const double off = z - p.place[v];
      sum += p.weight[v] * std::max(p.low[v] * off, p.high[v] * off);
    }
  }
  for (std::size_t j = 0; j < w.size(); ++j) sum += p.l2[j] / 2 * w[j] * w[j];
  for (std::size_t c = 0; c < p.corners.size(); ++c)
    sum += p.high[std::size_t(p.n_of_rows()) + c] * std::abs(w[std::size_t(p.corners[c])]);
  return sum;
}

THEOREM("at the end no move of a weight lowers the objective, and value and gap say so") {
  Rng rng(3);
  for (const bool has_tube : {false, true})
    for (const double l1 : {0.0, 0.7})
      for (const double l2 : {0.0, 1e-2, 3.0}) {
        const Run run = sample_run(rng, 60, 5, l2, l1, has_tube);
        const InteriorPoint state = run.finish(false);
        const double P = primal(run, state.weights());
        CHECK(state.gap() <= 1e-8 * P);
        CHECK_NEAR(state.value(), P, 1e-7 * P);
        for (std::size_t j = 0; j < state.weights().size(); ++j)
          for (const double move : {-1e-3, 1e-3}) {
            auto w = state.weights();
            w[j] += move;
            CHECK(primal(run, w) >= P * (1 - 1e-8));
          }
      }
}

THEOREM("systems of rows and of columns lead to one optimum") {
  Rng rng(4);
  for (const bool has_tube : {false, true}) {
    const Run run = sample_run(rng, 12, 30, 0.5, 0.0, has_tube);
    const double P = primal(run, run.finish(false).weights());
    CHECK_NEAR(primal(run, run.finish(true).weights()), P, 1e-7 * P);
  }
}

THEOREM("what is read as decided is at an end of its interval, or 0, exactly") {
  Rng rng(5);
  const Run run = sample_run(rng, 80, 6, 1e-3, 12.0, false);
  const InteriorPoint state = run.finish(false);
  std::vector<double> w(7), u(80);
  state.read(true, w.data(), u.data());
  int n_zero_weights = 0, n_at_an_end = 0;
  for (std::size_t j = 0; j < 6; ++j) n_zero_weights += w[j] == 0.0;
  for (std::size_t i = 0; i < 80; ++i)
    n_at_an_end += u[i] == run.programme.low[i] || u[i] == run.programme.high[i];
  CHECK(n_zero_weights >= 3);
  CHECK(n_at_an_end >= 60);
  CHECK_NEAR(primal(run, w), primal(run, state.weights()), 1e-7 * primal(run, w));
}

// Crammer and Singer's: K outputs, u >= -e_y with sum 0, at a price of -1 for the wrong ones.
Run joint_run(Rng& rng, Index n, Index d, int K, double l2, double l1, std::vector<int>& y) {
  Run run{check::sample_matrix<double>(rng, n, d, 1.0), {}, {}};
  IntervalProgramme& p = run.programme;
  p.n_rows = n;
  p.n_parts = p.n_outputs = K;
  p.is_joint = true;
  p.has_constant = true;
  for (Index i = 0; i < n; ++i) {
    const double z = run.X.at(i, 0) + check::uniform(rng, -1, 1);
    y.push_back(std::min(K - 1, std::max(0, int(z + K / 2.0))));
  }
  for (int k = 0; k < K; ++k) {
    for (Index i = 0; i < n; ++i) {
      const bool is_own = y[std::size_t(i)] == k;
      p.low.push_back(is_own ? -1.0 : 0.0), p.high.push_back(none), p.place.push_back(is_own ? 0.0 : -1.0);
      p.bend.push_back(0.0), p.weight.push_back(1.0);
    }
    p.l2.insert(p.l2.end(), std::size_t(d), l2);
    p.l2.push_back(0.0);
  }
  if (l1 > 0.0)
    for (int k = 0; k < K; ++k)
      for (Index j = 0; j < d; ++j) {
        p.corners.push_back(k * (d + 1) + j);
        p.low.push_back(-l1), p.high.push_back(l1), p.place.push_back(0.0), p.bend.push_back(0.0);
        p.weight.push_back(1.0), p.corner_square.push_back(1.0);
      }
  return run;
}

double joint_primal(const Run& run, const std::vector<int>& y, const std::vector<double>& w) {
  const IntervalProgramme& p = run.programme;
  const Index d = run.X.n_columns, m = d + 1;
  double sum = 0.0;
  for (Index i = 0; i < p.n_rows; ++i) {
    double own = 0.0, most = -none;
    for (int k = 0; k < p.n_outputs; ++k) {
      double z = w[std::size_t(k * m + d)];
      for (Index j = 0; j < d; ++j) z += run.X.at(i, j) * w[std::size_t(k * m + j)];
      if (k == y[std::size_t(i)]) own = z;
      most = std::max(most, z + (k == y[std::size_t(i)] ? 0.0 : 1.0));
    }
    sum += most - own;
  }
  for (std::size_t j = 0; j < w.size(); ++j) sum += p.l2[j] / 2 * w[j] * w[j];
  for (std::size_t c = 0; c < p.corners.size(); ++c)
    sum += p.high[std::size_t(p.n_of_rows()) + c] * std::abs(w[std::size_t(p.corners[c])]);
  return sum;
}

THEOREM(
    "joint rows end where no move of a weight lowers the objective, with sums of 0 and shares that are "
    "none") {
  Rng rng(7);
  for (const int K : {2, 3, 5})
    for (const double l1 : {0.0, 0.7})
      for (const double l2 : {0.0, 1e-2, 3.0}) {
        std::vector<int> y;
        const Run run = joint_run(rng, 50, 3, K, l2, l1, y);
        InteriorPoint state(run.programme);
        Watch watch;
        const auto rows = run.X.dense();
        const ProgrammeMap A(rows, run.programme, run.used, 1);
        for (int step = 0; step < 60 && !state.is_done(); ++step) {
          state.renew();
          JointSystem system;
          if (!system.factorise(rows, run.used, state, 1, watch))
            state.end();
          else if (state.has_begun())
            state.step(A, system);
          else
            state.begin(A, system);
          if (state.gap() <= 1e-11 * std::abs(state.value())) break;
        }
        const double P = joint_primal(run, y, state.weights());
        CHECK(state.gap() <= 1e-8 * P + 1e-9);
        CHECK_NEAR(state.value(), P, 1e-7 * P + 1e-9);
        for (std::size_t j = 0; j < state.weights().size(); ++j)
          for (const double move : {-1e-3, 1e-3}) {
            auto w = state.weights();
            w[j] += move;
            CHECK(joint_primal(run, y, w) >= P * (1 - 1e-8) - 1e-9);
          }
        std::vector<double> w(state.weights().size()), u(std::size_t(50 * K));
        state.read(true, w.data(), u.data());
        int n_none = 0;
        for (std::size_t i = 0; i < 50; ++i) {
          double sum = 0.0;
          for (int k = 0; k < K; ++k) {
            const double each = u[i * std::size_t(K) + std::size_t(k)];
            sum += each;
            n_none += each == 0.0;
            CHECK(each >= (k == y[i] ? -1.0 : 0.0));
          }
          CHECK_NEAR(sum, 0.0, 1e-5);  // what was decided has moved it by less than it is tiny
        }
        if (l2 > 0.0) CHECK(n_none > 0);
      }
}

// The sample with one output's weights in two groups, two of its columns and the rest, or all outputs'.
Run grouped_run(Rng& rng, Index n, Index d, double strength, bool has_tube) {
  Run run = sample_run(rng, n, d, 0.0, 0.0, has_tube);
  IntervalProgramme& p = run.programme;
  for (Index j = 0; j < d; ++j) {
    p.corners.push_back(j);
    p.low.push_back(-none), p.high.push_back(none), p.place.push_back(0.0), p.bend.push_back(0.0);
    p.weight.push_back(1.0), p.corner_square.push_back(1.0);
  }
  p.ball_start = {0, 2, d};
  p.radius = {strength, strength};
  p.value_at_zero = double(n);
  return run;
}

double grouped_primal(const Run& run, const std::vector<double>& w) {
  Run plain = run;
  plain.programme.corners.clear();
  double sum = primal(plain, w);
  for (Index g = 0; g < run.programme.n_balls(); ++g) {
    double square = 0.0;
    for (Index j = run.programme.ball_start[std::size_t(g)]; j < run.programme.ball_start[std::size_t(g) + 1];
         ++j)
      square += w[std::size_t(j)] * w[std::size_t(j)];
    sum += run.programme.radius[std::size_t(g)] * std::sqrt(square);
  }
  return sum;
}

THEOREM("weights in groups end where no move lowers the objective, and small groups are 0") {
  Rng rng(9);
  for (const bool has_tube : {false, true})
    for (const double strength : {1e-3, 1.0, 25.0}) {
      const Run run = grouped_run(rng, 60, 5, strength, has_tube);
      const InteriorPoint state = run.finish(false);
      const double P = grouped_primal(run, state.weights());
      CHECK(state.gap() <= 1e-9 * P);
      CHECK_NEAR(state.value(), P, 1e-8 * P);
      std::vector<double> w(state.weights().size()), u(60);
      state.read(true, w.data(), u.data());
      CHECK_NEAR(grouped_primal(run, w), P, 1e-8 * P);
      for (std::size_t j = 0; j < w.size(); ++j)
        for (const double move : {-1e-3, 1e-3}) {
          auto moved = w;
          moved[j] += move;
          CHECK(grouped_primal(run, moved) >= P * (1 - 1e-8));
        }
      if (strength == 25.0) CHECK(w[2] == 0.0 && w[3] == 0.0 && w[4] == 0.0);
    }
}

THEOREM("a scaling of cones maps both points of a pair to one, its steps end on the edge") {
  Rng rng(10);
  for (const Index size : {1, 2, 7})
    for (int trial = 0; trial < 50; ++trial) {
      const auto draw = [&] {
        std::vector<double> v(static_cast<std::size_t>(size));
        for (double& each : v) each = check::uniform(rng, -1, 1);
        return v;
      };
      const auto norm = [](const std::vector<double>& v) {
        double sum = 0.0;
        for (const double each : v) sum += each * each;
        return std::sqrt(sum);
      };
      std::vector<double> x = draw(), y = draw(), v = draw(), middle(x.size()), lam(x.size()), d(x.size());
      const double edge = std::exp(check::uniform(rng, -15, 2));
      const double x_head = norm(x) + edge, y_head = norm(y) + std::exp(check::uniform(rng, -15, 2));
      ConeScaling cone;
      CHECK(cone.scale({x_head, x.data()}, {y_head, y.data()}, size, middle.data(), lam.data()));
      // -lam o lam asks x to vanish where y stays.
      double d_head = 0.0, moved_head = 0.0;
      std::vector<double> moved(x.size());
      cone.aim(0.0, nullptr, nullptr, d_head, d.data());
      cone.moved(d_head, d.data(), moved_head, moved.data());
      CHECK_NEAR(moved_head, -x_head, 1e-6 * x_head);
      for (std::size_t i = 0; i < x.size(); ++i) CHECK_NEAR(moved[i], -x[i], 1e-6 * x_head);
      // The answer to W^2 (0, v) is v.
      double head = 0.0;
      std::vector<double> tail(x.size(), 0.0);
      cone.add_squared(v.data(), head, tail.data());
      cone.respond(tail.data());
      for (std::size_t i = 0; i < x.size(); ++i) CHECK_NEAR(tail[i], v[i], 1e-5);
      // On the edge both terms of x_0^2 - |x_1|^2 are the same.
      const double step = ConeScaling::longest(x_head, x.data(), -0.1, v.data(), size);
      CHECK(step > 0.0 && step <= 10.0 * x_head);
      std::vector<double> there = x;
      for (std::size_t i = 0; i < x.size(); ++i) there[i] += step * v[i];
      CHECK_NEAR(x_head - 0.1 * step, norm(there), 1e-6 * (1.0 + x_head + step));
      CHECK(!cone.scale({norm(x) * 0.5, x.data()}, {y_head, y.data()}, size, middle.data(), lam.data()));
    }
}

THEOREM("numbers that are none end a run, and do not spread") {
  Rng rng(6);
  Run run = sample_run(rng, 20, 3, 1.0, 0.0, false);
  run.programme.place[4] = none;
  const InteriorPoint state = run.finish(false);
  CHECK(state.is_done() || !std::isfinite(state.gap()));
}

}  // namespace
