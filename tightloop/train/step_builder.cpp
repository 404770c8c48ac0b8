// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/train/read_batch.h>
#include <tightloop/train/step_builder.h>

#include <fmt/format.h>

namespace tightloop::train {
namespace {

const TensorType kCounter{DType::i64, {}};
const TensorType kSum{DType::f64, {}};

}  // namespace

StepBuilder::StepBuilder(std::string name, const DataSpec& data) : data_(data) {
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

Tensor StepBuilder::samples() {
  if (!data_.repeats) return numbers_;
  if (!samples_.defined()) samples_ = iota({Dim::batch()}, 0) + add_input("batch.place", "first", kCounter);
  return samples_;
}

const Tensor& StepBuilder::epoch() {
  if (!epoch_.defined()) epoch_ = add_input("run.epoch", "epoch", kCounter);
  return epoch_;
}

std::vector<Tensor> StepBuilder::batch_inputs() {
  if (!batch_.rows.defined()) batch_ = source();
  return read_inputs(data_, tables(), batch_, share_);
}

Tensor StepBuilder::batch_target(const Tensor& prediction) {
  require(!data_.target.empty(), "a step without target");
  return read_target(data_, tables().back(), batch_, share_, prediction);
}

Tensor StepBuilder::add_input(const std::string& name, const std::string& role, TensorType type) {
  graph_.inputs.push_back(input(name, role, std::move(type)));
  return graph_.inputs.back();
}

void StepBuilder::accumulate(const char* name, const Tensor& amount) {
  add_output(name, add_state(name, kSum) + amount);
}

void StepBuilder::add_loss(const nn::LossValue& loss) {
  accumulate(kLossSum, loss.total);
  accumulate(kWeightSum, loss.weight);
  const Tensor bad = add_state(kBadStep, kCounter);
  add_output(kBadStep, select(logical_and(bad < 0.0, logical_not(is_finite(loss.total))), step_, bad));
}

void StepBuilder::watch_spikes(const Tensor& loss, const SpikeRule& rule) {
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

void StepBuilder::add_checks(const std::vector<nn::Check>& checks) {
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

StepGraph StepBuilder::finish(const Trace& trace, std::vector<nn::Check> checks, const TensorType& prediction,
                              double ema) {
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

/// The data's own inputs come first.
std::vector<Tensor> StepBuilder::tables() const {
  const std::size_t n = data_.inputs.size() + data_.target.size();
  return {graph_.inputs.begin(), graph_.inputs.begin() + static_cast<std::ptrdiff_t>(n)};
}

data::Transforms::Source StepBuilder::source() {
  if (data_.transforms.empty()) return {.rows = rows_};
  data::Transforms::Source out{seed_, epoch(), rows_, samples(), {}};
  if (data_.transforms.mixes()) out.partners = partners_of(data_, out);
  return out;
}

void StepBuilder::add_average(const std::string& path, const Tensor& next, double decay) {
  const std::string name = std::string(kAverage) + path;
  const Tensor before = add_state(name, next.type());
  const Tensor average = decay * before + (1 - decay) * next;
  add_output(name, applies_.defined() ? select(applies_, average, before) : average);
}

}  // namespace tightloop::train
