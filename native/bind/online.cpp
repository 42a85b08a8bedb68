#include "online.h"

namespace lineal {

OnlineTable OnlineArrays::table(const OnlineSettings& set) const {
  require(
      set.room >= 1 && Index(records.shape(1)) == set.stride() && Index(intercept.shape(0)) == set.stride(),
      "a record has the wrong length");
  require(!set.is_pulled || (set.rate == 0 && !set.is_averaged), "pulls need metrics, and are not averaged");
  require(tally.shape(0) * sizeof(double) == sizeof(OnlineTally), "tally has the wrong length");
  auto& sums = *reinterpret_cast<OnlineTally*>(tally.data());
  require(sums.scores >= 0 && sums.scores <= double(set.room), "a record has no room for a score");
  require(places.shape(0) == WholeMetric::most_columns && sums.places >= -1 &&
              sums.places <= double(WholeMetric::most_columns),
          "the whole metric has other places");
  for (Index k = 0; k < Index(sums.places); ++k)
    require(places.data()[k] >= 0 && places.data()[k] < Index(records.shape(0)), "no such column");
  const bool is_whole = factors.shape(0) > 0;
  require(!is_whole || (set.rate == 0 && !set.is_pulled && Index(factors.shape(0)) == set.n_metrics() &&
                        factors.shape(1) == WholeMetric::size * WholeMetric::width),
          "a factor for each metric is needed");
  return OnlineTable(set, records.data(), Index(records.shape(0)), intercept.data(), places.data(),
                     is_whole ? factors.data() : nullptr, sums);
}

namespace {

BoundSteps of_numbers(const AnyLoss& loss, Array2<const double> Y) {
  const Index width = Index(Y.shape(1));
  require(width >= 1, "a row needs a target");
  auto steps = std::visit(
      [&]<class Loss>(const Loss& each) -> std::unique_ptr<RowSteps> {
        return std::make_unique<NumberSteps<Loss>>(each, Y.data(), width);
      },
      loss);
  return {std::move(steps), nb::cast(Y), Index(Y.shape(0)), width};
}

BoundSteps of_classes(const AnyLoss& loss, const std::string& joint, Array1<const std::int32_t> code,
                      Array1<const std::int64_t> from, Array1<const std::int32_t> order) {
  const Index n_classes = Index(from.shape(0));
  const std::int32_t* const first = code.data();
  require(n_classes >= 1 && Index(order.shape(0)) == n_classes, "every class needs a place in the order");
  require(std::is_sorted(from.data(), from.data() + n_classes), "classes come in the order of their rows");
  for (std::size_t i = 0; i < code.shape(0); ++i)
    require(
        first[i] == -1 || (first[i] >= 0 && first[i] < n_classes && from.data()[first[i]] <= std::int64_t(i)),
        "a row of a class that is not known yet");
  std::vector<bool> is_met(std::size_t(n_classes), false);
  for (Index k = 0; k < n_classes; ++k) {
    const std::int32_t place = order.data()[k];
    require(place >= 0 && place < n_classes && !is_met[std::size_t(place)], "order is not one");
    is_met[std::size_t(place)] = true;
  }
  const Joint kind = joint == "softmax"          ? Joint::softmax
                     : joint == "crammer_singer" ? Joint::crammer_singer
                                                 : Joint::none;
  const ArrivingClasses classes{first, {from.data(), from.shape(0)}, {order.data(), order.shape(0)}};
  auto steps = std::visit(
      [&]<class Loss>(const Loss& each) -> std::unique_ptr<RowSteps> {
        return std::make_unique<ClassSteps<Loss>>(each, kind, classes);
      },
      loss);
  return {std::move(steps), nb::make_tuple(code, from, order), Index(code.shape(0)),
          n_classes <= 2 ? 1 : n_classes, first};
}

void learn(const Matrix& X, const BoundSteps& bound, Array1<const double> s, const OnlineSettings& set,
           const OnlineArrays& arrays, std::optional<Array1<const std::int64_t>> order) {
  const OnlineTable table = arrays.table(set);
  require(X.n_columns() <= table.n_columns(), "a column has no record");
  const Index n_rows = order ? Index(order->shape(0)) : X.n_rows();
  if (order)
    require(std::all_of(order->data(), order->data() + n_rows,
                        [&](std::int64_t i) { return i >= 0 && i < X.n_rows(); }),
            "no such row");
  bound.require_fit(n_rows, s);
  require(bound.most_scores <= set.room, "a record has no room for a score");
  OnlineLearner learner(*bound.steps, table);
  interruptible([&](Watch& watch) {
    std::visit(
        [&]<class Rows>(const Rows& rows) {
          if (order)
            learner.meet(RowsInOrder<Rows>{rows, order->data(), n_rows}, 0, s.data(), watch);
          else
            learner.meet(rows, 0, s.data(), watch);
        },
        X.rows);
  });
}

void scores(const Matrix& X, const OnlineSettings& set, const OnlineArrays& arrays, Array2<double> Z) {
  const OnlineTable table = arrays.table(set);
  const auto n_scores = Index(table.tally().scores);
  require(Index(Z.shape(0)) == X.n_rows() && Index(Z.shape(1)) == n_scores, "Z has the wrong shape");
  interruptible_pass([&](Watch& watch) {
    std::visit([&](const auto& rows) { online_scores(rows, table, n_scores, Z.data(), watch); }, X.rows);
  });
}

}  // namespace

void bind_online(nb::module_& m) {
  nb::class_<BoundSteps>(m, "RowSteps",
                         "What each row of a stream asks of the weights (epoch/online_steps.h).")
      .def_static("of_numbers", &of_numbers, "loss"_a, "Y"_a)
      .def_static("of_classes", &of_classes, "loss"_a, "joint"_a, "code"_a, "known_from"_a, "order"_a,
                  "Classes by the order of their arrival, -1 for a row of weight 0; joint is 'softmax', "
                  "'crammer_singer' or ''.");
  m.attr("WHOLE_COLUMNS") = nb::int_(WholeMetric::most_columns);
  m.attr("WHOLE_FACTOR") = nb::int_(WholeMetric::size * WholeMetric::width);
  nb::class_<OnlineArrays>(m, "OnlineArrays", "The arrays of a stream; they are borrowed.")
      .def(
          "__init__",
          [](OnlineArrays* self, Array2<double> records, Array1<double> intercept,
             Array1<std::int32_t> places, Array2<double> factors,
             Array1<double> tally) { new (self) OnlineArrays{records, intercept, places, factors, tally}; },
          "records"_a.noconvert(), "intercept"_a.noconvert(), "places"_a.noconvert(), "factors"_a.noconvert(),
          "tally"_a.noconvert());
  nb::class_<OnlineSettings>(m, "OnlineSettings", "How a stream is learned from (epoch/online.h).")
      .def(
          "__init__",
          [](OnlineSettings* self, Index room, bool is_shared, bool is_averaged, bool is_pulled,
             bool has_intercept, bool is_intercept_penalized, double rate, double power, double l1, double l2,
             double l1_growth, double l2_growth, double prior, double intercept_prior, double whole_prior,
             double whole_intercept_prior) {
            new (self) OnlineSettings{room,
                                      is_shared,
                                      is_averaged,
                                      is_pulled,
                                      has_intercept,
                                      is_intercept_penalized,
                                      rate,
                                      power,
                                      l1,
                                      l2,
                                      l1_growth,
                                      l2_growth,
                                      prior,
                                      intercept_prior,
                                      whole_prior,
                                      whole_intercept_prior};
          },
          nb::kw_only(), "room"_a, "is_shared"_a, "is_averaged"_a, "is_pulled"_a, "has_intercept"_a,
          "is_intercept_penalized"_a, "rate"_a, "power"_a, "l1"_a, "l2"_a, "l1_growth"_a, "l2_growth"_a,
          "prior"_a, "intercept_prior"_a, "whole_prior"_a, "whole_intercept_prior"_a)
      .def_prop_ro("stride", &OnlineSettings::stride)
      .def_prop_ro("n_metrics", &OnlineSettings::n_metrics)
      .def_prop_ro("late", &OnlineSettings::late);
  m.def("online_learn", &learn, "X"_a, "steps"_a, "s"_a, "settings"_a, "arrays"_a, "order"_a = nb::none(),
        "Learns from rows in order, or in the one that is given: steps and s are in that, too. "
        "Records, intercept and tally move. Arrays are as after the last row that "
        "was met, whatever ends the loop.");
  m.def("online_scores", &scores, "X"_a, "settings"_a, "arrays"_a, "Z"_a.noconvert(),
        "Z = the scores of rows, by the weights that are predicted with.");
}

}  // namespace lineal
