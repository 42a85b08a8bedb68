// Products of the columns of dense rows.
//
// A row's products are made from the left: the ladder of a row holds its numbers, then the products of two of
// them, of three, and so on. A run says that x[lead] times `size` neighbours of the ladder, from `from` on,
// are its next `size` numbers. Rows are independent; each number of the answer is written once, row by row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "lineal/parallel.h"
#include "lineal/rows.h"

namespace lineal {

struct Run {
  Index lead, from, size;
};

// Which part of a ladder is wanted: from `first` on, behind a column of ones if it `has_constant`; each
// number times its weight, unless there are none.
template <class T>
struct Wanted {
  Index first;
  bool has_constant;
  std::span<const T> weight;
};

// Writes the products of the rows of X to out, (n_rows x width). Whether all of them are finite.
template <class T>
bool monomials_pass(const Dense<T>& X, std::span<const Run> runs, const Wanted<T>& wanted, T* out,
                    Index width, int n_threads) {
  const Index d = X.n_columns, n_ones = wanted.has_constant ? 1 : 0;
  std::vector<char> is_finite(std::size_t(n_threads), 1);
  parallel(n_threads, [&](int part) {
    // What is wanted whole is built where it is wanted.
    std::vector<T> scratch(wanted.first == 0 ? 0 : std::size_t(wanted.first + width - n_ones));
    T bad = 0;  // 0 times what is no number is none
    const Range mine = share(X.n_rows, part, n_threads);
    for (Index i = mine.first; i < mine.last; ++i) {
      T* const row = out + i * width;
      T* const answer = row + n_ones;
      const T* const x = X[i].value;
      T* const ladder = scratch.empty() ? answer : scratch.data();
      if (wanted.has_constant) row[0] = T(1);
      std::copy(x, x + d, ladder);
      T* next = ladder + d;
      for (const Run& run : runs) {
        const T lead = x[run.lead];
        const T* const from = ladder + run.from;
        for (Index t = 0; t < run.size; ++t) next[t] = lead * from[t];
        next += run.size;
      }
      if (!scratch.empty()) std::copy(ladder + wanted.first, next, answer);
      const Index size = width - n_ones;
      if (!wanted.weight.empty())
        for (Index t = 0; t < size; ++t) answer[t] *= wanted.weight[std::size_t(t)];
#pragma omp simd reduction(+ : bad)
      for (Index t = 0; t < size; ++t) bad += T(0) * answer[t];
    }
    is_finite[std::size_t(part)] = bad == T(0);
  });
  return std::find(is_finite.begin(), is_finite.end(), 0) == is_finite.end();
}

}  // namespace lineal
