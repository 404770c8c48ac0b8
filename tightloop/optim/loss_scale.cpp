// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/loss_scale.h>

#include <fmt/format.h>
#include <cmath>
#include <limits>

namespace tightloop::optim {
namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

[[noreturn]] void refuse(const char* what, const char* rule, double value) {
  throw Error(fmt::format("loss_scale: {} must be {}, not {}", what, rule, value));
}

void check_scale(const char* what, double value) {
  if (!(value > 0 && value <= kLargest)) refuse(what, "above 0 and a number of f32", value);
}

Tensor whole(std::int64_t n) { return scalar(static_cast<double>(n), DType::i64); }

/// A fixed scale neither grows nor falls; an update that went well forgives those skipped before.
LossScale plain(const LossScale& rule) {
  if (rule.kind != LossScale::Kind::fixed) return rule;
  return {rule.kind, rule.init, 1, 1, 1, kMostSkipped, rule.init};
}

}  // namespace

LossScale LossScale::resolved(bool half) const {
  LossScale out = *this;
  if (kind == Kind::automatic) out.kind = half ? Kind::dynamic : Kind::none;
  return out;
}

void check(const LossScale& s) {
  check_scale("init_scale", s.init);
  check_scale("min_loss_scale", s.minimum);
  if (s.kind == LossScale::Kind::fixed) return;
  if (!(s.growth >= 1 && s.growth <= kLargest)) refuse("growth_factor", "at least 1", s.growth);
  if (!(s.backoff > 0 && s.backoff < 1)) refuse("backoff_factor", "above 0 and below 1", s.backoff);
  if (s.growth_interval < 1)
    refuse("growth_interval", "at least 1 update", static_cast<double>(s.growth_interval));
  if (s.hysteresis < 1) refuse("hysteresis", "at least 1 update", static_cast<double>(s.hysteresis));
  if (s.minimum > s.init)
    throw Error(fmt::format("loss_scale: min_loss_scale {} is above the first scale {}", s.minimum, s.init));
}

std::int64_t hysteresis_of(const LossScale& rule) { return plain(rule).hysteresis; }

ScalerStep next_scale(const LossScale& given, const ScalerState& state, const Tensor& finite) {
  const LossScale rule = plain(given);
  const Tensor good = state.good + whole(1);
  const Tensor due = logical_and(finite, good >= static_cast<double>(rule.growth_interval));
  const Tensor falls = logical_and(logical_not(finite), state.left <= 1.0);
  const Tensor grown = state.scale * rule.growth;
  const Tensor larger = select(grown <= kLargest, grown, state.scale);
  const Tensor smaller = maximum(state.scale * rule.backoff, scalar(rule.minimum, DType::f64));
  ScalerStep out;
  out.next.scale =
      cast(cast(select(due, larger, select(falls, smaller, state.scale)), DType::f32), DType::f64);
  out.next.good = select(finite, select(due, whole(0), good), whole(0));
  out.next.left = select(finite, select(due, whole(rule.hysteresis), state.left),
                         maximum(state.left - whole(1), whole(1)));
  out.lost = logical_and(falls, state.scale <= rule.minimum);
  return out;
}

/// 0 · x is 0 unless x is NaN or infinite: sums of it run as fast as memory does.
Tensor all_finite(const std::vector<Tensor>& gradients) {
  Tensor out = scalar(1, DType::boolean);
  for (const Tensor& g : gradients) out = logical_and(out, is_finite(sum(g * 0.0)));
  return out;
}

}  // namespace tightloop::optim
