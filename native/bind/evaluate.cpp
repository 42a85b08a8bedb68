#include "lineal/evaluate.h"

#include "bind.h"
#include "lineal/constants.h"
#include "lineal/line_search.h"
#include "lineal/softmax.h"

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

nb::ndarray<double, nb::numpy> along_outputs(const AnyLoss& loss, Scores Y, Array1<const double> s, Scores Z,
                                             Scores M, Array1<const double> t, int n_threads) {
  const Scored at = weighted(Y, s, Z, n_threads);
  require_same(Z, M);
  require(t.shape(0) == Z.shape(1), "t needs one entry per output");
  auto sums = new_array<double>({3, Z.shape(1)});
  const nb::gil_scoped_release unlocked;
  std::visit(
      [&]<class Loss>(const Loss& each) {
        if constexpr (SmoothLoss<Loss>)
          line_by_output_pass(each, at, M.data(), t.data(), sums.data(), n_threads);
        else
          throw std::invalid_argument("a loss with kinks has no curvature");
      },
      loss);
  return sums;
}

// Where lines begin, and what is added to them (line_search.h): (n,), (n,) and (3, n).
struct LineStart {
  Index n;
  const double *start, *incline, *quadratic;

  LineStart(const Array1<const double>& starts, const Array1<const double>& inclines,
            const Scores& quadratics)
      : n(Index(starts.shape(0))),
        start(starts.data()),
        incline(inclines.data()),
        quadratic(quadratics.data()) {
    require(Index(inclines.shape(0)) == n && quadratics.shape(0) == 3 && Index(quadratics.shape(1)) == n,
            "lines need a start, an incline and three coefficients each");
  }
};

