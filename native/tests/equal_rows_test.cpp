#include "lineal/kernel/equal_rows.h"

#include <vector>

#include "check.h"
#include "samples.h"

using namespace lineal;
using check::Sample;

namespace {

// Rows of few values: many are equal.
Sample<double> sample_with_copies(Rng& rng, Index n, Index d) {
  Sample<double> X;
  X.n_rows = n;
  X.n_columns = d;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double a = double(rng.below(3));
      X.full.push_back(a == 0 && rng.below(2) ? -0.0 : a);  // -0 is 0
      if (a != 0) {
        X.index.push_back(std::int32_t(j));
        X.value.push_back(a);
      }
    }
    X.start.push_back(Index(X.index.size()));
  }
  return X;
}

std::vector<Index> plainly(const Sample<double>& X) {
  std::vector<Index> first;
  for (Index i = 0; i < X.n_rows; ++i) {
    Index found = i;
    for (Index k = 0; k < i && found == i; ++k) {
      bool are_equal = true;
      for (Index j = 0; j < X.n_columns; ++j) are_equal = are_equal && X.at(i, j) == X.at(k, j);
      if (are_equal) found = k;
    }
    first.push_back(found);
  }
  return first;
}

}  // namespace

THEOREM("first_equal_rows names the first row that is equal, in both layouts") {
  Rng rng(1);
  for (const Index n : {0, 1, 2, 40, 300})
    for (const Index d : {1, 2, 5}) {
      const auto X = sample_with_copies(rng, n, d);
      const auto wanted = plainly(X);
      CHECK(kernel::first_equal_rows(X.dense()) == wanted);
      CHECK(kernel::first_equal_rows(X.csr()) == wanted);
    }
}

THEOREM("rows that differ in one bit, or in where their numbers are, are not equal") {
  const std::vector<double> full{1, 0, 2, 1, 2, 0, 1, 0, 2.0000000000000004, 1, 0, 2};
  const Dense<double> X{4, 3, full.data()};
  CHECK(kernel::first_equal_rows(X) == std::vector<Index>{0, 1, 2, 0});
}

THEOREM("empty rows are equal to each other") {
  const std::vector<Index> start{0, 0, 1, 1};
  const std::vector<std::int32_t> index{0};
  const std::vector<double> value{1};
  const Csr<double> X{3, 2, start.data(), index.data(), value.data()};
  CHECK(kernel::first_equal_rows(X) == std::vector<Index>{0, 1, 0});
}
