#include "lineal/falling.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "check.h"
#include "lineal/rng.h"
#include "samples.h"

using namespace lineal;

namespace {

void check_order(const std::vector<double>& scores) {
  std::vector<std::int64_t> found(scores.size(), -1), wanted(scores.size());
  falling_order(scores, found.data());
  std::iota(wanted.begin(), wanted.end(), 0);
  std::stable_sort(wanted.begin(), wanted.end(), [&](std::int64_t a, std::int64_t b) {
    return scores[std::size_t(a)] > scores[std::size_t(b)];
  });
  CHECK(found == wanted);
}

}  // namespace

THEOREM(
    "falling_order is a stable sort, largest first: few scores and many, equal ones, zeros of both signs") {
  Rng rng(3);
  check_order({});
  check_order({1.0});
  check_order({0.0, -0.0, 0.0, 2.0, std::numeric_limits<double>::infinity(), 5e-324});
  for (const Index n : {2, 47, 48, 5000, 70'000}) {
    check_order(check::uniforms(rng, n, 0, 1));
    std::vector<double> near = check::uniforms(rng, n, 0, 1), few = near;
    for (double& each : near) each = 1.0 + each * 1e-13;  // alike in all leading bits
    for (double& each : few) each = std::floor(each * 5);
    check_order(near);
    check_order(few);
  }
}
