#include "lineal/epoch/interior_point.h"

#include "bind.h"
#include "lineal/epoch/column_system.h"
#include "lineal/epoch/joint_system.h"
#include "lineal/epoch/reduced_system.h"

namespace lineal {
namespace {

template <class T>
std::vector<T> copied(const Array1<const T>& from) {
  return std::vector<T>(from.data(), from.data() + from.shape(0));
}

// An output's run and the rows that it is about.
class InteriorPointRun {
 public:
  InteriorPointRun(const Matrix& X, std::vector<Index> used, IntervalProgramme programme,
                   const PlainGram* plain, int n_threads)
      : X_(&X), used_(std::move(used)), plain_(plain), n_threads_(n_threads), state_(std::move(programme)) {}

  // Of all rows of X, 0 for those that do not count.
  nb::ndarray<double, nb::numpy> curvatures() {
    state_.renew();
    auto h = new_array<double>({std::size_t(X_->n_rows())}, true);
    const std::vector<double>& found = state_.curvatures();
    for (std::size_t i = 0; i < found.size(); ++i)
      h.data()[used_.empty() ? i : std::size_t(used_[i])] = found[i];
    return h;
  }

  // The diagonal that the curvatures go with.
  nb::ndarray<double, nb::numpy> diagonal() const { return copied_array(state_.diagonal()); }

  void step(Array2<double> matrix, bool by_rows) {
    const IntervalProgramme& p = state_.programme();
    require(p.n_outputs == 1, "outputs that meet have their systems made by run");
    require(!by_rows || p.n_balls() == 0, "groups have a system of columns");
    const Index size = by_rows ? p.n_rows : p.n_weights();
    require(Index(matrix.shape(0)) == size && Index(matrix.shape(1)) == size,
            "the system has the wrong size");
    require(Index(state_.diagonal().size()) == p.n_weights(), "a step needs curvatures first");
    const int n_threads = worthwhile(n_threads_, X_->n_stored);
    interruptible_pass([&](Watch& watch) {
      std::visit(
          [&](const auto& rows) {
            const ProgrammeMap A(rows, p, used_, n_threads);
            if (by_rows) {
              RowSystem system(A, p.n_rows, p.has_constant);
              const bool is_found =
                  system.factorise(matrix.data(), state_.curvatures(), state_.diagonal(), watch);
              go_on(A, system, is_found, watch);
            } else {
              ColumnSystem system;
              go_on(A, system, system.factorise(matrix.data(), state_, watch), watch);
            }
          },
          X_->rows);
    });
  }

  // Up to so many steps, the start being one, with systems of columns that are made here, until the gap is at
  // most goal times the value, or the floor where that is larger.
  void run(int n_steps, double goal, double floor) {
    const IntervalProgramme& p = state_.programme();
    const int n_threads = worthwhile(n_threads_, X_->n_stored * p.n_outputs);
    // Sweeps over the rows of one output are many and short, and on a busy machine each waits for its
    // threads.
    const int n_sweeping = worthwhile(n_threads_, X_->n_stored / 64);
    interruptible_pass([&](Watch& watch) {
      std::visit(
          [&](const auto& rows) {
            const ProgrammeMap A(rows, p, used_, n_sweeping);
            for (int step = 0; step < n_steps && !is_within(goal, floor) && !watch.is_over(); ++step) {
              state_.renew();
              if (plain_ != nullptr) {
                ReducedSystem system(rows, A, used_, *plain_, state_, n_threads);
                go_on(A, system, system.factorise(watch), watch);
              } else if (p.n_outputs > 1) {
                JointSystem system;
                go_on(A, system, system.factorise(rows, used_, state_, n_threads, watch), watch);
              } else {
                const std::vector<double>& h = state_.curvatures();
                if (!used_.empty()) {
                  every_.assign(std::size_t(X_->n_rows()), 0.0);
                  for (std::size_t i = 0; i < h.size(); ++i) every_[std::size_t(used_[i])] = h[i];
                }
                G_.resize(std::size_t(p.n_weights() * p.n_weights()));
                gram_pass(rows, used_.empty() ? h.data() : every_.data(), p.has_constant, G_.data(),
                          n_threads);
                if (watch.says_stop(X_->n_stored * p.n_weights() / 2)) return;
                ColumnSystem system;
                go_on(A, system, system.factorise(G_.data(), state_, watch), watch);
              }
            }
          },
          X_->rows);
    });
  }

  bool is_within(double goal, double floor) const {
    if (!state_.has_begun()) return state_.is_done();
    return state_.is_done() || state_.gap() <= goal * std::max(std::abs(state_.value()), floor);
  }

