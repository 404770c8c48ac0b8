// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/check.h>
#include <tightloop/optim/schedules/index.h>

namespace tightloop::optim {
namespace {

/// lr · (start + (end - start) · min(t, total) / total)
SchedulePtr build(const Options& o) {
  const double start = o.at<double>("start_factor"), end = o.at<double>("end_factor");
  const double total = o.has("total_iters") ? static_cast<double>(o.at<std::int64_t>("total_iters")) : 0;
  check_unit("linear", "start_factor", start);
  check_unit("linear", "end_factor", end);
  if (o.has("total_iters")) check_above_zero("linear", "total_iters", total);
  return schedule_of([=](const Tensor& t, double lr, double length) {
    const double last = total > 0 ? total : length;
    return lr * (start + (end - start) * (minimum(t, scalar(last, DType::f64)) / last));
  });
}

}  // namespace

const ScheduleDef& linear_schedule() {
  static const ScheduleDef def{
      "linear",
      "from one factor of the rate to another: a warm-up",
      {{"start_factor", OptionType::number, 1.0 / 3},
       {"end_factor", OptionType::number, 1.0},
       {"total_iters", OptionType::integer, {}, "how long it moves; the whole length if left out"}},
      build};
  return def;
}

}  // namespace tightloop::optim
