// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/check.h>
#include <tightloop/optim/schedules/index.h>

#include <algorithm>

namespace tightloop::optim {
namespace {

/// lr · gamma^(milestones reached)
SchedulePtr build(const Options& o) {
  Numbers milestones = o.at<Numbers>("milestones");
  std::sort(milestones.begin(), milestones.end());
  const double gamma = o.at<double>("gamma");
  for (const double m : milestones) check_from_zero("multi_step", "each of the milestones", m);
  check_from_zero("multi_step", "gamma", gamma);
  return schedule_of([=](const Tensor& t, double lr, double) {
    Tensor rate = scalar(lr, DType::f64);
    double now = lr;
    for (const double m : milestones) rate = select(t >= m, scalar(now *= gamma, DType::f64), rate);
    return rate;
  });
}

}  // namespace

const ScheduleDef& multi_step_schedule() {
  static const ScheduleDef def{
      "multi_step",
      "falls by gamma at each milestone",
      {{"milestones", OptionType::list, {}, "steps or epochs", true}, {"gamma", OptionType::number, 0.1}},
      build};
  return def;
}

}  // namespace tightloop::optim
