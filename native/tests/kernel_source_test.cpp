#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "check.h"
#include "lineal/kernel/expand.h"
#include "lineal/kernel/gram_source.h"
#include "lineal/kernel/product_table.h"
#include "lineal/kernel/source.h"
#include "samples.h"

using namespace lineal;
using namespace lineal::kernel;
using check::Sample;
using check::uniforms;

namespace {

using Numbers = std::vector<double>;
using Formula = std::function<long double(Index, Index)>;

struct Case {
  const char* name;
  std::unique_ptr<Source> source;
  Formula value;
};

long double product(const Sample<double>& X, Index i, Index k) {
  long double sum = 0;
  for (Index j = 0; j < X.n_columns; ++j) sum += (long double)(X.at(i, j)) * X.at(k, j);
  return sum;
}
long double apart(const Sample<double>& X, Index i, Index k) {
  long double sum = 0;
  for (Index j = 0; j < X.n_columns; ++j) {
    const long double by = (long double)(X.at(i, j)) - X.at(k, j);
    sum += by * by;
  }
  return sum;
}

std::vector<double> means(const Sample<double>& X) {
  std::vector<double> mean(std::size_t(X.n_columns), 0.0);
  for (Index i = 0; i < X.n_rows; ++i)
    for (Index j = 0; j < X.n_columns; ++j) mean[std::size_t(j)] += X.at(i, j) / double(X.n_rows);
  return mean;
}

// Every source on one matrix, with what its values are by definition.
std::vector<Case> cases(const Sample<double>& X, Numbers& gram) {
  const double gamma = 0.7, c = 0.5;
  const int degree = 3;
  const Formula linear = [&X](Index i, Index k) { return product(X, i, k); };
  const Formula power = [&X](Index i, Index k) { return std::pow(0.7L * product(X, i, k) + 0.5L, 3); };
  const Formula bell = [&X](Index i, Index k) { return std::exp(-0.7L * apart(X, i, k)); };
  std::vector<Case> all;
  const auto both = [&](const char* name, auto profile, const Formula& value, std::vector<double> centre) {
    using Made = VectorSource<decltype(profile)>;
    all.push_back({name, std::make_unique<Made>(X.dense(), profile, std::move(centre)), value});
    all.push_back({name, std::make_unique<Made>(X.csr(), profile, std::vector<double>{}), value});
  };
  both("linear", LinearProfile{}, linear, {});
  both("polynomial", PolynomialProfile{gamma, c, degree}, power, {});
  both("gaussian", GaussianProfile{gamma}, bell, means(X));
  const Formula narrow = [&X](Index i, Index k) { return std::exp(-1e5L * apart(X, i, k)); };
  both("narrow gaussian", GaussianProfile{1e5}, narrow, means(X));
  gram.clear();
  for (Index i = 0; i < X.n_rows; ++i)
    for (Index k = 0; k < X.n_rows; ++k) gram.push_back(double(power(i, k)));
  all.push_back({"gram", std::make_unique<GramSource>(gram.data(), X.n_rows),
                 [&gram, n = X.n_rows](Index i, Index k) { return gram[std::size_t(i * n + k)]; }});
  return all;
}

std::vector<Index> some_rows(Rng& rng, Index n, Index n_rows) {
  std::vector<Index> rows;
  for (Index k = 0; k < n; ++k) rows.push_back(Index(rng.below(std::uint32_t(n_rows))));
  return rows;
}

}  // namespace

THEOREM(
    "a block has the values of the definition within the stated error, an exact diagonal, and is symmetric") {
  Rng rng(1);
  for (const Index d : {1, 6, 40}) {
    const auto X = check::sample_matrix<double>(rng, 90, d, 0.5);
    Numbers gram;
    for (const Case& each : cases(X, gram))
      for (const Index q : {1, 7, 8, 63, 64, 65, 90, 200}) {
        const auto rows = some_rows(rng, q, X.n_rows);
        const Index stride = q + 16;
        for (const int n_threads : {1, 3}) {
          std::vector<float> K(std::size_t(q * stride), std::numeric_limits<float>::quiet_NaN());
          each.source->block(rows.data(), q, K.data(), stride, n_threads);
          for (Index i = 0; i < q; ++i)
            for (Index k = 0; k < q; ++k) {
              const long double wanted = each.value(rows[std::size_t(i)], rows[std::size_t(k)]);
              const float got = K[std::size_t(i * stride + k)];
              CHECK(std::abs(double(got - wanted)) <= each.source->error());
              CHECK(got == K[std::size_t(k * stride + i)]);
            }
          for (Index i = 0; i < q; ++i)
            CHECK(K[std::size_t(i * stride + i)] == float(each.source->diagonal(rows[std::size_t(i)])));
        }
      }
  }
}

