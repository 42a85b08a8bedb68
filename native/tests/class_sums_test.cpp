#include "lineal/class_sums.h"

#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "lineal/class_weights.h"
#include "samples.h"

using namespace lineal;
using check::same_bits;
using check::Sample;
using check::sample_matrix;
using check::uniforms;

namespace {

constexpr int most_threads = 5;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

using Numbers = std::vector<double>;

std::vector<std::int32_t> sample_codes(Rng& rng, Index n, Index K) {
  std::vector<std::int32_t> codes(static_cast<std::size_t>(n));
  for (auto& code : codes) code = std::int32_t(rng.below(std::uint64_t(K)));
  return codes;
}

// Runs a pass on an array of NaN with 1 .. 5 threads: the same bits each time, near the plain sums.
template <class Rows, class Term, class V>
void check_sums(const Rows& rows, const Sample<V>& X, Rng& rng, Index K, const Term& term,
                bool is_stored_only) {
  const auto codes = sample_codes(rng, X.n_rows, K);
  const Numbers s = uniforms(rng, X.n_rows, 0, 2);
  Numbers wanted(std::size_t(K * X.n_columns), 0.0);
  for (Index i = 0; i < X.n_rows; ++i)
    for (Index j = 0; j < X.n_columns; ++j) {
      if (is_stored_only && X.at(i, j) == 0.0) continue;
      const Index k = codes[std::size_t(i)];
      wanted[std::size_t(k * X.n_columns + j)] += term(s[std::size_t(i)], X.at(i, j), k, j);
    }
  Numbers first;
  for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
    Numbers sums(wanted.size(), not_a_number);
    class_sums_pass(rows, codes.data(), s.data(), K, term, sums.data(), n_threads);
    if (n_threads == 1) first = sums;
    CHECK(same_bits(sums, first));
    for (std::size_t v = 0; v < wanted.size(); ++v)
      CHECK_NEAR(sums[v], wanted[v], 1e-10);  // at most 5000 terms below 32, in another order
  }
}

template <class V>
void check_terms(Rng& rng, Index n, Index d, double density, Index K) {
  const Sample<V> X = sample_matrix<V>(rng, n, d, density);
  const Numbers centre = uniforms(rng, K * d, -1, 1);
  const auto each = [&](const auto& rows, bool is_sparse) {
    check_sums(rows, X, rng, K, Value{}, is_sparse);
    check_sums(rows, X, rng, K, IsAbove{0.25}, is_sparse);
    check_sums(rows, X, rng, K, IsAbove{-infinity}, is_sparse);
    check_sums(rows, X, rng, K, SquaredDeviation{centre.data(), d}, is_sparse);
  };
  each(X.csr(), true);
  each(X.dense(), false);
  each(check::Scrambled<V>(rng, X).csr(), true);
}

}  // namespace

THEOREM("class_sums_pass adds up each class and column, with the same bits for any number of threads") {
  Rng rng(11);
  for (const Index n : {0, 1, 40})
    for (const Index d : {0, 1, 120})
      for (const Index K : {1, 3}) {
        check_terms<float>(rng, n, d, 0.3, K);
        check_terms<double>(rng, n, d, 0.9, K);  // enough in a row for threads to share its columns
      }
}

THEOREM("class_sums_pass over few columns and many rows goes by shares of the rows, to the same bits") {
  Rng rng(12);
  check_terms<double>(rng, 5000, 3, 0.5, 4);
}

THEOREM("whole numbers add up exactly") {
  Rng rng(13);
  Sample<double> X = sample_matrix<double>(rng, 300, 50, 0.4);
  for (double& x : X.value) x = std::floor(4 * x);
  const auto codes = sample_codes(rng, 300, 3);
  const Numbers s(300, 2.0);
  Numbers V(150, not_a_number), wanted(150, 0.0);
  for (Index i = 0; i < 300; ++i)
    for (Index e = X.start[std::size_t(i)]; e < X.start[std::size_t(i) + 1]; ++e)
      wanted[std::size_t(codes[std::size_t(i)] * 50 + X.index[std::size_t(e)])] +=
          2 * X.value[std::size_t(e)];
  class_sums_pass(X.csr(), codes.data(), s.data(), 3, Value{}, V.data(), 4);
  CHECK(same_bits(V, wanted));
}

