// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/train/updates.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace tightloop::train {

void check(const UpdateOptions& options) {
  optim::check(options.gradients);
  optim::check(options.loss_scale);
  if (!(options.ema >= 0 && options.ema < 1))
    throw Error(fmt::format("ema: the decay must be 0 or greater and below 1, not {}", options.ema));
  if (options.accumulate < 1)
    throw Error(fmt::format("accumulate: must be at least 1 step, not {}", options.accumulate));
  if (!(options.spike.factor >= 0) || !std::isfinite(options.spike.factor))
    throw Error(fmt::format("spike: must be 0 or greater, not {}", options.spike.factor));
  if (options.spike.window < 1)
    throw Error(fmt::format("spike: the window must be at least 1 step, not {}", options.spike.window));
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

namespace {

/// The time that the schedule sees, and how long it lasts.
struct Time {
  Tensor now;
  double length;
};

Time time_of(const UpdateOptions& options, const RunLength& length, const UpdateTime& at) {
  const double steps = static_cast<double>(length.run), epoch = static_cast<double>(length.epoch);
  if (options.per_step)
    return {cast(at.skipped.defined() ? at.update - at.skipped : at.update, DType::f64), steps};
  return {cast(floor_div(at.update, scalar(epoch, DType::i64)), DType::f64), std::ceil(steps / epoch)};
}

Tensor plain_rate(const UpdateOptions& options, const RunLength& length, double lr, const UpdateTime& now) {
  if (options.schedule == nullptr) return scalar(lr, DType::f64);
  const Time time = time_of(options, length, now);
  return options.schedule->rate(time.now, lr, time.length);
}

std::int64_t epochs_of(const RunLength& length) {
  return length.run / length.epoch + (length.run % length.epoch != 0);
}

}  // namespace

std::int64_t AveragingRate::first_epoch(std::int64_t epochs) const {
  const double first = start < 1 ? std::floor(start * static_cast<double>(epochs)) + 1 : start;
  return static_cast<std::int64_t>(first);
}

Tensor scheduled_rate(const UpdateOptions& options, const RunLength& length, double lr,
                      const UpdateTime& now) {
  const Tensor plain = plain_rate(options, length, lr, now);
  const AveragingRate& a = options.averaging;
  if (a.start == 0) return plain;
  const std::int64_t first = a.first_epoch(epochs_of(length)) - 1;
  const Tensor start = scalar(static_cast<double>(first * length.epoch), DType::i64);
  const Tensor before = plain_rate(options, length, lr, {start});
  const Tensor epoch =
      cast(floor_div(now.update, scalar(static_cast<double>(length.epoch), DType::i64)), DType::f64);
  const Tensor into = epoch - static_cast<double>(first);
  const double over = static_cast<double>(std::max<std::int64_t>(1, a.anneal_epochs));
  const Tensor time = a.anneal_epochs == 0 ? maximum(into, scalar(1, DType::f64)) : into;
  const Tensor share = clamp(time / over, 0, 1);
  const Tensor alpha = a.linear ? share : (1.0 - cos(share * std::numbers::pi)) / 2.0;
  return select(now.update >= start, before + (a.lr - before) * alpha, plain);
}

Tensor scheduled_momentum(const UpdateOptions& options, const RunLength& length, double momentum,
                          const UpdateTime& now) {
  if (options.schedule == nullptr) return {};
  const Time time = time_of(options, length, now);
  return options.schedule->momentum(time.now, momentum, time.length);
}

}  // namespace tightloop::train
