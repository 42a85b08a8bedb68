#include "lineal/epoch/class_pairs.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Sample;
using check::uniform;

namespace {

using kernel::GaussianProfile;
using kernel::VectorSource;
using Numbers = std::vector<double>;
constexpr double gamma_ = 0.8;

double gaussian(const Sample<double>& X, Index i, Index k) {
  double apart = 0;
  for (Index j = 0; j < X.n_columns; ++j) apart += std::pow(X.at(i, j) - X.at(k, j), 2);
  return std::exp(-gamma_ * apart);
}

// Rows in classes of several sizes that overlap; some rows stand in two classes.
struct Classes {
  std::vector<Index> row, start{0};
  Numbers bound;
  explicit Classes(Rng& rng, const std::vector<Index>& sizes, Index n_twins) {
    Index next = 0;
    for (const Index size : sizes) {
      for (Index k = 0; k < size; ++k) {
        const bool is_twin = start.size() > 1 && k < n_twins;  // of a row of the class before
        row.push_back(is_twin ? row[std::size_t(start[start.size() - 2] + k)] : next++);
        bound.push_back(uniform(rng, 0.5, 4));
      }
      start.push_back(Index(row.size()));
    }
  }
  RowsByClass view() const { return {row.data(), start.data(), bound.data(), Index(start.size()) - 1}; }
};

struct Run {
  std::vector<PairFound> found;
  Numbers coefficient;  // (K - 1) x rows, in LIBSVM's layout
};

Run run(const kernel::Source& source, const Classes& classes, Index block, double tol, int n_threads,
        Watch watch = {}) {
  const RowsByClass view = classes.view();
  const std::size_t n_pairs = std::size_t(view.n_pairs()), n = classes.row.size();
  const std::vector<Index> blocks(n_pairs, block), max_inner(n_pairs, 20000);
  const Numbers share(n_pairs, 0.03);
  Run made{std::vector<PairFound>(n_pairs), Numbers(std::size_t(view.n_classes - 1) * n)};
  solve_pairs(source, view, {tol, 0.5, blocks.data(), share.data(), max_inner.data(), 1024},
              made.found.data(), n_threads, watch, [&](Index i, Index j, Index position, double beta) {
                const bool is_first = position < view.start[i + 1];
                made.coefficient[std::size_t(is_first ? j - 1 : i) * n + std::size_t(position)] = beta;
              });
  return made;
}

}  // namespace

THEOREM("machines of all pairs: coefficients are feasible, and the gap and D are those of the definition") {
  Rng rng(1);
  const auto X = check::sample_matrix<double>(rng, 260, 3, 0.9);
  const VectorSource<GaussianProfile> source(X.dense(), {gamma_}, {});
  for (const Index n_twins : {0, 5}) {
    const Classes classes(rng, {70, 40, 90, 25}, n_twins);
    for (const Index block : {32, 256}) {
      const Run made = run(source, classes, block, 1e-4, 1);
      const std::size_t n = classes.row.size();
      std::size_t pair = 0;
      for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = i + 1; j < 4; ++j, ++pair) {
          const PairFound& found = made.found[pair];
          CHECK(found.is_certified);
          CHECK(found.epochs >= 1);
          struct One {
            Index row;
            double y, beta, bound;
          };
          std::vector<One> all;
          for (const std::size_t k : {i, j})
            for (Index p = classes.start[k]; p < classes.start[k + 1]; ++p)
              all.push_back({classes.row[std::size_t(p)], k == i ? 1.0 : -1.0,
                             made.coefficient[(k == i ? j - 1 : i) * n + std::size_t(p)],
                             classes.bound[std::size_t(p)]});
          double sum = 0, linear = 0, squared = 0, slack = 0, worst = 0;
          for (const One& one : all) {
            double f = 0;
            for (const One& other : all) f += other.beta * gaussian(X, one.row, other.row);
            CHECK(one.y * one.beta >= 0 && one.y * one.beta <= one.bound);
            sum += one.beta;
            linear += one.y * one.beta;
            squared += one.beta * f;
            const double miss = 1 - one.y * (f + found.b);
            slack += one.bound * std::max(0.0, miss);
            worst = std::max(worst,
                             miss > 0 ? (one.bound - std::abs(one.beta)) * miss : std::abs(one.beta) * -miss);
          }
          CHECK_NEAR(sum, 0.0, 1e-11);
          CHECK_NEAR(found.dual, linear - 0.5 * squared, 1e-10 * std::abs(linear));
          const double gap = 0.5 * squared + slack - found.dual;
          CHECK(gap <= found.gap + 1e-10 * std::abs(linear));  // what is proved is a bound
          CHECK(found.gap <= 1e-4 * std::abs(found.dual + found.gap));
          CHECK_NEAR(found.worst, worst, 1e-5 * found.dual);
        }
    }
  }
}

