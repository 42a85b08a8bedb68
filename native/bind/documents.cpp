#include "documents.h"

#include <limits>
#include <mutex>
#include <string>

#include "lineal/parallel.h"
#include "lineal/raw.h"
#include "lineal/text/arrow_texts.h"
#include "lineal/text/transcode.h"

namespace lineal {

Documents::Owner held_by_python(nb::object object) {
  const auto* held = new nb::object(std::move(object));
  return {held, [](const nb::object* last) {
            if (!nb::is_alive()) return;  // the interpreter is gone, and its objects with it
            const nb::gil_scoped_acquire locked;
            delete last;
          }};
}

namespace {

constexpr std::size_t without_end = std::numeric_limits<std::size_t>::max();

std::string preview(nb::handle value) {
  PyObject* shown = PyObject_Repr(value.ptr());
  if (shown == nullptr) {
    PyErr_Clear();
    return "";
  }
  const auto text = nb::steal<nb::str>(shown);
  const char* utf8 = PyUnicode_AsUTF8(text.ptr());
  if (utf8 == nullptr) PyErr_Clear();
  const std::string all = utf8 == nullptr ? "" : utf8;
  return all.empty() || all.size() > 40 ? "" : " (" + all + ")";
}

bool is_missing(nb::handle value) {
  if (value.is_none()) return true;
  const std::string_view kind = Py_TYPE(value.ptr())->tp_name;
  // pandas.NA and NaT, which must not be imported to be known
  if (kind.ends_with("NAType") || kind.ends_with("NaTType")) return true;
  // NaN of Python, of NumPy in any width, or of decimal; an array of one number is none.
  if (!PyNumber_Check(value.ptr()) || PySequence_Check(value.ptr())) return false;
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred()) PyErr_Clear();  // what is complex, or too large
  return std::isnan(number);
}

// Views of Python's strings, one by one. What holds the strings themselves is the caller's to keep; those
// that are not ASCII are written once more, as UTF-8, all at the end. Python would keep its own copy of each
// for as long as the string lives, and takes several times as long to make it.
class PythonTexts {
 public:
  PythonTexts(Missing missing, std::size_t first_row) : missing_(missing), first_row_(first_row) {}

  std::size_t n_bytes = 0;

  void reserve(std::size_t n) { texts_.reserve(n); }
  void add(nb::handle value) {
    texts_.push_back(view(value));
    n_bytes += texts_.back().size();
  }

  // Everything that was added, the strings of it held by `holder`.
  Documents taken(nb::object holder) {
    std::vector<Documents::Owner> owners{held_by_python(std::move(holder))};
    if (!wide_.empty()) {
      const nb::gil_scoped_release unlocked;
      owners.push_back(write_wide());
    }
    const bool is_trusted = are_trusted();
    return {std::move(texts_), std::move(owners), is_trusted};
  }

 private:
  // Writes the strings that are not ASCII, by two threads where they are many; who holds them.
  Documents::Owner write_wide() {
    using Large = LargePages<char>;
    const std::shared_ptr<char> utf8(Large().allocate(n_wide_bytes_),
                                     [](char* p) { Large().deallocate(p, 0); });
    std::size_t n_before = 0;
    for (const auto& [which, text] : wide_) {
      texts_[which] = {utf8.get() + n_before, texts_[which].size()};
      n_before += texts_[which].size();
    }
    const int n_parts = n_wide_bytes_ < 1 << 20 ? 1 : 2;
    parallel(n_parts, [&](int part) {
      const Range own = share(std::int64_t(wide_.size()), part, n_parts);
      for (auto k = std::size_t(own.first); k < std::size_t(own.last); ++k) {
        const auto& [which, text] = wide_[k];
        text.write_utf8(utf8.get() + (texts_[which].data() - utf8.get()));
      }
    });
    return utf8;
  }

