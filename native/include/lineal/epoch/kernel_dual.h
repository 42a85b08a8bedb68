// Support vector machines with kernels, as one problem: large-block decomposition without a cache of rows.
//
//   maximise  D(beta) = sum_v c_v beta_v - beta'K beta / 2,   lo <= beta <= hi,   sum of beta fixed per
//   group.
//
// A coefficient (variable) stands on a kernel row; several may stand on one (both sides of a regression tube,
// equal rows of two classes). Classification has c = y, regression two variables a row with c = t -+ epsilon,
// one-class c = 0. An outer step chooses a block (the free ones of the last block, then the worst offenders
// of both sides), solves inside it (smo.h) and brings F = K beta up to date for what changed: nearly all of
// the time goes into kernel values. Each is used where it is computed; only rows of small problems are kept.
//
// The gap for any thresholds b (one per group; v = c - F):
//   P - D = sum_v (beta_v - lo_v) max(b - v, 0) + (hi_v - beta_v) max(v - b, 0),
// all terms >= 0. F is summed from float32 values, whose error is bounded (`doubt`), and recomputed in
// float64 where the bound leaves a term in doubt (`correct`): what `gap` adds up is an upper bound of the
// gap.
//
// Whatever is given a watch and told to stop leaves coefficients and F as they were before the call: a block
// whose F is not finished is not taken. What is left to wait for is a pass over the variables, and so is the
// proof of where that leaves the machine (`stand`): no kernel value is needed. With G = F - K beta,
//   |beta'F - beta'K beta| <= sum_v |beta_v| |G|,   so that  D = c'beta - beta'F / 2 +- sum_v |beta_v| e / 2
// where e bounds every |G|, and P = D + gap is at most the upper end of that plus `gap`, which counts e, too.
// e is what float32 (or float64, after `refresh` and `correct`) may have lost in each value that was added,
// `error` times how far coefficients moved in all, in whatever direction, and half an ulp of F for each
// addition to it (`stand` alone counts these: |F| <= the largest kernel value times sum_v |beta_v| moved).
// That is the worst case: all errors of one sign. On 30,000 normal rows of 100 columns e was 1.9 where F was
// off by 3e-5, so that P and D are wide of the mark where sums of many large coefficients are cut; but true.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "lineal/epoch/smo.h"
#include "lineal/kernel/source.h"

namespace lineal {

class KernelDual {
 public:
  struct Variables {
    std::vector<Index> place;  // which of the rows a variable stands on
    std::vector<std::int32_t> group;
    std::vector<double> c, lo, hi, beta;
  };
  struct Step {
    double violation = 0;  // before the step: the most by which slopes of a group disagree
    Index n_inner = 0, n_changed = 0;
  };
  struct Gap {
    std::vector<double> b;
    double gap = 0, dual = 0;
  };

  // Room for kernel values, which machines that follow each other may hand on: fresh memory is slow to touch.
  struct Room {
    std::unique_ptr<float[]> block;
    Index capacity = 0;
    std::vector<float> kept;
  };

  // rows: the distinct rows of the source that variables stand on.
  KernelDual(const kernel::Source& source, std::vector<Index> rows, Variables variables, int n_groups,
             Index block_size, Room* lent = nullptr)
      : source_(source),
        rows_(std::move(rows)),
        x_(std::move(variables)),
        n_groups_(n_groups),
        block_size_(block_size),
        F_(rows_.size()),
        is_exact_(rows_.size(), 1),
        is_in_block_(x_.c.size()),
        room_(lent ? lent : &own_room_) {
    is_whole_ = n_variables() <= block_size_;
  }

  KernelDual(const KernelDual&) = delete;
  KernelDual& operator=(const KernelDual&) = delete;

