// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/check.h>
#include <tightloop/optim/schedules/index.h>

#include <numbers>

namespace tightloop::optim {
namespace {

/// Where a time lies: how far into its wave, and how long that is.
struct Wave {
  Tensor into, length;
};

/// The waves that begin within `length`, chosen by comparison: exact, where a logarithm is not.
Wave wave_of(const Tensor& t, double first, double factor, double length) {
  if (factor == 1) return {remainder(t, scalar(first, DType::f64)), scalar(first, DType::f64)};
  Tensor start = scalar(0, DType::f64), period = scalar(first, DType::f64);
  double begin = first, size = first * factor;
  for (; begin < length; begin += size, size *= factor) {
    start = select(t >= begin, scalar(begin, DType::f64), start);
    period = select(t >= begin, scalar(size, DType::f64), period);
  }
  return {t - start, period};
}

/// eta_min + (lr - eta_min) · (1 + cos(π T_cur / T_i)) / 2 (Loshchilov & Hutter, "SGDR", 2017).
SchedulePtr build(const Options& o) {
  const auto first = static_cast<double>(o.at<std::int64_t>("T_0"));
  const auto factor = static_cast<double>(o.at<std::int64_t>("T_mult"));
  const double low = o.at<double>("eta_min");
  check_above_zero("cosine_warm_restarts", "T_0", first);
  check_above_zero("cosine_warm_restarts", "T_mult", factor);
  check_from_zero("cosine_warm_restarts", "eta_min", low);
  return schedule_of([=](const Tensor& t, double lr, double length) {
    const Wave wave = wave_of(t, first, factor, length);
    return low + (lr - low) * ((1.0 + cos(wave.into / wave.length * std::numbers::pi)) / 2.0);
  });
}

}  // namespace

const ScheduleDef& cosine_warm_restarts_schedule() {
  static const ScheduleDef def{"cosine_warm_restarts",
                               "waves down to eta_min that begin again, each T_mult times as long",
                               {{"T_0", OptionType::integer, {}, "length of the first wave", true},
                                {"T_mult", OptionType::integer, std::int64_t{1}},
                                {"eta_min", OptionType::number, 0.0}},
                               build};
  return def;
}

}  // namespace tightloop::optim
