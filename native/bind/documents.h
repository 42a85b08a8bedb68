// Documents between Python and the kernels: other bindings take `const Documents&` and read texts() without
// Python's lock. The caller's reference keeps them alive for the length of the call.
#pragma once

#include "bind.h"
#include "lineal/text/documents.h"

namespace lineal {

// A text as Python's str; single surrogates go back as they came. Bytes that are no UTF-8 raise.
inline nb::str as_str(std::string_view utf8) {
  PyObject* made = PyUnicode_DecodeUTF8(utf8.data(), Py_ssize_t(utf8.size()), "surrogatepass");
  if (made == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(made);
}

inline std::string utf8_of(nb::handle text) {
  const nb::object bytes = text.attr("encode")("utf-8", "surrogatepass");
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) throw nb::python_error();
  return {data, std::size_t(size)};
}

// A Python object with the bytes of texts: given back under Python's lock, on whatever thread that is.
Documents::Owner held_by_python(nb::object object);

inline Missing as_missing(bool missing_is_empty) {
  return missing_is_empty ? Missing::empty : Missing::refuse;
}

}  // namespace lineal
