#include "lineal/monomials.h"

#include "bind.h"

namespace lineal {
namespace {

template <class T>
bool monomials(Array2<const T> X, Array2<const std::int64_t> runs, Index first, bool has_constant,
               Array1<const T> weight, Array2<T> out, int n_threads) {
  static_assert(sizeof(Run) == 3 * sizeof(std::int64_t));
  const Index d = Index(X.shape(1)), width = Index(out.shape(1)), n_ones = has_constant ? 1 : 0;
  require(X.shape(0) == out.shape(0), "out needs one row per row of X");
  require(runs.shape(1) == 3, "a run is a column, a place and a size");
  std::vector<Run> all(runs.shape(0));
  Index end = d;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::int64_t* const run = runs.data() + 3 * r;
    all[r] = {run[0], run[1], run[2]};
    require(run[0] >= 0 && run[0] < d, "a column that does not exist");
    require(run[1] >= 0 && run[2] >= 0 && run[1] <= end - run[2], "a run of products that are not made yet");
    end += run[2];
  }
  require(first >= 0 && end - first == width - n_ones, "out needs one column per product");
  require(weight.size() == 0 || Index(weight.size()) == width - n_ones, "one weight per product is needed");
  n_threads = worthwhile(n_threads, Index(out.size()));
  const nb::gil_scoped_release unlocked;
  const Dense<T> rows{Index(X.shape(0)), d, X.data()};
  const Wanted<T> wanted{first, has_constant, {weight.data(), weight.size()}};
  return monomials_pass<T>(rows, all, wanted, out.data(), width, n_threads);
}

}  // namespace

void bind_monomials(nb::module_& m) {
  m.def(
      "monomials", &monomials<double>, "X"_a, "runs"_a, "first"_a, "has_constant"_a, "weight"_a,
      "out"_a.noconvert(), "n_threads"_a = 1,
      "Products of the columns of X, made run by run: a column times neighbours among those before. Whether "
      "all are finite.");
  m.def("monomials", &monomials<float>, "X"_a, "runs"_a, "first"_a, "has_constant"_a, "weight"_a,
        "out"_a.noconvert(), "n_threads"_a = 1);
}

}  // namespace lineal