THEOREM("threads change no bit of machines of pairs") {
  Rng rng(2);
  const auto X = check::sample_matrix<double>(rng, 400, 3, 0.9);
  const VectorSource<GaussianProfile> source(X.dense(), {gamma_}, {});
  const Classes classes(rng, {70, 130, 90, 25, 60}, 3);
  const Run first = run(source, classes, 64, 1e-4, 1);
  for (const int n_threads : {2, 3, 20}) {
    const Run again = run(source, classes, 64, 1e-4, n_threads);
    CHECK(check::same_bits(again.coefficient, first.coefficient));
    for (std::size_t p = 0; p < first.found.size(); ++p)
      CHECK(check::same_bits({again.found[p].b, again.found[p].gap, again.found[p].dual},
                             {first.found[p].b, first.found[p].gap, first.found[p].dual}));
  }
}

THEOREM("what cannot be proved, or is stopped anywhere, is told as it stands: P and D are on their sides") {
  Rng rng(3);
  const auto X = check::sample_matrix<double>(rng, 120, 3, 0.9);
  const VectorSource<GaussianProfile> source(X.dense(), {gamma_}, {});
  const Classes classes(rng, {40, 40, 40}, 0);
  const std::size_t n = classes.row.size();
  const Run best = run(source, classes, 1000, 1e-7, 1);
  const auto check_standing = [&](const Run& made) {
    std::size_t pair = 0;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i + 1; j < 3; ++j, ++pair) {
        const PairFound &found = made.found[pair], &known = best.found[pair];
        CHECK(found.dual <= known.dual + known.gap);
        CHECK(found.dual + found.gap >= known.dual);
        double squared = 0, slack = 0, sum = 0;
        for (const std::size_t k : {i, j})
          for (Index p = classes.start[k]; p < classes.start[k + 1]; ++p) {
            double f = 0;
            for (const std::size_t l : {i, j})
              for (Index q = classes.start[l]; q < classes.start[l + 1]; ++q)
                f += made.coefficient[(l == i ? j - 1 : i) * n + std::size_t(q)] *
                     gaussian(X, classes.row[std::size_t(p)], classes.row[std::size_t(q)]);
            const double beta = made.coefficient[(k == i ? j - 1 : i) * n + std::size_t(p)];
            const double y = k == i ? 1.0 : -1.0, bound = classes.bound[std::size_t(p)];
            CHECK(y * beta >= 0 && y * beta <= bound);
            sum += beta;
            squared += beta * f;
            slack += bound * std::max(0.0, 1 - y * (f + found.b));
          }
        CHECK_NEAR(sum, 0.0, 1e-11);
        CHECK(found.dual + found.gap >= (0.5 * squared + slack) * (1 - 1e-12));
      }
  };
  const Run left = run(source, classes, 32, 1e-17, 2);
  for (const PairFound& each : left.found) CHECK(!each.is_certified);
  check_standing(left);
  const Run begun = run(source, classes, 32, 1e-4, 1, Watch([] { return true; }, Watch::Wait{0}, 1));
  for (const double each : begun.coefficient) CHECK(each == 0);
  for (const PairFound& each : begun.found) CHECK(!each.is_certified && each.dual == 0);
  check_standing(begun);
  int n_looks = 0;
  const auto watch = [&](int last) {
    n_looks = 0;
    return Watch([&n_looks, last] { return ++n_looks == last; }, Watch::Wait(0), 1);
  };
  run(source, classes, 32, 1e-6, 1, watch(-1));
  const int whole = n_looks;
  CHECK(whole > 30);
  for (int last = 1; last <= whole; last += std::max(1, whole / 40)) {
    const Run cut = run(source, classes, 32, 1e-6, 1, watch(last));
    check_standing(cut);
    if (last > whole / 2)
      CHECK(std::any_of(cut.coefficient.begin(), cut.coefficient.end(), [](double b) { return b != 0; }));
  }
}
