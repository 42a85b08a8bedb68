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

}  // namespace lineal
