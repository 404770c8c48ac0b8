// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/gradients.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/clip.h>
#include <tightloop/optim/slot_code.h>
#include <tightloop/train/step_scaler.h>
#include <tightloop/train/step_updates.h>

#include <algorithm>
#include <map>

namespace tightloop::train {
namespace {

const TensorType kSum{DType::f64, {}};

/// The next value of a state that changes only in steps where `applies` is true; empty: in all.
Tensor kept_unless(const Tensor& applies, const Tensor& next, const Tensor& before) {
  return applies.defined() ? select(applies, next, before) : next;
}

/// Sums of the gradients' norm over the updates of an epoch.
void measure(StepBuilder& builder, const std::vector<Tensor>& gradients, const Tensor& applies) {
  const Tensor norm = optim::global_norm(gradients);
  const auto add = [&](const char* name, auto next) {
    const Tensor before = builder.add_state(name, kSum);
    builder.add_output(name, kept_unless(applies, next(before), before));
  };
  add(kGradientNorm, [&](const Tensor& sum) { return sum + norm; });
  add(kUpdates, [](const Tensor& count) { return count + 1.0; });
  add(kGradientNormMax, [&](const Tensor& largest) { return maximum(largest, norm); });
}

/// The rate of a step; a result too, where it moves.
Tensor rate_of(StepBuilder& builder, const optim::Optimizer& rule, const UpdateOptions& options,
               const RunLength& length, const UpdateTime& now) {
  Tensor rate = scheduled_rate(options, length, rule.lr(), now);
  if (options.scaled_rate) rate = rate * builder.add_state(kRateScale, kSum);
  if (options.schedule != nullptr || options.scaled_rate || options.averaging.start > 0)
    builder.add_output(kRate, rate);
  return rate;
}

/// How fast an update goes; what moves is a result too.
optim::Pace pace_of(StepBuilder& builder, const optim::Optimizer& rule, const UpdateOptions& options,
                    const RunLength& length, const UpdateTime& now) {
  optim::Pace out{now.update, rate_of(builder, rule, options, length, now)};
  if (rule.momentum()) out.momentum = scheduled_momentum(options, length, *rule.momentum(), now);
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

/// The gradients of all steps of an update so far: Σ wᵢgᵢ / Σ wᵢ is the gradient over their rows, w being the
/// number by which the loss of one batch is the quotient of its total. Sums are begun anew where Σ wᵢ is 0,
/// so that their last value, which the update reads, is the state itself.
std::vector<Tensor> accumulated(StepBuilder& builder, const NamedParameters& trained,
                                const std::vector<Tensor>& slopes, const nn::LossValue& loss,
                                const Tensor& ends) {
  const Tensor value = cast(loss.value, DType::f64);
  const Tensor own = select(value == 0.0, loss.weight, loss.total / value);
  const Tensor before = builder.add_state(kAccumulatedWeight, kSum), weight = before + own;
  builder.add_output(kAccumulatedWeight, select(ends, scalar(0, DType::f64), weight));
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const std::string name = kAccumulated + trained[i].path;
    const DType dtype = slopes[i].dtype();
    const Tensor old = select(before == 0.0, scalar(0, dtype), builder.add_state(name, slopes[i].type()));
    const Tensor sum = old + slopes[i] * cast(own, dtype);
    builder.add_output(name, sum);
    out.push_back(sum / cast(weight, dtype));
  }
  return out;
}

/// The states that keep a parameter's slots.
std::vector<Tensor> add_slots(StepBuilder& builder, const nn::Module::NamedParameter& named,
                              const optim::Optimizer& rule) {
  std::vector<Tensor> out;
  for (const auto& [slot, type] : optim::slot_states(rule, named.parameter->value().type()))
    out.push_back(builder.add_state(optim::slot_name(slot, named.path), type));
  return out;
}

/// The updates of the run before that at which `path` joined the training.
std::int64_t updates_before(const std::string& path, const UpdateOptions& options, const RunLength& length) {
  const auto since = options.since.find(path);
  return since == options.since.end() ? 0 : (since->second - 1) * length.epoch;
}

/// The next value of a parameter of f32, rounded to what a run keeps its parameters in.
Tensor kept_as(DType dtype, const Tensor& next) {
  return size_of(dtype) == 2 && next.dtype() == DType::f32 ? cast(cast(next, dtype), DType::f32) : next;
}

/// Gives a parameter, whose value was `parameter`, and the states `before` their next values.
void assign(StepBuilder& builder, const nn::Module::NamedParameter& named, const Tensor& parameter,
            const optim::Update& update, const std::vector<Tensor>& before, const optim::Optimizer& rule,
            std::int64_t number, const Tensor& applies) {
  const auto states = optim::slot_states(rule, parameter.type());
  const auto next =
      optim::slot_codes(rule, parameter.type(), update.slots, {builder.seed(), builder.step(), number});
  for (std::size_t s = 0; s < states.size(); ++s)
    builder.add_output(optim::slot_name(states[s].slot, named.path),
                       kept_unless(applies, next[s], before[s]));
  named.parameter->variable().assign(kept_unless(applies, update.parameter, parameter));
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
  StepScaler scaler(builder, options.loss_scale);
  std::vector<Tensor> slopes = scaler.unscaled(gradients(scaler.scaled(loss.value), values_of(trained)));
  UpdateCount count{builder.step(), {}};
  if (options.accumulate > 1) {
    count = count_updates(builder.step(), length, options.accumulate);
    slopes = accumulated(builder, trained, slopes, loss, count.ends);
  }
  const Tensor applies = scaler.decide(slopes, count.ends);
  builder.set_applies(applies);
  if (options.gradient_norm) measure(builder, slopes, applies);
  slopes = optim::apply(options.gradients, std::move(slopes), builder.seed(), builder.step());
  const RunLength updates = length.updates(options.accumulate);
  std::map<std::int64_t, Tensor> skipped{{0, scaler.skipped(count.update, 0)}};
  std::vector<optim::Item> items;
  std::vector<std::vector<Tensor>> slots;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const Tensor value = trained[i].parameter->value();
    const std::int64_t before = updates_before(trained[i].path, options, updates);
    if (!skipped.contains(before)) skipped[before] = scaler.skipped(count.update, before);
    slots.push_back(add_slots(builder, trained[i], rule));
    items.push_back({trained[i].path, value, slopes[i], optim::slot_values(rule, value.type(), slots[i]),
                     static_cast<double>(before), skipped[before]});
  }
  const optim::Pace pace = pace_of(builder, rule, options, updates, {count.update, skipped[0]});
  auto next = optim::apply(rule, items, pace, others(parameters, trained));
  for (optim::Update& u : next) u.parameter = kept_as(options.parameters, u.parameter);
  for (std::size_t i = 0; i < items.size(); ++i)
    assign(builder, trained[i], items[i].parameter, next[i], slots[i], rule, static_cast<std::int64_t>(i),
           applies);
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
