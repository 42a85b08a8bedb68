#include "lineal/text/weighing.h"

#include "check.h"

using namespace lineal;

namespace {

const std::vector<std::int32_t> columns = {0, 2, 3, 5, 6};
const std::vector<std::int32_t> counts = {1, 3, 300, -2, 0};

std::vector<double> weighed(const Weighing& weighing) {
  std::vector<double> values(columns.size());
  weighing.weigh<double>(columns, counts.data(), values.data());
  return values;
}

// f of the size of a count, with its sign; nothing stays nothing.
template <class F>
void check_odd(const Weighing& weighing, F&& f) {
  const std::vector<double> values = weighed(weighing);
  for (std::size_t e = 0; e < counts.size(); ++e) {
    const double size = std::abs(counts[e]);
    const double wanted = counts[e] == 0 ? 0.0 : std::copysign(f(size), counts[e]);
    CHECK_NEAR(values[e], wanted, 1e-15 * std::abs(wanted));  // a few roundings
  }
}

}  // namespace

THEOREM("tf is the count, 1, 1 + log(count) or BM25's, and odd in the count") {
  Weighing weighing;
  check_odd(weighing, [](double count) { return count; });
  weighing.tf = Tf::occurrence;
  check_odd(weighing, [](double) { return 1.0; });
  weighing.tf = Tf::logarithm;
  check_odd(weighing, [](double count) { return 1.0 + std::log(count); });
  weighing.tf = Tf::bm25;
  for (const double k : {0.0, 1.2, 5.0})
    for (const double b : {0.0, 0.75, 1.0}) {
      weighing.k = k;
      weighing.b = b;
      weighing.mean_length = 40.0;
      const double length = 1 + 3 + 300 + 2;
      check_odd(weighing,
                [&](double count) { return count * (k + 1) / (count + k * (1 - b + b * length / 40.0)); });
    }
}

THEOREM("columns have weights, and the norm is taken after them; a row without any stays as it is") {
  for (const Norm norm : {Norm::none, Norm::l1, Norm::l2}) {
    Weighing weighing;
    weighing.norm = norm;
    weighing.own({0.5, 100, 0.25, 0.0, 100, 3.0, 2.0});
    const std::vector<double> wanted = {0.5, 0.75, 0.0, -6.0, 0.0};
    const double by = norm == Norm::none ? 1.0
                      : norm == Norm::l1 ? 0.5 + 0.75 + 6.0
                                         : std::sqrt(0.25 + 0.75 * 0.75 + 36.0);
    const Weighing copy = weighing;  // shares the weights
    for (std::size_t e = 0; e < wanted.size(); ++e) {
      CHECK_NEAR(weighed(weighing)[e], wanted[e] / by, 1e-15);
      CHECK_NEAR(weighed(copy)[e], wanted[e] / by, 1e-15);
    }
    weighing.own(std::vector<double>(7));
    for (const double value : weighed(weighing)) CHECK(value == 0.0);
    weighing.weigh<float>({}, nullptr, nullptr);
  }
}
