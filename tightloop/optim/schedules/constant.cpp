// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/check.h>
#include <tightloop/optim/schedules/index.h>

namespace tightloop::optim {
namespace {

/// lr · factor while t < total_iters, then lr.
SchedulePtr build(const Options& o) {
  const double factor = o.at<double>("factor");
  const auto total = static_cast<double>(o.at<std::int64_t>("total_iters"));
  check_unit("constant", "factor", factor);
  check_from_zero("constant", "total_iters", total);
  return schedule_of([=](const Tensor& t, double lr, double) {
    return select(t < total, scalar(lr * factor, DType::f64), scalar(lr, DType::f64));
  });
}

}  // namespace

const ScheduleDef& constant_schedule() {
  static const ScheduleDef def{
      "constant",
      "the rate times a factor, at first",
      {{"factor", OptionType::number, 1.0 / 3},
       {"total_iters", OptionType::integer, std::int64_t{5}, "how long the factor counts"}},
      build};
  return def;
}

}  // namespace tightloop::optim
