#include "lineal/evaluate.h"

#include "bind.h"
#include "lineal/constants.h"

namespace lineal {
namespace {

using Scores = Array2<const double>;

template <class Array>
void require_same(const Scores& Z, const Array& other) {
  require(Z.shape(0) == other.shape(0) && Z.shape(1) == other.shape(1), "arrays of scores differ in shape");
}

Scored unweighted(const Scores& Y, const Scores& Z, int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  require_same(Z, Y);
  return {Index(Z.shape(0)), Index(Z.shape(1)), Y.data(), nullptr, Z.data()};
}

Scored weighted(const Scores& Y, const Array1<const double>& s, const Scores& Z, int n_threads) {
  Scored at = unweighted(Y, Z, n_threads);
  require(s.shape(0) == Z.shape(0), "s needs one entry per row of Z");
  at.s = s.data();
  return at;
}

// Where a function is, and what it is called with besides y and z; without the second it takes two numbers.
using Address = std::pair<std::uintptr_t, std::optional<std::uintptr_t>>;

PointerFunction function_at(const Address& address) {
  const auto [function, data] = address;
  require(function != 0, "a function pointer must not be null");
  // The addresses are the caller's promise; its Python side has checked the signatures.
  if (!data) return {reinterpret_cast<PointerFunction::Plain>(function), nullptr, nullptr};
  return {nullptr, reinterpret_cast<PointerFunction::WithData>(function), reinterpret_cast<void*>(*data)};
}

double loss_sum(const AnyLoss& loss, Scores Y, Array1<const double> s, Scores Z, int n_threads) {
  const Scored at = weighted(Y, s, Z, n_threads);
  const nb::gil_scoped_release unlocked;
  return std::visit([&](const auto& each) { return loss_sum_pass(each, at, n_threads); }, loss);
}

void values(const AnyLoss& loss, Scores Y, Scores Z, Array2<double> V, int n_threads) {
  const Scored at = unweighted(Y, Z, n_threads);
  require_same(Z, V);
  const nb::gil_scoped_release unlocked;
  std::visit([&](const auto& each) { value_pass(each, at, V.data(), n_threads); }, loss);
}

void slopes(const AnyLoss& loss, Scores Y, Scores Z, Array2<double> U, int n_threads) {
  const Scored at = unweighted(Y, Z, n_threads);
  require_same(Z, U);
  const nb::gil_scoped_release unlocked;
  std::visit([&](const auto& each) { slope_pass(each, at, U.data(), n_threads); }, loss);
}

void curvatures(const AnyLoss& loss, Scores Y, Scores Z, Array2<double> H, int n_threads) {
  const Scored at = unweighted(Y, Z, n_threads);
  require_same(Z, H);
  const nb::gil_scoped_release unlocked;
  std::visit(
      [&]<class Loss>(const Loss& each) {
        if constexpr (SmoothLoss<Loss>)
          curvature_pass(each, at, H.data(), n_threads);
        else
          throw std::invalid_argument("a loss with kinks has no curvature");
      },
      loss);
}

std::tuple<double, double, double> along(const AnyLoss& loss, Scores Y, Array1<const double> s, Scores Z,
                                         Scores M, double t, int n_threads) {
  const Scored at = weighted(Y, s, Z, n_threads);
  require_same(Z, M);
  const nb::gil_scoped_release unlocked;
  const auto sums = std::visit(
      [&]<class Loss>(const Loss& each) -> std::array<double, 3> {
        if constexpr (SmoothLoss<Loss>)
          return line_pass(each, at, M.data(), t, n_threads);
        else
          throw std::invalid_argument("a loss with kinks has no curvature");
      },
      loss);
  return {sums[0], sums[1], sums[2]};
}

// U takes the place of the scores: the conjugate is a function of it.
double conjugate_sum(const AnyLoss& loss, Scores Y, Array1<const double> s, Scores U, int n_threads) {
  const Scored at = weighted(Y, s, U, n_threads);
  const nb::gil_scoped_release unlocked;
  return std::visit([&](const auto& each) { return conjugate_sum_pass(each, at, at.z, n_threads); }, loss);
}

double worst_residual(const AnyLoss& loss, Scores Y, Array1<const double> s, Scores Z, Scores U,
                      int n_threads) {
  const Scored at = weighted(Y, s, Z, n_threads);
  require_same(Z, U);
  const nb::gil_scoped_release unlocked;
  return std::visit([&](const auto& each) { return worst_residual_pass(each, at, U.data(), n_threads); },
                    loss);
}

nb::ndarray<double, nb::numpy> refit(const AnyLoss& loss, Scores Y, Array1<const double> s, Scores Z,
                                     Array2<double> U, int n_threads) {
  const Scored at = weighted(Y, s, Z, n_threads);
  require_same(Z, U);
  auto shift = new_array<double>({Z.shape(1)});
  const nb::gil_scoped_release unlocked;
  std::visit(
      [&]<class Loss>(const Loss& each) {
        if constexpr (SmoothLoss<Loss>)
          refit_pass(each, at, shift.data(), U.data(), n_threads);
        else
          throw std::invalid_argument("a loss with kinks has no curvature");
      },
      loss);
  return shift;
}

void balance(Scores U, Array1<const double> s, Array2<double> out, int n_threads) {
  require_same(U, out);
  require(s.shape(0) == U.shape(0), "s needs one entry per row of U");
  require(n_threads >= 1, "n_threads must be at least 1");
  const nb::gil_scoped_release unlocked;
  balance_pass(U.data(), s.data(), Index(U.shape(0)), Index(U.shape(1)), out.data(), n_threads);
}

std::pair<nb::ndarray<double, nb::numpy>, nb::ndarray<double, nb::numpy>> balance_left(
    Scores U, Array1<const double> s, int n_threads) {
  require(s.shape(0) == U.shape(0), "s needs one entry per row of U");
  require(n_threads >= 1, "n_threads must be at least 1");
  auto sums = new_array<double>({U.shape(1)}), sizes = new_array<double>({U.shape(1)});
  const nb::gil_scoped_release unlocked;
  balance_left_pass(U.data(), s.data(), Index(U.shape(0)), Index(U.shape(1)), sums.data(), sizes.data(),
                    n_threads);
  return {sums, sizes};
}

}  // namespace

void bind_evaluate(nb::module_& m) {
  nb::class_<PointerLoss>(m, "PointerLoss")
      .def(
          "__init__",
          [](PointerLoss* self, const Address& value, const Address& derivative,
             const std::optional<Address>& second_derivative) {
            new (self) PointerLoss{function_at(value), function_at(derivative),
                                   second_derivative ? function_at(*second_derivative) : PointerFunction{}};
          },
          "value"_a, "derivative"_a, "second_derivative"_a.none() = nb::none())
      .def("conjugate", &PointerLoss::conjugate, "y"_a, "u"_a);
  m.def("loss_sum", &loss_sum, "loss"_a, "Y"_a, "s"_a, "Z"_a, "n_threads"_a = 1, "sum_i s_i loss(y_i, z_i).");
  m.def("values", &values, "loss"_a, "Y"_a, "Z"_a, "V"_a.noconvert(), "n_threads"_a = 1, "V = loss(Y, Z).");
  m.def("slopes", &slopes, "loss"_a, "Y"_a, "Z"_a, "U"_a.noconvert(), "n_threads"_a = 1, "U = loss'(Y, Z).");
  m.def("curvatures", &curvatures, "loss"_a, "Y"_a, "Z"_a, "H"_a.noconvert(), "n_threads"_a = 1,
        "H = loss''(Y, Z), for smooth losses.");
  m.def("along", &along, "loss"_a, "Y"_a, "s"_a, "Z"_a, "M"_a, "t"_a, "n_threads"_a = 1,
        "sum_i s_i loss(y_i, z_i + t m_i) with its first two derivatives in t, for smooth losses.");
  m.def("conjugate_sum", &conjugate_sum, "loss"_a, "Y"_a, "s"_a, "U"_a, "n_threads"_a = 1,
        "sum_i s_i loss*(y_i, u_i), infinite outside the domain.");
  m.def("worst_residual", &worst_residual, "loss"_a, "Y"_a, "s"_a, "Z"_a, "U"_a, "n_threads"_a = 1,
        "The largest s_i (loss(y_i, z_i) + loss*(y_i, u_i) - z_i u_i).");
  m.def("refit", &refit, "loss"_a, "Y"_a, "s"_a, "Z"_a, "U"_a.noconvert(), "n_threads"_a = 1,
        "The shifts of each output that minimise sum_i s_i loss(y_i, z_i + shift); U = the slopes there.");
  m.def("balance", &balance, "U"_a, "s"_a, "out"_a.noconvert(), "n_threads"_a = 1,
        "U with one sign of each output shrunk, so that s'U = 0.");
  m.def("balance_left", &balance_left, "U"_a, "s"_a, "n_threads"_a = 1, "(s'U, s'|U|).");
}

}  // namespace lineal
