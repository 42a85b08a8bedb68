#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "check.h"
#include "lineal/near/codes.h"
#include "lineal/near/inverted.h"
#include "lineal/near/kd_tree.h"
#include "lineal/near/product.h"
#include "lineal/near/sparse.h"
#include "lineal/near/strings.h"
#include "samples.h"

using namespace lineal;
using namespace lineal::near;
using lineal::check::sample_matrix;
using lineal::check::uniform;

namespace {

struct Found {
  std::vector<double> distance;
  std::vector<Index> row;
  bool operator==(const Found&) const = default;
};

// Runs search(answers, watch) and keeps what it writes.
template <class Search>
Found found(Index n_queries, Index k, Search&& search) {
  Found all{std::vector<double>(std::size_t(n_queries * k), -1.0),
            std::vector<Index>(std::size_t(n_queries * k), -1)};
  Watch watch;
  search(Answers{k, all.distance.data(), all.row.data()}, watch);
  return all;
}

// The first k of every row of distances, by (distance, row).
Found sorted(const std::vector<double>& distances, Index n, Index k) {
  Found all;
  for (std::size_t first = 0; first < distances.size(); first += std::size_t(n)) {
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index(0));
    const double* d = distances.data() + first;
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return d[a] < d[b]; });
    for (Index i = 0; i < k; ++i) {
      all.distance.push_back(d[order[std::size_t(i)]]);
      all.row.push_back(order[std::size_t(i)]);
    }
  }
  return all;
}

// Few different numbers: many ties and many equal rows. Or many.
std::vector<double> points(Rng& rng, Index n, Index d, bool is_coarse) {
  std::vector<double> all(static_cast<std::size_t>(n * d));
  for (double& x : all) x = is_coarse ? double(rng.below(3)) : uniform(rng, -1, 1);
  return all;
}

template <class Metric>
std::vector<double> slow_distances(const std::vector<double>& X, const std::vector<double>& Q, Index d) {
  std::vector<double> all;
  for (std::size_t q = 0; q < Q.size(); q += std::size_t(d))
    for (std::size_t x = 0; x < X.size(); x += std::size_t(d)) {
      double sum = 0;
      for (std::size_t j = 0; j < std::size_t(d); ++j) sum += Metric::term(Q[q + j], X[x + j]);
      all.push_back(Metric::distance(sum));
    }
  return all;
}

void normalise(std::vector<double>& X, Index d) {
  for (std::size_t i = 0; i < X.size(); i += std::size_t(d)) {
    const double size = length(X.data() + i, d);
    for (std::size_t j = 0; j < std::size_t(d) && size > 0; ++j) X[i + j] /= size;
  }
}

struct SparseCopy {
  SparseCopy(const std::vector<double>& X, Index d) : n_columns(d) {
    for (std::size_t i = 0; i < X.size(); i += std::size_t(d)) {
      for (std::size_t j = 0; j < std::size_t(d); ++j)
        if (X[i + j] != 0) index.push_back(std::int32_t(j)), value.push_back(X[i + j]);
      start.push_back(Index(index.size()));
    }
  }
  Csr<double> view() const {
    return {Index(start.size()) - 1, n_columns, start.data(), index.data(), value.data()};
  }
  Index n_columns;
  std::vector<Index> start{0};
  std::vector<std::int32_t> index;
  std::vector<double> value;
};

