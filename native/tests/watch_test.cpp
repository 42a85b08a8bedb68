#include "lineal/watch.h"

#include <thread>

#include "check.h"

using lineal::Watch;
using namespace std::chrono_literals;

THEOREM("a watch asks at most once a wait, not before so much work, and never again once it said stop") {
  int asked = 0;
  Watch lazy([&] { return ++asked > 1000; }, 1h, 10);
  for (int k = 0; k < 1000; ++k) CHECK(!lazy.says_stop(5));
  CHECK(asked == 0);

  Watch eager([&] { return ++asked == 3; }, 0s, 10);
  int calls = 0;
  while (!eager.says_stop(5)) ++calls;
  CHECK(calls == 5 && asked == 3);  // every second call is due
  for (int k = 0; k < 100; ++k) CHECK(eager.says_stop(0) && eager.is_over());
  CHECK(asked == 3);
}

THEOREM("the usual watch asks some 20 ms after the loop began") {
  int asked = 0;
  Watch watch([&] { return ++asked > 0; });
  CHECK(!watch.says_stop(1 << 20) && asked == 0);
  std::this_thread::sleep_for(25ms);
  CHECK(watch.says_stop(1 << 20) && asked == 1);
}

THEOREM("a watch without a question never says stop") {
  Watch silent;
  for (int k = 0; k < 100; ++k) CHECK(!silent.says_stop(std::int64_t(1) << 40));
}
