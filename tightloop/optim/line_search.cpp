// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/line_search.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace tightloop::optim {
namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;
constexpr int kHalvings = 25;

/// The least point of the cubic through two values and slopes, kept in [low, high]; their middle when it has
/// none.
double cubic_minimum(const Trial& a, const Trial& b, double low, double high) {
  const double d1 = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const auto& [left, right] = a.t <= b.t ? std::tie(a, b) : std::tie(b, a);
  const double at =
      right.t - (right.t - left.t) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
  return std::min(std::max(at, low), high);
}

class Search {
 public:
  Search(const Line& line, const Trial& start, std::int64_t most) : line_(line), start_(start), most_(most) {}

  LineSearchResult run(double t, double direction, double tolerance) {
    if (!bracket(t)) zoom(direction, tolerance);
    return {ends_[low_], evaluations_};
  }

 private:
  Trial tried(double t, double from) {
    Trial now = line_(t);
    ++evaluations_;
    for (int i = 0; i < kHalvings && !(std::isfinite(now.value) && std::isfinite(now.slope)); ++i) {
      now = line_(t = (t + from) / 2);
      ++evaluations_;
    }
    return now;
  }

  bool too_high(const Trial& x) const { return x.value > start_.value + kDecrease * x.t * start_.slope; }
  bool flat(const Trial& x) const { return std::abs(x.slope) <= -kCurvature * start_.slope; }

  void set_ends(Trial a, Trial b) {
    ends_ = {std::move(a), std::move(b)};
    choose_low();
  }
  void choose_low() { low_ = ends_[0].value <= ends_[1].value ? 0 : 1; }

  /// Goes outwards until two tries hold a good step between them; true when one is good itself.
  bool bracket(double t) {
    Trial before = start_, now = tried(t, 0);
    for (; tries_ < most_; ++tries_) {
      const bool rises = too_high(now) || (tries_ > 1 && now.value >= before.value);
      if (!rises && flat(now)) {
        set_ends(now, now);
        return true;
      }
      if (rises || now.slope >= 0) {
        set_ends(std::move(before), std::move(now));
        return false;
      }
      const double next = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
      const double from = now.t;
      before = std::move(now);
      now = tried(next, from);
    }
    set_ends(start_, std::move(now));
    return false;
  }

  /// Where to try inside the bracket: not near an end twice in a row.
  double inside() {
    const double low = std::min(ends_[0].t, ends_[1].t), high = std::max(ends_[0].t, ends_[1].t);
    const double t = cubic_minimum(ends_[0], ends_[1], low, high);
    const double margin = 0.1 * (high - low);
    const bool near_end = std::min(high - t, t - low) < margin;
    const bool move = near_end && (was_near_end_ || t >= high || t <= low);
    was_near_end_ = near_end && !move;
    if (!move) return t;
    return std::abs(t - high) < std::abs(t - low) ? high - margin : low + margin;
  }

  void zoom(double direction, double tolerance) {
    for (bool done = false; !done && tries_ < most_; ++tries_) {
      if (std::abs(ends_[1].t - ends_[0].t) * direction < tolerance) return;
      Trial now = tried(inside(), ends_[low_].t);
      Trial &best = ends_[low_], &other = ends_[1 - low_];
      if (too_high(now) || now.value >= best.value) {
        other = std::move(now);
        choose_low();
        continue;
      }
      done = flat(now);
      if (!done && now.slope * (other.t - best.t) >= 0) other = std::move(best);
      best = std::move(now);
    }
  }

  const Line& line_;
  const Trial& start_;
  std::array<Trial, 2> ends_;
  std::size_t low_ = 0;
  std::int64_t most_, tries_ = 0, evaluations_ = 0;
  bool was_near_end_ = false;
};

}  // namespace

LineSearchResult strong_wolfe(const Line& line, const Trial& start, double t, double direction,
                              double tolerance, std::int64_t most) {
  return Search(line, start, most).run(t, direction, tolerance);
}

}  // namespace tightloop::optim
