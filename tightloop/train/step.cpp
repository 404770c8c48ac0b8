// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/autocast.h>
#include <tightloop/engine/gradients.h>
#include <tightloop/engine/trace.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/clip.h>
#include <tightloop/optim/lbfgs.h>
#include <tightloop/train/read_batch.h>
#include <tightloop/train/step.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

const TensorType kCounter{DType::i64, {}};
const TensorType kSum{DType::f64, {}};

/// Collects a graph's inputs, states and outputs while it is being traced.
class Builder {
 public:
  Builder(std::string name, const DataSpec& data) : data_(data) {
    graph_.name = std::move(name);
    for (const auto& f : data.inputs) graph_.inputs.push_back(input(data_name(f.name), "data", f.type));
    for (const auto& f : data.target) graph_.inputs.push_back(input(data_name(f.name), "data", f.type));
    if (data.in_order)
      rows_ = iota({Dim::batch()}, 0) + add_input(kFirstRow, "first", kCounter);
    else
      rows_ = add_input("batch.rows", "rows", {DType::i64, {Dim::batch()}});
    numbers_ = rows_;
    if (data.streamed)
      numbers_ = gather(add_input(data_name(kSampleField), "data", {DType::i64, {Dim::rows()}}), rows_);
    step_ = add_input("run.step", "step", kCounter);
    seed_ = add_input("run.seed", "seed", kCounter);
  }

  const Tensor& step() const { return step_; }
  const Tensor& seed() const { return seed_; }

  /// i64[B]: the number of each sample in the whole data set. Where a row may come twice in an epoch it is
  /// the place in the epoch's order, so that both are drawn for apart.
  Tensor samples() {
    if (!data_.repeats) return numbers_;
    if (!samples_.defined()) samples_ = iota({Dim::batch()}, 0) + add_input("batch.place", "first", kCounter);
    return samples_;
  }
  /// i64[]: how often the rows have been gone through.
  const Tensor& epoch() {
    if (!epoch_.defined()) epoch_ = add_input("run.epoch", "epoch", kCounter);
    return epoch_;
  }

  std::vector<Tensor> batch_inputs() {
    if (!batch_.rows.defined()) batch_ = source();
    return read_inputs(data_, tables(), batch_, share_);
  }

  /// After batch_inputs(). `prediction` says how many classes there are where targets are mixed.
  Tensor batch_target(const Tensor& prediction) {
    require(!data_.target.empty(), "a step without target");
    return read_target(data_, tables().back(), batch_, share_, prediction);
  }

  Tensor add_input(const std::string& name, const std::string& role, TensorType type) {
    graph_.inputs.push_back(input(name, role, std::move(type)));
    return graph_.inputs.back();
  }
  Tensor add_state(const std::string& name, TensorType type) {
    return add_input(name, "state", std::move(type));
  }
  void add_output(const std::string& name, Tensor value) {
    graph_.outputs.push_back({name, std::move(value)});
  }

  /// Adds `amount` to a sum.
  void accumulate(const char* name, const Tensor& amount) {
    add_output(name, add_state(name, kSum) + amount);
  }

  void add_loss(const nn::LossValue& loss) {
    accumulate(kLossSum, loss.total);
    accumulate(kWeightSum, loss.weight);
    const Tensor bad = add_state(kBadStep, kCounter);
    add_output(kBadStep, select(logical_and(bad < 0.0, logical_not(is_finite(loss.total))), step_, bad));
  }

  /// A running average of the losses, and the first step whose loss is far above it; such a loss is left out.
  void watch_spikes(const Tensor& loss, const SpikeRule& rule) {
    const Tensor mean = add_state(kSpikeMean, kSum), count = add_state(kSpikeCount, kSum);
    const Tensor first = add_state(kSpikeStep, kCounter), value = cast(loss, DType::f64);
    const double window = static_cast<double>(rule.window);
    const Tensor spike = logical_and(count >= window, value > mean + rule.factor * abs(mean));
    const Tensor next = count + 1.0,
                 average = mean + (value - mean) / minimum(next, scalar(window, DType::f64));
    add_output(kSpikeMean, select(spike, mean, average));
    add_output(kSpikeCount, select(spike, count, next));
    add_output(kSpikeStep, select(logical_and(first < 0.0, spike), step_, first));
  }

  /// Sums of the gradients' norm over the updates of an epoch.
  void measure(const std::vector<Tensor>& gradients, const Tensor& ends) {
    const Tensor norm = optim::global_norm(gradients), one = scalar(1, DType::f64),
                 none = scalar(0, DType::f64);
    const auto counted = [&](const Tensor& t) { return ends.defined() ? select(ends, t, none) : t; };
    accumulate(kGradientNorm, counted(norm));
    accumulate(kUpdates, counted(one));
    add_output(kGradientNormMax, maximum(add_state(kGradientNormMax, kSum), counted(norm)));
  }