  // Whether nobody need look at the texts any more. Strings that hold single surrogates are none of UTF-8,
  // which nobody can tell from bytes in error later: beside them bytes are looked at here.
  bool are_trusted() const {
    if (outside_.empty()) return true;
    if (std::none_of(wide_.begin(), wide_.end(),
                     [](const auto& each) { return each.second.has_surrogates(); }))
      return false;
    for (const std::size_t k : outside_)
      if (const std::size_t byte = first_malformed(texts_[k]); byte != no_flaw)
        throw Malformed(first_row_ + k, byte);
    return true;
  }

  std::string_view view(nb::handle value) {
    if (PyUnicode_Check(value.ptr())) return view_of_str(value.ptr());
    if (PyBytes_Check(value.ptr())) {
      outside_.push_back(texts_.size());
      return {PyBytes_AS_STRING(value.ptr()), std::size_t(PyBytes_GET_SIZE(value.ptr()))};
    }
    const std::string row = std::to_string(first_row_ + texts_.size());
    if (!is_missing(value))
      throw WrongKind("Texts are needed, but row " + row + " is of type " + Py_TYPE(value.ptr())->tp_name +
                      preview(value) + ". Convert it with str(), or drop it.");
    if (missing_ == Missing::empty) return {};
    throw InputFlaw("There is no text at row " + row + ": it is missing" + preview(value) +
                    ". Drop the row, or read missing texts as empty ones with missing=\"empty\".");
  }

  std::string_view view_of_str(PyObject* text) {
    if (PyUnicode_READY(text) != 0) throw nb::python_error();
    const auto size = std::size_t(PyUnicode_GET_LENGTH(text));
    if (PyUnicode_IS_ASCII(text)) return {static_cast<const char*>(PyUnicode_DATA(text)), size};
    const WideText wide{PyUnicode_DATA(text), size, int(PyUnicode_KIND(text))};
    wide_.emplace_back(texts_.size(), wide);
    const std::size_t n = wide.utf8_size();
    n_wide_bytes_ += n;
    return {static_cast<const char*>(nullptr), n};  // where it lies is known in the end
  }

