// Support vector machines for every two of many classes: each is small, and there are many.
//
// Pairs are dealt to threads as they come; a pair is solved by one thread, so threads change no bit. What is
// done here is the plain case, steps until the gap is proved; a pair that takes more than that is left. Where
// the watch says stop every pair is told as it stands, those that were not begun at 0: a pass over its rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <vector>

#include "lineal/epoch/kernel_dual.h"
#include "lineal/watch.h"

namespace lineal {

// Rows of the source, class after class: those of class k from start[k] to start[k + 1]. Equal rows of one
// class are one.
struct RowsByClass {
  const Index* row;
  const Index* start;
  const double* bound;  // of each row's coefficient
  Index n_classes;
  Index n_pairs() const noexcept { return n_classes * (n_classes - 1) / 2; }
};

// How machines are solved; arrays have a number for each pair.
struct PairPace {
  double tol, claim;  // a likely gap of this share of the tolerance is worth a proof
  const Index* block;
  const double* share;
  const Index* max_inner;
  Index largest_block;
};

// P - D and D at threshold b, and the largest term of the gap; in units in which the penalty is |w|^2 / 2. Of
// pairs that are not certified, too: as wide as `KernelDual::stand` leaves them.
struct PairFound {
  bool is_certified = false;
  double b = 0, gap = 0, dual = 0, worst = 0, seconds = 0;
  Index epochs = 0;
};

class PairSolver {
 public:
  PairSolver(const kernel::Source& source, const RowsByClass& classes)
      : source_(source), classes_(classes), place_of_(std::size_t(source.n_rows()), -1) {}

  // Classes i < j; take(position, beta) gets the coefficients that are not 0.
  template <class Take>
  PairFound solve(Index i, Index j, Index pair, const PairPace& pace, Take&& take, Watch& watch) {
    const auto began = std::chrono::steady_clock::now();
    KernelDual machine = posed(i, j, pace.block[pair]);
    PairFound found = solved(machine, pace, pair, watch);
    const Index n_first = classes_.start[i + 1] - classes_.start[i];
    for (Index v = 0; v < machine.n_variables(); ++v)
      if (machine.beta()[std::size_t(v)] != 0)
        take(v < n_first ? classes_.start[i] + v : classes_.start[j] + v - n_first,
             machine.beta()[std::size_t(v)]);
    found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return found;
  }

 private:
  static constexpr Index most_blocks = 100;
  static constexpr int most_proofs = 4;

  KernelDual posed(Index i, Index j, Index block) {
    KernelDual::Variables v;
    std::vector<Index> rows;
    for (const Index k : {i, j})
      for (Index p = classes_.start[k]; p < classes_.start[k + 1]; ++p) {
        // Equal rows of both classes share a row of kernel values.
        Index& place = place_of_[std::size_t(classes_.row[p])];
        if (place < 0) {
          place = Index(rows.size());
          rows.push_back(classes_.row[p]);
        }
        v.place.push_back(place);
        v.group.push_back(0);
        v.c.push_back(k == i ? 1.0 : -1.0);
        v.lo.push_back(k == i ? 0.0 : -classes_.bound[p]);
        v.hi.push_back(k == i ? classes_.bound[p] : 0.0);
        v.beta.push_back(0.0);
      }
    for (const Index row : rows) place_of_[std::size_t(row)] = -1;
    return {source_, std::move(rows), std::move(v), 1, block, &room_};
  }

  PairFound solved(KernelDual& machine, const PairPace& pace, Index pair, Watch& watch) {
    PairFound found;
    if (!certify(machine, pace, pair, watch, found)) stand(machine, found);
    return found;
  }

  // Whether the gap was proved to be within the tolerance.
  static bool certify(KernelDual& machine, const PairPace& pace, Index pair, Watch& watch, PairFound& found) {
    Index block = pace.block[pair];
    const auto size = [](double gap, double dual) { return std::max(std::abs(dual + gap), std::abs(dual)); };
    for (int proofs = 0; found.epochs < most_blocks && !watch.says_stop(1 << 16);) {
      const auto step = machine.step(pace.share[pair], pace.max_inner[pair], 1, &watch);
      if (watch.is_over()) break;
      ++found.epochs;
      const auto likely = machine.likely_gap();
      if (likely.gap <= pace.claim * pace.tol * size(likely.gap, likely.dual) || step.n_changed == 0) {
        machine.correct(1, &watch);
        if (watch.is_over()) break;
        const auto proved = machine.gap();
        if (proved.gap <= pace.tol * size(proved.gap, proved.dual))
          return finish(machine, proved, pace.tol, watch, found);
        if (++proofs == most_proofs) break;
        machine.refresh(1, &watch);
      }
      // Free variables must be solved together.
      if (block < std::min(pace.largest_block, machine.n_variables()) &&
          double(machine.n_free()) > 0.4 * double(block)) {
        block = std::min(2 * block, pace.largest_block);
        machine.set_block_size(block);
      }
    }
    return false;
  }