THEOREM("rows have the values of the definition within the stated error, in the same bits for any threads") {
  Rng rng(6);
  for (const Index d : {1, 6, 40}) {
    const auto X = check::sample_matrix<double>(rng, 300, d, 0.5);
    Numbers gram;
    for (const Case& each : cases(X, gram))
      for (const Index n : {1, 63, 64, 65, 900}) {
        const auto rows = some_rows(rng, n, X.n_rows), which = some_rows(rng, 40, X.n_rows);
        const Index stride = n + 3;
        std::vector<std::vector<float>> found;
        for (const int n_threads : {1, 2, 3}) {
          found.emplace_back(std::size_t(40 * stride), -77.0f);
          each.source->rows(which.data(), 40, rows.data(), n, found.back().data(), stride, n_threads);
          CHECK(found.back() == found.front());
        }
        for (Index k = 0; k < 40; ++k) {
          for (Index i = 0; i < n; ++i)
            CHECK(std::abs(double(found[0][std::size_t(k * stride + i)] -
                                  each.value(which[std::size_t(k)], rows[std::size_t(i)]))) <=
                  each.source->error());
          for (Index i = n; i < stride; ++i) CHECK(found[0][std::size_t(k * stride + i)] == -77.0f);
        }
      }
  }
}

THEOREM("add and add_exact are sums of values, within their errors times the sizes of coefficients") {
  Rng rng(2);
  for (const Index d : {1, 5, 40}) {
    const auto X = check::sample_matrix<double>(rng, 120, d, 0.5);
    Numbers gram;
    for (const Case& each : cases(X, gram))
      for (const Index m : {0, 1, 31, 32, 33, 64, 65, 150}) {
        const auto rows = some_rows(rng, 77, X.n_rows), of = some_rows(rng, m, X.n_rows);
        const auto a = uniforms(rng, m, -2, 2);
        double size = 0;
        for (const double one : a) size += std::abs(one);
        for (const bool exactly : {false, true}) {
          Numbers F = uniforms(rng, 77, -1, 1);
          const Numbers before = F;
          const Expansion sum{of.data(), a.data(), m};
          if (exactly)
            each.source->add_exact(rows.data(), 77, sum, F.data(), 2);
          else
            each.source->add(rows.data(), 77, sum, F.data(), 2);
          const double error = exactly ? each.source->exact_error() : each.source->error();
          for (std::size_t i = 0; i < 77; ++i) {
            long double wanted = before[i];
            for (std::size_t k = 0; k < std::size_t(m); ++k) wanted += a[k] * each.value(rows[i], of[k]);
            CHECK(std::abs(double(F[i] - wanted)) <= error * size + 1e-15);
          }
        }
      }
  }
}

THEOREM("errors are not merely large: they are within a few thousand roundings of the largest value") {
  Rng rng(3);
  const auto X = check::sample_matrix<double>(rng, 50, 10, 0.5);
  Numbers gram;
  for (const Case& each : cases(X, gram)) {
    long double largest = 0;
    for (Index i = 0; i < X.n_rows; ++i) largest = std::max(largest, each.value(i, i));
    CHECK(each.source->exact_error() <= 4096 * 0x1p-53 * double(largest));
    CHECK(each.source->error() <= 4096 * 0x1p-24 * double(largest));
    CHECK(each.source->exact_error() > 0);
  }
}

THEOREM("threads change no bit of a sum") {
  Rng rng(4);
  const auto X = check::sample_matrix<double>(rng, 700, 12, 0.5);
  Numbers gram;
  for (const Case& each : cases(X, gram)) {
    const auto rows = some_rows(rng, 701, X.n_rows), of = some_rows(rng, 300, X.n_rows);
    const auto a = uniforms(rng, 300, -2, 2);
    const Expansion sum{of.data(), a.data(), 300};
    Numbers first(701), exact(701);
    each.source->add(rows.data(), 701, sum, first.data(), 1);
    each.source->add_exact(rows.data(), 701, sum, exact.data(), 1);
    for (const int n_threads : {2, 3, 4}) {
      Numbers F(701), E(701);
      each.source->add(rows.data(), 701, sum, F.data(), n_threads);
      each.source->add_exact(rows.data(), 701, sum, E.data(), n_threads);
      CHECK(check::same_bits(F, first));
      CHECK(check::same_bits(E, exact));
    }
  }
}

