// Dual coordinate ascent on two cores: the scheme of dual_cd.h, eight rows at a time.
//
// The columns are cut in two parts. A batch of rows goes through three phases: partial dots over each
// part, one exact step per row from the summed dots, updates of each part's weights. A worker owns a part
// and every second row, so no weight is ever shared between cores; what crosses are sixteen numbers a
// batch. The same arithmetic is done whether one worker owns everything or two share it: the bits are the
// same for any number of threads.
//
// Within a batch the steps do not see each other. That is harmless when rows overlap little, as texts do;
// the caller checks it (mean_cosine) and takes dual_cd_epoch otherwise. Over an epoch the dual rises all
// the same, though a single batch may lower it.
//
// Two workers meet twice a batch by spinning, which is a fraction of a microsecond on free cores and
// ruinous on crowded ones: after a few long waits the second worker is let go for the rest of the epoch.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "lineal/epoch/dual_cd.h"
#include "lineal/parallel.h"

namespace lineal {

constexpr int batch_rows = 8;

// Where two workers wait for each other.
class Meeting {
 public:
  // Returns whether the wait was so long that a core must have been taken away.
  bool wait(int me, std::uint32_t round) noexcept {
    arrived_[me].count.store(round, std::memory_order_release);
    const auto& other = arrived_[1 - me].count;
    for (int spin = 0; spin < 2000; ++spin) {
      if (other.load(std::memory_order_acquire) >= round) return false;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    while (other.load(std::memory_order_acquire) < round) std::this_thread::yield();
    return true;
  }

 private:
  struct alignas(128) Counter {
    std::atomic<std::uint32_t> count{0};
  };
  Counter arrived_[2];
};

// Mean |cosine| between rows of a sample spread over the data.
template <class V>
double mean_cosine(const Csr<V>& X, const double* norm2) {
  const Index m = std::min<Index>(48, X.n_rows);
  std::vector<double> spread(std::size_t(X.n_columns), 0.0);
  double sum = 0;
  Index count = 0;
  for (Index a = 0; a < m; ++a) {
    const Index i = X.n_rows * a / m;
    if (norm2[i] <= 0) continue;
    axpy(1.0, X[i], spread.data());
    for (Index c = 0; c < a; ++c) {
      const Index j = X.n_rows * c / m;
      if (norm2[j] <= 0) continue;
      sum += std::abs(dot(X[j], static_cast<const double*>(spread.data()))) / std::sqrt(norm2[i] * norm2[j]);
      ++count;
    }
    axpy(-1.0, X[i], spread.data());
    for (const auto* c = X[i].index; c != X[i].index + X[i].size; ++c) spread[std::size_t(*c)] = 0.0;
  }
  return count > 0 ? sum / double(count) : 0.0;
}

// cut[i]: the first stored entry of row i that lies in the second part of the columns. Arguments as in
// dual_cd_epoch; n_threads above 2 are not used. The penalty is L2 (set.l1 == 0).
template <ScoreLoss Loss, class V>
double batched_dual_cd_epoch(const Loss& loss, const Csr<V>& X, const std::int32_t* cut, const double* y,
                             const double* s, const double* norm2, const DualSettings& set, Rng& rng,
                             std::span<std::int32_t> order, Rest* rest, double* u, double* share, double* t,
                             double& b, int n_threads) {
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  Index n_active = 0;
  for (const std::int32_t i : order)
    if (!rest[i].passes() && s[i] > 0.0) order[std::size_t(n_active++)] = i;

  const double inverse = 1.0 / set.l2;
  double partial[2][batch_rows], moved[batch_rows];
  Meeting meeting;
  std::atomic<bool> is_over{false};
  const auto segment = [&](Index i, int part) noexcept {
    const auto x = X[i];
    return part == 0 ? slice(x, 0, cut[i]) : slice(x, cut[i], x.size);
  };
  double final_b = b;
  const auto work = [&](int me, int n_workers) noexcept {
    double bias = b;
    std::uint32_t round = 0;
    int long_waits = 0;
    bool is_leaving = false;
    for (Index first = 0; first < n_active; first += batch_rows) {
      const int count = int(std::min<Index>(batch_rows, n_active - first));
      const int first_part = n_workers == 2 ? me : 0, last_part = n_workers == 2 ? me + 1 : 2;
      for (int part = first_part; part < last_part; ++part) {
        for (int j = 0; j < count; ++j) {
          const Index later = first + batch_rows + j;
          if (later < n_active) prefetch(segment(order[std::size_t(later)], part));
          partial[part][j] = dot(segment(order[std::size_t(first + j)], part), static_cast<const double*>(t));
        }
      }
      if (n_workers == 2) {
        if (me == 0 && long_waits >= 3) is_over.store(true, std::memory_order_relaxed), is_leaving = true;
        long_waits += meeting.wait(me, ++round);
        if (me == 1) is_leaving = is_over.load(std::memory_order_relaxed);
      }
      for (int j = n_workers == 2 ? me : 0; j < count; j += n_workers) {
        const Index i = order[std::size_t(first + j)];
        const double z = (partial[0][j] + partial[1][j]) + bias;
        const double q = s[i] * (norm2[i] + set.bias2) * inverse;
        const double wanted = q > 0 ? loss.dual_step(y[i], z, u[i], q) : loss.derivative(y[i], z);
        share[i] = s[i] * residual(loss, y[i], z, wanted);
        moved[j] = -s[i] * (wanted - u[i]) * inverse;
        if (moved[j] == 0.0)
          rest[i].stayed();
        else
          rest[i].moved();
        u[i] = wanted;
      }
      if (n_workers == 2) long_waits += meeting.wait(me, ++round);
      for (int part = first_part; part < last_part; ++part)
        for (int j = 0; j < count; ++j)
          if (moved[j] != 0.0) axpy(moved[j], segment(order[std::size_t(first + j)], part), t);
      for (int j = 0; j < count; ++j) bias += moved[j] * set.bias2;
      if (is_leaving) {
        meeting.wait(me, ++round);  // the other part's updates are done before anyone goes on alone
        if (me == 1) return;
        n_workers = 1;
        is_leaving = false;
      }
    }
    if (me == 0) final_b = bias;
  };
  // A worker that leaves must have been seen to leave: thread 1 reads is_over after the first meeting of
  // the batch in which thread 0 set it, so both finish that batch together.
  const int n_workers = n_threads >= 2 && n_active > 64 * batch_rows ? 2 : 1;
  parallel(n_workers, [&](int part) { work(part, n_workers); });
  b = final_b;
  const std::size_t n = order.size();
  if (set.recentre) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += s[i] * u[i];
    b -= set.bias2 * inverse * sum;
  }
  double gap = 0;
  for (std::size_t i = 0; i < n; ++i) gap += share[i];
  return gap;
}

}  // namespace lineal
