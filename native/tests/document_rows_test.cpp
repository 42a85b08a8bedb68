#include "lineal/text/document_rows.h"

#include "check.h"
#include "texts.h"

using namespace lineal;
using namespace lineal::check;

THEOREM("a row has each column that was met once, in order, with the signed sum, even if that is 0") {
  Rng rng(14);
  for (const std::size_t n_columns :
       {std::size_t(1), std::size_t(2), std::size_t(1000), std::size_t(0x7FFFFFFF)}) {
    const Weighing weighing;
    Counts counts;
    std::vector<DocumentRows<float>> parts;
    for (int part = 0; part < 3; ++part) parts.emplace_back(n_columns, weighing);
    for (auto& part : parts)
      for (int document = 0; document < 40; ++document) {
        counts.emplace_back();
        // Fewer and more than what an insertion sort takes.
        for (std::uint64_t k = rng.below(document % 2 ? 200 : 5); k > 0; --k) {
          const std::uint64_t near = rng.below(std::min<std::size_t>(n_columns, 20));
          const std::size_t column = rng.below(2) ? near : n_columns - 1 - near;
          const bool is_negative = rng.below(2) == 0;
          part.meet(column, is_negative);
          counts.back()[std::int32_t(column)] += is_negative ? -1 : 1;
        }
        part.end();
      }
    parts.emplace(parts.begin() + 1, n_columns, weighing);  // a part without documents
    CHECK(entries_of(DocumentRows<float>::join(parts)) == entries_of(counts));
  }
}

THEOREM("columns that are met often at once, and in order, make the same row") {
  const Weighing weighing;
  std::vector<DocumentRows<double>> parts;
  parts.emplace_back(9, weighing);
  parts[0].add({});
  parts[0].add(std::vector<std::uint64_t>{std::uint64_t(7) << 32 | 2, std::uint64_t(1) << 32 | 8});
  parts[0].meet(8);
  parts[0].end();
  CHECK((entries_of(DocumentRows<double>::join(parts)) == Entries{{}, {{2, 7.0}, {8, 1.0}}, {{8, 1.0}}}));
}

THEOREM("hashed columns make the rows that any columns make, and what was cleared leaves nothing behind") {
  Rng rng(15);
  for (const std::size_t n_columns :
       {std::size_t(1), std::size_t(3), std::size_t(1) << 18, std::size_t(0x7FFFFFFF)}) {
    const Weighing weighing;
    DocumentRows<float> hashed(n_columns, weighing, Columns::hashed);
    CHECK(hashed.rows().n_rows == 0);
    for (int round = 0; round < 4; ++round) {
      hashed.clear();
      hashed.meet(0);
      hashed.clear();  // a document that was not ended
      std::vector<DocumentRows<float>> any;
      any.emplace_back(n_columns, weighing);
      for (const std::size_t size : {0u, 1u, 31u, 32u, 500u, round % 2 ? 0u : 5000u}) {
        for (std::size_t k = 0; k < size; ++k) {
          const std::size_t column = rng.below(n_columns);
          const bool is_negative = rng.below(2) == 0;
          hashed.meet(column, is_negative);
          any[0].meet(column, is_negative);
        }
        hashed.end();
        any[0].end();
      }
      const Csr<float> rows = hashed.rows();
      const TermMatrix<float> wanted = DocumentRows<float>::join(any);
      CHECK(std::equal(rows.start, rows.start + 7, wanted.start.begin(), wanted.start.end()));
      CHECK(std::equal(rows.index, rows.index + rows.start[6], wanted.column.data()));
      CHECK(std::equal(rows.value, rows.value + rows.start[6], wanted.value.data()));
    }
  }
}
