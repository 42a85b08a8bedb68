#include "lineal/text/sparse_lines.h"

#include <mutex>

#include "documents.h"
#include "lineal/text/libsvm_lines.h"
#include "lineal/text/sparse_spelling.h"
#include "lineal/text/vw_lines.h"

namespace lineal {
namespace {

// A reader and its lock: it has a place in its file, and two threads must not move it at once.
template <class Format>
struct Locked {
  Format format;
  mutable std::mutex busy = {};
};

using Strings = nb::typed<nb::list, nb::str>;

template <class T>
using Made = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig>;

// Python takes over the memory.
template <class T>
Made<T> moved(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Made<T>(kept->data(), {kept->size()}, owner);
}

using Found = std::tuple<Made<double>, Made<std::int64_t>, Made<std::int32_t>, Made<double>,
                         Made<std::int64_t>, Made<double>, Strings, std::size_t>;

template <class Format>
Found scan(Locked<Format>& self, nb::bytes block, bool is_last) {
  SparseBlock found;
  {
    const std::string_view bytes(block.c_str(), block.size());
    const nb::gil_scoped_release unlocked;
    const std::lock_guard alone(self.busy);
    found = self.format.scan(bytes, is_last);
  }
  Strings tags;
  for (const std::string& tag : found.tags) tags.append(as_str(tag));
  return {moved(std::move(found.labels)),
          moved(std::move(found.starts)),
          moved(std::move(found.indices)),
          moved(std::move(found.values)),
          moved(std::move(found.queries)),
          moved(std::move(found.weights)),
          tags,
          found.consumed};
}

template <class Format>
nb::class_<Locked<Format>> bind_format(nb::module_& m, const char* name, const char* what) {
  return nb::class_<Locked<Format>>(m, name, what)
      .def(
          "scan", &scan<Format>, "block"_a, "is_last"_a,
          "Of the lines of the next block: labels (NaN where there is none), starts of rows, indices, "
          "values, "
          "queries, weights and tags (of all rows or empty), and how many bytes of the block are done with.");
}

WordMap map_of(const Strings& names) {
  WordMap map;
  for (const nb::handle name : names)
    if (const std::size_t before = map.size(); map.add(utf8_of(name)) != before)
      throw std::invalid_argument("a name that is there twice");
  return map;
}

SpelledRows spelled_rows(const Array1<const double>& labels, const Array1<const std::int64_t>& starts,
                         const Array1<const std::int32_t>& indices, const Array1<const double>& values,
                         const Array1<const std::int64_t>& queries, const Array1<const double>& weights) {
  const std::size_t n = labels.size();
  require(starts.size() == n + 1, "one start more than labels is needed");
  require(indices.size() == values.size(), "as many values as indices are needed");
  require(queries.size() == 0 || queries.size() == n, "a query for each row, or none");
  require(weights.size() == 0 || weights.size() == n, "a weight for each row, or none");
  for (std::size_t i = 0; i < n; ++i)
    require(0 <= starts.data()[i] && starts.data()[i] <= starts.data()[i + 1], "starts must rise");
  require(starts.data()[n] <= std::int64_t(indices.size()), "starts must stay within the indices");
  return {{labels.data(), n},
          {starts.data(), n + 1},
          {indices.data(), indices.size()},
          {values.data(), values.size()},
          {queries.data(), queries.size()},
          {weights.data(), weights.size()}};
}

nb::bytes libsvm(const Array1<const double>& labels, const Array1<const std::int64_t>& starts,
                 const Array1<const std::int32_t>& indices, const Array1<const double>& values,
                 const Array1<const std::int64_t>& queries, std::int64_t first) {
  std::string out;
  {
    const nb::gil_scoped_release unlocked;
    out = spell_libsvm(spelled_rows(labels, starts, indices, values, queries, {}), first);
  }
  return nb::bytes(out.data(), out.size());
}

nb::bytes vw(const Array1<const double>& labels, const Array1<const std::int64_t>& starts,
             const Array1<const std::int32_t>& indices, const Array1<const double>& values,
             const Array1<const double>& weights, const Strings& names) {
  Names spelled;
  for (const nb::handle name : names) spelled.add(utf8_of(name));
  for (std::size_t k = 0; k < indices.size(); ++k)
    require(0 <= indices.data()[k] && std::size_t(indices.data()[k]) < spelled.size(),
            "an index without a name");
  std::string out;
  {
    const nb::gil_scoped_release unlocked;
    out = spell_vw(spelled_rows(labels, starts, indices, values, {}, weights),
                   [&](std::size_t j) { return spelled[j]; });
  }
  return nb::bytes(out.data(), out.size());
}

}  // namespace

void bind_sparse_lines(nb::module_& m) {
  bind_format<LibsvmLines>(m, "LibsvmLines", "Reads lines of LIBSVM, SVMlight and SVMrank.")
      .def(
          "__init__",
          [](Locked<LibsvmLines>* self, std::int64_t first) {
            new (self) Locked<LibsvmLines>{LibsvmLines(first)};
          },
          "first"_a = 0, "first: the least index that may occur.")
      .def(
          "count_from",
          [](Locked<LibsvmLines>& self, std::int64_t first) {
            const std::lock_guard alone(self.busy);
            self.format.count_from(first);
          },
          "first"_a, "From now on an index below the first is refused.")
      .def_prop_ro(
          "smallest", [](const Locked<LibsvmLines>& self) { return self.format.smallest(); },
          "The smallest index so far, or -1.")
      .def_prop_ro(
          "largest", [](const Locked<LibsvmLines>& self) { return self.format.largest(); },
          "The largest index so far, or -1.");
  bind_format<VwLines>(m, "VwLines", "Reads lines of Vowpal Wabbit, and numbers their names.")
      .def(
          "__init__",
          [](Locked<VwLines>* self, std::optional<Strings> names) {
            if (names)
              new (self) Locked<VwLines>{VwLines(map_of(*names))};
            else
              new (self) Locked<VwLines>{VwLines()};
          },
          "names"_a = nb::none(),
          "names: the only ones to read, by column; without, all are numbered as they come.")
      .def_prop_ro(
          "n_names", [](const Locked<VwLines>& self) { return self.format.names().size(); },
          "How many names there are so far.")
      .def_prop_ro(
          "n_unknown", [](const Locked<VwLines>& self) { return self.format.n_unknown(); },
          "How many features were dropped because their names are not among the given ones.")
      .def(
          "names",
          [](const Locked<VwLines>& self, std::size_t n) {
            const std::lock_guard alone(self.busy);
            Strings all;
            for (std::size_t k = 0; k < std::min(n, self.format.names().size()); ++k)
              all.append(as_str(self.format.names().name(std::uint32_t(k))));
            return all;
          },
          "n"_a, "The first n names, by column.");
  m.def("spell_libsvm", &libsvm, "labels"_a, "starts"_a, "indices"_a, "values"_a, "queries"_a, "first"_a,
        "Rows as lines of LIBSVM, with `first` added to every index.");
  m.def("spell_vw", &vw, "labels"_a, "starts"_a, "indices"_a, "values"_a, "weights"_a, "names"_a,
        "Rows as lines of VW; names are namespace^feature, or a feature alone.");
}

}  // namespace lineal
