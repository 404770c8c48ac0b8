// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/autocast.h>
#include <tightloop/engine/gradients.h>
#include <tightloop/engine/trace.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/lbfgs.h>
#include <tightloop/train/step.h>
#include <tightloop/train/step_builder.h>
#include <tightloop/train/step_updates.h>

#include <fmt/format.h>

namespace tightloop::train {
namespace {

/// Names every parameter by its path, so that a graph's states carry it.
NamedParameters named_parameters(const Model& model) {
  return model.module == nullptr ? NamedParameters() : model.module->parameters();
}

/// `prediction`, and what was checked and assigned while it was traced, as `precision` computes it.
Tensor mixed(const Precision& precision, Tensor prediction) {
  if (!precision.is_mixed()) return prediction;
  std::vector<Tensor> values{std::move(prediction)};
  std::vector<nn::Check>& checks = nn::Context::current()->checks;
  for (const nn::Check& c : checks) values.insert(values.end(), {c.row, c.value});
  AutocastOptions options{.low = precision.type, .between_layers = precision.level >= Precision::Level::O2};
  if (!precision.force) options.chosen = gains_by_low;
  values = autocast_traced(values, options);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    checks[i].row = values[2 * i + 1];
    checks[i].value = values[2 * i + 2];
  }
  return values[0];
}

std::vector<Tensor> in_f64(std::vector<Tensor> inputs) {
  for (Tensor& x : inputs)
    if (is_floating(x.dtype())) x = cast(x, DType::f64);
  return inputs;
}

Tensor predict(const Model& model, const std::vector<Tensor>& inputs) {
  Tensor y = model.forward(model.precision.type == DType::f64 ? in_f64(inputs) : inputs);
  if (y.rank() == 0 || y.dim(0) != Dim::batch())
    throw Error(
        fmt::format("the model's output must have one entry a row, [B, ...]; it is {}", to_string(y.type())));
  return mixed(model.precision, std::move(y));
}

/// What every step that trains begins with: the loss of a batch, as a result, and the checks of its data.
struct LossStep {
  LossStep(const char* name, const Model& model, const nn::LossFn& loss_of, const DataSpec& data)
      : parameters(named_parameters(model)), builder(name, data) {
    nn::Context context(true, builder.seed(), builder.step());
    context.parameters_only = true;
    const Tensor y = predict(model, builder.batch_inputs());
    prediction = y.type();
    loss = loss_of(y, builder.batch_target(y));
    builder.add_output("loss", loss.value);
    builder.add_checks(context.checks);
    checks = std::move(context.checks);
  }

  StepGraph finish(double ema = 0) {
    StepGraph out = builder.finish(trace, std::move(checks), prediction, ema);
    out.training = true;
    return out;
  }

  NamedParameters parameters;
  StepBuilder builder;
  const Trace trace = {};
  TensorType prediction;
  nn::LossValue loss;
  std::vector<nn::Check> checks;
};

}  // namespace

DataSpec DataSpec::of(const data::Dataset& data, const std::string& target,
                      std::vector<data::FieldScale> scales) {
  DataSpec out;
  out.scales = std::move(scales);
  const std::string name = target.empty() ? data.fields().back().name : target;
  data[name];
  for (const auto& f : data.fields()) {
    std::vector<Dim> dims(f.values.dims().begin(), f.values.dims().end());
    dims[0] = Dim::rows();
    (f.name == name ? out.target : out.inputs)
        .push_back({f.name, {f.values.dtype(), Shape(std::move(dims))}});
  }
  return out;
}

std::string data_name(const std::string& field) { return "data." + field; }

std::string metric_state(std::size_t index, const std::string& state) {
  return fmt::format("metric.{}.{}", index, state);
}

std::string gradient_state(const std::string& path) { return kGradientSum + path; }

StepGraph training_step(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                        const DataSpec& data, const UpdateOptions& options, const RunLength& length) {
  check(options);
  LossStep step("train", model, loss, data);
  StepBuilder& builder = step.builder;
  builder.add_loss(step.loss);
  if (options.spike.factor > 0) builder.watch_spikes(step.loss.value, options.spike);
  if (dynamic_cast<const optim::Lbfgs*>(&optimizer) != nullptr)
    add_gradient_sums(builder, step.parameters, step.loss, optimizer);
  else
    add_updates(builder, step.parameters, step.loss, optimizer, options, length);
  return step.finish(options.ema);
}

StepGraph statistics_step(const Model& model, const DataSpec& data) {
  named_parameters(model);
  StepBuilder builder("statistics", data);
  const Trace trace;
  nn::Context context(true, builder.seed(), builder.step());
  const Tensor prediction = predict(model, builder.batch_inputs());
  return builder.finish(trace, {}, prediction.type());
}

StepGraph gradient_step(const Model& model, const nn::LossFn& loss, const DataSpec& data) {
  LossStep step("gradients", model, loss, data);
  const auto trained = trained_of(step.parameters, step.loss.value);
  const std::vector<Tensor> slopes = gradients(step.loss.value, values_of(trained));
  for (std::size_t i = 0; i < trained.size(); ++i)
    step.builder.add_output(gradient_state(trained[i].path), slopes[i]);
  return step.finish();
}

StepGraph evaluation_step(const Model& model, const nn::LossFn& loss, const Metrics& metrics,
                          const DataSpec& data) {
  named_parameters(model);
  StepBuilder builder("evaluate", data);
  const Trace trace;
  nn::Context context(false);
  const Tensor prediction = predict(model, builder.batch_inputs());
  const Tensor target = builder.batch_target(prediction);
  builder.add_loss(loss(prediction, target));
  builder.add_checks(context.checks);
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    std::vector<Tensor> states;
    const auto specs = metrics[m]->states(prediction.type());
    for (const auto& s : specs)
      states.push_back(builder.add_state(
          metric_state(m, s.name), {DType::f64, Shape(std::vector<Dim>(s.dims.begin(), s.dims.end()))}));
    const auto next = metrics[m]->update(states, prediction, target);
    for (std::size_t i = 0; i < specs.size(); ++i)
      builder.add_output(metric_state(m, specs[i].name), next[i]);
  }
  return builder.finish(trace, std::move(context.checks), prediction.type());
}

StepGraph prediction_step(const Model& model, const DataSpec& data) {
  named_parameters(model);
  StepBuilder builder("predict", data);
  const Trace trace;
  nn::Context context(false);
  const Tensor prediction = predict(model, builder.batch_inputs());
  builder.add_output("prediction", prediction);
  builder.add_checks(context.checks);
  return builder.finish(trace, std::move(context.checks), prediction.type());
}

StepGraph comparison_step(const Model& model, const RowsFn& look, const DataSpec& data) {
  named_parameters(model);
  StepBuilder builder("compare", data);
  const Trace trace;
  nn::Context context(false);
  const Tensor prediction = predict(model, builder.batch_inputs());
  for (auto& [name, value] : look(prediction, builder.batch_target(prediction)))
    builder.add_output(name, value);
  builder.add_checks(context.checks);
  return builder.finish(trace, std::move(context.checks), prediction.type());
}

}  // namespace tightloop::train
