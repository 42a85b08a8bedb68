#include "lineal/epoch/perceptron.h"

#include <algorithm>

#include "bind.h"
#include "lineal/epoch/joint_online.h"

namespace lineal {
namespace {

void pass(const Matrix& X, Array1<const std::int32_t> code, Array1<const std::int64_t> order, double rate,
          Index n_scores, Array1<double> theta, std::optional<Array1<double>> late,
          Array1<std::int64_t> tally, std::optional<Array2<std::int64_t>> log) {
  const Index n = X.n_rows(), n_classes = std::max<Index>(n_scores, 2), size = X.n_columns() * n_scores;
  require(n_scores >= 1 && Index(code.shape(0)) == n, "a pass needs a class for each row of X");
  const std::int64_t* first = order.data();
  require(std::all_of(
              first, first + order.shape(0),
              [&](auto i) { return i >= 0 && i < n && code.data()[i] >= 0 && code.data()[i] < n_classes; }),
          "no such row, or a row of no such class");
  const bool has_intercept = Index(theta.shape(0)) != size;
  require(!has_intercept || Index(theta.shape(0)) == size + n_scores, "theta has the wrong length");
  require(!late || late->shape(0) == theta.shape(0), "late has the wrong length");
  require(tally.shape(0) == 2, "tally counts examples and mistakes");
  require(!log || (log->shape(0) >= order.shape(0) && log->shape(1) == 3), "log has the wrong shape");
  const PerceptronState state{
      n_scores,     has_intercept,   rate, theta.data(), late ? late->data() : nullptr,
      tally.data(), tally.data() + 1};
  interruptible([&](Watch& watch) {
    std::visit(
        [&](const auto& rows) {
          perceptron_pass(rows, code.data(), {first, order.shape(0)}, state, log ? log->data() : nullptr,
                          watch);
        },
        X.rows);
  });
}

using JointStep = std::variant<MistakeStep, PassiveAggressiveStep>;

void joint(const Matrix& Phi, Array1<const std::int32_t> code, Array1<const std::int64_t> order,
           const JointStep& step, bool is_new, Array1<double> theta, std::optional<Array1<double>> late,
           Array1<std::int64_t> tally, Array1<double> suffered) {
  const auto* rows = std::get_if<Csr<double>>(&Phi.rows);
  require(rows != nullptr, "a joint map is sparse, in float64");
  const Index n = Index(code.shape(0)), K = n > 0 ? rows->n_rows / n : 0;
  require(K >= 2 && K * n == rows->n_rows, "a pass needs a label for each x, one of two or more");
  const std::int64_t* first = order.data();
  require(std::all_of(first, first + order.shape(0),
                      [&](auto i) { return i >= 0 && i < n && code.data()[i] >= 0 && code.data()[i] < K; }),
          "no such x, or one of no such label");
  require(Index(theta.shape(0)) >= rows->n_columns, "theta has the wrong length");
  require(!late || late->shape(0) == theta.shape(0), "late has the wrong length");
  require(tally.shape(0) == 2 && suffered.shape(0) == 1, "tally counts examples and mistakes, suffered sums");
  const JointState state{theta.data(), late ? late->data() : nullptr, tally.data(), tally.data() + 1,
                         suffered.data()};
  interruptible([&](Watch& watch) {
    std::visit(
        [&](const auto& of) {
          joint_pass(*rows, K, code.data(), {first, order.shape(0)}, is_new, of, state, watch);
        },
        step);
  });
}

}  // namespace

void bind_perceptron(nb::module_& m) {
  m.def("perceptron_pass", &pass, "X"_a, "code"_a, "order"_a, "rate"_a, "n_scores"_a, "theta"_a.noconvert(),
        "late"_a.noconvert().none(), "tally"_a.noconvert(), "log"_a.noconvert().none(),
        "Meets rows in order: theta and late move at mistakes, tally gains examples and mistakes, and log\n"
        "holds (example, row, class predicted) for each mistake of this pass.");
  nb::class_<MistakeStep>(m, "MistakeStep", "A step of a joint map's perceptron.")
      .def("__init__", [](MistakeStep* self, double rate) { new (self) MistakeStep{rate}; }, "rate"_a);
  nb::class_<PassiveAggressiveStep>(m, "PassiveAggressiveStep",
                                    "min(most, loss / (|d|^2 + softness)) along d.")
      .def(
          "__init__",
          [](PassiveAggressiveStep* self, double most, double softness) {
            new (self) PassiveAggressiveStep{most, softness};
          },
          "most"_a, "softness"_a);
  m.def("joint_pass", &joint, "Phi"_a, "code"_a, "order"_a, "step"_a, "is_new"_a, "theta"_a.noconvert(),
        "late"_a.noconvert().none(), "tally"_a.noconvert(), "suffered"_a.noconvert(),
        "Meets examples in order, whose rows of Phi hold the features of every label: theta and late move, "
        "tally\n"
        "gains examples and mistakes, suffered the losses. With is_new their labels could not be predicted.");
}

}  // namespace lineal