// The textbook table, two rows of it.
Index slow_edit_distance(const std::vector<Symbol>& a, const std::vector<Symbol>& b) {
  std::vector<Index> above(b.size() + 1), here(b.size() + 1);
  std::iota(above.begin(), above.end(), Index(0));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    here[0] = Index(i);
    for (std::size_t j = 1; j <= b.size(); ++j)
      here[j] = std::min({above[j] + 1, here[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
    std::swap(above, here);
  }
  return above[b.size()];
}

struct StringSample {
  void add(const std::vector<Symbol>& text) {
    symbols.insert(symbols.end(), text.begin(), text.end());
    start.push_back(Index(symbols.size()));
    texts.push_back(text);
  }
  Strings view() const { return {symbols.data(), start.data(), Index(texts.size())}; }
  std::vector<Symbol> symbols;
  std::vector<Index> start{0};
  std::vector<std::vector<Symbol>> texts;
};

std::vector<Symbol> random_text(Rng& rng, Index longest) {
  std::vector<Symbol> text(static_cast<std::size_t>(rng.below(std::uint64_t(longest) + 1)));
  for (Symbol& c : text) c = rng.below(4) == 0 ? Symbol(0x1F600 + rng.below(3)) : Symbol('a' + rng.below(3));
  return text;
}

}  // namespace

THEOREM("kd-tree and product filter find what a sort of all distances finds, bit for bit, ties by row") {
  Rng rng(1);
  for (const Index n : {1, 2, 7, 24, 25, 130, 600})
    for (const Index d : {1, 2, 5, 17})
      for (const bool is_coarse : {false, true}) {
        const auto X = points(rng, n, d, is_coarse), Q = points(rng, 13, d, is_coarse);
        const auto all = slow_distances<Euclidean>(X, Q, d);
        const KdTree tree(X.data(), n, d);
        const ProductIndex<Euclidean> product(X.data(), n, d);
        for (const Index k : {Index(1), std::min<Index>(n, 5), n})
          for (const int n_threads : {1, 3}) {
            const Found wanted = sorted(all, n, k);
            CHECK(found(13, k, [&](const Answers& a, Watch& w) {
                    tree.search(Q.data(), 13, a, n_threads, w);
                  }) == wanted);
            CHECK(found(13, k, [&](const Answers& a, Watch& w) {
                    product.search(Q.data(), 13, a, n_threads, w);
                  }) == wanted);
          }
        std::vector<double> out(all.size());
        Watch watch;
        all_distances<Euclidean>(X.data(), n, d, Q.data(), 13, out.data(), 2, watch);
        CHECK(out == all);
      }
}

THEOREM(
    "the filter loses no row however the points are shifted and scaled, and far queries are answered too") {
  Rng rng(2);
  const Index n = 300, d = 9;
  for (const double shift : {0.0, 1e6, 1e12})
    for (const double scale : {1e-80, 1.0, 1e80}) {
      auto X = points(rng, n, d, false), Q = points(rng, 8, d, false);
      for (double& x : X) x = (x + shift) * scale;
      for (double& x : Q) x = (x + shift) * scale;
      for (Index j = 0; j < d; ++j) Q[std::size_t(j)] *= 1e40;  // beyond single precision
      const Found wanted = sorted(slow_distances<Euclidean>(X, Q, d), n, 7);
      const ProductIndex<Euclidean> product(X.data(), n, d);
      CHECK(found(8, 7, [&](const Answers& a, Watch& w) { product.search(Q.data(), 8, a, 1, w); }) == wanted);
      const SparseCopy rows(X, d), queries(Q, d);
      const InvertedIndex<Euclidean> inverted(rows.view());
      CHECK(found(8, 7, [&](const Answers& a, Watch& w) { inverted.search(queries.view(), a, 1, w); }) ==
            wanted);
    }
}

THEOREM("cosine: dense product, inverted index and every sparse row agree bit for bit, with rows of zeros") {
  Rng rng(3);
  for (const double density : {0.02, 0.3, 1.0})
    for (const Index n : {1, 3, 40, 700}) {
      const Index d = 60;
      auto X = sample_matrix<double>(rng, n, d, density).full,
           Q = sample_matrix<double>(rng, 9, d, density).full;
      for (Index j = 0; j < d; ++j) Q[std::size_t(j)] = 0.0;
      for (std::size_t i = 0; i + std::size_t(2 * d) <= X.size();
           i += std::size_t(5 * d))  // pairs of equal rows
        std::copy_n(X.data() + i, d, X.data() + i + d);
      normalise(X, d);
      normalise(Q, d);
      const auto all = slow_distances<Cosine>(X, Q, d);
      const SparseCopy rows(X, d), queries(Q, d);
      const ProductIndex<Cosine> product(X.data(), n, d);
      const InvertedIndex<Cosine> inverted(rows.view());
      for (const Index k : {Index(1), std::min<Index>(n, 10), n})
        for (const int n_threads : {1, 2}) {
          const Found wanted = sorted(all, n, k);
          CHECK(found(9, k, [&](const Answers& a, Watch& w) {
                  product.search(Q.data(), 9, a, n_threads, w);
                }) == wanted);
          CHECK(found(9, k, [&](const Answers& a, Watch& w) {
                  inverted.search(queries.view(), a, n_threads, w);
                }) == wanted);
          CHECK(found(9, k, [&](const Answers& a, Watch& w) {
                  search_sparse<Cosine>(rows.view(), queries.view(), a, n_threads, w);
                }) == wanted);
        }
    }
}

THEOREM(
    "an inverted index of several blocks, with rare, common and full columns, stops early and loses "
    "nothing") {
  Rng rng(4);
  const Index n = inverted_block + 2000, d = 400;
  SparseCopy rows({}, d);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double share = j < 3 ? 0.5 : j < 20 ? 0.06 : 0.004;
      if (uniform(rng, 0, 1) >= share) continue;
      rows.index.push_back(std::int32_t(j));
      rows.value.push_back(uniform(rng, -1, 1) * (j < 20 ? 0.1 : 1.0));
    }
    rows.start.push_back(Index(rows.index.size()));
    const Index begin = rows.start[std::size_t(i)], size = rows.start[std::size_t(i) + 1] - begin;
    const double whole = length(rows.value.data() + begin, size);
    for (Index k = begin; k < begin + size && whole > 0; ++k) rows.value[std::size_t(k)] /= whole;
  }
  const Csr<double> X = rows.view();
  const Csr<double> Q{12, d, X.start + 100, X.index, X.value};  // rows 100 to 111
  const auto slow = found(12, 6, [&](const Answers& a, Watch& w) { search_sparse<Cosine>(X, Q, a, 1, w); });
  const InvertedIndex<Cosine> index(X);
  CHECK(found(12, 6, [&](const Answers& a, Watch& w) { index.search(Q, a, 2, w); }) == slow);
  for (Index i = 0; i < 12; ++i) CHECK_NEAR(slow.distance[std::size_t(6 * i)], 0.0, 1e-12);
}

