// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/train/step_scaler.h>

#include <fmt/format.h>

namespace tightloop::train {
namespace {

const TensorType kCounter{DType::i64, {}};
const TensorType kNumber{DType::f64, {}};

Tensor both(const Tensor& ends, const Tensor& condition) {
  return ends.defined() ? logical_and(ends, condition) : condition;
}

}  // namespace

StepScaler::StepScaler(StepBuilder& builder, const optim::LossScale& rule) : builder_(builder), rule_(rule) {
  if (!rule.active()) return;
  state_ = {builder.add_state(kLossScale, kNumber), builder.add_state(kScalerGood, kCounter),
            builder.add_state(kScalerLeft, kCounter)};
}

Tensor StepScaler::scaled(const Tensor& loss) const {
  return rule_.active() ? loss * cast(state_.scale, loss.dtype()) : loss;
}

std::vector<Tensor> StepScaler::unscaled(std::vector<Tensor> gradients) const {
  if (!rule_.active()) return gradients;
  for (Tensor& g : gradients) g = g * cast(1.0 / state_.scale, g.dtype());
  return gradients;
}

Tensor StepScaler::decide(const std::vector<Tensor>& gradients, const Tensor& ends) {
  if (!rule_.active()) return ends;
  const Tensor finite = optim::all_finite(gradients);
  const optim::ScalerStep step = optim::next_scale(rule_, state_, finite);
  const auto keep = [&](const char* name, const Tensor& next, const Tensor& before) {
    builder_.add_output(name, ends.defined() ? select(ends, next, before) : next);
  };
  keep(kLossScale, step.next.scale, state_.scale);
  keep(kScalerGood, step.next.good, state_.good);
  keep(kScalerLeft, step.next.left, state_.left);
  skips_ = both(ends, logical_not(finite));
  builder_.accumulate(kSkippedUpdates, cast(skips_, DType::f64));
  const Tensor lost = builder_.add_state(kScaleLostStep, kCounter);
  builder_.add_output(kScaleLostStep,
                      select(logical_and(lost < 0.0, both(ends, step.lost)), builder_.step(), lost));
  return both(ends, finite);
}

Tensor StepScaler::skipped(const Tensor& update, std::int64_t since) {
  if (!rule_.active()) return {};
  const std::string name = fmt::format("{}{}", kSkipped, since);
  const Tensor before = builder_.add_state(name, kCounter);
  const Tensor counts = logical_and(skips_, update >= static_cast<double>(since));
  builder_.add_output(name, before + cast(counts, DType::i64));
  return before;
}

}  // namespace tightloop::train
