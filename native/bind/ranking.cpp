#include "lineal/ranking.h"

#include "bind.h"
#include "lineal/log_ranking.h"

namespace lineal {
namespace {

using Numbers = Array1<const double>;
using Places = Array1<const Index>;

bool is_finite(const Numbers& z) {
  return std::all_of(z.data(), z.data() + z.size(), [](double one) { return std::isfinite(one); });
}

// The pairs of a ranking: arrays that were checked once, and kept.
struct RankingPairs {
  Places group_first, query_first;
  Numbers s, c;

  RankingPairs(Places group_first_, Places query_first_, Numbers s_, Numbers c_)
      : group_first(std::move(group_first_)),
        query_first(std::move(query_first_)),
        s(std::move(s_)),
        c(std::move(c_)) {
    require(query_first.size() == c.size() + 1, "query_first needs one entry per query and one more");
    require(is_rising(query_first, Index(group_first.size()) - 1), "query_first must rise to the last group");
    require(is_rising(group_first, Index(s.size())), "group_first must rise to the last row");
    require(is_finite(s) && is_finite(c), "weights must be finite");
  }
  static bool is_rising(const Places& first, Index last) {
    const Index* const end = first.data() + first.size();
    return first.size() > 0 && first.data()[0] == 0 && end[-1] == last && std::is_sorted(first.data(), end);
  }
  Ranking view() const {
    return {Index(s.size()), Index(c.size()), group_first.data(), query_first.data(), s.data(), c.data()};
  }
};

void check(const RankingPairs& pairs, const Numbers& z, std::size_t n_a, std::size_t n_b) {
  require(z.size() == pairs.s.size() && n_a == z.size() && n_b == z.size(), "one number per row is needed");
  require(is_finite(z), "scores must be finite");
}

BentHinge bent(double margin, double bend, double width) {
  require(margin >= 0 && bend > 0 && width > 0, "margin must be >= 0, bend and width > 0");
  return {margin, bend, width};
}

using Totals = std::tuple<double, double, double>;

Totals bent_slopes(const RankingPairs& pairs, Numbers z, double margin, double bend, double width,
                   Array1<double> slope, Array1<double> curvature, int n_threads) {
  check(pairs, z, slope.size(), curvature.size());
  const BentHinge loss = bent(margin, bend, width);
  PairSums sums;
  n_threads = worthwhile(n_threads, 16 * Index(z.size()));
  interruptible_pass([&](Watch& watch) {
    sums = bent_slopes_pass(pairs.view(), loss, z.data(), slope.data(), curvature.data(), n_threads, watch);
  });
  return {sums.value, sums.hinge, sums.slopes};
}

void bent_products(const RankingPairs& pairs, Numbers z, double margin, double bend, double width,
                   Array2<const double> V, Array2<double> out, int n_threads) {
  check(pairs, z, V.shape(0), out.shape(0));
  require(V.shape(1) == out.shape(1), "V and out need the same shape");
  const BentHinge loss = bent(margin, bend, width);
  n_threads = worthwhile(n_threads, 16 * Index(V.size()));
  interruptible_pass([&](Watch& watch) {
    bent_products_pass(pairs.view(), loss, z.data(), V.data(), Index(V.shape(1)), out.data(), n_threads,
                       watch);
  });
}

Totals log_slopes(const RankingPairs& pairs, Numbers z, Array1<double> slope, Array1<double> curvature,
                  int n_threads) {
  check(pairs, z, slope.size(), curvature.size());
  PairSums sums;
  n_threads = worthwhile(n_threads, 64 * Index(z.size()));
  interruptible_pass([&](Watch& watch) {
    sums = log_slopes_pass(pairs.view(), z.data(), slope.data(), curvature.data(), n_threads, watch);
  });
  return {sums.value, sums.hinge, sums.slopes};
}

void log_products(const RankingPairs& pairs, Numbers z, Array2<const double> V, Array2<double> out,
                  int n_threads) {
  check(pairs, z, V.shape(0), out.shape(0));
  require(V.shape(1) == out.shape(1), "V and out need the same shape");
  n_threads = worthwhile(n_threads, 64 * Index(V.size()));
  interruptible_pass([&](Watch& watch) {
    log_products_pass(pairs.view(), z.data(), V.data(), Index(V.shape(1)), out.data(), n_threads, watch);
  });
}

void disorder(const RankingPairs& pairs, Numbers z, Array1<double> wrong, Array1<double> tied,
              int n_threads) {
  check(pairs, z, z.size(), z.size());
  require(wrong.size() == pairs.c.size() && tied.size() == pairs.c.size(), "one number per query is needed");
  n_threads = worthwhile(n_threads, 16 * Index(z.size()));
  interruptible_pass([&](Watch& watch) {
    disorder_pass(pairs.view(), z.data(), wrong.data(), tied.data(), n_threads, watch);
  });
}

}  // namespace

void bind_ranking(nb::module_& m) {
  nb::class_<RankingPairs>(
      m, "RankingPairs",
      "The pairs of a ranking, never listed. Rows stand by query and rising grade; groups "
      "are runs of one query and grade.")
      .def(nb::init<Places, Places, Numbers, Numbers>(), "group_first"_a, "query_first"_a, "s"_a, "c"_a)
      .def("bent_slopes", &bent_slopes, "z"_a, "margin"_a, "bend"_a, "width"_a, "slope"_a.noconvert(),
           "curvature"_a.noconvert(), "n_threads"_a = 1,
           "(sum of losses, sum of hinges, sum of -slopes) over pairs; slopes and curvatures in the scores.")
      .def("bent_products", &bent_products, "z"_a, "margin"_a, "bend"_a, "width"_a, "V"_a,
           "out"_a.noconvert(), "n_threads"_a = 1, "out = the Hessian in the scores times V.")
      .def("log_slopes", &log_slopes, "z"_a, "slope"_a.noconvert(), "curvature"_a.noconvert(),
           "n_threads"_a = 1, "As bent_slopes, for the logistic loss: O(pairs).")
      .def("log_products", &log_products, "z"_a, "V"_a, "out"_a.noconvert(), "n_threads"_a = 1,
           "As bent_products, for the logistic loss: O(pairs).")
      .def("disorder", &disorder, "z"_a, "wrong"_a.noconvert(), "tied"_a.noconvert(), "n_threads"_a = 1,
           "The weights of each query's pairs in the wrong order, and of those with equal scores.");
}

}  // namespace lineal