  Index n_variables() const noexcept { return Index(x_.c.size()); }
  const Variables& variables() const noexcept { return x_; }
  Index n_groups() const noexcept { return n_groups_; }
  Index n_rows() const noexcept { return Index(rows_.size()); }
  const std::vector<double>& beta() const noexcept { return x_.beta; }
  const std::vector<double>& F() const noexcept { return F_; }
  double slope(Index v) const noexcept {
    return x_.c[std::size_t(v)] - F_[std::size_t(x_.place[std::size_t(v)])];
  }
  Index n_values() const noexcept { return n_values_; }
  // Coefficients at neither bound.
  Index n_free() const noexcept {
    Index n = 0;
    for (std::size_t v = 0; v < x_.c.size(); ++v) n += x_.beta[v] > x_.lo[v] && x_.beta[v] < x_.hi[v];
    return n;
  }
  void set_block_size(Index size) {
    block_size_ = size;
    if (!is_whole_ && n_variables() <= size) block_.clear();  // it becomes all of them
    is_whole_ = n_variables() <= size;
    has_block_ = false;
  }

  // F = K beta in float64, from nothing.
  void refresh(int n_threads, Watch* watch = nullptr) { add_all(n_threads, true, watch); }
  // The same from float32 values: for starts, whose F is put right at the end.
  void refresh_fast(int n_threads, Watch* watch = nullptr) { add_all(n_threads, false, watch); }
  // Coefficients and F times a factor: along a path of bounds.
  void scale(double factor) {
    shrink(factor);
    for (auto* each : {&x_.lo, &x_.hi})
      for (double& number : *each) number *= factor;
  }
  // Coefficients and F times a factor, bounds as they are: from 0 to 1 where 0 is feasible; or back again.
  void shrink(double factor) {
    for (auto* each : {&x_.beta, &F_})
      for (double& number : *each) number = factor == 0 ? 0 : number * factor;  // also where it is none
    for (double* each : {&moved_, &moved_since_, &magnitude_, &assumed_, &charged_}) *each *= factor;
    ++n_additions_;
  }
  // F as somebody else knows it: each may be off by so much.
  void assume(std::vector<double> F, double doubt) {
    F_ = std::move(F);
    std::fill(is_exact_.begin(), is_exact_.end(), char(1));
    magnitude_ = sum_of(x_.beta).magnitude();
    moved_ = moved_since_ = 0;
    n_additions_ = 0;
    assumed_ = doubt;
    charged_ = 0;
  }

  Step step(double share_of_violation, Index max_inner, int n_threads, Watch* watch = nullptr) {
    Step done;
    done.violation = look();
    if (!(done.violation > 0)) return done;
    if (!is_whole_ || block_.empty()) choose();
    const Index width = Index(places_.size());
    if (!has_block_) {
      stride_ = width + 16;  // no power of two: rows a power apart share cache lines
      if (width * stride_ > room_->capacity) {
        room_->capacity = width * stride_;
        room_->block.reset(new float[std::size_t(room_->capacity)]);  // not zeroed: all of it is written
      }
      block_rows_.resize(std::size_t(width));
      for (Index k = 0; k < width; ++k)
        block_rows_[std::size_t(k)] = row_of(std::max<Index>(places_[std::size_t(k)], 0));
      source_.block(block_rows_.data(), width, room_->block.get(), stride_, n_threads, watch);
      if (is_over(watch)) return done;
      n_values_ += width * width / 2;
      has_block_ = is_whole_;
    }
    fill();
    done.n_inner =
        smo_.run(room_->block.get(), stride_, groups_, share_of_violation * done.violation, max_inner, watch);
    if (!is_over(watch)) done.n_changed = take(n_threads, watch);
    return done;
  }

