// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/schedules/check.h>
#include <tightloop/optim/schedules/index.h>

namespace tightloop::optim {
namespace {

/// lr · gammaᵗ
SchedulePtr build(const Options& o) {
  const double gamma = o.at<double>("gamma");
  check_from_zero("exponential", "gamma", gamma);
  return schedule_of(
      [=](const Tensor& t, double lr, double) { return lr * pow(scalar(gamma, DType::f64), t); });
}

}  // namespace

const ScheduleDef& exponential_schedule() {
  static const ScheduleDef def{
      "exponential", "falls by gamma every time", {{"gamma", OptionType::number, {}, {}, true}}, build};
  return def;
}

}  // namespace tightloop::optim
