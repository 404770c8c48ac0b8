// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/train/updates.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::train {

void check(const UpdateOptions& options) {
  optim::check(options.gradients);
  if (!(options.ema >= 0 && options.ema < 1))
    throw Error(fmt::format("ema: the decay must be 0 or greater and below 1, not {}", options.ema));
}

Tensor scheduled_rate(const UpdateOptions& options, const RunLength& length, double lr, const Tensor& step) {
  if (options.schedule == nullptr) return scalar(lr, DType::f64);
  const double steps = static_cast<double>(length.run), epoch = static_cast<double>(length.epoch);
  if (options.per_step) return options.schedule->rate(cast(step, DType::f64), lr, steps);
  const Tensor time = floor_div(step, scalar(epoch, DType::i64));
  return options.schedule->rate(cast(time, DType::f64), lr, std::ceil(steps / epoch));
}

}  // namespace tightloop::train
