#include "lineal/text/term_matrix.h"

#include "check.h"
#include "texts.h"

using namespace lineal;
using namespace lineal::check;

namespace {

struct Terms {
  std::vector<std::vector<std::uint64_t>> entries;
  std::vector<Term> terms;
  Counts counts;
};

Terms random_terms(Rng& rng, std::size_t n_terms, std::size_t n_documents, std::uint64_t one_in,
                   std::uint64_t most) {
  Terms made{{}, {}, Counts(n_documents)};
  made.entries.resize(n_terms);
  std::int32_t column = 0;
  for (auto& own : made.entries) {
    column += std::int32_t(1 + rng.below(3));
    for (std::size_t d = 0; d < n_documents; ++d) {
      if (rng.below(one_in)) continue;
      const std::uint64_t count = 1 + rng.below(rng.below(10) ? 3 : most);
      own.push_back(count << 32 | d);
      made.counts[d][column] = std::int64_t(count);
    }
    made.terms.push_back({own, column});
  }
  return made;
}

template <class V>
void check_matrix(const Terms& terms, std::vector<int> threads) {
  const Entries wanted = entries_of(terms.counts);
  for (const int n_threads : threads)
    CHECK(entries_of(term_matrix<V>(terms.terms, terms.counts.size(), Weighing(), n_threads, [] {})) ==
          wanted);
}

}  // namespace

THEOREM(
    "rows are the table of counts turned over: any shape, large counts that leave few bits to documents") {
  Rng rng(11);
  for (const std::size_t n_documents : {0u, 1u, 7u, 300u})
    for (const std::size_t n_terms : {0u, 1u, 50u})
      for (const std::uint64_t most : {1u, 255u, 65536u, 0x7FFFFFFFu}) {
        const Terms terms = random_terms(rng, n_terms, n_documents, 3, most);
        check_matrix<double>(terms, {1, 9});
        // Numbers up to 2^24 are floats.
        if (most <= 1 << 24) check_matrix<float>(terms, {1, 9});
      }
}

THEOREM("rows do not depend on the number of threads, nor on the blocks of documents") {
  Rng rng(12);
  // Enough entries for several parts and several blocks.
  for (const std::uint64_t most : {2u, 0x7FFFFFFFu})
    check_matrix<double>(random_terms(rng, 40, 20000, 3, most), {1, 2, 7});
  check_matrix<float>(random_terms(rng, 20000, 40, 3, 2), {1, 2, 7});
}

THEOREM("entries are asked for until they are released, once, and never after it") {
  Rng rng(14);
  Terms terms = random_terms(rng, 50, 3000, 2, 9);
  int n_releases = 0;
  const auto release = [&] {
    ++n_releases;
    for (auto& own : terms.entries) own = {};
  };
  CHECK(entries_of(term_matrix<double>(terms.terms, 3000, Weighing(), 2, release)) ==
        entries_of(terms.counts));
  CHECK(n_releases == 1);
}

THEOREM("a row is weighed as the weighing does it") {
  Rng rng(13);
  const Terms terms = random_terms(rng, 30, 60, 4, 5);
  Weighing weighing;
  weighing.tf = Tf::bm25;
  weighing.norm = Norm::l2;
  weighing.mean_length = 20;
  const Entries made = entries_of(term_matrix<double>(terms.terms, 60, weighing, 1, [] {}));
  for (std::size_t d = 0; d < 60; ++d) {
    std::vector<std::int32_t> columns, counts;
    for (const auto& [column, count] : terms.counts[d]) {
      columns.push_back(column);
      counts.push_back(std::int32_t(count));
    }
    std::vector<double> values(columns.size());
    weighing.weigh<double>(columns, counts.data(), values.data());
    CHECK(made[d].size() == values.size());
    for (std::size_t e = 0; e < values.size(); ++e) CHECK(made[d][e] == std::pair(columns[e], values[e]));
  }
}
