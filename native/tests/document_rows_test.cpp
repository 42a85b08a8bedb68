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
