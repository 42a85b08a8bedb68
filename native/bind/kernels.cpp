#include "bind.h"
#include "lineal/kernel/absolute.h"
#include "lineal/kernel/spectrum.h"
#include "lineal/kernel/strings.h"
#include "lineal/kernel/trees.h"

namespace lineal {
namespace {

using kernel::Forest;
using kernel::Sequences;
using kernel::Table;
using Symbols = Array1<const kernel::Symbol>;
using Places = Array1<const Index>;
using Values = nb::ndarray<double, nb::numpy>;

Sequences sequences(const Symbols& symbols, const Places& start) {
  require(start.shape(0) >= 1, "start needs one more entry than there are sequences");
  const Index n = Index(start.shape(0)) - 1;
  require(start.data()[0] == 0 && start.data()[n] == Index(symbols.shape(0)),
          "start does not fit the symbols");
  for (Index i = 0; i < n; ++i) require(start.data()[i] <= start.data()[i + 1], "start must not fall");
  return {symbols.data(), start.data(), n};
}

// A table of n x m values, or of n x n without a second set, filled by fill(table, watch).
template <class Fill>
Values table_of(Index n, std::optional<Index> m, int n_threads, Fill&& fill) {
  require(n_threads >= 1, "n_threads must be at least 1");
  auto out = new_array<double>({std::size_t(n), std::size_t(m.value_or(n))});
  const Table table{n, m.value_or(n), !m.has_value(), out.data()};
  interruptible_pass([&](Watch& watch) { fill(table, watch); });
  return out;
}

template <class Fill>
Values diagonal_of(Index n, int n_threads, Fill&& fill) {
  require(n_threads >= 1, "n_threads must be at least 1");
  auto out = new_array<double>({std::size_t(n)});
  interruptible_pass([&](Watch& watch) { fill(out.data(), watch); });
  return out;
}

Values subsequence_table(const Symbols& symbols, const Places& start, std::optional<Symbols> other_symbols,
                         std::optional<Places> other_start, int length, double decay, int n_threads) {
  require(length >= 1, "length must be at least 1");
  require(other_symbols.has_value() == other_start.has_value(), "other_symbols and other_start go together");
  const Sequences X = sequences(symbols, start);
  const bool has_other = other_symbols.has_value();
  const Sequences Z = has_other ? sequences(*other_symbols, *other_start) : X;
  return table_of(X.size, has_other ? std::optional(Z.size) : std::nullopt, n_threads,
                  [&](const Table& table, Watch& watch) {
                    kernel::subsequence_table(X, Z, table, length, decay, n_threads, watch);
                  });
}

Values subsequence_diagonal(const Symbols& symbols, const Places& start, int length, double decay,
                            int n_threads) {
  require(length >= 1, "length must be at least 1");
  const Sequences X = sequences(symbols, start);
  return diagonal_of(X.size, n_threads, [&](double* out, Watch& watch) {
    kernel::subsequence_diagonal(X, out, length, decay, n_threads, watch);
  });
}

template <class T>
nb::object array_of(const std::vector<T>& all) {
  auto out = new_array<T>({all.size()});
  std::copy(all.begin(), all.end(), out.data());
  return nb::cast(out);
}

nb::tuple run_counts(const Symbols& symbols, const Places& start, Index length) {
  require(length >= 1, "length must be at least 1");
  const Sequences all = sequences(symbols, start);
  kernel::CountRows rows;
  interruptible_pass([&](Watch& watch) { rows = kernel::run_counts(all, length, watch); });
  return nb::make_tuple(array_of(rows.start), array_of(rows.column), array_of(rows.count), rows.n_columns);
}

std::u32string text_of(const kernel::Sequence& from) {
  std::u32string text(static_cast<std::size_t>(from.size), U' ');
  for (std::size_t k = 0; k < text.size(); ++k) text[k] = char32_t(from.symbol[k]);
  return text;
}

nb::tuple read_trees(const Symbols& symbols, const Places& start) {
  const Sequences texts = sequences(symbols, start);
  Forest forest;
  kernel::Flaw flaw;
  interruptible_pass([&](Watch& watch) {
    for (Index i = 0; i < texts.size && !watch.says_stop(16 * texts[i].size); ++i)
      if (flaw = kernel::read_tree(text_of(texts[i]), i, forest); flaw.tree >= 0) return;
  });
  return nb::make_tuple(std::move(forest), nb::make_tuple(flaw.kind, flaw.tree, flaw.position));
}

// One event for each label: 1 opens a node, 0 is a word, and before them come so many closing brackets.
Forest build_trees(const Symbols& labels, const Places& start, Array1<const std::uint8_t> is_open,
                   Array1<const Index> n_closed_before) {
  const Sequences texts = sequences(labels, start);
  require(Index(is_open.shape(0)) == texts.size && Index(n_closed_before.shape(0)) == texts.size + 1,
          "the events do not fit the labels");
  Forest forest;
  kernel::TreeBuilder builder(forest);
  for (Index k = 0; k <= texts.size; ++k) {
    const Index n_closed = n_closed_before.data()[k];
    require(n_closed >= 0 && n_closed <= Index(builder.depth()), "more nodes are closed than open");
    for (Index c = 0; c < n_closed; ++c) builder.close();
    if (k == texts.size) break;
    require(is_open.data()[k] || builder.depth() > 0, "a word stands alone");
    if (is_open.data()[k])
      builder.open(text_of(texts[k]), k);
    else
      builder.word(text_of(texts[k]));
  }
  require(builder.depth() == 0, "a node is not closed");
  return forest;
}

Forest take_trees(const Forest& forest, const Places& places) {
  for (std::size_t k = 0; k < places.shape(0); ++k)
    require(places.data()[k] >= 0 && places.data()[k] < forest.size(), "there is no such tree");
  return forest.take(places.data(), Index(places.shape(0)));
}

Values tree_table(const Forest& X, const Forest* Z, double decay, double sigma, int n_threads) {
  return table_of(X.size(), Z == nullptr ? std::nullopt : std::optional(Z->size()), n_threads,
                  [&](const Table& table, Watch& watch) {
                    kernel::tree_table(X, Z == nullptr ? X : *Z, table, decay, sigma, n_threads, watch);
                  });
}

Values tree_diagonal(const Forest& X, double decay, double sigma, int n_threads) {
  return diagonal_of(X.size(), n_threads, [&](double* out, Watch& watch) {
    kernel::tree_diagonal(X, out, decay, sigma, n_threads, watch);
  });
}

Values absolute_distances(const Matrix& X, const Matrix* Z, int n_threads) {
  const Matrix& others = Z == nullptr ? X : *Z;
  require(X.n_columns() == others.n_columns(), "the rows must have the same columns");
  return table_of(X.n_rows(), Z == nullptr ? std::nullopt : std::optional(others.n_rows()), n_threads,
                  [&](const Table& table, Watch& watch) {
                    std::visit(
                        [&]<class Rows>(const Rows& rows) {
                          const Rows* const same = std::get_if<Rows>(&others.rows);
                          if constexpr (std::is_same_v<typename Rows::Value, double>) {
                            require(same != nullptr, "both must be dense or both sparse");
                            kernel::absolute_distances(rows, *same, table, n_threads, watch);
                          } else {
                            throw std::invalid_argument("the rows must be float64");
                          }
                        },
                        X.rows);
                  });
}

}  // namespace

void bind_kernels(nb::module_& m) {
  m.def("subsequence_table", &subsequence_table, "symbols"_a.noconvert(), "start"_a.noconvert(),
        "other_symbols"_a.noconvert().none(), "other_start"_a.noconvert().none(), "length"_a, "decay"_a,
        "n_threads"_a = 1, "The subsequence kernel of all pairs; of one set without others.");
  m.def("subsequence_diagonal", &subsequence_diagonal, "symbols"_a.noconvert(), "start"_a.noconvert(),
        "length"_a, "decay"_a, "n_threads"_a = 1, "The subsequence kernel of each sequence with itself.");
  m.def("run_counts", &run_counts, "symbols"_a.noconvert(), "start"_a.noconvert(), "length"_a,
        nb::sig("def run_counts(symbols: NDArray[numpy.uint32], start: NDArray[numpy.int64], length: int) -> "
                "tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], int]"),
        "How often each sequence has each run of symbols: sparse rows, and how many columns.");
  nb::class_<Forest>(m, "Forest", "Parsed trees.")
      .def("__len__", &Forest::size)
      .def("take", &take_trees, "places"_a.noconvert(), "Some of the trees.")
      .def_prop_ro("n_nodes", [](const Forest& self) { return Index(self.node.size()); });
  m.def(
      "read_trees", &read_trees, "symbols"_a.noconvert(), "start"_a.noconvert(),
      nb::sig("def read_trees(symbols: NDArray[numpy.uint32], start: NDArray[numpy.int64]) -> tuple[Forest, "
              "tuple[str, int, int]]"),
      "Trees from texts with brackets, and what is wrong with the first text that is none: kind, text, "
      "place.");
  m.def("build_trees", &build_trees, "labels"_a.noconvert(), "start"_a.noconvert(), "is_open"_a.noconvert(),
        "n_closed_before"_a.noconvert(), "Trees from their labels in order, and the brackets between them.");
  m.def("tree_table", &tree_table, "rows"_a, "columns"_a.none(), "decay"_a, "sigma"_a, "n_threads"_a = 1,
        "The tree kernel of all pairs; of one set without columns.");
  m.def("tree_diagonal", &tree_diagonal, "rows"_a, "decay"_a, "sigma"_a, "n_threads"_a = 1,
        "The tree kernel of each tree with itself.");
  m.def("absolute_distances", &absolute_distances, "rows"_a, "columns"_a.none(), "n_threads"_a = 1,
        "Sums of absolute differences of all pairs; of one set without columns.");
}

}  // namespace lineal
