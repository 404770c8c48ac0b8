// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/check.h>
#include <tightloop/optim/schedules/index.h>

#include <numbers>

namespace tightloop::optim {
namespace {

/// A stretch of the cycle that ends at time `end` with rate `rate`.
struct Phase {
  double end;
  double rate;
};

struct Cycle {
  double highest, total, rise, first_factor, last_factor;
  bool linear, three;

  std::vector<Phase> phases(double top, double length) const {
    const double first = top / first_factor, last = first / last_factor;
    if (!three) return {{0, first}, {rise * length - 1, top}, {length - 1, last}};
    return {{0, first}, {rise * length - 1, top}, {2 * rise * length - 2, first}, {length - 1, last}};
  }

  Tensor between(double from, double to, const Tensor& share) const {
    if (linear) return from + (to - from) * share;
    return to + (from - to) / 2.0 * (1.0 + cos(share * std::numbers::pi));
  }

  Tensor operator()(const Tensor& time, double lr, double length) const {
    const auto list = phases(highest > 0 ? highest : lr, total > 0 ? total : length);
    const Tensor t = minimum(time, scalar(list.back().end, DType::f64));
    Tensor rate;
    for (std::size_t i = list.size() - 1; i > 0; --i) {
      const double start = list[i - 1].end, size = list[i].end - start;
      const Tensor share = size > 0 ? (t - start) / size : scalar(1, DType::f64);
      const Tensor own = between(list[i - 1].rate, list[i].rate, share);
      rate = rate.defined() ? select(t <= scalar(list[i].end, DType::f64), own, rate) : own;
    }
    return rate;
  }
};

/// Smith & Topin, "Super-convergence", 2018, with PyTorch's phases. Momentum stays as it is.
SchedulePtr build(const Options& o) {
  const auto number = [&](const char* name) { return o.has(name) ? o.at<double>(name) : 0; };
  const std::string& kind = o.at<std::string>("anneal_strategy");
  if (kind != "cos" && kind != "linear")
    throw Error("schedule one_cycle: anneal_strategy must be 'cos' or 'linear', not '" + kind + "'");
  const double total = o.has("total_steps") ? static_cast<double>(o.at<std::int64_t>("total_steps")) : 0;
  if (o.has("total_steps")) check_above_zero("one_cycle", "total_steps", total);
  if (o.has("max_lr")) check_above_zero("one_cycle", "max_lr", number("max_lr"));
  check_unit("one_cycle", "pct_start", number("pct_start"));
  check_above_zero("one_cycle", "div_factor", number("div_factor"));
  check_above_zero("one_cycle", "final_div_factor", number("final_div_factor"));
  return schedule_of(Cycle{number("max_lr"), total, number("pct_start"), number("div_factor"),
                           number("final_div_factor"), kind == "linear", o.at<bool>("three_phase")});
}

}  // namespace

const ScheduleDef& one_cycle_schedule() {
  static const ScheduleDef def{
      "one_cycle",
      "up to max_lr, then down to almost nothing",
      {{"max_lr", OptionType::number, {}, "the optimizer's rate if left out"},
       {"total_steps", OptionType::integer, {}, "the whole length if left out"},
       {"pct_start", OptionType::number, 0.3, "share of the time that it rises"},
       {"anneal_strategy", OptionType::text, std::string("cos"), "cos or linear"},
       {"div_factor", OptionType::number, 25.0, "max_lr over the first rate"},
       {"final_div_factor", OptionType::number, 1e4, "the first rate over the last"},
       {"three_phase", OptionType::boolean, false, "down as it went up, then to the last rate"}},
      build,
      true};
  return def;
}

}  // namespace tightloop::optim