  // By how much an F may be off, whatever row it is of.
  double doubt() const noexcept { return std::max(doubt_of(false), doubt_of(true)); }
  // The gap at the best thresholds, and D; every doubt of float32 is counted against it, so it is no guess.
  Gap gap() const {
    std::vector<double> b;
    for (int g = 0; g < n_groups_; ++g) b.push_back(threshold(g));
    return gap_at(std::move(b), true);
  }
  // A guess in one pass: in the middle of the slopes that disagree, and without a doubt.
  Gap likely_gap() {
    look();
    std::vector<double> b;
    for (int g = 0; g < n_groups_; ++g) b.push_back(middle(g));
    return gap_at(std::move(b), false);
  }
  Gap gap_at(std::vector<double> b, bool doubting) const {
    Gap result;
    result.b = std::move(b);
    const double doubt = doubting ? doubt_of(false) : 0, small_doubt = doubting ? doubt_of(true) : 0;
    for (Index v = 0; v < n_variables(); ++v) {
      const std::size_t p = std::size_t(v);
      const double e = is_exact_[std::size_t(x_.place[p])] ? small_doubt : doubt;
      const double over = result.b[std::size_t(x_.group[p])] - slope(v);
      // 0 times an infinite bound is 0 here: a bound that is never reached costs nothing where slopes agree.
      if (x_.beta[p] > x_.lo[p] && over + e > 0) result.gap += (x_.beta[p] - x_.lo[p]) * (over + e);
      if (x_.beta[p] < x_.hi[p] && e - over > 0) result.gap += (x_.hi[p] - x_.beta[p]) * (e - over);
      result.dual += x_.beta[p] * (x_.c[p] - 0.5 * F_[std::size_t(x_.place[p])]);
    }
    // Numbers that are none (kernel values beyond float) leave D none: then nothing is proved.
    if (!std::isfinite(result.dual)) result.gap = std::numeric_limits<double>::infinity();
    return result;
  }

  // P at the best thresholds, if F were exact.
  double likely_primal() const {
    const Gap there = gap_at(gap().b, false);
    return there.gap + there.dual;
  }
  // Where 0 is feasible: halves coefficients that are worse than none, as far as is known, until P grows, or
  // to 0. Whether it did.
  bool retreat() {
    if (std::all_of(x_.beta.begin(), x_.beta.end(), [](double b) { return b == 0; })) return false;
    double here = likely_primal();
    std::vector<double> beta(x_.beta.size()), F(F_.size());
    const auto swap = [&] {
      x_.beta.swap(beta);
      F_.swap(F);
    };
    swap();
    const double at_zero = likely_primal();
    swap();
    if (here < at_zero) return false;
    for (int k = 0; k < most_halvings && !(here < at_zero); ++k) {
      shrink(0.5);
      here = likely_primal();
    }
    if (!(here < at_zero)) {
      shrink(0);
      return true;
    }
    for (double next; true; here = next) {
      shrink(0.5);
      next = likely_primal();
      if (next < here) continue;
      shrink(2);
      return true;
    }
  }
  // What is sure of D without another kernel value; the gap counts every rounding from now on.
  struct Standing {
    double low, high;  // low: of the best multiple of the coefficients where their sums are 0; high: of these
  };
  Standing stand() {
    constexpr double ulp = 0x1p-52;
    charged_ = ulp * double(n_additions_) * source_.largest() * magnitude_;
    if (!std::isfinite(charged_)) charged_ = std::numeric_limits<double>::infinity();
    double linear = 0, squared = 0, off = 0, size = 0;
    std::vector<double> sum(static_cast<std::size_t>(n_groups_)), total(sum.size());
    for (std::size_t p = 0; p < x_.c.size(); ++p) {
      const std::size_t r = std::size_t(x_.place[p]), g = std::size_t(x_.group[p]);
      const double beta = x_.beta[p];
      linear += x_.c[p] * beta;
      squared += beta * F_[r];
      off += std::abs(beta) * doubt_of(is_exact_[r]);
      size += std::abs(x_.c[p] * beta) + std::abs(beta * F_[r]);
      sum[g] += beta;
      total[g] += std::abs(beta);
    }
    bool is_balanced = true;
    for (std::size_t g = 0; g < sum.size(); ++g) is_balanced &= std::abs(sum[g]) <= 1e-12 * total[g];
    const double rounding = ulp * double(n_variables() + 8) * size, most = std::max(squared + off, 0.0);
    // t c'beta - t^2 beta'K beta / 2 is at its highest at t = c'beta / beta'K beta.
    const double t = is_balanced && linear < most ? std::max(linear / most, 0.0) : 1.0;
    Standing found{t * linear - 0.5 * t * t * most - rounding,
                   linear - 0.5 * std::max(squared - off, 0.0) + rounding};
    if (!std::isfinite(found.low) || !std::isfinite(found.high)) {
      const double none = std::numeric_limits<double>::infinity();
      return {is_balanced ? 0.0 : -none, none};
    }
    if (is_balanced) found.low = std::max(found.low, 0.0);
    return found;
  }

