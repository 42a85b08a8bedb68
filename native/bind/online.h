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