THEOREM("a pass says whether a stored number is below 0, wherever it stands") {
  Rng rng(15);
  for (const auto& [n, d] : {std::pair<Index, Index>{60, 120}, {5000, 3}}) {
    Sample<double> X = sample_matrix<double>(rng, n, d, 0.9);
    for (double& x : X.value) x = std::abs(x);
    const auto codes = sample_codes(rng, n, 2);
    const Numbers s(std::size_t(n), 0.0);  // rows without weight are looked at too
    Numbers V(std::size_t(2 * d));
    const auto is_below = [&](int n_threads) {
      return class_sums_pass(X.csr(), codes.data(), s.data(), 2, Value{}, V.data(), n_threads);
    };
    for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
      CHECK(!is_below(n_threads));
      const std::size_t at = std::size_t(rng.below(X.value.size()));
      X.value[at] = -X.value[at] - 1e-300;
      CHECK(is_below(n_threads));
      X.value[at] = 0.0;
    }
  }
}

THEOREM("class_weights_pass is the formula of each kind, turned over, for any number of threads") {
  Rng rng(14);
  for (const Index d : {0, 1, 63, 64, 200}) {
    constexpr Index K = 3;
    Numbers V(std::size_t(K * d), 0.0), total(K, 0.0), column_total(std::size_t(d), 0.0);
    for (double& v : V) v = double(rng.below(4));
    for (Index k = 0; k < K; ++k)
      for (Index j = 0; j < d; ++j) column_total[std::size_t(j)] += V[std::size_t(k * d + j)];
    const double l = 0.5;
    Numbers log_total(K), at_zero(K), rows(K, 5.0), odds_at_zero(K, std::log(l / (5.0 + l)));
    for (std::size_t k = 0; k < K; ++k) {
      log_total[k] = std::log(7.0 + double(k));
      at_zero[k] = std::log(l) - log_total[k];
    }
    for (int n_threads = 1; n_threads <= most_threads; ++n_threads) {
      Numbers share(V.size()), odds(V.size()), complement(V.size());
      class_weights_pass(V.data(), K, d, LogShare{l, log_total.data(), at_zero.data()}, share.data(),
                         n_threads);
      class_weights_pass(V.data(), K, d, LogOdds{l, rows.data(), odds_at_zero.data()}, odds.data(),
                         n_threads);
      class_weights_pass(V.data(), K, d, ComplementLogShare{l, log_total.data(), column_total.data()},
                         complement.data(), n_threads);
      for (std::size_t j = 0; j < std::size_t(d); ++j)
        for (std::size_t k = 0; k < K; ++k) {
          const double count = V[k * std::size_t(d) + j], others = column_total[j] - count;
          CHECK_NEAR(share[j * K + k], std::log((count + l) / (7.0 + double(k))), 1e-14);
          CHECK_NEAR(odds[j * K + k], std::log((count + l) / (5.0 - count + l)), 1e-14);
          CHECK_NEAR(complement[j * K + k], -std::log((others + l) / (7.0 + double(k))), 1e-14);
        }
    }
  }
}

