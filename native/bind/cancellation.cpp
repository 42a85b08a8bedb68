// The token of cancellation, and which one is in force on each thread.
#include "bind.h"

namespace lineal {

namespace {

// What Python holds: tokens above are kept alive without Python's lock.
struct BoundToken {
  std::shared_ptr<Token> token;
};

// At module import; a child of fork has another main thread.
unsigned long main_thread = 0;

Token::Clock::time_point after(double seconds) {
  // Beyond some centuries the clock's numbers overflow.
  if (!(seconds < 1e9)) return Token::never;
  return Token::Clock::now() +
         std::chrono::duration_cast<Token::Clock::duration>(std::chrono::duration<double>(seconds));
}

void make(BoundToken* self, std::optional<double> seconds, const BoundToken* parent) {
  new (self) BoundToken{
      std::make_shared<Token>(parent ? parent->token : nullptr, seconds ? after(*seconds) : Token::never)};
}

std::optional<double> seconds_left(const BoundToken& self) {
  const auto deadline = self.token->deadline();
  if (deadline == Token::never) return std::nullopt;
  return std::chrono::duration<double>(deadline - Token::Clock::now()).count();
}

void find_main_thread() {
  main_thread =
      nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
}

}  // namespace

Cancellation& current_cancellation() noexcept {
  static thread_local Cancellation current;
  return current;
}

bool is_main_thread() noexcept { return PyThread_get_thread_ident() == main_thread; }

void bind_cancellation(nb::module_& m) {
  nb::class_<BoundToken>(m, "Token", "A flag that any thread may raise, and a deadline (token.h).")
      .def("__init__", &make, "seconds"_a.none() = nb::none(), "parent"_a.none() = nb::none(),
           "Over when cancelled, when so many seconds from now have passed, or when its parent is over.")
      .def("cancel", [](BoundToken& self) { self.token->cancel(); })
      .def_prop_ro(
          "is_cancelled", [](const BoundToken& self) { return self.token->is_cancelled(); },
          "Whether it, or a token above it, was cancelled.")
      .def_prop_ro(
          "is_over", [](const BoundToken& self) { return self.token->is_over(); },
          "Whether it, or a token above it, was cancelled or is past its deadline.")
      .def_prop_ro("seconds_left", &seconds_left, "To the earliest deadline; None: there is none.");
  m.def(
      "set_current_token",
      [](const BoundToken* token, bool is_breakable) {
        current_cancellation() = {token ? token->token : nullptr, is_breakable};
      },
      "token"_a.none(), "is_breakable"_a,
      "What loops on this thread look at; passes give up, by BrokenOff, only if is_breakable.");
  nb::exception<BrokenOff>(m, "BrokenOff", PyExc_BaseException);
  find_main_thread();
  const nb::module_ os = nb::module_::import_("os");
  if (nb::hasattr(os, "register_at_fork"))
    os.attr("register_at_fork")("after_in_child"_a = nb::cpp_function(&find_main_thread));
}

}  // namespace lineal
