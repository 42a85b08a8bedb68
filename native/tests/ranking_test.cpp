#include "lineal/ranking.h"

#include <limits>
#include <vector>

#include "check.h"
#include "lineal/log_ranking.h"
#include "samples.h"

using namespace lineal;
using check::same_bits;
using check::uniform;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr int most_threads = 4;

// Queries of random sizes, some empty or of one grade, with ties among scores and some weights of 0.
struct Drawn {
  std::vector<Index> group_first{0}, query_first{0};
  std::vector<Index> grade, query;
  Numbers s, c, z;

  Drawn(Rng& rng, Index n_queries, Index most_groups, Index most_rows) {
    for (Index q = 0; q < n_queries; ++q) {
      const Index n_groups = Index(rng.below(std::uint64_t(most_groups + 1)));
      for (Index g = 0; g < n_groups; ++g) {
        const Index n = 1 + Index(rng.below(std::uint64_t(most_rows)));
        for (Index i = 0; i < n; ++i) {
          grade.push_back(g);
          query.push_back(q);
          s.push_back(rng.below(8) == 0 ? 0.0 : uniform(rng, 0.1, 2.0));
          // Quarters meet each other, and the margin, exactly.
          z.push_back(rng.below(2) == 0 ? 0.25 * check::whole(rng) : uniform(rng, -2.0, 2.0));
        }
        group_first.push_back(Index(s.size()));
      }
      query_first.push_back(Index(group_first.size()) - 1);
      c.push_back(uniform(rng, 0.0, 2.0));
    }
  }
  Index n() const { return Index(s.size()); }
  Ranking view() const {
    return {n(), Index(c.size()), group_first.data(), query_first.data(), s.data(), c.data()};
  }
  // body(i, j, weight) for every pair, i the better one.
  template <class Body>
  void pairs(Body&& body) const {
    for (std::size_t i = 0; i < s.size(); ++i)
      for (std::size_t j = 0; j < s.size(); ++j)
        if (query[i] == query[j] && grade[i] > grade[j]) body(i, j, c[std::size_t(query[i])] * s[i] * s[j]);
  }
};

struct Found {
  PairSums sums;
  Numbers slope, curvature, product;
};

constexpr Index n_columns = 3;

// Everything by all pairs: loss(m) gives value, pull and bend.
template <class Loss>
Found by_pairs(const Drawn& drawn, const Numbers& V, double margin, Loss&& loss) {
  const std::size_t n = drawn.s.size();
  Found found{{}, Numbers(n), Numbers(n), Numbers(n * n_columns)};
  drawn.pairs([&](std::size_t i, std::size_t j, double weight) {
    const double m = drawn.z[i] - drawn.z[j];
    const auto [value, pull, bend] = loss(m);
    found.sums.value += weight * value;
    found.sums.hinge += weight * std::max(0.0, margin - m);
    found.sums.slopes += weight * pull;
    found.slope[i] -= weight * pull;
    found.slope[j] += weight * pull;
    found.curvature[i] += weight * bend;
    found.curvature[j] += weight * bend;
    for (std::size_t e = 0; e < n_columns; ++e) {
      const double moved = weight * bend * (V[i * n_columns + e] - V[j * n_columns + e]);
      found.product[i * n_columns + e] += moved;
      found.product[j * n_columns + e] -= moved;
    }
  });
  return found;
}

void check_near(const Numbers& got, const Numbers& wanted, double tolerance) {
  CHECK(got.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK_NEAR(got[i], wanted[i], tolerance);
}

// pass(n_threads) fills a Found: near the sums over all pairs, and the same bits for any number of threads.
template <class Pass>
void check_pass(const Found& wanted, double scale, bool has_hinge, Pass&& pass) {
  Found first;
  for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
    Found got{{}, wanted.slope, wanted.curvature, wanted.product};
    for (Numbers* each : {&got.slope, &got.curvature, &got.product})
      std::fill(each->begin(), each->end(), not_a_number);
    pass(got, n_threads);
    if (n_threads == 1) {
      first = got;
      // Sums of at most some ten thousand terms, in another order, times the steepness of the bend.
      const double tolerance = 1e-11 * (1.0 + scale) * (1.0 + std::abs(wanted.sums.hinge));
      CHECK_NEAR(got.sums.value, wanted.sums.value, tolerance);
      CHECK_NEAR(got.sums.slopes, wanted.sums.slopes, tolerance);
      if (has_hinge) CHECK_NEAR(got.sums.hinge, wanted.sums.hinge, tolerance);
      check_near(got.slope, wanted.slope, tolerance);
      check_near(got.curvature, wanted.curvature, tolerance);
      check_near(got.product, wanted.product, tolerance);
    }
    CHECK(got.sums.value == first.sums.value && got.sums.slopes == first.sums.slopes);
    CHECK(got.sums.hinge == first.sums.hinge);
    CHECK(same_bits(got.slope, first.slope) && same_bits(got.curvature, first.curvature));
    CHECK(same_bits(got.product, first.product));
  }
}

}  // namespace

