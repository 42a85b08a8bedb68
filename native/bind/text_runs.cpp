#include "text_runs.h"

#include <nanobind/stl/vector.h>

#include "lineal/text/term_tree.h"

namespace lineal {
namespace {

using Place = std::pair<std::uint64_t, std::uint64_t>;  // first byte, number of bytes
using Readers = std::vector<RunReader<PythonRead>>;

// Python takes over the memory.
template <class T>
nb::ndarray<T, nb::numpy> array_of(std::vector<T>&& values) {
  auto* const held = new std::vector<T>(std::move(values));
  const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<T, nb::numpy>(held->data(), {held->size()}, owner);
}
nb::tuple arrays_of(const Names& names) {
  const auto bytes = names.bytes();
  const auto starts = names.starts();
  return nb::make_tuple(array_of(std::vector<std::uint8_t>(bytes.begin(), bytes.end())),
                        array_of(std::vector<std::int64_t>(starts.begin(), starts.end())));
}

// The runs become one, of the terms that are in `least` to `most` documents. Returns how many bytes it has,
// and the documents and occurrences of its terms, if they are wanted.
nb::typed<nb::tuple, int, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>> merge(
    nb::callable read, const std::vector<Place>& places, nb::callable write, double least, double most,
    bool wants_numbers, std::size_t buffer_size) {
  Readers runs;
  for (const auto& [first, n_bytes] : places)
    runs.emplace_back(PythonRead{read}, first, n_bytes, buffer_size);
  std::vector<std::int64_t> in, totals;
  const std::uint64_t n_bytes = write_run(write, [&](auto&& add, Watch& watch) {
    merge_runs(runs, watch, [&](std::string_view term, std::uint64_t n_documents, std::uint64_t total) {
      if (double(n_documents) < least || double(n_documents) > most) return;
      add(term, n_documents, total);
      if (!wants_numbers) return;
      in.push_back(std::int64_t(n_documents));
      totals.push_back(std::int64_t(total));
    });
  });
  return nb::make_tuple(n_bytes, array_of(std::move(in)), array_of(std::move(totals)));
}

// Calls use(term, column) for the terms of a run that have a column, in order.
template <class Use>
void each_chosen(nb::handle read, std::uint64_t n_bytes, const Array1<const std::int32_t>& columns,
                 std::size_t buffer_size, Use&& use) {
  interruptible_pass([&](Watch& watch) {
    RunReader<PythonRead> run(PythonRead{read}, 0, n_bytes, buffer_size);
    for (std::size_t k = 0; k < columns.size(); ++k) {
      if (!run.next()) throw DamagedRun();
      if (columns.data()[k] >= 0) use(run.term(), columns.data()[k]);
      if (watch.says_stop(64)) return;
    }
  });
}

nb::typed<nb::tuple, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>, nb::list>
vocabulary(nb::callable read, std::uint64_t n_bytes, const Array1<const std::int32_t>& columns,
           std::size_t max_n, std::size_t buffer_size) {
  require(max_n >= 1, "max_n must be at least 1");
  TermTree tree(max_n);
  each_chosen(read, n_bytes, columns, buffer_size,
              [&](std::string_view term, std::int32_t column) { tree.add(term, column); });
  tree.finish();
  nb::list longer;
  for (TermTree::Longer& level : tree.longer())
    longer.append(nb::make_tuple(array_of(std::move(level.prefix)), array_of(std::move(level.word)),
                                 array_of(std::move(level.column))));
  const nb::tuple words = arrays_of(tree.words());
  return nb::make_tuple(words[0], words[1], array_of(std::move(tree.columns())), longer);
}

nb::typed<nb::tuple, nb::ndarray<nb::numpy>, nb::ndarray<nb::numpy>> names(
    nb::callable read, std::uint64_t n_bytes, const Array1<const std::int32_t>& columns,
    std::size_t buffer_size) {
  Names chosen;
  each_chosen(read, n_bytes, columns, buffer_size,
              [&](std::string_view term, std::int32_t) { chosen.add(term); });
  return arrays_of(chosen);
}

}  // namespace

void bind_text_runs(nb::module_& m) {
  constexpr std::size_t buffer_size = std::size_t(1) << 18;
  m.def("merge_runs", &merge, "read"_a, "places"_a, "write"_a, "least"_a, "most"_a, "wants_numbers"_a,
        "buffer_size"_a = buffer_size,
        "One run of several, of what is in least to most documents: (bytes, documents, occurrences).");
  m.def("run_vocabulary", &vocabulary, "read"_a, "n_bytes"_a, "columns"_a, "max_n"_a,
        "buffer_size"_a = buffer_size,
        "What a Vocabulary of the n-grams of a run with these columns is made from.");
  m.def("run_names", &names, "read"_a, "n_bytes"_a, "columns"_a, "buffer_size"_a = buffer_size,
        "Bytes and starts of the terms of a run with these columns.");
}

}  // namespace lineal
