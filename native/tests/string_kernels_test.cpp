#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check.h"
#include "lineal/kernel/absolute.h"
#include "lineal/kernel/spectrum.h"
#include "lineal/kernel/strings.h"
#include "samples.h"

using namespace lineal;
using namespace lineal::kernel;

namespace {

struct Texts {
  std::vector<Symbol> symbol;
  std::vector<Index> start{0};

  explicit Texts(const std::vector<std::string>& all) {
    for (const std::string& text : all) {
      for (const char c : text) symbol.push_back(Symbol(static_cast<unsigned char>(c)));
      start.push_back(Index(symbol.size()));
    }
  }
  Sequences view() const { return {symbol.data(), start.data(), Index(start.size()) - 1}; }
};

// The definition: every subsequence of x of the length, spelled out, with decay^span.
std::map<std::string, double> subsequences(const std::string& x, int length, double decay) {
  std::map<std::string, double> weight;
  const std::function<void(std::string, std::size_t, std::size_t)> extend =
      [&](std::string so_far, std::size_t first, std::size_t next) {
        if (int(so_far.size()) == length) {
          weight[so_far] += std::pow(decay, double(next - first));
          return;
        }
        for (std::size_t i = next; i < x.size(); ++i)
          extend(so_far + x[i], so_far.empty() ? i : first, i + 1);
      };
  extend("", 0, 0);
  return weight;
}

double dot(const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
  double sum = 0;
  for (const auto& [key, value] : a)
    if (const auto other = b.find(key); other != b.end()) sum += value * other->second;
  return sum;
}

std::vector<std::string> some_texts(Rng& rng, int n, int longest) {
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) {
    std::string text;
    for (auto left = rng.below(std::uint64_t(longest) + 1); left > 0; --left)
      text += char('a' + int(rng.below(3)));
    all.push_back(text);
  }
  return all;
}

std::vector<double> table_of(const Texts& X, const Texts* Z, int length, double decay, int n_threads) {
  const Sequences rows = X.view(), columns = Z == nullptr ? rows : Z->view();
  std::vector<double> out(std::size_t(rows.size * columns.size), -1.0);
  Watch watch;
  const Table table{rows.size, columns.size, Z == nullptr, out.data()};
  subsequence_table(rows, columns, table, length, decay, n_threads, watch);
  return out;
}

}  // namespace

THEOREM("the subsequence kernel is the dot product of all subsequences, spelled out") {
  Rng rng(7);
  for (int length = 1; length <= 4; ++length) {
    const auto xs = some_texts(rng, 11, 9), zs = some_texts(rng, 70, 9);
    const Texts X(xs), Z(zs);
    const auto all = table_of(X, &Z, length, 0.7, 2);
    std::vector<double> own(xs.size());
    Watch watch;
    subsequence_diagonal(X.view(), own.data(), length, 0.7, 2, watch);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const auto x = subsequences(xs[i], length, 0.7);
      CHECK_NEAR(own[i], dot(x, x), 1e-12 * (1 + dot(x, x)));
      for (std::size_t j = 0; j < zs.size(); ++j) {
        const double wanted = dot(x, subsequences(zs[j], length, 0.7));
        CHECK_NEAR(all[i * zs.size() + j], wanted, 1e-12 * (1 + wanted));
      }
    }
  }
}

THEOREM("tables of strings have the same bits for any threads, and are symmetric") {
  Rng rng(8);
  const Texts X(some_texts(rng, 150, 40));
  const auto one = table_of(X, nullptr, 3, 0.5, 1);
  CHECK(check::same_bits(one, table_of(X, nullptr, 3, 0.5, 4)));
  const std::size_t n = 150;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(one[i * n + j] == one[j * n + i]);
}

THEOREM("no strings, and strings without symbols, are tables too") {
  const Texts none({}), empty({"", ""}), some({"ab"});
  CHECK(table_of(none, nullptr, 2, 0.5, 2).empty());
  for (const double value : table_of(empty, &some, 1, 0.5, 2)) CHECK(value == 0.0);
}

