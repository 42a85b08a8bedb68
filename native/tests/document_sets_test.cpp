#include "lineal/text/document_sets.h"

#include <set>

#include "check.h"
#include "lineal/rng.h"

using namespace lineal;

namespace {

using Columns = std::vector<std::int32_t>;

// Each column where it is met first.
Columns distinct(const Columns& met) {
  Columns all;
  std::set<std::int32_t> known;
  for (const std::int32_t column : met)
    if (known.insert(column).second) all.push_back(column);
  return all;
}

void check_documents(const std::vector<Columns>& documents, std::size_t n_columns) {
  Distinct finder;
  DocumentSets sets(n_columns);
  for (int round = 0; round < 2; ++round) {
    sets.clear();
    CHECK(sets.rows().n_rows == 0);
    for (const Columns& document : documents) {
      std::uint32_t* const met = finder.met(document.size());
      for (std::size_t k = 0; k < document.size(); ++k) met[k] = std::uint32_t(document[k]);
      sets.add(finder, document.size());
    }
    const Sets rows = sets.rows();
    CHECK(rows.n_rows == Index(documents.size()) && rows.n_columns == Index(n_columns));
    for (Index i = 0; i < rows.n_rows; ++i)
      CHECK((Columns(rows[i].index, rows[i].index + rows[i].size) == distinct(documents[std::size_t(i)])));
  }
}

}  // namespace

THEOREM("a set has each column that was met once, in the order of first meeting") {
  Rng rng(21);
  for (const std::size_t n_columns :
       {std::size_t(1), std::size_t(2), std::size_t(3), std::size_t(1000), std::size_t(0x7FFFFFFF)}) {
    std::vector<Columns> documents;
    for (const std::uint64_t size : {0, 1, 5, 300, 0, 3000, 20000, 40, 300}) {
      documents.emplace_back();
      for (std::uint64_t k = 0; k < size; ++k) {
        const std::uint64_t near = rng.below(std::min<std::uint64_t>(n_columns, 1 + size / 2));
        documents.back().push_back(std::int32_t(rng.below(2) ? near : rng.below(n_columns)));
      }
    }
    check_documents(documents, n_columns);
  }
}

THEOREM("columns that crowd in one corner make the same sets, and in time") {
  std::vector<Columns> documents(2);
  // Without the way out these would be looked at 2 * 10^10 times.
  for (std::int32_t k = 0; k < 200000; ++k) {
    documents[0].push_back(0x7FFFFFFE - k);
    documents[1].push_back(k % 150000);
  }
  check_documents(documents, 0x7FFFFFFF);
}