THEOREM(
    "absences_pass adds up the logarithms of what columns that were met lack, to the bit for any threads") {
  Rng rng(16);
  for (const Index d : {0, 1, 7, 5000, 40000}) {
    Numbers counts(std::size_t(d), 0.0);
    for (double& count : counts) count = double(rng.below(7));
    const double total = 6.0;
    for (const double l : {0.0, 0.5}) {
      Absences wanted;
      for (const double count : counts) {
        if (count == 0.0) continue;
        ++wanted.n_met;
        if (total - count + l > 0.0)
          wanted.log_sum += std::log(total - count + l);
        else
          ++wanted.n_always;
      }
      const Absences one = absences_pass(counts.data(), d, total, l, 1);
      CHECK(one.n_met == wanted.n_met && one.n_always == wanted.n_always);
      CHECK_NEAR(one.log_sum, wanted.log_sum, 1e-12 * double(d + 1));
      for (int n_threads = 2; n_threads <= most_threads; ++n_threads)
        CHECK(absences_pass(counts.data(), d, total, l, n_threads).log_sum == one.log_sum);
    }
  }
  const Numbers rounded{4.0 + 1e-12};  // sums of weights round: more than all rows is all rows
  CHECK(absences_pass(rounded.data(), 1, 4.0, 0.0, 1).n_always == 1.0);
}

THEOREM("without smoothing a count of 0 weighs -inf, and a count of all rows has infinite odds") {
  const Numbers V{0.0, 4.0}, total{4.0}, log_total{std::log(4.0)}, at_zero{-infinity};
  Numbers share(2), odds(2);
  class_weights_pass(V.data(), 1, 2, LogShare{0.0, log_total.data(), at_zero.data()}, share.data(), 1);
  class_weights_pass(V.data(), 1, 2, LogOdds{0.0, total.data(), at_zero.data()}, odds.data(), 1);
  CHECK(share[0] == -infinity && share[1] == 0.0);
  CHECK(odds[0] == -infinity && odds[1] == infinity);
}

THEOREM("log_nonnegative is the logarithm, at 0, among the subnormal numbers and at infinity too") {
  Rng rng(15);
  CHECK(log_nonnegative(0.0) == -infinity);
  CHECK(log_nonnegative(infinity) == infinity);
  CHECK(std::isnan(log_nonnegative(not_a_number)));
  CHECK(log_nonnegative(1.0) == 0.0);
  const auto near = [](double t) {
    const double wanted = std::log(t);
    CHECK(std::abs(log_nonnegative(t) - wanted) <= 4e-16 * std::abs(wanted) + 1e-320);
  };
  for (const double t : {5e-324, 1e-320, 0x1p-1022, 1e-300, 0.5, 0.9999999999999999, 1.0000000000000002, 2.0,
                         3.0, 1e300, 0x1.fffffffffffffp1023})
    near(t);
  for (int n = 0; n < 2000; ++n) {
    near(check::uniform(rng, 0.5, 2.0));
    near(std::exp2(check::uniform(rng, -1074, 1023)));
    near(double(1 + rng.below(100000)));
  }
}

THEOREM(
    "chi-squared of sums is what the formula says, with the same bits for all threads, and 0 for empty "
    "columns") {
  Rng rng(5);
  const Index K = 4, d = 1100;
  Numbers V = uniforms(rng, K * d, 0, 3), e{0.1, 0.2, 0.3, 0.4};
  for (Index k = 0; k < K; ++k) V[std::size_t(k * d + 7)] = 0.0;
  Numbers first(static_cast<std::size_t>(d), not_a_number);
  chi2_pass(V.data(), K, d, e.data(), first.data(), 1);
  for (Index j = 0; j < d; ++j) {
    double total = 0, sum = 0;
    for (Index k = 0; k < K; ++k) total += V[std::size_t(k * d + j)];
    for (Index k = 0; k < K && total > 0; ++k) {
      const double expected = e[std::size_t(k)] * total, away = V[std::size_t(k * d + j)] - expected;
      sum += away * away / expected;
    }
    CHECK_NEAR(first[std::size_t(j)], sum, 1e-12 * (1 + sum));
  }
  for (int n_threads = 2; n_threads <= most_threads; ++n_threads) {
    Numbers again(static_cast<std::size_t>(d), not_a_number);
    chi2_pass(V.data(), K, d, e.data(), again.data(), n_threads);
    CHECK(same_bits(first, again));
  }
}
