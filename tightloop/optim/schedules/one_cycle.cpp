// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/check.h>
#include <tightloop/optim/schedules/index.h>

#include <numbers>

namespace tightloop::optim {
namespace {

/// A stretch of the cycle that ends at time `end` with this value.
struct Phase {
  double end;
  double value;
};

class Cycle final : public Schedule {
 public:
  double highest = 0, total = 0, rise = 0, first_factor = 0, last_factor = 0;
  bool linear = false, three = false;
  bool moves_momentum = true, momentum_asked = false;
  double least_momentum = 0, most_momentum = 0;

  Tensor rate(const Tensor& time, double lr, double length) const override {
    const double top = highest > 0 ? highest : lr, first = top / first_factor;
    return along(time, length, {first, top, first, first / last_factor});
  }
  Tensor momentum(const Tensor& time, double, double length) const override {
    if (!moves_momentum) return {};
    return along(time, length, {most_momentum, least_momentum, most_momentum, most_momentum});
  }
  bool needs_momentum() const override { return momentum_asked; }

 private:
  /// Values at the start, at the top, back down (of three phases) and at the end.
  struct Points {
    double start, top, back, end;
  };

  std::vector<Phase> phases(const Points& p, double length) const {
    if (!three) return {{0, p.start}, {rise * length - 1, p.top}, {length - 1, p.end}};
    return {{0, p.start}, {rise * length - 1, p.top}, {2 * rise * length - 2, p.back}, {length - 1, p.end}};
  }

  Tensor between(double from, double to, const Tensor& share) const {
    if (linear) return from + (to - from) * share;
    return to + (from - to) / 2.0 * (1.0 + cos(share * std::numbers::pi));
  }

  Tensor along(const Tensor& time, double length, const Points& points) const {
    const auto list = phases(points, total > 0 ? total : length);
    const Tensor t = minimum(time, scalar(list.back().end, DType::f64));
    Tensor value;
    for (std::size_t i = list.size() - 1; i > 0; --i) {
      const double start = list[i - 1].end, size = list[i].end - start;
      const Tensor share = size > 0 ? (t - start) / size : scalar(1, DType::f64);
      const Tensor own = between(list[i - 1].value, list[i].value, share);
      value = value.defined() ? select(t <= scalar(list[i].end, DType::f64), own, value) : own;
    }
    return value;
  }
};

/// Smith & Topin, "Super-convergence", 2018, with PyTorch's phases.
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
  check_unit("one_cycle", "base_momentum", number("base_momentum"));
  check_unit("one_cycle", "max_momentum", number("max_momentum"));
  auto out = std::make_shared<Cycle>();
  out->highest = number("max_lr"), out->total = total, out->rise = number("pct_start");
  out->first_factor = number("div_factor"), out->last_factor = number("final_div_factor");
  out->linear = kind == "linear", out->three = o.at<bool>("three_phase");
  out->momentum_asked = o.has("cycle_momentum") && o.at<bool>("cycle_momentum");
  out->moves_momentum = !o.has("cycle_momentum") || out->momentum_asked;
  out->least_momentum = number("base_momentum"), out->most_momentum = number("max_momentum");
  return out;
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
       {"cycle_momentum",
        OptionType::boolean,
        {},
        "momentum, or beta1, falls while the rate rises; if left out, where the optimizer has one"},
       {"base_momentum", OptionType::number, 0.85, "the least"},
       {"max_momentum", OptionType::number, 0.95, "the most"},
       {"div_factor", OptionType::number, 25.0, "max_lr over the first rate"},
       {"final_div_factor", OptionType::number, 1e4, "the first rate over the last"},
       {"three_phase", OptionType::boolean, false, "down as it went up, then to the last rate"}},
      build,
      true};
  return def;
}

}  // namespace tightloop::optim
