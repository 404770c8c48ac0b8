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
  if (options.accumulate < 1)
    throw Error(fmt::format("accumulate: must be at least 1 step, not {}", options.accumulate));
}

RunLength RunLength::updates(std::int64_t steps) const {
  const auto up = [&](std::int64_t n) { return n / steps + (n % steps != 0); };
  return {up(epoch), run / epoch * up(epoch) + up(run % epoch)};
}

UpdateCount count_updates(const Tensor& step, const RunLength& length, std::int64_t accumulate) {
  const auto whole = [](std::int64_t n) { return scalar(static_cast<double>(n), DType::i64); };
  const Tensor epoch = floor_div(step, whole(length.epoch)), into = remainder(step, whole(length.epoch));
  const Tensor next = into + whole(1);
  return {epoch * whole(length.updates(accumulate).epoch) + floor_div(into, whole(accumulate)),
          logical_or(remainder(next, whole(accumulate)) == 0.0, next == static_cast<double>(length.epoch))};
}

Tensor scheduled_rate(const UpdateOptions& options, const RunLength& length, double lr, const Tensor& step) {
  if (options.schedule == nullptr) return scalar(lr, DType::f64);
  const double steps = static_cast<double>(length.run), epoch = static_cast<double>(length.epoch);
  if (options.per_step) return options.schedule->rate(cast(step, DType::f64), lr, steps);
  const Tensor time = floor_div(step, scalar(epoch, DType::i64));
  return options.schedule->rate(cast(time, DType::f64), lr, std::ceil(steps / epoch));
}

}  // namespace tightloop::train
