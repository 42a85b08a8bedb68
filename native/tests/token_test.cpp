#include "lineal/token.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "check.h"
#include "lineal/parallel.h"
#include "lineal/watch.h"

using lineal::SharedWatch;
using lineal::Token;
using lineal::Watch;
using namespace std::chrono_literals;

THEOREM("a token is over when it was cancelled, and so are those below it, but not the one above") {
  const auto top = std::make_shared<Token>();
  const auto child = std::make_shared<Token>(top), grandchild = std::make_shared<Token>(child);
  CHECK(!top->is_over() && !child->is_over() && !grandchild->is_over());
  child->cancel();
  child->cancel();
  CHECK(!top->is_over() && child->is_over() && grandchild->is_over());
  CHECK(child->is_cancelled() && grandchild->is_cancelled());
}

THEOREM("a deadline ends a token and those below it, whose own can only be earlier; it is no cancellation") {
  const auto now = Token::Clock::now();
  const auto late = std::make_shared<Token>(nullptr, now - 1ms);
  CHECK(late->is_over() && !late->is_cancelled());
  const Token child(late, now + 1h), later(std::make_shared<Token>(nullptr, now + 1h), now + 2h);
  CHECK(child.is_over() && child.deadline() == late->deadline());
  CHECK(!later.is_over() && later.deadline() == now + 1h);
  CHECK(Token().deadline() == Token::never);
}

THEOREM("a token keeps those above it alive") {
  auto top = std::make_shared<Token>();
  const Token child(top);
  top->cancel();
  top.reset();
  CHECK(child.is_over());
}

THEOREM("a watch sees its token at the next glance, whatever it waits for before it asks anybody") {
  Token token;
  int asked = 0;
  Watch watch(&token, [&] { return ++asked < 0; }, 1h, 10);
  for (int k = 0; k < 100; ++k) CHECK(!watch.says_stop(5));
  token.cancel();
  CHECK(!watch.says_stop(5) && watch.says_stop(5) && watch.is_over() && asked == 0);
}

THEOREM("every part of a loop sees the token, also when part 0 has ended") {
  for (int repeat = 0; repeat < 20; ++repeat) {
    Token token;
    Watch watch(&token);
    SharedWatch shared(watch);
    std::atomic<int> n_running{0};
    std::jthread canceller([&] {
      while (n_running.load() < 3) std::this_thread::yield();
      token.cancel();
    });
    std::vector<long> turns(4, 0);  // not atomic: no part may touch another's
    lineal::parallel(4, [&](int part) {
      if (part == 0) return;
      ++n_running;
      while (!shared.says_stop(part, 1 << 10)) ++turns[std::size_t(part)];
    });
    CHECK(watch.is_over() && shared.is_over());
  }
}

THEOREM("a loop ends soon after its token's deadline") {
  const Token token(nullptr, Token::Clock::now() + 20ms);
  Watch watch(&token);
  const auto began = Token::Clock::now();
  while (!watch.says_stop(1 << 10)) {
  }
  const auto took = Token::Clock::now() - began;
  CHECK(took > 10ms && took < 5s);  // 5 s: a sanitizer on a busy machine
}

THEOREM("a loop that is ended for another reason says nothing of its watch") {
  Token token;
  Watch watch(&token);
  SharedWatch shared(watch);
  shared.end();
  CHECK(shared.says_stop(1, 1) && !watch.is_over());
}
