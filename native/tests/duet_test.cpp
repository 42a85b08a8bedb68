#include "lineal/duet.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "check.h"
#include "lineal/epoch/dual_cd.h"
#include "samples.h"

using namespace lineal;
using check::Sample;
using check::sample_matrix;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;

// A hinge problem and the state of a run over it, in halves.
struct Run {
  Sample<double> X;
  Numbers y, s, norm2, u, share, t;
  std::vector<Rest> rest;
  std::vector<std::int32_t> order, middle;
  Rng rng{5};
  double b = 0;

  explicit Run(Index n, Index d = 40) {
    Rng seed(3);
    X = sample_matrix<double>(seed, n, d, 0.5);
    y = uniforms(seed, n, -1, 1);
    for (double& each : y) each = each < 0 ? -1.0 : 1.0;
    s = uniforms(seed, n, 0.2, 2.0);
    norm2 = X.squared_norms();
    u = share = Numbers(y.size(), 0.0);
    t = Numbers(std::size_t(d), 0.0);
    rest.resize(y.size());
    order.resize(y.size());
    middle.resize(y.size());
  }
  template <class Rows>
  double epoch(const Rows& rows, int& patience, const DualSettings& set = {0.5, 0.0, 0.09, true},
               Watch watch = Watch()) {
    halve(rows, middle.data(), 1);
    shuffle_rows(rng, order);
    DualState state{y.data(),    s.data(), norm2.data(),   u.data(), share.data(),
                    rest.data(), b,        Index(u.size())};
    const double gap = dual_cd_epoch(Hinge{}, Halves<Rows>{rows, middle.data()}, set, order, patience, watch,
                                     state, t.data());
    b = state.b;
    return gap;
  }
};

}  // namespace

THEOREM("the halves of a row are all of it, and nearly equal over all rows") {
  Rng rng(1);
  const auto holds = [](const auto& rows) {
    std::vector<std::int32_t> one(std::size_t(rows.n_rows)), two(one);
    halve(rows, one.data(), 1);
    halve(rows, two.data(), 2);
    CHECK(one == two);
    const Halves<std::decay_t<decltype(rows)>> halves{rows, one.data()};
    Index left = 0, all = 0;
    for (Index i = 0; i < rows.n_rows; ++i) {
      const auto x = rows[i];
      const auto first = halves.row(0, i), second = halves.row(1, i);
      CHECK(first.x.size + second.x.size == x.size);
      CHECK(first.offset == 0);
      for (Index k = 0; k < second.x.size; ++k)
        CHECK(column(second.x, k) + second.offset == column(x, first.x.size + k));
      left += first.x.size;
      all += x.size;
    }
    CHECK(left >= all / 4);
    CHECK(left <= all - all / 4);
  };
  const auto X = sample_matrix<double>(rng, 60, 50, 0.5);
  holds(X.csr());
  holds(X.dense());
}

THEOREM("a letter arrives whole, in its turn, and the one before it stays readable") {
  Mailbox<float> letters(11), answers(11);
  constexpr std::int64_t n = 20000;
  bool is_right = true;
  {
    std::jthread other([&] {
      for (std::int64_t turn = 1; turn <= n; ++turn) {
        for (int j = 0; j < 11; ++j) letters.content(turn)[j] = float(turn + j);
        letters.post(turn);
        wait_until([&] { return answers.arrived(turn); });
      }
    });
    for (std::int64_t turn = 1; turn <= n; ++turn) {
      wait_until([&] { return letters.arrived(turn); });
      for (int j = 0; j < 11; ++j) is_right &= letters.content(turn)[j] == float(turn + j);
      answers.post(turn);
    }
  }
  CHECK(is_right);
}

THEOREM("two threads and one leave the same bits, sparse and dense, however often the helper is late") {
  for (const Index n : {0, 1, 2, 3, 400}) {
    for (const int patience : {1, 3, 1 << 20}) {
      const auto agree = [&](auto layout) {
        Run alone(n), both(n);
        for (int epoch = 0; epoch < 8; ++epoch) {
          int none = 0, some = patience;
          const double wanted = alone.epoch(layout(alone), none);
          CHECK(both.epoch(layout(both), some) == wanted);
        }
        CHECK(alone.t == both.t);
        CHECK(alone.u == both.u);
        CHECK(alone.b == both.b);
      };
      agree([](const Run& run) { return run.X.csr(); });
      agree([](const Run& run) { return run.X.dense(); });
    }
  }
}

THEOREM("a helper that gets no core in time costs patience, never the result") {
  Run alone(300), both(300);
  std::atomic<bool> is_over{false};
  std::vector<std::jthread> crowd;  // more busy threads than cores
  for (unsigned k = 0; k < 2 * std::thread::hardware_concurrency() + 2; ++k)
    crowd.emplace_back([&] {
      while (!is_over.load(std::memory_order_relaxed)) pause_briefly();
    });
  int patience = 4;
  for (int epoch = 0; epoch < 3; ++epoch) {
    int none = 0;
    CHECK(alone.epoch(alone.X.csr(), none) == both.epoch(both.X.csr(), patience));
  }
  is_over = true;
  CHECK(alone.t == both.t);
  CHECK(patience <= 4);
}

THEOREM("a watch that says stop ends both threads after the same row, with the bits of one thread") {
  for (const int n_rows : {0, 1, 2, 57, 399}) {
    Run alone(400), both(400);
    for (int epoch = 0; epoch < 4; ++epoch) {
      int none = 0, some = 1 << 20, first = n_rows, second = n_rows;
      const DualSettings set{0.5, 0.0, 0.09, true};
      const auto watch = [](int& left) { return Watch([&] { return left-- == 0; }, Watch::Wait::zero(), 1); };
      CHECK(alone.epoch(alone.X.csr(), none, set, watch(first)) ==
            both.epoch(both.X.csr(), some, set, watch(second)));
      CHECK(first == second && (epoch > 0 || first == -1));  // later some rows rest
    }
    CHECK(alone.t == both.t && alone.u == both.u && alone.b == both.b);
    int moved = 0;
    for (const double u : alone.u) moved += u != 0.0;
    CHECK(moved <= 4 * n_rows);
  }
}