  // D in float64: the gap is proved from rows near the thresholds alone, but D rests on all coefficients. By
  // symmetry half of the kernel values are enough.
  double exact_dual(int n_threads, Watch* watch = nullptr) {
    const Sum sum = sum_of(x_.beta);
    const kernel::Expansion all = sum.view();
    double squared = 0, linear = 0;
    constexpr Index chunk = 1024;
    std::vector<double> among, later;
    for (Index first = 0; first < all.size; first += chunk) {
      const Index count = std::min(chunk, all.size - first), next = first + count;
      among.assign(std::size_t(count), 0.0);
      later.assign(std::size_t(count), 0.0);
      source_.add_exact(all.row + first, count, {all.row + first, all.coefficient + first, count},
                        among.data(), n_threads, watch);
      source_.add_exact(all.row + first, count, {all.row + next, all.coefficient + next, all.size - next},
                        later.data(), n_threads, watch);
      if (is_over(watch)) return std::numeric_limits<double>::quiet_NaN();
      n_values_ += count * (all.size - first);
      for (Index k = 0; k < count; ++k)
        squared += all.coefficient[first + k] * (among[std::size_t(k)] + 2 * later[std::size_t(k)]);
    }
    for (std::size_t v = 0; v < x_.c.size(); ++v) linear += x_.c[v] * x_.beta[v];
    return linear - 0.5 * std::max(squared, 0.0);
  }

  // Recomputes in float64 the F of rows whose terms in the gap are not surely 0. How many there were.
  Index correct(int n_threads, Watch* watch = nullptr) {
    const double doubt = doubt_of(false);
    std::vector<double> b;
    for (int g = 0; g < n_groups_; ++g) b.push_back(threshold(g));
    std::vector<char> is_wanted(rows_.size());
    for (Index v = 0; v < n_variables(); ++v) {
      const std::size_t p = std::size_t(v);
      const double over = b[std::size_t(x_.group[p])] - slope(v);
      const bool may_fall = x_.beta[p] > x_.lo[p], may_grow = x_.beta[p] < x_.hi[p];
      if ((may_fall && over > -2 * doubt) || (may_grow && over < 2 * doubt))
        is_wanted[std::size_t(x_.place[p])] = 1;
    }
    std::vector<Index> where, row;
    for (Index r = 0; r < n_rows(); ++r)
      if (is_wanted[std::size_t(r)]) {
        where.push_back(r);
        row.push_back(rows_[std::size_t(r)]);
      }
    std::vector<double> F(where.size());
    const Sum sum = sum_of(x_.beta);
    source_.add_exact(row.data(), Index(row.size()), sum.view(), F.data(), n_threads, watch);
    if (is_over(watch)) return 0;
    n_values_ += Index(row.size()) * Index(sum.row.size());
    n_additions_ = std::max(n_additions_, n_panels(sum));
    std::fill(is_exact_.begin(), is_exact_.end(), char(0));
    for (std::size_t k = 0; k < where.size(); ++k) {
      F_[std::size_t(where[k])] = F[k];
      is_exact_[std::size_t(where[k])] = 1;
    }
    moved_since_ = 0;
    magnitude_ = sum.magnitude();
    return Index(where.size());
  }

  // Slopes of a group: the largest of what may grow, the smallest of what may fall.
  struct Extremes {
    double up = -std::numeric_limits<double>::infinity(), down = std::numeric_limits<double>::infinity();
  };
  Extremes extremes(int group) const {
    Extremes found;
    for (Index v = 0; v < n_variables(); ++v) {
      const std::size_t p = std::size_t(v);
      if (x_.group[p] != group) continue;
      const double s = slope(v);
      if (x_.beta[p] < x_.hi[p]) found.up = std::max(found.up, s);
      if (x_.beta[p] > x_.lo[p]) found.down = std::min(found.down, s);
    }
    return found;
  }