THEOREM("walks over sorted scores are sums over all pairs of a ranking, for any bend, ties and threads") {
  Rng rng(21);
  Watch watch;
  for (int round = 0; round < 60; ++round) {
    const Drawn drawn(rng, 1 + Index(rng.below(8)), 1 + Index(rng.below(6)), 1 + Index(rng.below(20)));
    const Numbers V = uniforms(rng, drawn.n() * n_columns, -1, 1);
    const double margin = round % 3 == 0 ? 0.5 : 1.0;
    for (const double width : {infinity, 1.0, 0.1, 1e-4}) {
      const BentHinge loss{margin, width == infinity ? 2.0 : 1.0 / width, width};
      const Found wanted = by_pairs(drawn, V, margin, [&](double m) {
        const double t = margin - m, inside = std::clamp(t, 0.0, width);
        const double value =
            0.5 * loss.bend * inside * inside + loss.bend * inside * std::max(0.0, t - inside);
        return std::tuple{value, loss.bend * inside, t > 0 && !(t > width) ? loss.bend : 0.0};
      });
      check_pass(wanted, loss.bend, true, [&](Found& got, int n_threads) {
        got.sums = bent_slopes_pass(drawn.view(), loss, drawn.z.data(), got.slope.data(),
                                    got.curvature.data(), n_threads, watch);
        bent_products_pass(drawn.view(), loss, drawn.z.data(), V.data(), n_columns, got.product.data(),
                           n_threads, watch);
      });
    }
  }
}

THEOREM("the logistic pass is the sum over all pairs of a ranking, for any number of threads") {
  Rng rng(22);
  Watch watch;
  for (int round = 0; round < 40; ++round) {
    Drawn drawn(rng, 1 + Index(rng.below(8)), 1 + Index(rng.below(5)), 1 + Index(rng.below(12)));
    if (round % 4 == 0)
      for (double& z : drawn.z) z *= 300;  // where one exponential is 0
    const Numbers V = uniforms(rng, drawn.n() * n_columns, -1, 1);
    const Found wanted = by_pairs(drawn, V, 1.0, [](double m) {
      const double e = std::exp(-std::abs(m));
      const double value = std::max(0.0, -m) + std::log1p(e);
      return std::tuple{value, m >= 0 ? e / (1 + e) : 1 / (1 + e), e / ((1 + e) * (1 + e))};
    });
    check_pass(wanted, 1.0, false, [&](Found& got, int n_threads) {
      got.sums = log_slopes_pass(drawn.view(), drawn.z.data(), got.slope.data(), got.curvature.data(),
                                 n_threads, watch);
      log_products_pass(drawn.view(), drawn.z.data(), V.data(), n_columns, got.product.data(), n_threads,
                        watch);
    });
  }
}

THEOREM("the slopes of a query's scores add up to 0: a ranking knows no origin") {
  Rng rng(23);
  Watch watch;
  const Drawn drawn(rng, 5, 4, 30);
  Numbers slope(drawn.s.size()), curvature(drawn.s.size());
  bent_slopes_pass(drawn.view(), {1.0, 4.0, 0.25}, drawn.z.data(), slope.data(), curvature.data(), 2, watch);
  for (Index q = 0; q < Index(drawn.c.size()); ++q) {
    double sum = 0;
    for (std::size_t i = 0; i < slope.size(); ++i)
      if (drawn.query[i] == q) sum += slope[i];
    CHECK_NEAR(sum, 0.0, 1e-9);
  }
}

THEOREM("every pair stands in the right order, in the wrong one, or is tied") {
  Rng rng(24);
  Watch watch;
  for (int round = 0; round < 30; ++round) {
    const Drawn drawn(rng, 1 + Index(rng.below(6)), 1 + Index(rng.below(6)), 1 + Index(rng.below(15)));
    Numbers wrong(drawn.c.size()), tied(drawn.c.size());
    drawn.pairs([&](std::size_t i, std::size_t j, double weight) {
      if (drawn.z[i] < drawn.z[j]) wrong[std::size_t(drawn.query[i])] += weight;
      if (drawn.z[i] == drawn.z[j]) tied[std::size_t(drawn.query[i])] += weight;
    });
    for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
      Numbers got_wrong(wrong.size(), not_a_number), got_tied(tied.size(), not_a_number);
      disorder_pass(drawn.view(), drawn.z.data(), got_wrong.data(), got_tied.data(), n_threads, watch);
      check_near(got_wrong, wrong, 1e-9);  // some thousands of terms below 8
      check_near(got_tied, tied, 1e-9);
    }
  }
}

THEOREM("a ranking without rows or queries adds up to nothing") {
  Watch watch;
  const Index zero = 0;
  const Ranking none{0, 0, &zero, &zero, nullptr, nullptr};
  for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
    CHECK(bent_slopes_pass(none, {1.0, 1.0, 1.0}, nullptr, nullptr, nullptr, n_threads, watch).value == 0.0);
    CHECK(log_slopes_pass(none, nullptr, nullptr, nullptr, n_threads, watch).value == 0.0);
  }
}