THEOREM("a watch that says stop ends a table of strings") {
  const Texts X(std::vector<std::string>(20, std::string(400, 'a')));
  std::vector<double> out(400, -1.0);
  Watch watch([] { return true; }, std::chrono::nanoseconds(0), 1);
  subsequence_table(X.view(), X.view(), {20, 20, true, out.data()}, 3, 0.5, 2, watch);
  CHECK(watch.is_over());
  CHECK(out[399] == -1.0);
}

THEOREM("runs of symbols are counted, each under a number of its own") {
  Rng rng(9);
  for (Index n = 1; n <= 7; ++n) {
    const auto texts = some_texts(rng, 40, 30);
    const Texts all(texts);
    Watch watch;
    const CountRows rows = run_counts(all.view(), n, watch);
    std::map<std::string, std::int32_t> number;
    CHECK(rows.start.size() == texts.size() + 1);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      std::map<std::string, double> count;
      for (std::size_t p = 0; p + std::size_t(n) <= texts[i].size(); ++p)
        count[texts[i].substr(p, std::size_t(n))] += 1;
      CHECK(rows.start[i + 1] - rows.start[i] == Index(count.size()));
      std::map<std::int32_t, double> found;
      for (Index k = rows.start[i]; k < rows.start[i + 1]; ++k) {
        CHECK(rows.column[std::size_t(k)] < rows.n_columns);
        CHECK(k == rows.start[i] || rows.column[std::size_t(k)] > rows.column[std::size_t(k) - 1]);
        found[rows.column[std::size_t(k)]] = rows.count[std::size_t(k)];
      }
      double sum = 0, sum_found = 0;
      for (const auto& [run, c] : count) sum += c * c;
      for (const auto& [column, c] : found) sum_found += c * c;
      CHECK(sum == sum_found);
    }
    // The dot product of two rows counts the runs that two texts share.
    for (std::size_t i = 1; i < texts.size(); ++i) {
      double wanted = 0, got = 0;
      for (std::size_t p = 0; p + std::size_t(n) <= texts[i].size(); ++p)
        for (std::size_t q = 0; q + std::size_t(n) <= texts[i - 1].size(); ++q)
          wanted += texts[i].substr(p, std::size_t(n)) == texts[i - 1].substr(q, std::size_t(n));
      for (Index k = rows.start[i]; k < rows.start[i + 1]; ++k)
        for (Index l = rows.start[i - 1]; l < rows.start[i]; ++l)
          if (rows.column[std::size_t(k)] == rows.column[std::size_t(l)])
            got += rows.count[std::size_t(k)] * rows.count[std::size_t(l)];
      CHECK(got == wanted);
    }
  }
}

THEOREM("absolute distances are the same sparse and dense, and symmetric") {
  Rng rng(10);
  const auto X = check::sample_matrix<double>(rng, 90, 13, 0.3);
  std::vector<double> sparse(90 * 90), dense(90 * 90);
  Watch watch;
  absolute_distances(X.csr(), X.csr(), {90, 90, true, sparse.data()}, 3, watch);
  absolute_distances(X.dense(), X.dense(), {90, 90, false, dense.data()}, 1, watch);
  for (Index i = 0; i < 90; ++i)
    for (Index j = 0; j < 90; ++j) {
      double wanted = 0;
      for (Index k = 0; k < 13; ++k) wanted += std::abs(X.at(i, k) - X.at(j, k));
      CHECK_NEAR(sparse[std::size_t(90 * i + j)], wanted, 1e-12);
      CHECK_NEAR(dense[std::size_t(90 * i + j)], wanted, 1e-12);
      CHECK(dense[std::size_t(90 * i + j)] == dense[std::size_t(90 * j + i)]);
    }
}
