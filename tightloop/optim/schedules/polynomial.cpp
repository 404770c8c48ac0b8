// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/check.h>
#include <tightloop/optim/schedules/index.h>

namespace tightloop::optim {
namespace {

/// lr · (1 - min(t, total) / total)^power
SchedulePtr build(const Options& o) {
  const double total = o.has("total_iters") ? static_cast<double>(o.at<std::int64_t>("total_iters")) : 0;
  const double power = o.at<double>("power");
  if (o.has("total_iters")) check_above_zero("polynomial", "total_iters", total);
  check_from_zero("polynomial", "power", power);
  return schedule_of([=](const Tensor& t, double lr, double length) {
    const double last = total > 0 ? total : length;
    const Tensor left = 1.0 - minimum(t, scalar(last, DType::f64)) / last;
    return lr * (power == 1 ? left : pow(left, scalar(power, DType::f64)));
  });
}

}  // namespace

const ScheduleDef& polynomial_schedule() {
  static const ScheduleDef def{
      "polynomial",
      "falls to 0 as a power of the time that is left",
      {{"total_iters", OptionType::integer, {}, "when it reaches 0; the whole length if left out"},
       {"power", OptionType::number, 1.0}},
      build};
  return def;
}

}  // namespace tightloop::optim