// (2, n): lengths and values of one line of all outputs, or of one for each.
nb::ndarray<double, nb::numpy> lengths(const AnyLoss& loss, Scores Y, Array1<const double> s, Scores Z,
                                       Scores M, Array1<const double> start, Array1<const double> incline,
                                       Scores quadratic, double shortest, int n_threads) {
  const Scored at = weighted(Y, s, Z, n_threads);
  require_same(Z, M);
  const LineStart from(start, incline, quadratic);
  require(from.n == 1 || from.n == at.n_outputs, "there is one line, or one for each output");
  auto found = new_array<double>({2, std::size_t(from.n)});
  double* const length = found.data();
  const nb::gil_scoped_release unlocked;
  std::visit(
      [&]<class Loss>(const Loss& each) {
        if constexpr (SmoothLoss<Loss>) {
          const auto probe = [&](const double* t, double* out) {
            if (from.n > 1) {
              line_by_output_pass(each, at, M.data(), t, out, n_threads);
            } else {
              const auto sums = line_pass(each, at, M.data(), t[0], n_threads);
              std::copy(sums.begin(), sums.end(), out);
            }
          };
          line_lengths(from.n, probe, from.start, from.incline, from.quadratic, shortest, length,
                       length + from.n);
        } else {
          throw std::invalid_argument("a loss with kinks has no curvature");
        }
      },
      loss);
  return found;
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

// The sums of columns: rows in order, piece by piece.
nb::ndarray<double, nb::numpy> column_sums(Scores G, int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  const Index n = Index(G.shape(0)), K = Index(G.shape(1));
  auto sums = new_array<double>({G.shape(1)});
  const nb::gil_scoped_release unlocked;
  column_sum_pass(n, K, G.data(), sums.data(), n_threads);
  return sums;
}

// ---- softmax ----------------------------------------------------------------------------------

using Codes = Array1<const std::int32_t>;
struct Softmax {};  // a name for its functions

void require_codes(const Codes& code, Index n_rows, Index n_outputs, int n_threads) {
  require(n_threads >= 1, "n_threads must be at least 1");
  require(Index(code.shape(0)) == n_rows, "softmax needs a class for each row");
  const auto is_known = [=](std::int32_t each) { return each >= 0 && each < n_outputs; };
  require(std::all_of(code.data(), code.data() + n_rows, is_known), "softmax: a class that has no score");
}

CodedScores coded(const Codes& code, const Array1<const double>& s, const Scores& Z, int n_threads) {
  const Index n = Index(Z.shape(0)), K = Index(Z.shape(1));
  require_codes(code, n, K, n_threads);
  require(Index(s.shape(0)) == n, "s needs one entry per row of Z");
  return {n, K, code.data(), s.data(), Z.data()};
}

double softmax_value(Codes y, Array1<const double> s, Scores Z, int n_threads) {
  const CodedScores at = coded(y, s, Z, n_threads);
  const nb::gil_scoped_release unlocked;
  return softmax_line_pass(at, nullptr, 0.0, n_threads)[0];
}

std::tuple<double, double, double> softmax_along(Codes y, Array1<const double> s, Scores Z, Scores M,
                                                 double t, int n_threads) {
  const CodedScores at = coded(y, s, Z, n_threads);
  require_same(Z, M);
  const nb::gil_scoped_release unlocked;
  const auto sums = softmax_line_pass(at, M.data(), t, n_threads);
  return {sums[0], sums[1], sums[2]};
}

nb::ndarray<double, nb::numpy> softmax_lengths(Codes y, Array1<const double> s, Scores Z, Scores M,
                                               Array1<const double> start, Array1<const double> incline,
                                               Scores quadratic, double shortest, int n_threads) {
  const CodedScores at = coded(y, s, Z, n_threads);
  require_same(Z, M);
  const LineStart from(start, incline, quadratic);
  require(from.n == 1, "a joint loss has one line");
  auto found = new_array<double>({2, 1});
  double* const length = found.data();
  const nb::gil_scoped_release unlocked;
  const auto probe = [&](const double* t, double* out) {
    const auto sums = softmax_line_pass(at, M.data(), t[0], n_threads);
    std::copy(sums.begin(), sums.end(), out);
  };
  line_lengths(1, probe, from.start, from.incline, from.quadratic, shortest, length, length + 1);
  return found;
}

void softmax_slopes(Codes y, Scores Z, Array2<double> U, int n_threads) {
  const Index n = Index(Z.shape(0)), K = Index(Z.shape(1));
  require_codes(y, n, K, n_threads);
  require_same(Z, U);
  const nb::gil_scoped_release unlocked;
  softmax_slope_pass({n, K, y.data(), nullptr, Z.data()}, U.data(), n_threads);
}

void softmax_curved(Codes y, Scores U, Scores M, Array2<double> out, int n_threads) {
  const Index n = Index(U.shape(0)), K = Index(U.shape(1));
  require_codes(y, n, K, n_threads);
  require_same(U, M);
  require_same(U, out);
  const nb::gil_scoped_release unlocked;
  softmax_curved_pass(n, K, y.data(), U.data(), M.data(), out.data(), n_threads);
}

void softmax_into_domain(Codes y, Scores U, Array2<double> out, int n_threads) {
  const Index n = Index(U.shape(0)), K = Index(U.shape(1));
  require_codes(y, n, K, n_threads);
  require_same(U, out);
  const nb::gil_scoped_release unlocked;
  softmax_domain_pass(n, K, y.data(), U.data(), out.data(), n_threads);
}

double softmax_conjugate_sum(Codes y, Array1<const double> s, Scores U, int n_threads) {
  const CodedScores at = coded(y, s, U, n_threads);
  const nb::gil_scoped_release unlocked;
  return softmax_conjugate_pass(at, n_threads);
}

double softmax_worst_residual(Codes y, Array1<const double> s, Scores Z, Scores U, int n_threads) {
  const CodedScores at = coded(y, s, Z, n_threads);
  require_same(Z, U);
  const nb::gil_scoped_release unlocked;
  return softmax_residual_pass(at, U.data(), n_threads);
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

std::pair<nb::ndarray<double, nb::numpy>, nb::ndarray<double, nb::numpy>> balance_left(Scores U,
                                                                                       Array1<const double> s,
                                                                                       int n_threads) {
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
  m.def("along_outputs", &along_outputs, "loss"_a, "Y"_a, "s"_a, "Z"_a, "M"_a, "t"_a, "n_threads"_a = 1,
        "The same for each output by itself, at an entry of t for each: (3, K).");
  m.def("lengths", &lengths, "loss"_a, "Y"_a, "s"_a, "Z"_a, "M"_a, "start"_a, "incline"_a, "quadratic"_a,
        "shortest"_a, "n_threads"_a = 1,
        "(2, n): how far to go along M from Z, in one line or in one for each output, and the values there.");
  m.def("conjugate_sum", &conjugate_sum, "loss"_a, "Y"_a, "s"_a, "U"_a, "n_threads"_a = 1,
        "sum_i s_i loss*(y_i, u_i), infinite outside the domain.");
  m.def("worst_residual", &worst_residual, "loss"_a, "Y"_a, "s"_a, "Z"_a, "U"_a, "n_threads"_a = 1,
        "The largest s_i (loss(y_i, z_i) + loss*(y_i, u_i) - z_i u_i).");
  m.def("column_sums", &column_sums, "G"_a, "n_threads"_a = 1, "The sums of the columns of G.");
  nb::class_<Softmax>(m, "Softmax", "log sum_k exp(z_k) - z_y, over whole arrays of scores.")
      .def_static("value", &softmax_value, "y"_a, "s"_a, "Z"_a, "n_threads"_a = 1,
                  "sum_i s_i loss(y_i, z_i).")
      .def_static("along", &softmax_along, "y"_a, "s"_a, "Z"_a, "M"_a, "t"_a, "n_threads"_a = 1,
                  "The same at Z + t M, with its first two derivatives in t.")
      .def_static("lengths", &softmax_lengths, "y"_a, "s"_a, "Z"_a, "M"_a, "start"_a, "incline"_a,
                  "quadratic"_a, "shortest"_a, "n_threads"_a = 1,
                  "(2, 1): how far to go along M from Z, and the value there.")
      .def_static("slopes", &softmax_slopes, "y"_a, "Z"_a, "U"_a.noconvert(), "n_threads"_a = 1,
                  "U = loss'(y, Z): the probabilities, less 1 at the true class.")
      .def_static("curved", &softmax_curved, "y"_a, "U"_a, "M"_a, "out"_a.noconvert(), "n_threads"_a = 1,
                  "How the slopes U change when the scores move by M.")
      .def_static("into_domain", &softmax_into_domain, "y"_a, "U"_a, "out"_a.noconvert(), "n_threads"_a = 1,
                  "A dual point near U in the domain.")
      .def_static("conjugate", &softmax_conjugate_sum, "y"_a, "s"_a, "U"_a, "n_threads"_a = 1,
                  "sum_i s_i loss*(y_i, u_i), infinite outside the domain.")
      .def_static("worst_residual", &softmax_worst_residual, "y"_a, "s"_a, "Z"_a, "U"_a, "n_threads"_a = 1,
                  "The largest s_i (loss(y_i, z_i) + loss*(y_i, u_i) - z_i . u_i).");
  m.def("refit", &refit, "loss"_a, "Y"_a, "s"_a, "Z"_a, "U"_a.noconvert(), "n_threads"_a = 1,
        "The shifts of each output that minimise sum_i s_i loss(y_i, z_i + shift); U = the slopes there.");
  m.def("balance", &balance, "U"_a, "s"_a, "out"_a.noconvert(), "n_threads"_a = 1,
        "U with one sign of each output shrunk, so that s'U = 0.");
  m.def("balance_left", &balance_left, "U"_a, "s"_a, "n_threads"_a = 1, "(s'U, s'|U|).");
}

}  // namespace lineal