THEOREM("a Gaussian kernel far from the origin keeps its digits, thanks to its centre") {
  Rng rng(5);
  auto X = check::sample_matrix<double>(rng, 40, 3, 1.0);
  for (double& entry : X.full) entry += 1000.0;
  const VectorSource<GaussianProfile> source(X.dense(), GaussianProfile{0.7}, means(X));
  CHECK(source.error() < 1e-4);
  std::vector<Index> rows{0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<float> K(8 * 24);
  source.block(rows.data(), 8, K.data(), 24, 1);
  for (Index i = 0; i < 8; ++i)
    for (Index k = 0; k < 8; ++k)
      CHECK_NEAR(double(K[std::size_t(i * 24 + k)]), double(std::exp(-0.7L * apart(X, i, k))),
                 source.error());
}

THEOREM("a table of products gives the values of exact sums, to the bit off the diagonal, for any threads") {
  Rng rng(8);
  for (const Index d : {1, 6, 40})
    for (const Index n : {1, 31, 32, 33, 64, 97}) {
      const auto X = check::sample_matrix<double>(rng, n, d, 0.5);
      const auto test = [&](const auto& rows, const std::vector<double>& centre) {
        const GaussianProfile profile{0.7};
        const VectorSource<GaussianProfile> source(rows, profile, centre);
        for (const int n_threads : {1, 3}) {
          Watch watch;
          const ProductTable table(rows, centre, n_threads, watch);
          Numbers K(std::size_t(n * n), -77.0);
          table.fill(profile, K.data(), n_threads);
          CHECK(table.error(profile) <= source.exact_error());
          for (Index i = 0; i < n; ++i)
            for (Index k = 0; k < n; ++k) {
              const double one = 1, got = K[std::size_t(i * n + k)];
              double value = 0;
              source.add_exact(&i, 1, Expansion{&k, &one, 1}, &value, 1);
              CHECK(i == k ? got == 1 : got == value);
              CHECK(got == K[std::size_t(k * n + i)]);
            }
        }
      };
      test(X.dense(), means(X));
      test(X.csr(), {});
    }
}

THEOREM("clusters of rows that are far apart keep the digits of what is near, from differences") {
  Rng rng(11);
  auto X = check::sample_matrix<double>(rng, 40, 2, 0.5), Z = check::sample_matrix<double>(rng, 33, 2, 0.5);
  for (auto* each : {&X, &Z})
    for (Index i = 0; i < each->n_rows; i += 2) each->full[std::size_t(2 * i)] += 0x1p20;
  const auto centre = means(X);
  for (const bool is_centred : {false, true}) {
    const VectorSource<GaussianProfile> source(X.dense(), {0.7}, is_centred ? centre : Numbers{});
    CHECK(source.is_far());
    CHECK(source.error() < 1e-5);
    CHECK(source.exact_error() < 1e-9);
    const auto a = uniforms(rng, 80, -2, 2);
    std::vector<Index> rows(40);
    for (Index k = 0; k < 40; ++k) rows[std::size_t(k)] = k;
    const std::vector<Index> whole{0, 40}, halves{0, 17, 40};
    const PackedRows<double> others(Z.dense(), source.centre());
    const auto wanted = [&](const auto& from, Index i, const double* coefficient, Index first, Index last) {
      long double sum = 0;
      for (Index k = first; k < last; ++k) {
        long double squared = 0;
        for (Index j = 0; j < 2; ++j) {
          const long double by = (long double)(from.at(i, j)) - X.at(k, j);
          squared += by * by;
        }
        sum += coefficient[k] * std::exp(-0.7L * squared);
      }
      return double(sum);
    };
    Numbers F(40);
    source.add_exact(rows.data(), 40, {rows.data(), a.data(), 40}, F.data(), 2);
    for (Index i = 0; i < 40; ++i) CHECK_NEAR(F[std::size_t(i)], wanted(X, i, a.data(), 0, 40), 1e-7);
    for (const Index n_outputs : {1, 2}) {
      Numbers one(std::size_t(33 * n_outputs)), two(std::size_t(33 * 2 * n_outputs));
      Watch watch;
      expand(source, others, {rows.data(), a.data(), 40, n_outputs, whole.data(), 1}, one.data(), 2, watch);
      expand(source, others, {rows.data(), a.data(), 40, n_outputs, halves.data(), 2}, two.data(), 2, watch);
      for (Index i = 0; i < 33; ++i)
        for (Index o = 0; o < n_outputs; ++o) {
          CHECK_NEAR(one[std::size_t(i * n_outputs + o)], wanted(Z, i, a.data() + 40 * o, 0, 40), 1e-7);
          CHECK_NEAR(two[std::size_t((2 * i + 1) * n_outputs + o)], wanted(Z, i, a.data() + 40 * o, 17, 40),
                     1e-7);
        }
    }
  }
}

THEOREM(
    "an expansion at other rows is the definition's sum, for any outputs, segments and threads, in the same "
    "bits") {
  Rng rng(7);
  for (const Index d : {1, 6, 40}) {
    const auto X = check::sample_matrix<double>(rng, 70, d, 0.5),
               Z = check::sample_matrix<double>(rng, 41, d, 0.5);
    const VectorSource<GaussianProfile> source(X.dense(), GaussianProfile{0.7}, means(X));
    const PackedRows<double> others(Z.dense(), source.centre());
    for (const Index n_outputs : {1, 2, 5, 11, 17, 25, 36}) {
      const auto rows = some_rows(rng, 100, X.n_rows);
      const std::vector<Index> segment{0, 33, 33, 100};
      const auto a = uniforms(rng, 100 * n_outputs, -2, 2);
      const SupportSums support{rows.data(), a.data(), 100, n_outputs, segment.data(), 3};
      std::vector<Numbers> found;
      for (const int n_threads : {1, 3}) {
        Watch watch;
        found.emplace_back(std::size_t(Z.n_rows * 3 * n_outputs), 0.0);
        expand(source, others, support, found.back().data(), n_threads, watch);
      }
      CHECK(found[0] == found[1]);
      for (Index i = 0; i < Z.n_rows; ++i)
        for (Index s = 0; s < 3; ++s)
          for (Index o = 0; o < n_outputs; ++o) {
            long double wanted = 0;
            for (Index k = segment[std::size_t(s)]; k < segment[std::size_t(s + 1)]; ++k) {
              long double apart_by = 0;
              for (Index j = 0; j < d; ++j) {
                const long double by = (long double)(Z.at(i, j)) - X.at(rows[std::size_t(k)], j);
                apart_by += by * by;
              }
              wanted += a[std::size_t(o * 100 + k)] * std::exp(-0.7L * apart_by);
            }
            CHECK(std::abs(double(found[0][std::size_t((i * 3 + s) * n_outputs + o)] - wanted)) <= 1e-12);
          }
    }
  }
}

THEOREM("votes are those of the expansion's scores, the first of equals wins, and threads change none") {
  Rng rng(9);
  for (const bool is_sparse : {false, true})
    for (const Index K : {3, 4, 9})
      for (const Index n : {1, 31, 33, 150}) {
        const auto X = check::sample_matrix<double>(rng, 60, 4, 0.5),
                   Z = check::sample_matrix<double>(rng, n, 4, 0.5);
        const VectorSource<GaussianProfile> source =
            is_sparse ? VectorSource<GaussianProfile>(X.csr(), {0.7}, {})
                      : VectorSource<GaussianProfile>(X.dense(), {0.7}, means(X));
        const PackedRows<double> others = is_sparse ? PackedRows<double>(Z.csr(), source.centre())
                                                    : PackedRows<double>(Z.dense(), source.centre());
        const Index size = 7 * K;
        const auto rows = some_rows(rng, size, X.n_rows);
        std::vector<Index> segment;
        for (Index k = 0; k <= K; ++k) segment.push_back(7 * k);
        Numbers a = uniforms(rng, size * (K - 1), -2, 2);
        for (double& each : a)
          if (rng.below(3) != 0) each = 0;  // as most are
        const SupportSums support{rows.data(), a.data(), size, K - 1, segment.data(), K};
        const Numbers b = uniforms(rng, K * (K - 1) / 2, -0.1, 0.1);
        Watch watch;
        Numbers sums(std::size_t(n * K * (K - 1)));
        expand(source, others, support, sums.data(), 1, watch);
        for (const int n_threads : {1, 3}) {
          std::vector<Index> winner(std::size_t(n), -1);
          votes(source, others, support, b.data(), winner.data(), n_threads, watch);
          for (Index i = 0; i < n; ++i) {
            std::vector<int> won(static_cast<std::size_t>(K));
            std::size_t pair = 0;
            const double* of = sums.data() + i * K * (K - 1);
            for (Index first = 0; first < K; ++first)
              for (Index second = first + 1; second < K; ++second) {
                const double z = of[first * (K - 1) + second - 1] + of[second * (K - 1) + first] + b[pair++];
                ++won[std::size_t(z < 0 ? second : first)];
              }
            CHECK(winner[std::size_t(i)] == std::max_element(won.begin(), won.end()) - won.begin());
          }
        }
      }
}
