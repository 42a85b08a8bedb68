#include "lineal/epoch/dual_cd.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "bind.h"
#include "lineal/epoch/block_dual_cd.h"
#include "lineal/passes.h"

namespace lineal {
namespace {

template <class Loss>
void bind_loss(nb::module_& m, const char* name) {
  nb::class_<Loss> bound(m, name);
  const auto with = [&](const auto& parameter) {
    if constexpr (requires(Loss loss) { loss.width; })
      bound.def(
          "__init__", [](Loss* self, double first, double width) { new (self) Loss{first, width}; },
          parameter, "width"_a);
    else
      bound.def("__init__", [](Loss* self, double first) { new (self) Loss{first}; }, parameter);
  };
  if constexpr (requires(Loss loss) { loss.margin; })
    with("margin"_a);
  else if constexpr (requires(Loss loss) { loss.delta; })
    with("delta"_a);
  else if constexpr (requires(Loss loss) { loss.epsilon; })
    with("epsilon"_a);
  else if constexpr (requires(Loss loss) { loss.q; })
    with("q"_a);
  else
    bound.def(nb::init<>());
  bound.def("value", &Loss::value, "y"_a, "z"_a)
      .def("derivative", &Loss::derivative, "y"_a, "z"_a)
      .def("conjugate", &Loss::conjugate, "y"_a, "u"_a);
  if constexpr (DualStepLoss<Loss>) bound.def("dual_step", &Loss::dual_step, "y"_a, "z"_a, "u"_a, "q"_a);
}

// What a run of dual coordinate ascent over one matrix carries between epochs besides its arrays.
struct DualRun {
  DualRun(const Matrix& X, Index n_outputs, std::uint64_t seed, int the_n_threads)
      : rng(seed),
        n_threads(the_n_threads),
        // An epoch that one thread ends sooner than another one starts needs no helper.
        patience(n_threads > 1 && X.n_stored * n_outputs > 50'000 ? 16 : 0),
        order(std::size_t(X.n_rows())),
        rest(order.size()),
        share(order.size()) {
    require(n_threads >= 1, "n_threads must be at least 1");
    require(n_outputs >= 1, "n_outputs must be at least 1");
    const Index n_lanes = (n_outputs + Lane<float>::size - 1) / Lane<float>::size;
    // Rows out of order cannot be cut at a column: they stay whole, whoever visits them.
    if (!X.is_ordered() || !are_worth_halving(X.n_rows(), X.n_stored, n_lanes)) return;
    const nb::gil_scoped_release unlocked;
    middle.resize(order.size());
    std::visit([&](const auto& rows) { halve(rows, middle.data(), n_threads); }, X.rows);
  }
  template <class Rows>
  Halves<Rows> halves(const Rows& rows) const {
    return {rows, middle.empty() ? nullptr : middle.data()};
  }
  Rng rng;
  int n_threads;
  int patience;  // how often a helper may still be late (duet.h)
  std::vector<std::int32_t> order, middle;
  std::vector<Rest> rest;
  std::vector<double> share;
  std::vector<double> drift;  // of the groups of outputs, or of both halves of one (block_dual_cd.h)
  double path = 0;            // of a single output's weights, and its steps (DualState)
  Index n_moves = 0;
};

// What a run must know to go on where another one of the same matrix, seed and threads stood.
nb::dict state_of(const DualRun& run) {
  const auto words = new_array<std::uint64_t>({run.rng.state().size()});
  std::copy(run.rng.state().begin(), run.rng.state().end(), words.data());
  const auto rest = new_array<std::uint8_t>({run.rest.size(), 2});
  for (std::size_t i = 0; i < run.rest.size(); ++i) {
    rest.data()[2 * i] = run.rest[i].wait;
    rest.data()[2 * i + 1] = run.rest[i].level;
  }
  nb::dict state;
  state["rng"] = words;
  state["rest"] = rest;
  state["share"] = copied_array(run.share);
  state["drift"] = copied_array(run.drift);
  state["path"] = run.path;
  state["n_moves"] = run.n_moves;
  return state;
}

void restore(DualRun& run, Array1<const std::uint64_t> rng, Array2<const std::uint8_t> rest,
             Array1<const double> share, Array1<const double> drift, double path, Index n_moves) {
  const std::size_t n = run.order.size(), n_kept = share.shape(0);
  require(rng.shape(0) == run.rng.state().size() && rest.shape(0) == n_kept && rest.shape(1) == 2 &&
              n_kept >= n && (n == 0 ? n_kept == 0 : n_kept % n == 0),
          "the state is of another run");
  Rng::State words;
  std::copy_n(rng.data(), words.size(), words.begin());
  run.rng.restore(words);
  run.rest.resize(n_kept);
  for (std::size_t i = 0; i < n_kept; ++i) run.rest[i] = {rest.data()[2 * i], rest.data()[2 * i + 1]};
  run.share.assign(share.data(), share.data() + n_kept);
  run.drift.assign(drift.data(), drift.data() + drift.shape(0));
  run.path = path;
  run.n_moves = n_moves;
}

// How far all weights may have drifted from what U says since they were right; joint losses keep no count.
double drift_of(const DualRun& run) {
  if (run.drift.empty()) return HUGE_VAL;
  double sum = 0;
  for (const double each : run.drift) sum += each * each;
  return std::sqrt(sum);
}

// Weights of groups of outputs, each below the other as in run_block, side by side: (n_columns x K).
template <class T>
void side_by_side(Array2<const T> W, Array2<T> out, int n_threads) {
  const Index d = Index(out.shape(0)), K = Index(out.shape(1)), width = Index(W.shape(1));
  const int n_groups = d > 0 ? int(Index(W.shape(0)) / d) : 0;
  require(Index(W.shape(0)) == d * n_groups && width * n_groups >= K, "side_by_side: shapes differ");
  const nb::gil_scoped_release unlocked;
  n_threads = worthwhile(n_threads, d * K);
  parallel(n_threads, [&](int part) {
    const Range columns = share(d, part, n_threads);
    for (int g = 0; g < n_groups; ++g) {
      const Range outputs = share(K, g, n_groups);
      const T* from = W.data() + Index(g) * d * width;
      for (Index j = columns.first; j < columns.last; ++j)
        std::copy_n(from + j * width, outputs.last - outputs.first, out.data() + j * K + outputs.first);
    }
  });
}

std::pair<double, double> dual_cd_epoch_bound(const DualLoss& loss, const Matrix& X, Array1<const double> y,
                                              Array1<const double> s, Array1<const double> norm2,
                                              const DualSettings& set, DualRun& run, Array1<double> u,
                                              Array1<double> t, double b) {
  const std::size_t n = std::size_t(X.n_rows());
  require(y.shape(0) == n && s.shape(0) == n && norm2.shape(0) == n && u.shape(0) == n &&
              run.order.size() == n && Index(t.shape(0)) == X.n_columns(),
          "dual_cd_epoch: lengths differ");
  DualState state{y.data(), s.data(), norm2.data(), u.data(), run.share.data(), run.rest.data(), b, Index(n)};
  double gap = 0;
  interruptible([&](Watch& watch) {
    shuffle_rows(run.rng, run.order);
    gap = std::visit(
        [&](const auto& rows) {
          return dual_cd_epoch(loss, run.halves(rows), set, run.order, run.patience, watch, state, t.data());
        },
        X.rows);
  });
  run.path += state.path;
  run.n_moves += state.n_moves;
  return {state.b, gap};
}

// One epoch of all outputs. W holds the weights of one group of outputs below those of another: a joint loss
// has one group, whose rows two threads may share; several groups keep the threads busy with whole rows.
template <class T, class Block>
double run_block(const Block& block, const Matrix& X, Array1<const double> s, Array1<const double> norm2,
                 const DualSettings& set, DualRun& run, Array2<T> U, Array2<T> extra, Array2<T> W,
                 Array1<double> b) {
  const std::size_t n = std::size_t(X.n_rows()), K = b.shape(0), d = std::size_t(X.n_columns());
  const bool has_extra = extra.shape(0) > 0;
  const int n_groups = d > 0 ? int(W.shape(0) / d) : 1;
  const Index width = Index(W.shape(1));
  require(s.shape(0) == n && norm2.shape(0) == n && U.shape(0) == n && U.shape(1) == K &&
              run.order.size() == n && n_groups >= 1 && W.shape(0) == d * std::size_t(n_groups) &&
              width * n_groups >= Index(K) && width % Lane<T>::size == 0 &&
              (!Block::is_joint || n_groups == 1) &&
              (!has_extra || (extra.shape(0) == n && extra.shape(1) == K)),
          "block_dual_cd_epoch: lengths differ");
  run.rest.resize(n * std::size_t(n_groups));
  run.share.resize(n * std::size_t(n_groups));
  run.drift.resize(Block::is_joint ? 0 : std::size_t(std::max(n_groups, 2)));
  std::vector<OutputGroup<T>> groups;
  for (int g = 0; g < n_groups; ++g) {
    const Range outputs = share(Index(K), g, n_groups);
    const std::size_t at = std::size_t(g) * n;
    groups.push_back({{outputs.first, outputs.last - outputs.first, Index(K), width},
                      {U.data(), has_extra ? extra.data() : nullptr, b.data(), run.share.data() + at,
                       run.rest.data() + at, Index(n), Index(K)},
                      W.data() + std::size_t(g) * d * std::size_t(width),
                      Block::is_joint ? 0.0 : run.drift[std::size_t(g)]});
  }
  interruptible([&](Watch& watch) {
    shuffle_rows(run.rng, run.order);
    const std::span<const std::int32_t> order = run.order;
    std::visit(
        [&](const auto& rows) {
          if (n_groups == 1) {
            const auto drift =
                block_dual_cd_epoch(block, run.halves(rows), s.data(), norm2.data(), set, groups[0].of, order,
                                    run.patience, watch, groups[0].state, groups[0].W);
            for (std::size_t half = 0; half < run.drift.size(); ++half) run.drift[half] += drift[half];
            return;
          }
          const int n_workers = std::min(run.n_threads, n_groups);
          std::atomic<bool> is_over{false};
          parallel(n_workers, [&](int part) {
            // Only the calling thread may ask Python; all of them look at the token.
            Watch follower(watch.token(), [&] { return is_over.load(); });
            Watch& own = part == 0 ? watch : follower;
            const Range mine = share(n_groups, part, n_workers);
            grouped_dual_cd_epoch(
                block, rows, s.data(), norm2.data(), set,
                std::span(groups).subspan(std::size_t(mine.first), std::size_t(mine.last - mine.first)),
                order, own);
            if (own.is_over()) is_over.store(true);
          });
        },
        X.rows);
  });
  if (n_groups > 1)
    for (std::size_t g = 0; g < groups.size(); ++g) run.drift[g] = groups[g].drift;
  double gap = 0;
  for (const double each : run.share) gap += each;
  return gap;
}

template <class T>
void bind_blocks(nb::module_& m) {
  m.def("side_by_side", &side_by_side<T>, "W"_a, "out"_a.noconvert(), "n_threads"_a);
  m.def(
      "elementwise_dual_cd_epoch",
      [](const DualLoss& loss, const Matrix& X, Array2<const double> Y, Array1<const double> s,
         Array1<const double> norm2, const DualSettings& set, DualRun& run, Array2<T> U, Array2<T> extra,
         Array2<T> W, Array1<double> b) {
        require(Index(Y.shape(0)) == X.n_rows() && Y.shape(1) == b.shape(0), "Y has the wrong shape");
        return run_block<T>(Elementwise<DualLoss, T>{loss, Y.data()}, X, s, norm2, set, run, U, extra, W, b);
      },
      "loss"_a, "X"_a, "Y"_a, "s"_a, "norm2"_a, "settings"_a, "run"_a, "U"_a.noconvert(),
      "extra"_a.noconvert(), "W"_a.noconvert(), "b"_a.noconvert());
  m.def(
      "softmax_dual_cd_epoch",
      [](const Matrix& X, Array1<const double> s, Array1<const double> norm2, const DualSettings& set,
         DualRun& run, Array2<T> U, Array2<T> extra, Array2<T> W, Array1<double> b) {
        require(extra.shape(0) > 0, "softmax keeps log p in extra");
        return run_block<T>(SoftmaxBlock<T>{}, X, s, norm2, set, run, U, extra, W, b);
      },
      "X"_a, "s"_a, "norm2"_a, "settings"_a, "run"_a, "U"_a.noconvert(), "extra"_a.noconvert(),
      "W"_a.noconvert(), "b"_a.noconvert());
  m.def(
      "crammer_singer_dual_cd_epoch",
      [](const Matrix& X, Array1<const std::int32_t> code, Array1<const double> s, Array1<const double> norm2,
         const DualSettings& set, DualRun& run, Array2<T> U, Array2<T> extra, Array2<T> W, Array1<double> b) {
        require(Index(code.shape(0)) == X.n_rows(), "code has the wrong shape");
        return run_block<T>(CrammerSingerBlock<T>{code.data()}, X, s, norm2, set, run, U, extra, W, b);
      },
      "X"_a, "code"_a, "s"_a, "norm2"_a, "settings"_a, "run"_a, "U"_a.noconvert(), "extra"_a.noconvert(),
      "W"_a.noconvert(), "b"_a.noconvert());
}

}  // namespace

void bind_dual_cd(nb::module_& m) {
  bind_loss<Hinge>(m, "Hinge");
  bind_loss<SquaredHinge>(m, "SquaredHinge");
  bind_loss<ModifiedHuber>(m, "ModifiedHuber");
  bind_loss<Log>(m, "Log");
  bind_loss<Squared>(m, "Squared");
  bind_loss<Huber>(m, "Huber");
  bind_loss<EpsilonInsensitive>(m, "EpsilonInsensitive");
  bind_loss<SquaredEpsilonInsensitive>(m, "SquaredEpsilonInsensitive");
  bind_loss<Quantile>(m, "Quantile");
  bind_loss<SmoothedHinge>(m, "SmoothedHinge");
  bind_loss<SmoothedEpsilonInsensitive>(m, "SmoothedEpsilonInsensitive");
  bind_loss<SmoothedQuantile>(m, "SmoothedQuantile");
  nb::class_<DualSettings>(m, "DualSettings")
      .def(
          "__init__",
          [](DualSettings* self, double l2, double l1, double bias2, bool recentre) {
            require(l2 > 0, "l2 must be positive");
            new (self) DualSettings{l2, l1, bias2, recentre};
          },
          "l2"_a, "l1"_a, "bias2"_a, "recentre"_a)
      .def_ro("l2", &DualSettings::l2)
      .def_ro("l1", &DualSettings::l1)
      .def_ro("bias2", &DualSettings::bias2)
      .def_ro("recentre", &DualSettings::recentre);
  nb::class_<DualRun>(m, "DualRun", "Random order, resting rows and threads of a dual run over one matrix.")
      .def(nb::init<const Matrix&, Index, std::uint64_t, int>(), "X"_a, "n_outputs"_a, "seed"_a,
           "n_threads"_a)
      .def("state", &state_of, "All that later epochs depend on, beside the arrays that they work on.")
      .def("restore", &restore, "rng"_a, "rest"_a, "share"_a, "drift"_a, "path"_a, "n_moves"_a,
           "Goes on as the run did that had this state.")
      .def_ro("path", &DualRun::path, "The sum of the lengths of all steps of a single output's weights.")
      .def_ro("n_moves", &DualRun::n_moves, "How many steps these were.")
      .def_prop_ro("drift", &drift_of,
                   "A bound on |W + X'(s U) / l2| since W was right; infinite where nobody keeps count.");
  m.def("dual_cd_epoch", &dual_cd_epoch_bound, "loss"_a, "X"_a, "y"_a, "s"_a, "norm2"_a, "settings"_a,
        "run"_a, "u"_a.noconvert(), "t"_a.noconvert(), "b"_a,
        "One epoch in place; returns (b, estimated gap).");
  bind_blocks<float>(m);
  bind_blocks<double>(m);
}

}  // namespace lineal