 private:
  static constexpr int most_halvings = 12;
  struct Sum {
    std::vector<Index> row;
    std::vector<double> coefficient;
    kernel::Expansion view() const noexcept { return {row.data(), coefficient.data(), Index(row.size())}; }
    double magnitude() const noexcept {
      double sum = 0;
      for (const double a : coefficient) sum += std::abs(a);
      return sum;
    }
  };

  static bool is_over(const Watch* watch) noexcept { return watch && watch->is_over(); }
  Index row_of(Index v) const noexcept { return rows_[std::size_t(x_.place[std::size_t(v)])]; }

  // Coefficients by row; those of variables on one row are added.
  Sum sum_of(const std::vector<double>& of_variable) const {
    std::vector<double> by_place(rows_.size());
    for (Index v = 0; v < n_variables(); ++v)
      by_place[std::size_t(x_.place[std::size_t(v)])] += of_variable[std::size_t(v)];
    return nonzero(by_place);
  }
  Sum nonzero(const std::vector<double>& by_place) const {
    Sum sum;
    for (std::size_t r = 0; r < by_place.size(); ++r)
      if (by_place[r] != 0) {
        sum.row.push_back(rows_[r]);
        sum.coefficient.push_back(by_place[r]);
      }
    return sum;
  }
  void add_all(int n_threads, bool exactly, Watch* watch) {
    const Sum sum = sum_of(x_.beta);
    const auto view = sum.view();
    std::vector<double> F(F_.size());
    if (exactly)
      source_.add_exact(rows_.data(), n_rows(), view, F.data(), n_threads, watch);
    else
      source_.add(rows_.data(), n_rows(), view, F.data(), n_threads, watch);
    if (is_over(watch)) return;
    F_ = std::move(F);
    n_values_ += n_rows() * Index(sum.row.size());
    std::fill(is_exact_.begin(), is_exact_.end(), char(exactly));
    magnitude_ = sum.magnitude();
    moved_ = exactly ? 0 : magnitude_;
    moved_since_ = 0;
    n_additions_ = n_panels(sum);
    assumed_ = charged_ = 0;
  }
  // By how much an F may be off: float64's own error, and float32's for all that was added since.
  double doubt_of(bool is_exact) const noexcept {
    return source_.exact_error() * magnitude_ + source_.error() * (is_exact ? moved_since_ : moved_) +
           (assumed_ + charged_);
  }
  // In how many additions, at most, a sum joins an F.
  static Index n_panels(const Sum& sum) noexcept { return Index(sum.row.size()); }

  // The least gap of a group: a weighted quantile of slopes, and the middle where it is an interval.
  double threshold(int group) const {
    struct Slope {
      double v, left, right;
    };
    std::vector<Slope> slopes;
    constexpr double most = 1e30;  // an infinite bound outweighs everything, and can be subtracted
    for (Index v = 0; v < n_variables(); ++v) {
      const std::size_t p = std::size_t(v);
      if (x_.group[p] != group || x_.lo[p] == x_.hi[p]) continue;
      // A coefficient that rounding keeps from its bound is at it: it must not decide the middle of an
      // interval.
      const double left = x_.beta[p] - x_.lo[p], right = x_.hi[p] - x_.beta[p];
      const double speck = std::isinf(left + right) ? 0 : 1e-12 * (left + right);
      slopes.push_back(
          {slope(v), left > speck ? std::min(left, most) : 0, right > speck ? std::min(right, most) : 0});
    }
    if (slopes.empty()) return 0;
    // What pulls one way only and lies beyond all that pulls the other way decides nothing: most of them.
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    for (const Slope& each : slopes) {
      if (each.left > 0) lowest = std::min(lowest, each.v);
      if (each.right > 0) highest = std::max(highest, each.v);
    }
    const double first = std::min(lowest, highest), last = std::max(lowest, highest);
    const auto is_idle = [&](const Slope& each) { return each.v < first || each.v > last; };
    if (first <= last) slopes.erase(std::remove_if(slopes.begin(), slopes.end(), is_idle), slopes.end());
    std::sort(slopes.begin(), slopes.end(), [](const Slope& a, const Slope& b) { return a.v < b.v; });
    // ahead[k]: what pulls upwards past slopes[k], summed from the end, so that nothing is exactly 0.
    std::vector<double> ahead(slopes.size());
    for (std::size_t k = slopes.size() - 1; k > 0; --k) ahead[k - 1] = ahead[k] + slopes[k].right;
    double behind = 0;
    for (std::size_t k = 0; k + 1 < slopes.size(); ++k) {
      behind += slopes[k].left;
      if (behind > ahead[k]) return slopes[k].v;
      if (behind == ahead[k]) {
        std::size_t next = k + 1;
        while (next + 1 < slopes.size() && slopes[next].left == 0 && slopes[next].right == 0) ++next;
        return 0.5 * (slopes[k].v + slopes[next].v);
      }
    }
    return slopes.back().v;
  }