  Missing missing_;
  std::size_t first_row_;
  std::vector<std::string_view> texts_;
  std::vector<std::size_t> outside_;                    // which texts came as bytes
  std::vector<std::pair<std::size_t, WideText>> wide_;  // and which as strings that are not ASCII
  std::size_t n_wide_bytes_ = 0;
};

// Every element, held by a tuple, whatever happens to the sequence that they came in.
nb::object tuple_of(PyObject* sequence) {
  if (!PyList_CheckExact(sequence)) {
    PyObject* const items = PySequence_Tuple(sequence);
    if (items == nullptr) throw nb::python_error();
    return nb::steal(items);
  }
  // To hold a string is to write to it, and strings lie all over memory: they are asked for ahead.
  constexpr Py_ssize_t ahead = 16;
  const Py_ssize_t n = PyList_GET_SIZE(sequence);
  PyObject* const items = PyTuple_New(n);
  if (items == nullptr) throw nb::python_error();
  for (Py_ssize_t k = 0; k < n; ++k) {
    if (k + ahead < n) __builtin_prefetch(PyList_GET_ITEM(sequence, k + ahead), 1);
    PyTuple_SET_ITEM(items, k, Py_NewRef(PyList_GET_ITEM(sequence, k)));
  }
  return nb::steal(items);
}

Documents from_sequence(nb::handle sequence, bool missing_is_empty) {
  nb::object holder = tuple_of(sequence.ptr());
  PyObject* const items = holder.ptr();
  PythonTexts all(as_missing(missing_is_empty), 0);
  const Py_ssize_t n = PyTuple_GET_SIZE(items);
  all.reserve(std::size_t(n));
  for (Py_ssize_t k = 0; k < n; ++k) all.add(PyTuple_GET_ITEM(items, k));
  return all.taken(std::move(holder));
}

// The next texts of an iterator, until they have so many bytes.
Documents from_iterator(nb::handle iterator, std::size_t n_bytes, bool missing_is_empty,
                        std::size_t first_row) {
  require(PyIter_Check(iterator.ptr()), "an iterator is needed");
  PythonTexts all(as_missing(missing_is_empty), first_row);
  nb::list holder;
  while (all.n_bytes < n_bytes) {
    PyObject* const item = PyIter_Next(iterator.ptr());
    if (item == nullptr) {
      if (PyErr_Occurred()) throw nb::python_error();
      break;
    }
    holder.append(nb::steal(item));
    all.add(item);
  }
  return all.taken(std::move(holder));
}

// Takes the structure out of a capsule and leaves it marked as released, as the protocol asks.
template <class Struct>
ArrowOwned<Struct> taken(nb::handle capsule, const char* name) {
  auto* lent = static_cast<Struct*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (lent == nullptr) throw nb::python_error();
  return ArrowOwned<Struct>(lent);
}

ArrowTexts arrow_texts(nb::object source, const std::optional<std::string>& column, bool missing_is_empty,
                       std::size_t first_row) {
  const Missing missing = as_missing(missing_is_empty);
  if (nb::hasattr(source, "__arrow_c_stream__")) {
    const nb::object capsule = source.attr("__arrow_c_stream__")();
    auto stream = taken<ArrowArrayStream>(capsule, "arrow_array_stream");
    const nb::gil_scoped_release unlocked;  // producers may need Python's lock on threads of their own
    return {std::move(stream), column, missing, first_row};
  }
  const nb::object pair = source.attr("__arrow_c_array__")();
  const nb::object of_schema = pair[0], of_array = pair[1];
  const auto schema = taken<ArrowSchema>(of_schema, "arrow_schema");
  return {schema, taken<ArrowArray>(of_array, "arrow_array"), column, missing, first_row};
}

// What Python holds of a stream. The lock is for Python's threads, which Python's own no longer keeps apart
// while a producer works.
struct Reader {
  ArrowTexts texts;
  std::mutex busy = {};
};

std::size_t checked_row(const Documents& documents, Py_ssize_t row) {
  const auto n = Py_ssize_t(documents.size());
  if (row < -n || row >= n) throw nb::index_error("row out of range");
  return std::size_t(row < 0 ? row + n : row);
}

Documents concatenate(nb::typed<nb::list, Documents> parts) {
  std::vector<std::string_view> texts;
  std::vector<Documents::Owner> owners;
  bool is_trusted = true;
  for (const nb::handle part : parts) {
    const auto& documents = nb::cast<const Documents&>(part);
    texts.insert(texts.end(), documents.texts().begin(), documents.texts().end());
    owners.insert(owners.end(), documents.owners().begin(), documents.owners().end());
    is_trusted &= documents.is_trusted();
  }
  return {std::move(texts), std::move(owners), is_trusted};
}

nb::typed<nb::list, Documents> split(const Documents& whole, std::size_t n_bytes) {
  nb::typed<nb::list, Documents> pieces;
  std::size_t first = 0, size = 0;
  for (std::size_t row = 0; row < whole.size(); ++row) {
    size += whole.texts()[row].size();
    if (size < n_bytes && row + 1 < whole.size()) continue;
    pieces.append(whole.slice(first, row + 1));
    first = row + 1;
    size = 0;
  }
  return pieces;
}

// Which errors of lineal.errors the flaws are; the module is imported when the first one happens.
void raise_as(const char* error, const std::exception& flaw) {
  const std::string_view what = flaw.what();
  const auto message =
      nb::steal(PyUnicode_DecodeUTF8(what.data(), Py_ssize_t(what.size()), "backslashreplace"));
  PyErr_SetObject(nb::module_::import_("lineal.errors").attr(error).ptr(), message.ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const WrongKind& flaw) {
    raise_as("InputTypeError", flaw);
  } catch (const InputFlaw& flaw) {
    raise_as("InputError", flaw);
  }
}

}  // namespace