  void add_checks(const std::vector<nn::Check>& checks) {
    for (std::size_t i = 0; i < checks.size(); ++i) {
      const std::string name = fmt::format("check.{}.", i);
      const Tensor row = add_state(name + "row", kCounter);
      const Tensor value = add_state(name + "value", kSum);
      const Tensor first = logical_and(row < 0.0, checks[i].row >= 0.0);
      const Tensor found = gather(numbers_, maximum(checks[i].row, scalar(0, DType::i64)));
      add_output(name + "row", select(first, found, row));
      add_output(name + "value", select(first, checks[i].value, value));
    }
  }

  /// Averages move only in steps where `ends` is true.
  void set_update_end(Tensor ends) { update_end_ = std::move(ends); }

  /// Takes the parameters that were read, and the next values of those that were assigned, with averages of
  /// these when `ema` is a decay.
  StepGraph finish(const Trace& trace, std::vector<nn::Check> checks, const TensorType& prediction,
                   double ema = 0) {
    StepGraph out;
    for (const auto& used : trace.used()) {
      const std::string path = ir::input_name(used.input.node());
      if (graph_.input(path) != nullptr)
        throw Error(fmt::format(
            "model: a parameter may not be called '{}', which a step calls something of its own; rename it",
            path));
      graph_.inputs.push_back(used.input);
      out.parameters.push_back(ir::input_name(used.input.node()));
      if (!used.next.defined()) continue;
      add_output(out.parameters.back(), used.next);
      if (ema > 0 && is_floating(used.next.dtype())) add_average(path, used.next, ema);
    }
    out.graph = std::move(graph_);
    out.checks = std::move(checks);
    out.prediction = prediction;
    return out;
  }

 private:
  /// The data's own inputs come first.
  std::vector<Tensor> tables() const {
    const std::size_t n = data_.inputs.size() + data_.target.size();
    return {graph_.inputs.begin(), graph_.inputs.begin() + static_cast<std::ptrdiff_t>(n)};
  }

  data::Transforms::Source source() {
    if (data_.transforms.empty()) return {.rows = rows_};
    data::Transforms::Source out{seed_, epoch(), rows_, samples(), {}};
    if (data_.transforms.mixes()) out.partners = partners_of(data_, out);
    return out;
  }

  void add_average(const std::string& path, const Tensor& next, double decay) {
    const std::string name = std::string(kAverage) + path;
    const Tensor before = add_state(name, next.type());
    const Tensor average = decay * before + (1 - decay) * next;
    add_output(name, update_end_.defined() ? select(update_end_, average, before) : average);
  }

  const DataSpec& data_;
  ir::Graph graph_;
  Tensor rows_, step_, seed_, numbers_, samples_, epoch_, update_end_;
  data::Transforms::Source batch_;
  Tensor share_;
};

