// Runs of counted terms in Python's files: bytes go out and come back through functions of Python.
#pragma once

#include <cstring>

#include "bind.h"
#include "lineal/text/runs.h"

namespace lineal {

// Both take Python's lock, which the loops that call them have given away. What Python raises ends the loops.
struct PythonWrite {
  nb::handle write;
  void operator()(const char* data, std::size_t n) const {
    const nb::gil_scoped_acquire locked;
    write(nb::bytes(data, n));
  }
};
struct PythonRead {
  nb::handle read;
  std::size_t operator()(std::uint64_t at, char* to, std::size_t n) const {
    const nb::gil_scoped_acquire locked;
    const auto bytes = nb::cast<nb::bytes>(read(at, n));
    if (bytes.size() > n) throw DamagedRun();
    std::memcpy(to, bytes.c_str(), bytes.size());
    return bytes.size();
  }
};

// each(add, watch) calls add(term, documents, occurrences) in the order of the terms. Returns how many bytes
// were written.
template <class Each>
std::uint64_t write_run(nb::handle write, Each&& each) {
  std::uint64_t n_bytes = 0;
  interruptible_pass([&](Watch& watch) {
    RunWriter writer(PythonWrite{write});
    each([&](std::string_view term, std::uint64_t n_documents,
             std::uint64_t total) { writer.add(term, n_documents, total); },
         watch);
    if (!watch.is_over()) n_bytes = writer.finish();
  });
  return n_bytes;
}

void bind_text_runs(nb::module_& m);

}  // namespace lineal