void bind_documents(nb::module_& m) {
  nb::register_exception_translator(&translate);

  nb::class_<Documents>(m, "Documents",
                        "An immutable sequence of UTF-8 texts that lie in the memory of whoever made them.")
      .def_static("from_sequence", &from_sequence, "sequence"_a, "missing_is_empty"_a = false,
                  "The texts of a sequence of str or UTF-8 bytes, each of which is held.")
      .def_static("from_iterator", &from_iterator, "iterator"_a, "n_bytes"_a = without_end,
                  "missing_is_empty"_a = false, "first_row"_a = 0,
                  "The next texts of an iterator, until they have so many bytes; none at its end.")
      .def_static("concatenate", &concatenate, "parts"_a, "The texts of all parts, one after the other.")
      .def("__len__", &Documents::size)
      .def("__repr__",
           [](const Documents& self) {
             return "Documents(" + std::to_string(self.size()) + " texts, " + std::to_string(self.n_bytes()) +
                    " bytes)";
           })
      .def(
          "__getitem__",
          [](const Documents& self, Py_ssize_t row) { return as_str(self.texts()[checked_row(self, row)]); },
          "row"_a)
      .def(
          "slice",
          [](const Documents& self, Py_ssize_t start, Py_ssize_t stop) {
            const Py_ssize_t size = PySlice_AdjustIndices(Py_ssize_t(self.size()), &start, &stop, 1);
            return self.slice(std::size_t(start), std::size_t(start + size));
          },
          "start"_a, "stop"_a, "Texts from start to before stop, with the meaning of a slice.")
      .def(
          "take",
          [](const Documents& self, const Array1<const std::int64_t>& rows) {
            return self.take({rows.data(), rows.size()});
          },
          "rows"_a.noconvert(), "The texts of these rows, in this order.")
      .def(
          "raw",
          [](const Documents& self, Py_ssize_t row) {
            const std::string_view text = self.texts()[checked_row(self, row)];
            return nb::bytes(text.data(), text.size());
          },
          "row"_a, "The bytes of one text.")
      .def(
          "check",
          [](const Documents& self) -> std::optional<std::pair<std::size_t, std::size_t>> {
            std::pair<std::size_t, std::size_t> flaw;
            {
              const nb::gil_scoped_release unlocked;
              flaw = self.first_flaw();
            }
            if (flaw.first == no_flaw) return std::nullopt;
            return flaw;
          },
          "Row and byte of the first text that is not UTF-8, or None.")
      .def("split", &split, "n_bytes"_a,
           "Pieces of at least so many bytes, each ending with the text that reaches them; the last may be "
           "short.")
      .def(
          "letter_hashes",
          [](const Documents& self, std::size_t most) {
            const auto hashes = new_array<std::int64_t>({self.size()});
            {
              const nb::gil_scoped_release unlocked;
              std::int64_t* to = hashes.data();
              for (const std::string_view text : self.texts())
                *to++ = std::int64_t(hash_of_letters(text, most));
            }
            return hashes;
          },
          "most"_a,
          "Of the first so many letters (64 at most) of each text, small and without white space; 0: none.")
      .def_prop_ro("n_bytes", &Documents::n_bytes, "Bytes of all texts.");

  nb::class_<Reader>(m, "ArrowTexts", "The texts of an Arrow stream or array, read where they lie.")
      .def(
          "__init__",
          [](Reader* self, nb::object source, const std::optional<std::string>& column, bool missing_is_empty,
             std::size_t first_row) {
            new (self) Reader{arrow_texts(source, column, missing_is_empty, first_row)};
          },
          "source"_a, "column"_a = nb::none(), "missing_is_empty"_a = false, "first_row"_a = 0)
      .def(
          "read",
          [](Reader& self, std::size_t n_bytes) {
            const nb::gil_scoped_release unlocked;
            const std::lock_guard alone(self.busy);
            return self.texts.read(n_bytes);
          },
          "n_bytes"_a = without_end,
          "Whole chunks until they have so many bytes of text, or None behind the last.");
}

}  // namespace lineal
