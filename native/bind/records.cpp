#include "lineal/text/records.h"

#include <nanobind/stl/vector.h>

#include <mutex>

#include "documents.h"
#include "lineal/text/delimited.h"
#include "lineal/text/json_lines.h"

namespace lineal {
namespace {

using Codes = nb::ndarray<std::int64_t, nb::numpy, nb::ndim<1>, nb::c_contig>;

// A reader and its lock: it has a place in its file, and two threads must not move it at once.
template <class Format>
struct Locked {
  Format format;
  std::mutex busy = {};
};

template <class Format>
std::tuple<Documents, Codes, nb::typed<nb::list, nb::str>, std::size_t> scan(Locked<Format>& self,
                                                                             nb::bytes block, bool is_last) {
  Scanned found;
  {
    const std::string_view bytes(block.c_str(), block.size());
    const nb::gil_scoped_release unlocked;
    const std::lock_guard alone(self.busy);
    found = self.format.scan(bytes, is_last);
  }
  std::vector<Documents::Owner> owners{held_by_python(block)};
  if (found.arena) owners.emplace_back(found.arena, found.arena.get());
  auto* codes = new std::vector<std::int64_t>(std::move(found.codes));
  const nb::capsule owner(codes, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
  nb::typed<nb::list, nb::str> labels;
  for (const std::string& label : found.labels) labels.append(as_str(label));
  // Every text was found to be UTF-8 on its way in.
  return {Documents(std::move(found.texts), std::move(owners), true),
          Codes(codes->data(), {codes->size()}, owner), labels, found.consumed};
}

template <class Format>
nb::class_<Locked<Format>> bind_format(nb::module_& m, const char* name, const char* what) {
  return nb::class_<Locked<Format>>(m, name, what)
      .def("scan", &scan<Format>, "block"_a, "is_last"_a,
           "Texts of the next block, codes of their labels, the labels by code (each behind a letter: s "
           "string, "
           "n number, b true or false), and how many bytes of the block are done with.");
}

nb::object header(nb::bytes block, bool is_last, char delimiter, bool is_quoted) {
  const auto found = Delimited::header({block.c_str(), block.size()}, is_last, delimiter, is_quoted);
  if (!found) return nb::none();
  nb::list fields;
  for (const std::string& field : found->fields) fields.append(as_str(field));
  return nb::make_tuple(fields, found->consumed, found->n_lines);
}

}  // namespace

void bind_records(nb::module_& m) {
  bind_format<PlainLines>(m, "PlainLines", "Reads plain text, a document to a line.")
      .def("__init__", [](Locked<PlainLines>* self) { new (self) Locked<PlainLines>{PlainLines()}; });
  bind_format<JsonLines>(m, "JsonLines",
                         "Reads JSON lines: a string as the text, another value as the label.")
      .def(
          "__init__",
          [](Locked<JsonLines>* self, std::string text, std::optional<std::string> label,
             bool missing_is_empty) {
            new (self)
                Locked<JsonLines>{JsonLines(std::move(text), std::move(label), as_missing(missing_is_empty))};
          },
          "text"_a, "label"_a = nb::none(), "missing_is_empty"_a = false);
  bind_format<Delimited>(m, "Delimited", "Reads delimited text: one field as the text, another as the label.")
      .def(
          "__init__",
          [](Locked<Delimited>* self, char delimiter, bool is_quoted, std::size_t n_fields, std::size_t text,
             std::optional<std::size_t> label, std::size_t skip, std::size_t line) {
            require(text < n_fields && label.value_or(0) < n_fields, "a field's place is out of range");
            new (self) Locked<Delimited>{Delimited(delimiter, is_quoted, n_fields, text, label, skip, line)};
          },
          "delimiter"_a, "is_quoted"_a, "n_fields"_a, "text"_a, "label"_a, "skip"_a, "line"_a)
      .def(
          "is_coded",
          [](Locked<Delimited>& self) {
            const std::lock_guard alone(self.busy);
            nb::typed<nb::list, bool> all;
            for (const std::uint8_t is_coded : self.format.is_coded()) all.append(is_coded != 0);
            return all;
          },
          "Which fields began with 0 and went on so far, as codes such as 007 do that are no numbers.")
      .def_static(
          "header", &header, "block"_a, "is_last"_a, "delimiter"_a, "is_quoted"_a,
          nb::sig("def header(block: bytes, is_last: bool, delimiter: str, is_quoted: bool) -> "
                  "tuple[list[str], int, int] | None"),
          "Fields of the first record, and the bytes and lines up to its end; None if it is not over.");
}

}  // namespace lineal