  // Extremes of every group; how far they disagree at most.
  double look() {
    seen_.assign(std::size_t(n_groups_), {});
    for (Index v = 0; v < n_variables(); ++v) {
      const std::size_t p = std::size_t(v);
      Extremes& found = seen_[std::size_t(x_.group[p])];
      const double s = slope(v);
      if (x_.beta[p] < x_.hi[p]) found.up = std::max(found.up, s);
      if (x_.beta[p] > x_.lo[p]) found.down = std::min(found.down, s);
    }
    double worst = 0;
    for (const Extremes& each : seen_) worst = std::max(worst, each.up - each.down);
    return worst;
  }
  double middle(int group) const noexcept {
    const Extremes& e = seen_[std::size_t(group)];
    const double middle = 0.5 * (e.up + e.down);
    return std::isfinite(middle) ? middle : std::isfinite(e.up) ? e.up : std::isfinite(e.down) ? e.down : 0;
  }

  struct Candidate {
    double key;
    std::uint32_t shuffled;  // ties are broken by this, so that no order of rows is preferred
    std::int32_t v;
    bool operator<(const Candidate& other) const noexcept {
      return key != other.key ? key > other.key : shuffled < other.shuffled;
    }
  };
  static std::uint32_t shuffled(Index v) noexcept {
    std::uint32_t h = std::uint32_t(v) * 0x9e3779b9u;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    return h ^ (h >> 13);
  }

