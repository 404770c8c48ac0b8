// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/gradients.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/clip.h>
#include <tightloop/train/step_updates.h>

#include <algorithm>

namespace tightloop::train {
namespace {

const TensorType kSum{DType::f64, {}};

/// Sums of the gradients' norm over the updates of an epoch.
void measure(StepBuilder& builder, const std::vector<Tensor>& gradients, const Tensor& ends) {
  const Tensor norm = optim::global_norm(gradients), one = scalar(1, DType::f64),
               none = scalar(0, DType::f64);
  const auto counted = [&](const Tensor& t) { return ends.defined() ? select(ends, t, none) : t; };
  builder.accumulate(kGradientNorm, counted(norm));
  builder.accumulate(kUpdates, counted(one));
  builder.add_output(kGradientNormMax, maximum(builder.add_state(kGradientNormMax, kSum), counted(norm)));
}

/// The rate of a step; a result too, where it moves.
Tensor rate_of(StepBuilder& builder, const optim::Optimizer& rule, const UpdateOptions& options,
               const RunLength& length, const Tensor& update) {
  Tensor rate = scheduled_rate(options, length, rule.lr(), update);
  if (options.scaled_rate) rate = rate * builder.add_state(kRateScale, kSum);
  if (options.schedule != nullptr || options.scaled_rate || options.averaging.start > 0)
    builder.add_output(kRate, rate);
  return rate;
}

/// How fast an update goes; what moves is a result too.
optim::Pace pace_of(StepBuilder& builder, const optim::Optimizer& rule, const UpdateOptions& options,
                    const RunLength& length, const Tensor& update) {
  optim::Pace out{update, rate_of(builder, rule, options, length, update)};
  if (rule.momentum()) out.momentum = scheduled_momentum(options, length, *rule.momentum(), update);
  if (out.momentum.defined()) builder.add_output(kMomentum, out.momentum);
  return out;
}

/// Paths of parameters that `trained` lacks.
std::vector<std::string> others(const NamedParameters& parameters, const NamedParameters& trained) {
  std::vector<std::string> out;
  for (const auto& p : parameters)
    if (std::none_of(trained.begin(), trained.end(), [&](const auto& t) { return t.path == p.path; }))
      out.push_back(p.path);
  return out;
}

/// The next value of a state that only the last step of an update changes.
Tensor kept_unless(const Tensor& ends, const Tensor& next, const Tensor& before) {
  return ends.defined() ? select(ends, next, before) : next;
}

/// The gradients of all steps of an update so far: Σ wᵢgᵢ / Σ wᵢ is the gradient over their rows, w being the
/// number by which the loss of one batch is the quotient of its total.
std::vector<Tensor> accumulated(StepBuilder& builder, const NamedParameters& trained,
                                const std::vector<Tensor>& slopes, const nn::LossValue& loss,
                                const Tensor& ends) {
  const Tensor value = cast(loss.value, DType::f64);
  const Tensor own = select(value == 0.0, loss.weight, loss.total / value);
  const Tensor weight = builder.add_state(kAccumulatedWeight, kSum) + own;
  builder.add_output(kAccumulatedWeight, select(ends, scalar(0, DType::f64), weight));
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const std::string name = kAccumulated + trained[i].path;
    const DType dtype = slopes[i].dtype();
    const Tensor sum = builder.add_state(name, slopes[i].type()) + slopes[i] * cast(own, dtype);
    builder.add_output(name, select(ends, scalar(0, dtype), sum));
    out.push_back(sum / cast(weight, dtype));
  }
  return out;
}

}  // namespace

NamedParameters trained_of(const NamedParameters& parameters, const Tensor& loss) {
  NamedParameters out;
  const auto needed = ir::topological(std::vector<Tensor>{loss});
  for (const auto& named : parameters)
    if (!named.parameter->frozen() &&
        std::find(needed.begin(), needed.end(), named.parameter->value().id()) != needed.end())
      out.push_back(named);
  if (out.empty())
    throw Error("the model has nothing to train: no parameter that is not frozen takes part in its output");
  return out;
}

std::vector<Tensor> values_of(const NamedParameters& parameters) {
  std::vector<Tensor> out;
  for (const auto& p : parameters) out.push_back(p.parameter->value());
  return out;
}

void add_updates(StepBuilder& builder, const NamedParameters& parameters, const nn::LossValue& loss,
                 const optim::Optimizer& rule, const UpdateOptions& options, const RunLength& length) {
  const auto trained = trained_of(parameters, loss.value);
  const std::vector<Tensor> values = values_of(trained);
  std::vector<Tensor> slopes = gradients(loss.value, values);
  UpdateCount count{builder.step(), {}};
  if (options.accumulate > 1) {
    count = count_updates(builder.step(), length, options.accumulate);
    slopes = accumulated(builder, trained, slopes, loss, count.ends);
    builder.set_update_end(count.ends);
  }
  if (options.gradient_norm) measure(builder, slopes, count.ends);
  slopes = optim::apply(options.gradients, std::move(slopes), builder.seed(), builder.step());
  const RunLength updates_of = length.updates(options.accumulate);
  std::vector<optim::Item> items;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const auto since = options.since.find(trained[i].path);
    const std::int64_t before = since == options.since.end() ? 0 : (since->second - 1) * updates_of.epoch;
    items.push_back({trained[i].path, values[i], slopes[i], {}, static_cast<double>(before)});
    for (const auto& slot : rule.slots())
      items.back().slots.push_back(
          builder.add_state(optim::slot_name(slot, trained[i].path), values[i].type()));
  }
  const auto updates = optim::apply(rule, items, pace_of(builder, rule, options, updates_of, count.update),
                                    others(parameters, trained));
  for (std::size_t i = 0; i < items.size(); ++i) {
    trained[i].parameter->variable().assign(kept_unless(count.ends, updates[i].parameter, values[i]));
    for (std::size_t s = 0; s < rule.slots().size(); ++s)
      builder.add_output(optim::slot_name(rule.slots()[s], items[i].path),
                         kept_unless(count.ends, updates[i].slots[s], items[i].slots[s]));
  }
}

void add_gradient_sums(StepBuilder& builder, const NamedParameters& parameters, const nn::LossValue& loss,
                       const optim::Optimizer& rule) {
  if (!rule.groups().empty())
    throw Error("the optimizer moves all parameters by one length; it takes no groups");
  const auto trained = trained_of(parameters, loss.value);
  const std::vector<Tensor> slopes = gradients(loss.value, values_of(trained));
  const Tensor value = cast(loss.value, DType::f64);
  const Tensor factor = select(value == 0.0, loss.weight, loss.total / value);
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const std::string name = gradient_state(trained[i].path);
    builder.add_output(name, builder.add_state(name, {DType::f64, slopes[i].shape()}) +
                                 cast(slopes[i], DType::f64) * factor);
  }
}

}  // namespace tightloop::train
