// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/window.h>
#include <tightloop/train/plan.h>

#include <algorithm>
#include <set>

namespace tightloop::train {
namespace {

/// Bytes of the arrays of `parts`, each block of memory once.
std::size_t data_bytes(const TrainingData& data) {
  std::set<const std::byte*> seen;
  std::size_t bytes = sizeof(std::int64_t) * data.train.rows.size();
  const auto add = [&](const data::Dataset& set) {
    for (const auto& f : set.fields())
      if (seen.insert(f.values.bytes()).second) bytes += f.values.size_bytes();
  };
  add(data.train.data);
  if (!data.validation) return bytes;
  add(data.validation->data);
  return bytes + sizeof(std::int64_t) * data.validation->rows.size();
}

std::size_t step_temporaries(const BoundStep& bound, const Sampling& sampling) {
  const auto report = bound.program().memory(bound.sizes(sampling));
  return report.temporaries + report.results;
}

/// What the loader of a stream holds, and the workspace of its threads aside.
std::size_t batch_bytes(const DataPart& part, std::int64_t batch) {
  if (!part.is_stream()) return 0;
  return data::Loader::buffer_bytes(*part.samples, std::min(batch, part.count()), part.loader);
}

std::size_t state_bytes(const BoundStep& bound) {
  std::size_t bytes = 0;
  for (const Tensor& t : bound.program().graph().inputs)
    if (ir::input_role(t.node()) == "state")
      bytes += static_cast<std::size_t>(t.shape().count({})) * size_of(t.dtype());
  return bytes;
}

double flops_of(const ir::Node& node, const Sizes& sizes) {
  const auto count = [&](const Tensor& t) { return static_cast<double>(t.shape().count(sizes)); };
  const double out = static_cast<double>(node.type.shape.count(sizes));
  switch (node.op->kind) {
    case ir::OpKind::contraction: {
      const Tensor& a = node.inputs[0];
      const bool transposed = node.attrs.get<bool>("transpose_a", false);
      return 2 * out * static_cast<double>(a.dim(a.rank() - (transposed ? 2 : 1)).value(sizes));
    }
    case ir::OpKind::window:
      return ops::window_flops(node, sizes);
    case ir::OpKind::elementwise:
      return is_floating(node.type.dtype) ? out : 0;
    case ir::OpKind::reduction:
      return is_floating(node.type.dtype) ? count(node.inputs[0]) : 0;
    default:
      return 0;
  }
}

DataSpec spec_of(const TrainingData& data) { return DataSpec::of(data.train.data, data.target, data.scales); }

/// Of the step alone.
MemoryPlan plan_of(const PreparedJob& prepared, const TrainingData& data, const Session& session,
                   std::int64_t batch) {
  const auto& bound = session.bound();
  Sampling sampling = session.sampling();
  sampling.batch = batch;
  MemoryPlan plan;
  plan.data = data_bytes(data);
  plan.batches = batch_bytes(data.train, batch);
  plan.kept = state_bytes(bound);
  plan.states = plan.kept;
  const auto& used = bound.step().parameters;
  for (const auto& s : prepared.model->states())
    if (std::find(used.begin(), used.end(), s.path) == used.end()) plan.states += s.bytes();
  plan.temporaries = step_temporaries(bound, sampling);
  plan.steps_per_epoch = session.steps_per_epoch();
  return plan;
}

}  // namespace

double step_flops(const ir::Graph& graph, const Sizes& sizes) {
  double total = 0;
  for (const ir::Node* node : ir::topological(graph)) total += flops_of(*node, sizes);
  return total;
}

std::vector<std::string> idle_parameters(const PreparedJob& prepared) {
  const TrainingData& data = prepared.data.data;
  const DataSpec spec = spec_of(data);
  const StepGraph step = training_step(prepared.model->model(), prepared.loss, *prepared.optimizer,
                                       walked(spec, data.train, prepared.options.shuffle));
  std::vector<Tensor> results;
  for (const auto& o : step.graph.outputs) results.push_back(o.value);
  std::set<std::string> used;
  for (const ir::Node* node : ir::topological(results))
    if (node->op->name == "input") used.insert(ir::input_name(*node));
  std::vector<std::string> out;
  for (const auto& [path, p] : prepared.model->parameters())
    if (!used.contains(path)) out.push_back(path);
  return out;
}

MemoryPlan plan_memory(const PreparedJob& prepared, const Session& session) {
  return plan_of(prepared, prepared.data.data, session, session.sampling().batch);
}

MemoryPlan plan_memory(PreparedJob& prepared) { return MemoryPlanner(prepared).at(prepared.options.batch); }

MemoryPlanner::MemoryPlanner(PreparedJob& prepared)
    : prepared_(prepared),
      model_(prepared.model->model()),
      data_(seen_by(prepared.options, prepared.data.data)),
      session_(model_, prepared.loss, *prepared.optimizer, spec_of(data_), data_.train,
               prepared.options.session()) {
  if (data_.validation)
    evaluator_.emplace(model_, prepared.loss, prepared.metrics, spec_of(data_), *data_.validation,
                       prepared.options.evaluation_batch(), parameters_of(model_), prepared.options.compile);
}

MemoryPlan MemoryPlanner::at(std::int64_t batch) const {
  MemoryPlan plan = plan_of(prepared_, data_, session_, batch);
  if (!evaluator_) return plan;
  TrainerOptions options;
  options.batch = batch;
  Sampling sampling = evaluator_->sampling();
  sampling.batch = options.evaluation_batch();
  plan.batches += batch_bytes(*data_.validation, sampling.batch);
  plan.temporaries += step_temporaries(evaluator_->bound(), sampling);
  return plan;
}

std::int64_t MemoryPlanner::largest_batch(std::size_t bytes) const {
  const auto fits = [&](std::int64_t batch) { return at(batch).total() <= bytes; };
  std::int64_t low = 0, high = rows() + 1;  // `low` fits, `high` does not
  if (fits(rows())) return rows();
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace tightloop::train
