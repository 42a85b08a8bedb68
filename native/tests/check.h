// A test framework of one page: theorems that register themselves, checks that count.
//
// Our own rather than a dependency: nothing to install or download, every line is compiled with the same
// sanitizers and warnings as the code under test, and a failed check never unwinds through a kernel.
//
//     THEOREM("addition commutes") {
//       CHECK(a + b == b + a);
//       CHECK_NEAR(a + b, b + a, 1e-15);
//     }
#pragma once

#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

namespace lineal::check {

struct Theorem {
  const char* statement;
  void (*body)();
};

inline std::vector<Theorem>& theorems() {
  static std::vector<Theorem> all;
  return all;
}

struct Registered {
  Registered(const char* statement, void (*body)()) { theorems().push_back({statement, body}); }
};

// Failed checks of the theorem that is running. Not for use from several threads at once.
inline int& n_failures() {
  static int count = 0;
  return count;
}

// A loop over thousands of cases may fail thousands of times: the first few tell enough.
inline bool is_worth_printing() { return ++n_failures() <= 5; }

[[gnu::noinline]] inline void expect(bool holds, const char* what, const char* file, int line) {
  if (!holds && is_worth_printing()) std::printf("  %s:%d: %s does not hold\n", file, line, what);
}

// NaN is near nothing, and an infinity only near itself.
[[gnu::noinline]] inline void expect_near(double got, double wanted, double tolerance, const char* what,
                                          const char* file, int line) {
  const bool is_near = got == wanted || std::abs(got - wanted) <= tolerance;
  if (!is_near && is_worth_printing())
    std::printf("  %s:%d: %s: %.17g and %.17g differ by %.3g, more than %.3g\n", file, line, what, got,
                wanted, std::abs(got - wanted), tolerance);
}

// The closing line is alone on its line and always of the form "N passed, N failed".
inline int run_all() {
  int n_passed = 0, n_failed = 0;
  for (const Theorem& theorem : theorems()) {
    n_failures() = 0;
    try {
      theorem.body();
    } catch (const std::exception& error) {
      ++n_failures();
      std::printf("  unexpected exception: %s\n", error.what());
    }
    const bool is_true = n_failures() == 0;
    ++(is_true ? n_passed : n_failed);
    std::printf("%s %s\n", is_true ? "ok    " : "FAILED", theorem.statement);
    std::fflush(stdout);  // a sanitizer ends the process without flushing
  }
  std::printf("%d passed, %d failed\n", n_passed, n_failed);
  return n_failed == 0 && n_passed > 0 ? 0 : 1;
}

}  // namespace lineal::check

#define LINEAL_JOIN_(a, b) a##b
#define LINEAL_JOIN(a, b) LINEAL_JOIN_(a, b)
#define THEOREM(statement)                                                   \
  static void LINEAL_JOIN(theorem_, __LINE__)();                             \
  static const lineal::check::Registered LINEAL_JOIN(registered_, __LINE__){ \
      statement, &LINEAL_JOIN(theorem_, __LINE__)};                          \
  static void LINEAL_JOIN(theorem_, __LINE__)()
#define CHECK(...) lineal::check::expect(bool(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_NEAR(got, wanted, tolerance) \
  lineal::check::expect_near(got, wanted, tolerance, #got " = " #wanted, __FILE__, __LINE__)