  std::pair<nb::ndarray<double, nb::numpy>, nb::ndarray<double, nb::numpy>> read(bool decided) const {
    const IntervalProgramme& p = state_.programme();
    auto w = new_array<double>({std::size_t(p.n_weights())});
    const std::size_t width = std::size_t(p.n_outputs);
    auto u = new_array<double>({std::size_t(X_->n_rows()) * width}, true);
    if (used_.empty()) {
      state_.read(decided, w.data(), u.data());
    } else {
      std::vector<double> found(static_cast<std::size_t>(p.n_rows) * width);
      state_.read(decided, w.data(), found.data());
      for (std::size_t i = 0; i < used_.size(); ++i)
        std::copy_n(found.data() + i * width, width, u.data() + std::size_t(used_[i]) * width);
    }
    return {w, u};
  }

  nb::ndarray<double, nb::numpy> state() { return copied_array(state_.state()); }
  void restore(Array1<const double> kept) {
    require(state_.restore(copied(kept)), "the state is of another programme");
  }

  double gap() const { return state_.gap(); }
  double value() const { return state_.value(); }
  bool is_done() const { return state_.is_done(); }

 private:
  template <class Map, class System>
  void go_on(const Map& A, System& system, bool is_found, const Watch& watch) {
    if (watch.is_over()) return;  // the state is as it was
    if (!is_found)
      state_.end();
    else if (state_.has_begun())
      state_.step(A, system);
    else
      state_.begin(A, system);
  }

