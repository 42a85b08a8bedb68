// What the binding files share: array types, the Matrix that Python holds, and result arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <variant>

#include "lineal/loss.h"
#include "lineal/pointer_loss.h"
#include "lineal/rng.h"
#include "lineal/rows.h"
#include "lineal/token.h"
#include "lineal/watch.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace lineal {

template <class T>
using Array1 = nb::ndarray<T, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Rows of numbers that may lie apart: a part of the columns of a wider array.
template <class T>
using StridedArray2 = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::device::cpu>;

using AnyRows = std::variant<Csr<float>, Csr<double>, Dense<float>, Dense<double>>;
// The losses that dual ascent has a step for, and all that are evaluated natively. Rounded kinks are for the
// primal solvers: every loss of the first list is compiled into four kernels of four layouts.
using DualLoss = std::variant<Hinge, SquaredHinge, ModifiedHuber, Log, Squared, Huber, EpsilonInsensitive,
                              SquaredEpsilonInsensitive, Quantile>;
using AnyLoss = std::variant<Hinge, SquaredHinge, ModifiedHuber, Log, Squared, Huber, EpsilonInsensitive,
                             SquaredEpsilonInsensitive, Quantile, SmoothedHinge, SmoothedEpsilonInsensitive,
                             SmoothedQuantile, PointerLoss>;

// A data matrix as the kernels see it: a view, and the Python or native arrays that keep it alive.
struct Matrix {
  AnyRows rows;
  Index n_stored;
  nb::object owner;  // whatever holds the arrays of the view

  Index n_rows() const {
    return std::visit([](const auto& X) { return X.n_rows; }, rows);
  }
  Index n_columns() const {
    return std::visit([](const auto& X) { return X.n_columns; }, rows);
  }
  bool is_sparse() const { return rows.index() < 2; }
  bool is_ordered() const {
    return std::visit([](const auto& X) { return X.is_ordered; }, rows);
  }
};

// A new array that Python owns.
template <class T>
nb::ndarray<T, nb::numpy> new_array(std::initializer_list<std::size_t> shape, bool zeroed = false) {
  std::size_t n = 1;
  for (const std::size_t extent : shape) n *= extent;
  T* data = zeroed ? new T[n]() : new T[n];
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<T, nb::numpy>(data, shape.size(), shape.begin(), owner);
}

template <class T>
nb::ndarray<T, nb::numpy> copied_array(const std::vector<T>& from) {
  auto out = new_array<T>({from.size()});
  std::copy(from.begin(), from.end(), out.data());
  return out;
}

// The last line of defence between Python and raw memory; a mismatch is a programming error above.
inline void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

// For kernels that look for columns by halving, or walk over two rows at a time.
inline void require_ordered(const Matrix& X) {
  require(X.is_ordered(), "the columns of each row must increase: take X.ordered()");
}

// How many of the threads a pass is worth: starting one takes as long as some 30,000 multiplications.
inline int worthwhile(int n_threads, Index n_multiplications) {
  require(n_threads >= 1, "n_threads must be at least 1");
  return int(std::clamp<Index>(n_multiplications / 32768, 1, n_threads));
}

// What is asked of loops on this thread: the token in force, and whether a pass may be given up. Set by
// lineal/cancellation.py when a scope is entered or left.
struct Cancellation {
  std::shared_ptr<const Token> token;
  bool is_breakable = false;  // a driver is there to catch BrokenOff
};
Cancellation& current_cancellation() noexcept;

// Whether this is the thread that Python handles signals on.
bool is_main_thread() noexcept;

// Work that was given up because its token is over; drivers catch it.
struct BrokenOff : std::exception {
  const char* what() const noexcept override { return "the cancellation token is over"; }
};

// Runs body(watch) without Python's lock; true if the watch said stop. On the main thread Python is asked for
// signals while it runs; what a handler raises ends the body's loops and is raised here.
template <class Body>
bool run_watched(const std::shared_ptr<const Token>& token, Body&& body) {
  Watch watch = !is_main_thread() ? Watch(token.get()) : Watch(token.get(), [] {
    const nb::gil_scoped_acquire locked;
    return PyErr_CheckSignals() != 0;
  });
  {
    const nb::gil_scoped_release unlocked;
    body(watch);
  }
  if (PyErr_Occurred()) throw nb::python_error();
  return watch.is_over();
}

// For an epoch: at the end of the token in force it returns early, and what it leaves is a short epoch.
template <class Body>
void interruptible(Body&& body) {
  // A copy: handlers of signals may enter and leave scopes meanwhile.
  const std::shared_ptr<const Token> token = current_cancellation().token;
  run_watched(token, body);
}

// For a pass, half of which is no result: at the end of the token it is given up with BrokenOff where
// somebody catches that, and goes on to its end elsewhere.
template <class Body>
void interruptible_pass(Body&& body) {
  const Cancellation current = current_cancellation();
  if (run_watched(current.is_breakable ? current.token : nullptr, body)) throw BrokenOff();
}

void bind_cancellation(nb::module_& m);
void bind_matrix(nb::module_& m);
void bind_monomials(nb::module_& m);
void bind_class_sums(nb::module_& m);
void bind_dual_cd(nb::module_& m);
void bind_interior_point(nb::module_& m);
void bind_prox_cd(nb::module_& m);
void bind_evaluate(nb::module_& m);
void bind_newton(nb::module_& m);
void bind_stochastic(nb::module_& m);
void bind_perceptron(nb::module_& m);
void bind_online(nb::module_& m);
void bind_online_texts(nb::module_& m);
void bind_text(nb::module_& m);
void bind_documents(nb::module_& m);
void bind_records(nb::module_& m);
void bind_sparse_lines(nb::module_& m);
void bind_neighbors(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_kernel_machine(nb::module_& m);
void bind_ranking(nb::module_& m);

}  // namespace lineal