/// Names every parameter by its path, so that a graph's states carry it.
std::vector<nn::Module::NamedParameter> named_parameters(const Model& model) {
  return model.module == nullptr ? std::vector<nn::Module::NamedParameter>() : model.module->parameters();
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

/// The rate of a step; a result too, where it moves.
Tensor rate_of(Builder& builder, const optim::Optimizer& rule, const UpdateOptions& options,
               const RunLength& length, const Tensor& update) {
  Tensor rate = scheduled_rate(options, length, rule.lr(), update);
  if (options.scaled_rate) rate = rate * builder.add_state(kRateScale, kSum);
  if (options.schedule != nullptr || options.scaled_rate || options.averaging.start > 0)
    builder.add_output(kRate, rate);
  return rate;
}

/// How fast an update goes; what moves is a result too.
optim::Pace pace_of(Builder& builder, const optim::Optimizer& rule, const UpdateOptions& options,
                    const RunLength& length, const Tensor& update) {
  optim::Pace out{update, rate_of(builder, rule, options, length, update)};
  if (rule.momentum()) out.momentum = scheduled_momentum(options, length, *rule.momentum(), update);
  if (out.momentum.defined()) builder.add_output(kMomentum, out.momentum);
  return out;
}

/// Paths of parameters that `trained` lacks.
std::vector<std::string> others(const std::vector<nn::Module::NamedParameter>& parameters,
                                const std::vector<nn::Module::NamedParameter>& trained) {
  std::vector<std::string> out;
  for (const auto& p : parameters)
    if (std::none_of(trained.begin(), trained.end(), [&](const auto& t) { return t.path == p.path; }))
      out.push_back(p.path);
  return out;
}

/// Those that training changes: not frozen, and part of the loss.
std::vector<nn::Module::NamedParameter> trained_of(const std::vector<nn::Module::NamedParameter>& parameters,
                                                   const Tensor& loss) {
  std::vector<nn::Module::NamedParameter> out;
  const auto needed = ir::topological(std::vector<Tensor>{loss});
  for (const auto& named : parameters)
    if (!named.parameter->frozen() &&
        std::find(needed.begin(), needed.end(), named.parameter->value().id()) != needed.end())
      out.push_back(named);
  if (out.empty())
    throw Error("the model has nothing to train: no parameter that is not frozen takes part in its output");
  return out;
}

std::vector<Tensor> values_of(const std::vector<nn::Module::NamedParameter>& parameters) {
  std::vector<Tensor> out;
  for (const auto& p : parameters) out.push_back(p.parameter->value());
  return out;
}

/// The next value of a state that only the last step of an update changes.
Tensor kept_unless(const Tensor& ends, const Tensor& next, const Tensor& before) {
  return ends.defined() ? select(ends, next, before) : next;
}

/// The gradients of all steps of an update so far: Σ wᵢgᵢ / Σ wᵢ is the gradient over their rows, w being the
/// number by which the loss of one batch is the quotient of its total.
std::vector<Tensor> accumulated(Builder& builder, const std::vector<nn::Module::NamedParameter>& trained,
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

void add_updates(Builder& builder, const std::vector<nn::Module::NamedParameter>& parameters,
                 const nn::LossValue& loss, const optim::Optimizer& rule, const UpdateOptions& options,
                 const RunLength& length) {
  const auto trained = trained_of(parameters, loss.value);
  const std::vector<Tensor> values = values_of(trained);
  std::vector<Tensor> slopes = gradients(loss.value, values);
  UpdateCount count{builder.step(), {}};
  if (options.accumulate > 1) {
    count = count_updates(builder.step(), length, options.accumulate);
    slopes = accumulated(builder, trained, slopes, loss, count.ends);
    builder.set_update_end(count.ends);
  }
  if (options.gradient_norm) builder.measure(slopes, count.ends);
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

/// Σ gradient of LossValue::total, whose quotient by Σ weight is the gradient of the loss over all rows.
/// total itself carries no gradient: it is value times a number that does not depend on the parameters.
void add_gradient_sums(Builder& builder, const std::vector<nn::Module::NamedParameter>& parameters,
                       const nn::LossValue& loss, const optim::Optimizer& rule) {
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
  const auto parameters = named_parameters(model);
  Builder builder("train", data);
  const Trace trace;
  nn::Context context(true, builder.seed(), builder.step());
  context.parameters_only = true;
  const Tensor prediction = predict(model, builder.batch_inputs());
  const nn::LossValue value = loss(prediction, builder.batch_target(prediction));
  builder.add_output("loss", value.value);
  builder.add_loss(value);
  if (options.spike.factor > 0) builder.watch_spikes(value.value, options.spike);
  builder.add_checks(context.checks);
  if (dynamic_cast<const optim::Lbfgs*>(&optimizer) != nullptr)
    add_gradient_sums(builder, parameters, value, optimizer);
  else
    add_updates(builder, parameters, value, optimizer, options, length);
  StepGraph out = builder.finish(trace, std::move(context.checks), prediction.type(), options.ema);
  out.training = true;
  return out;
}

StepGraph statistics_step(const Model& model, const DataSpec& data) {
  named_parameters(model);
  Builder builder("statistics", data);
  const Trace trace;
  nn::Context context(true, builder.seed(), builder.step());
  const Tensor prediction = predict(model, builder.batch_inputs());
  return builder.finish(trace, {}, prediction.type());
}

StepGraph gradient_step(const Model& model, const nn::LossFn& loss, const DataSpec& data) {
  const auto parameters = named_parameters(model);
  Builder builder("gradients", data);
  const Trace trace;
  nn::Context context(true, builder.seed(), builder.step());
  context.parameters_only = true;
  const Tensor prediction = predict(model, builder.batch_inputs());
  const nn::LossValue value = loss(prediction, builder.batch_target(prediction));
  builder.add_output("loss", value.value);
  builder.add_checks(context.checks);
  const auto trained = trained_of(parameters, value.value);
  const std::vector<Tensor> slopes = gradients(value.value, values_of(trained));
  for (std::size_t i = 0; i < trained.size(); ++i)
    builder.add_output(gradient_state(trained[i].path), slopes[i]);
  StepGraph out = builder.finish(trace, std::move(context.checks), prediction.type());
  out.training = true;
  return out;
}

StepGraph evaluation_step(const Model& model, const nn::LossFn& loss, const Metrics& metrics,
                          const DataSpec& data) {
  named_parameters(model);
  Builder builder("evaluate", data);
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
  Builder builder("predict", data);
  const Trace trace;
  nn::Context context(false);
  const Tensor prediction = predict(model, builder.batch_inputs());
  builder.add_output("prediction", prediction);
  builder.add_checks(context.checks);
  return builder.finish(trace, std::move(context.checks), prediction.type());
}

StepGraph comparison_step(const Model& model, const RowsFn& look, const DataSpec& data) {
  named_parameters(model);
  Builder builder("compare", data);
  const Trace trace;
  nn::Context context(false);
  const Tensor prediction = predict(model, builder.batch_inputs());
  for (auto& [name, value] : look(prediction, builder.batch_target(prediction)))
    builder.add_output(name, value);
  builder.add_checks(context.checks);
  return builder.finish(trace, std::move(context.checks), prediction.type());
}

}  // namespace tightloop::train