  // What is sure without more kernel values, at the threshold of the least gap.
  static void stand(KernelDual& machine, PairFound& found) {
    const auto& v = machine.variables();
    const double low = machine.stand().low;
    machine.retreat();
    const auto sure = machine.stand();
    const auto gap = machine.gap();
    found.b = gap.b[0];
    found.dual = std::max(low, sure.low);
    found.gap = gap.gap + (sure.high - found.dual);
    found.worst = 0;
    for (std::size_t p = 0; p < v.c.size(); ++p) {
      const double ahead = found.b - machine.slope(Index(p));
      found.worst =
          std::max(found.worst, ahead > 0 ? (v.beta[p] - v.lo[p]) * ahead : (v.hi[p] - v.beta[p]) * -ahead);
    }
  }

  // The threshold is the mean of y - f over the margin vectors, where the gap at it is within the tolerance.
  static bool finish(KernelDual& machine, const KernelDual::Gap& proved, double tol, Watch& watch,
                     PairFound& found) {
    const auto& v = machine.variables();
    found.dual = machine.exact_dual(1, &watch);
    if (watch.is_over()) return false;
    found.b = proved.b[0];
    found.gap = proved.gap;
    const auto is_within = [&](double gap) {
      return gap <= tol * std::max(std::abs(found.dual + gap), std::abs(found.dual));
    };
    double sum = 0;
    Index n_free = 0;
    for (std::size_t p = 0; p < v.c.size(); ++p) {
      const double speck = 1e-12 * (v.hi[p] - v.lo[p]);
      if (!(v.beta[p] - v.lo[p] > speck && v.hi[p] - v.beta[p] > speck)) continue;
      sum += machine.slope(Index(p));
      ++n_free;
    }
    if (n_free > 0) {
      const auto at_mean = machine.gap_at({sum / double(n_free)}, true);
      if (at_mean.gap <= found.gap || is_within(at_mean.gap)) {
        found.b = at_mean.b[0];
        found.gap = at_mean.gap;
      }
    }
    for (std::size_t p = 0; p < v.c.size(); ++p) {
      const double ahead = found.b - machine.slope(Index(p));
      found.worst =
          std::max(found.worst, ahead > 0 ? (v.beta[p] - v.lo[p]) * ahead : (v.hi[p] - v.beta[p]) * -ahead);
    }
    found.is_certified = is_within(found.gap);
    return found.is_certified;
  }

  const kernel::Source& source_;
  const RowsByClass& classes_;
  std::vector<Index> place_of_;  // by row of the source; -1 between pairs
  KernelDual::Room room_;
};

// Machines of all pairs, in order of their classes: found has one of each, and take(i, j, position, beta) is
// called by several threads, for other places each time.
template <class Take>
void solve_pairs(const kernel::Source& source, const RowsByClass& classes, const PairPace& pace,
                 PairFound* found, int n_threads, Watch& watch, const Take& take) {
  std::vector<std::pair<Index, Index>> pairs;
  for (Index i = 0; i < classes.n_classes; ++i)
    for (Index j = i + 1; j < classes.n_classes; ++j) pairs.emplace_back(i, j);
  std::atomic<std::size_t> next = 0;
  SharedWatch shared(watch);
  parallel(int(std::min<std::size_t>(std::size_t(n_threads), pairs.size())), [&](int part) {
    PairSolver solver(source, classes);
    // Only one part may ask the watch; the others look at its token, and at what it was told.
    Watch own(watch.token(), [&] { return shared.is_over(); });
    Watch& mine = part == 0 ? watch : own;
    for (std::size_t p = next++; p < pairs.size(); p = next++) {
      const auto [i, j] = pairs[p];
      found[p] = solver.solve(
          i, j, Index(p), pace,
          [&, i = i, j = j](Index position, double beta) { take(i, j, position, beta); }, mine);
      if (mine.is_over()) shared.end();
    }
  });
}

}  // namespace lineal
