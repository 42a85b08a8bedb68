// What streams of rows and streams of texts are learned with, as Python holds it.
#pragma once

#include "bind.h"
#include "lineal/epoch/online.h"

namespace lineal {

// Steps, and the targets that they read.
struct BoundSteps {
  std::unique_ptr<RowSteps> steps;
  nb::object targets;
  Index n_rows;
  Index most_scores;
  const std::int32_t* code = nullptr;  // of classes: -1 for a row that is not to be met

  // Rows of no class have no weight, so that steps never read theirs.
  void require_fit(Index n, Array1<const double> s) const {
    require(n_rows == n && Index(s.shape(0)) == n, "a stream needs a target and a weight for each row");
    for (Index i = 0; code != nullptr && i < n; ++i)
      require(code[i] >= 0 || !(s.data()[i] > 0), "a row of no class has a weight");
  }
};

// Python's arrays of a stream, checked against each other.
struct OnlineArrays {
  Array2<double> records;
  Array1<double> intercept;
  Array1<std::int32_t> places;  // of the whole metric
  Array2<double> factors;       // a row for each metric; none where all columns have one step
  Array1<double> tally;

  OnlineTable table(const OnlineSettings& set) const;
};

}  // namespace lineal
