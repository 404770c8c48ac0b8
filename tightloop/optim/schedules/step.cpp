// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/check.h>
#include <tightloop/optim/schedules/index.h>

namespace tightloop::optim {
namespace {

/// lr · gamma^⌊t / step_size⌋
SchedulePtr build(const Options& o) {
  const auto size = static_cast<double>(o.at<std::int64_t>("step_size"));
  const double gamma = o.at<double>("gamma");
  check_above_zero("step", "step_size", size);
  check_from_zero("step", "gamma", gamma);
  return schedule_of([=](const Tensor& t, double lr, double) {
    return lr * pow(scalar(gamma, DType::f64), floor(t / size));
  });
}

}  // namespace

const ScheduleDef& step_schedule() {
  static const ScheduleDef def{
      "step",
      "falls by gamma every so often",
      {{"step_size", OptionType::integer, {}, "steps or epochs from one fall to the next", true},
       {"gamma", OptionType::number, 0.1}},
      build};
  return def;
}

}  // namespace tightloop::optim
