#include "bind.h"
#include "text.h"
#include "text_runs.h"

NB_MODULE(LINEAL_MODULE, m) {
  m.doc() = "Native core of lineal: passes over data and epochs of solvers. Arrays in, arrays out.";
  // What a daemon thread still holds when a process ends cannot be freed, by anyone: no news for users. Tests
  // turn it on.
  nb::set_leak_warnings(false);
  m.def(
      "warn_of_leaks", [](bool is_on) { nb::set_leak_warnings(is_on); }, "is_on"_a,
      "Whether objects that are alive when the process ends are named on stderr.");
  lineal::bind_cancellation(m);
  lineal::bind_matrix(m);
  lineal::bind_monomials(m);
  lineal::bind_class_sums(m);
  lineal::bind_dual_cd(m);
  lineal::bind_prox_cd(m);
  lineal::bind_interior_point(m);
  lineal::bind_evaluate(m);
  lineal::bind_newton(m);
  lineal::bind_stochastic(m);
  lineal::bind_perceptron(m);
  lineal::bind_online(m);
  lineal::bind_documents(m);
  lineal::bind_records(m);
  lineal::bind_sparse_lines(m);
  lineal::bind_neighbors(m);
  lineal::bind_kernels(m);
  lineal::bind_kernel_machine(m);
  lineal::bind_ranking(m);
  lineal::bind_text(m);
  lineal::bind_online_texts(m);
  lineal::bind_text_runs(m);
  lineal::bind_text_scorer(m);
  m.def(
      "supports_avx2",
      [] {
#if defined(__x86_64__)
        return bool(__builtin_cpu_supports("avx2")) && bool(__builtin_cpu_supports("fma")) &&
               bool(__builtin_cpu_supports("bmi2"));
#else
        return false;
#endif
      },
      "Whether this processor can run the AVX2 build of the core.");
}
