// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/check.h>
#include <tightloop/optim/schedules/index.h>

#include <numbers>

namespace tightloop::optim {
namespace {

/// eta_min + (lr - eta_min) · (1 + cos(π t / T_max)) / 2 (Loshchilov & Hutter, "SGDR", 2017). At T_max it is
/// eta_min exactly; later it rises again, as PyTorch's.
SchedulePtr build(const Options& o) {
  const double total = o.has("T_max") ? static_cast<double>(o.at<std::int64_t>("T_max")) : 0;
  const double low = o.at<double>("eta_min");
  if (o.has("T_max")) check_above_zero("cosine", "T_max", total);
  check_from_zero("cosine", "eta_min", low);
  return schedule_of([=](const Tensor& t, double lr, double length) {
    const double last = total > 0 ? total : length;
    const Tensor wave = low + (lr - low) * ((1.0 + cos(t / last * std::numbers::pi)) / 2.0);
    return select(t == last, scalar(low, DType::f64), wave);
  });
}

}  // namespace

const ScheduleDef& cosine_schedule() {
  static const ScheduleDef def{
      "cosine",
      "half a wave down to eta_min",
      {{"T_max", OptionType::integer, {}, "when it reaches eta_min; the whole length if left out"},
       {"eta_min", OptionType::number, 0.0}},
      build};
  return def;
}

}  // namespace tightloop::optim