THEOREM("Hamming: rows of codes are sorted by the columns, or weights of columns, in which they differ") {
  Rng rng(5);
  for (const Index n : {1, 31, 32, 200})
    for (const Index d : {1, 60, 300}) {
      std::vector<std::uint8_t> X(static_cast<std::size_t>(n * d)), Q(static_cast<std::size_t>(5 * d));
      for (auto& x : X) x = std::uint8_t(rng.below(3));
      for (auto& x : Q) x = std::uint8_t(rng.below(3));
      for (const bool is_weighted : {false, true}) {
        const auto w = check::uniforms(rng, is_weighted ? d : 0, 0, 2);
        std::vector<double> all;
        for (Index q = 0; q < 5; ++q)
          for (Index i = 0; i < n; ++i) {
            double sum = 0;
            for (Index j = 0; j < d; ++j)
              if (Q[std::size_t(q * d + j)] != X[std::size_t(i * d + j)])
                sum += is_weighted ? w[std::size_t(j)] : 1;
            all.push_back(sum);
          }
        const CodeIndex<std::uint8_t> index(X.data(), n, d, w.data(), Index(w.size()));
        const Index k = std::min<Index>(n, 4);
        CHECK(found(5, k, [&](const Answers& a, Watch& watch) { index.search(Q.data(), 5, a, 2, watch); }) ==
              sorted(all, n, k));
        std::vector<double> out(all.size());
        Watch watch;
        index.all_distances(Q.data(), 5, out.data(), 2, watch);
        CHECK(out == all);
      }
    }
}

THEOREM("the bit-parallel edit distance is the textbook's, also over 64 characters and under a limit") {
  Rng rng(6);
  for (const Index longest : {3, 12, 63, 64, 65, 140, 300})
    for (int round = 0; round < 30; ++round) {
      const auto a = random_text(rng, longest), b = random_text(rng, longest);
      const Index wanted = slow_edit_distance(a, b);
      Pattern pattern;
      pattern.set(a);
      CHECK(pattern.distance(b, 1 << 20) == wanted);
      CHECK(pattern.distance(b, wanted) == wanted);
      if (wanted > 0) CHECK(pattern.distance(b, wanted - 1) > wanted - 1);
    }
}

THEOREM("within a band the distance of long strings that are nearly equal is exact, and beyond it larger") {
  Rng rng(9);
  for (int round = 0; round < 60; ++round) {
    const auto a = random_text(rng, 400);
    auto b = a;
    for (std::uint64_t edit = rng.below(40); edit > 0; --edit) {
      const auto at = std::ptrdiff_t(rng.below(b.size() + 1));
      if (rng.below(2) == 0)
        b.insert(b.begin() + at, Symbol('z'));
      else if (at < std::ptrdiff_t(b.size()))
        b.erase(b.begin() + at);
    }
    const Index wanted = slow_edit_distance(a, b);
    Pattern pattern;
    pattern.set(a);
    for (Index limit = 0; limit < 70; ++limit) {
      const Index got = pattern.distance(b, limit);
      CHECK(wanted <= limit ? got == wanted : got > limit);
    }
  }
}

THEOREM("strings are found by length and still sorted by (distance, row)") {
  Rng rng(7);
  StringSample texts, queries;
  for (int i = 0; i < 150; ++i) texts.add(random_text(rng, i % 3 == 0 ? 90 : 9));
  for (int i = 0; i < 12; ++i) queries.add(random_text(rng, i % 3 == 0 ? 90 : 9));
  queries.add({});
  std::vector<double> all;
  for (const auto& q : queries.texts)
    for (const auto& x : texts.texts) all.push_back(double(slow_edit_distance(q, x)));
  const StringIndex index(texts.view());
  for (const Index k : {1, 5, 150})
    CHECK(found(13, k, [&](const Answers& a, Watch& w) { index.search(queries.view(), a, 2, w); }) ==
          sorted(all, 150, k));
  std::vector<double> out(all.size());
  Watch watch;
  index.all_distances(queries.view(), out.data(), 2, watch);
  CHECK(out == all);
}

THEOREM("a search that is told to end does so, whatever its index") {
  Rng rng(8);
  const Index n = 4000, d = 30;
  const auto X = points(rng, n, d, false);
  Found all{std::vector<double>(std::size_t(n * 3)), std::vector<Index>(std::size_t(n * 3))};
  const Answers answers{3, all.distance.data(), all.row.data()};
  const auto at_once = [] { return Watch([] { return true; }, std::chrono::nanoseconds(0), 1); };
  Watch first = at_once(), second = at_once();
  KdTree(X.data(), n, d).search(X.data(), n, answers, 2, first);
  ProductIndex<Euclidean>(X.data(), n, d).search(X.data(), n, answers, 2, second);
  CHECK(first.is_over());
  CHECK(second.is_over());
}