  void choose() {
    std::vector<Index> chosen;
    if (is_whole_) {
      chosen.resize(std::size_t(n_variables()));
      std::iota(chosen.begin(), chosen.end(), Index(0));
    } else {
      std::fill(is_in_block_.begin(), is_in_block_.end(), char(0));
      for (const Index v : block_) {
        const std::size_t p = std::size_t(v);
        if (Index(chosen.size()) < block_size_ / 2 && x_.beta[p] > x_.lo[p] && x_.beta[p] < x_.hi[p])
          insert(v, chosen);
      }
      offenders();
      Index room = block_size_ - Index(chosen.size());
      fill_from(up_, room / 2, chosen);
      fill_from(down_, block_size_ - Index(chosen.size()), chosen);
      fill_from(up_, block_size_ - Index(chosen.size()), chosen);
    }
    block_ = std::move(chosen);
    std::sort(block_.begin(), block_.end(), [&](Index a, Index b) {
      const auto ga = x_.group[std::size_t(a)], gb = x_.group[std::size_t(b)];
      return ga != gb ? ga < gb : a < b;
    });
    lay_out();
  }
  void insert(Index v, std::vector<Index>& chosen) {
    is_in_block_[std::size_t(v)] = 1;
    chosen.push_back(v);
  }
  // What may grow and lies above something that may fall, and the other way round, by how far from the
  // middle.
  void offenders() {
    up_.clear();
    down_.clear();
    for (Index v = 0; v < n_variables(); ++v) {
      const std::size_t p = std::size_t(v);
      if (is_in_block_[p]) continue;
      const Extremes& e = seen_[std::size_t(x_.group[p])];
      const double s = slope(v), from = s - middle(x_.group[p]);
      if (x_.beta[p] < x_.hi[p] && s > e.down) up_.push_back({from, shuffled(v), std::int32_t(v)});
      if (x_.beta[p] > x_.lo[p] && s < e.up) down_.push_back({-from, shuffled(v), std::int32_t(v)});
    }
  }
  void fill_from(std::vector<Candidate>& from, Index room, std::vector<Index>& chosen) {
    if (room <= 0) return;
    if (Index(from.size()) > 2 * room)  // some may be chosen already: twice as many are looked at
      std::nth_element(from.begin(), from.begin() + 2 * room, from.end());
    const Index n = std::min<Index>(Index(from.size()), 2 * room);
    std::sort(from.begin(), from.begin() + n);
    for (Index k = 0; k < n && room > 0; ++k)
      if (!is_in_block_[std::size_t(from[std::size_t(k)].v)]) {
        insert(from[std::size_t(k)].v, chosen);
        --room;
      }
  }
  // Places of the block: a group begins at a multiple of the lanes; -1 stands for nothing.
  void lay_out() {
    places_.clear();
    groups_.clear();
    std::size_t k = 0;
    for (int g = 0; g < n_groups_; ++g) {
      const Index first = Index(places_.size());
      for (; k < block_.size() && x_.group[std::size_t(block_[k])] == g; ++k) places_.push_back(block_[k]);
      while (places_.size() % Smo::lanes != 0) places_.push_back(-1);
      groups_.push_back({first, Index(places_.size())});
    }
  }
  void fill() {
    smo_.resize(Index(places_.size()));
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const Index v = places_[k];
      if (v < 0) {
        smo_.beta[k] = smo_.lo[k] = smo_.hi[k] = 0;
        smo_.slope[k] = 0;
        continue;
      }
      const std::size_t p = std::size_t(v);
      smo_.beta[k] = x_.beta[p];
      smo_.lo[k] = x_.lo[p];
      smo_.hi[k] = x_.hi[p];
      smo_.slope[k] = float(slope(v) - middle(x_.group[p]));
    }
  }
  // Takes the block's coefficients over, and brings F up to date; or leaves both. How many changed.
  Index take(int n_threads, Watch* watch) {
    std::vector<double> change(rows_.size());
    Index n_changed = 0;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const Index v = places_[k];
      if (v < 0 || smo_.beta[k] == x_.beta[std::size_t(v)]) continue;
      change[std::size_t(x_.place[std::size_t(v)])] += smo_.beta[k] - x_.beta[std::size_t(v)];
      ++n_changed;
    }
    const Sum sum = nonzero(change);
    if (is_whole_) {
      add_from_block(change);
    } else if (keeps_rows()) {
      if (!add_from_rows(change, n_threads, watch)) return 0;
    } else {
      std::vector<double> before(watch ? F_ : std::vector<double>());
      source_.add(rows_.data(), n_rows(), sum.view(), F_.data(), n_threads, watch);
      if (is_over(watch)) {
        F_ = std::move(before);
        return 0;
      }
      n_values_ += n_rows() * Index(sum.row.size());
    }
    for (std::size_t k = 0; k < places_.size(); ++k)
      if (places_[k] >= 0) x_.beta[std::size_t(places_[k])] = smo_.beta[k];
    const double moved = sum.magnitude();
    moved_ += moved;
    moved_since_ += moved;
    magnitude_ += moved;  // at least what it is
    n_additions_ += n_panels(sum);
    return n_changed;
  }
  // A block of everything holds all values that are needed; it is symmetric, so columns are rows.
  void add_from_block(const std::vector<double>& change) {
    std::vector<Index> at(rows_.size());
    for (Index k = Index(places_.size()) - 1; k >= 0; --k)
      if (places_[std::size_t(k)] >= 0) at[std::size_t(x_.place[std::size_t(places_[std::size_t(k)])])] = k;
    std::vector<double> total(places_.size());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (change[r] == 0) continue;
      const float* values = room_->block.get() + at[r] * stride_;
      for (std::size_t k = 0; k < total.size(); ++k) total[k] += change[r] * double(values[k]);
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) F_[r] += total[std::size_t(at[r])];
  }

  // A coefficient moves in most of the blocks it is part of: where rows of values are short enough to be
  // kept, each is computed once. `most_kept` numbers are 16 MiB, for at least a block of rows.
  static constexpr Index most_kept = Index(1) << 22;
  bool keeps_rows() const noexcept { return n_rows() * block_size_ <= most_kept; }
  // Whether that was done; rows that are not are forgotten.
  bool add_from_rows(const std::vector<double>& change, int n_threads, Watch* watch) {
    const Index n = n_rows(), most = most_kept / n;
    if (kept_at_.empty()) kept_at_.assign(std::size_t(n), -1);
    std::vector<Index> moved, fresh;
    for (Index r = 0; r < n; ++r) {
      if (change[std::size_t(r)] == 0) continue;
      moved.push_back(r);
      if (kept_at_[std::size_t(r)] >= 0) continue;
      fresh.push_back(r);
    }
    if (n_kept_ + Index(fresh.size()) > most) {  // all begins anew
      n_kept_ = 0;
      std::fill(kept_at_.begin(), kept_at_.end(), Index(-1));
      fresh = moved;
    }
    auto& kept = room_->kept;
    kept.resize(std::max(kept.size(), std::size_t((n_kept_ + Index(fresh.size())) * n)));
    std::vector<Index> which;
    for (std::size_t k = 0; k < fresh.size(); ++k) {
      which.push_back(rows_[std::size_t(fresh[k])]);
      kept_at_[std::size_t(fresh[k])] = n_kept_ + Index(k);
    }
    source_.rows(which.data(), Index(which.size()), rows_.data(), n, room_->kept.data() + n_kept_ * n, n,
                 n_threads, watch);
    if (is_over(watch)) {
      for (const Index r : fresh) kept_at_[std::size_t(r)] = -1;
      return false;
    }
    n_values_ += n * Index(which.size());
    n_kept_ += Index(fresh.size());
    constexpr std::size_t at_once = 4;
    std::size_t k = 0;
    for (; k + at_once <= moved.size(); k += at_once) add_rows<at_once>(moved.data() + k, change);
    for (; k < moved.size(); ++k) add_rows<1>(moved.data() + k, change);
    return true;
  }
  template <std::size_t count>
  void add_rows(const Index* moved, const std::vector<double>& change) {
    const float* values[count];
    double factor[count];
    for (std::size_t k = 0; k < count; ++k) {
      values[k] = room_->kept.data() + kept_at_[std::size_t(moved[k])] * n_rows();
      factor[k] = change[std::size_t(moved[k])];
    }
    double* F = F_.data();
    for (Index i = 0; i < n_rows(); ++i) {
      double total = F[i];
      for (std::size_t k = 0; k < count; ++k) total += factor[k] * double(values[k][i]);
      F[i] = total;
    }
  }

  const kernel::Source& source_;
  std::vector<Index> rows_;
  Variables x_;
  int n_groups_;
  Index block_size_;
  bool is_whole_ = false, has_block_ = false;
  std::vector<double> F_;  // by row
  std::vector<char> is_exact_, is_in_block_;
  double moved_ = 0, moved_since_ = 0, magnitude_ = 0;
  double assumed_ = 0, charged_ = 0;  // what is added to every doubt: of `assume`, and of additions
  Index n_values_ = 0, n_additions_ = 0;

  std::vector<Extremes> seen_;
  std::vector<Candidate> up_, down_;
  std::vector<Index> block_, places_, block_rows_;
  std::vector<Smo::Group> groups_;
  Index stride_ = 0;
  Room own_room_;
  Room* room_;
  std::vector<Index> kept_at_;  // by row: which of the kept rows of values is its, or -1
  Index n_kept_ = 0;
  Smo smo_;
};

}  // namespace lineal