  const Matrix* X_;
  std::vector<Index> used_;
  const PlainGram* plain_;  // none where all systems are made of all rows
  int n_threads_;
  InteriorPoint state_;
  std::vector<double> every_, G_;  // curvatures of all rows, and the Gram matrix
};

InteriorPointRun make_run(const Matrix& X, Array1<const Index> used, int n_parts, int n_outputs,
                          bool is_joint, Array1<const double> low, Array1<const double> high,
                          Array1<const double> place, Array1<const double> bend, Array1<const double> weight,
                          Array1<const double> l2, Array1<const Index> corners,
                          Array1<const double> corner_square, Array1<const double> radius,
                          Array1<const Index> ball_start, double value_at_zero, bool has_constant,
                          int n_threads, const PlainGram* plain) {
  IntervalProgramme p;
  p.n_rows = used.shape(0) == 0 ? X.n_rows() : Index(used.shape(0));
  p.n_parts = n_parts;
  p.n_outputs = n_outputs;
  p.is_joint = is_joint;
  p.low = copied(low), p.high = copied(high), p.place = copied(place), p.bend = copied(bend);
  p.weight = copied(weight), p.l2 = copied(l2), p.corners = copied(corners);
  p.corner_square = copied(corner_square), p.radius = copied(radius), p.ball_start = copied(ball_start);
  p.value_at_zero = value_at_zero;
  p.has_constant = has_constant;
  const std::size_t N = p.place.size();
  require(n_outputs >= 1 && (n_parts == n_outputs || (!is_joint && n_parts == 2 * n_outputs)),
          "a row has a variable for each output, or two where they are not joint");
  require(p.radius.empty() || (p.ball_start.size() == p.radius.size() + 1 && 0 <= p.ball_start.front() &&
                               std::is_sorted(p.ball_start.begin(), p.ball_start.end()) &&
                               p.ball_start.back() == Index(p.corners.size())),
          "the groups must follow the corners and end with them");
  require(Index(N) == p.n_of_rows() + Index(p.corners.size()) && p.low.size() == N && p.high.size() == N &&
              p.bend.size() == N && p.weight.size() == N && p.corner_square.size() == p.corners.size(),
          "an array must have an entry for each variable");
  require(p.n_weights() == n_outputs * (X.n_columns() + (has_constant ? 1 : 0)),
          "l2 needs an entry for each weight");
  for (const Index each : p.corners) require(0 <= each && each < p.n_weights(), "a corner is out of range");
  std::vector<Index> rows = copied(used);
  for (const Index each : rows) require(0 <= each && each < X.n_rows(), "a row is out of range");
  require(
      plain == nullptr || (p.n_balls() == 0 && Index(plain->leverage.size()) == p.n_rows &&
                           Index(plain->gram.size()) == p.n_weights_of_output() * p.n_weights_of_output()),
      "the Gram matrix is of other rows");
  return {X, std::move(rows), std::move(p), plain, n_threads};
}

PlainGram plain_gram(const Matrix& X, Array1<const double> s, bool has_constant, int n_threads) {
  require(Index(s.shape(0)) == X.n_rows(), "a row has one weight");
  const nb::gil_scoped_release unlocked;
  return std::visit(
      [&](const auto& rows) {
        return PlainGram::of(rows, s.data(), has_constant, worthwhile(n_threads, X.n_stored));
      },
      X.rows);
}

using Stack = nb::ndarray<const double, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

BlockFactors factors_of(Stack A) {
  require(A.shape(1) == A.shape(2), "BlockFactors needs square matrices");
  BlockFactors factors;
  interruptible_pass(
      [&](Watch& watch) { factors.factorise(A.data(), Index(A.shape(0)), Index(A.shape(1)), watch); });
  return factors;
}

nb::ndarray<double, nb::numpy> solved(BlockFactors& factors, Array2<const double> right, int refinements) {
  const std::size_t size = std::size_t(factors.size()), K = std::size_t(factors.n_blocks());
  require(right.shape(0) == size && right.shape(1) == K, "BlockFactors: a column for each matrix is needed");
  auto x = new_array<double>({size, K});
  const nb::gil_scoped_release unlocked;
  factors.solve(right.data(), x.data(), refinements);
  return x;
}

}  // namespace

void bind_interior_point(nb::module_& m) {
  nb::class_<PlainGram>(m, "PlainGram", "[X 1]'diag(s)[X 1] and how much each row has in it.")
      .def_static("of", &plain_gram, "X"_a, "s"_a, "has_constant"_a, "n_threads"_a,
                  "Of the weights of all rows, 0 for those that do not count.");
  nb::class_<InteriorPointRun>(m, "InteriorPoint", "Interior-point steps for one output; see the header.")
      .def_static("make", &make_run, "X"_a, "used"_a, "n_parts"_a, "n_outputs"_a, "is_joint"_a, "low"_a,
                  "high"_a, "place"_a, "bend"_a, "weight"_a, "l2"_a, "corners"_a, "corner_square"_a,
                  "radius"_a, "ball_start"_a, "value_at_zero"_a, "has_constant"_a, "n_threads"_a,
                  "plain"_a.none() = nb::none(), nb::keep_alive<0, 1>(), nb::keep_alive<0, 19>(),
                  "Before the start; `used` are the rows that count, none for all.")
      .def("curvatures", &InteriorPointRun::curvatures, "Of all rows, for the next system.")
      .def("diagonal", &InteriorPointRun::diagonal, "What the next system has beside those.")
      .def("step", &InteriorPointRun::step, "matrix"_a.noconvert(), "by_rows"_a,
           "The start, or a step, with the Gram matrix of those curvatures; or, by rows, of 1 / diagonal. "
           "The matrix is changed.")
      .def("run", &InteriorPointRun::run, "n_steps"_a, "goal"_a = 0.0, "floor"_a = 0.0,
           "Up to so many steps, the start being one, with systems of columns made here, until the gap is at "
           "most "
           "goal times the value or the floor.")
      .def("is_within", &InteriorPointRun::is_within, "goal"_a, "floor"_a,
           "Whether nothing can be gained, or the gap is at most goal times the value or the floor.")
      .def("read", &InteriorPointRun::read, "decided"_a, "(weights, dual variables of the rows, row by row).")
      .def("state", &InteriorPointRun::state, "All that later steps depend on, as numbers.")
      .def("restore", &InteriorPointRun::restore, "state"_a, "Goes on as the run did that had this state.")
      .def_prop_ro("gap", &InteriorPointRun::gap)
      .def_prop_ro("value", &InteriorPointRun::value)
      .def_prop_ro("is_done", &InteriorPointRun::is_done);
  nb::class_<BlockFactors>(m, "BlockFactors",
                           "Triangular factors of positive definite matrices, one for each output.")
      .def_static("of", &factors_of, "A"_a.noconvert(), nb::keep_alive<0, 1>(), "Of a stack of matrices.")
      .def("solve", &solved, "right"_a, "refinements"_a = 0,
           "The inverses times the columns of `right`, damped where a matrix is singular.");
  m.def(
      "solve_positive",
      [](Array2<const double> A, Array1<const double> right, int refinements) {
        require(A.shape(0) == A.shape(1) && right.shape(0) == A.shape(0), "solve_positive: lengths differ");
        auto x = new_array<double>({std::size_t(right.shape(0))});
        bool is_found = false;
        interruptible_pass([&](Watch& watch) {
          Cholesky factor;
          is_found = factor.factorise(A.data(), Index(A.shape(0)), watch);
          if (is_found) factor.solve(right.data(), x.data(), refinements);
        });
        if (!is_found) std::fill(x.data(), x.data() + right.shape(0), 0.0);
        return x;
      },
      "A"_a, "right"_a, "refinements"_a = 0,
      "A^-1 right for a symmetric positive definite A, damped where it is singular; 0 where it is not.");
}

}  // namespace lineal
