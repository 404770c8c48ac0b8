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

std::size_t parameter_bytes(const Model& model) {
  std::size_t bytes = 0;
  if (model.module != nullptr)
    for (const auto& s : model.module->states()) bytes += s.bytes();
  return bytes;
}

/// Steps whose numbers wait for the loggers, and numbers of each: step, loss, rate.
constexpr std::size_t kRing = 65536 * 3 * sizeof(double);

/// What callbacks and loggers hold.
std::size_t copies(const TrainerOptions& options, std::size_t parameters, std::size_t states) {
  std::size_t bytes = options.log_every != 0 ? kRing : 0;
  for (const auto& callback : options.callbacks) bytes += callback->holds(parameters, states);
  return bytes;
}

/// Of the step alone.
MemoryPlan plan_of(const Model& model, const TrainingData& data, const BoundStep& bound,
                   const TrainerOptions& options, std::int64_t batch) {
  const Sampling sampling = sampling_of(data.train, batch, false, options.drop_last);
  const MemoryReport report = bound.program().memory(bound.sizes(sampling));
  MemoryPlan plan;
  plan.data = data_bytes(data);
  plan.batches = batch_bytes(data.train, batch);
  plan.kept = state_bytes(bound);
  plan.states = plan.kept;
  const auto& used = bound.step().parameters;
  if (model.module != nullptr)
    for (const auto& s : model.module->states())
      if (std::find(used.begin(), used.end(), s.path) == used.end()) plan.states += s.bytes();
  plan.temporaries = report.temporaries + report.results;
  plan.recomputed = report.recomputed;
  plan.copies = copies(options, parameter_bytes(model), plan.states);
  return plan;
}

/// What a process with nothing but a compiled step holds: code, libraries, the compiler, stacks of threads.
/// Measured: 90 to 97 MB for every net of bench/.
constexpr std::size_t kProgram = std::size_t{100} * 1000 * 1000;

CompileOptions with_code(CompileOptions options, bool code) {
  options.code = code;
  return options;
}

StepGraph step_of(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                  const TrainingData& data, const TrainerOptions& options) {
  const SessionOptions session = options.session();
  return training_step(model, loss, optimizer, walked(spec_of(data), data.train, session.shuffle),
                       session.update, run_length(data.train, session));
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
  MemoryPlan plan = plan_of(prepared.model->model(), prepared.data.data, session.bound(), prepared.options,
                            session.sampling().batch);
  plan.steps_per_epoch = session.steps_per_epoch();
  plan.copies = 0;
  return plan;
}

MemoryPlan plan_memory(PreparedJob& prepared) {
  const std::size_t before = resident_memory();
  const MemoryPlanner planner(prepared.model->model(), prepared.loss, *prepared.optimizer, prepared.metrics,
                              seen_by(prepared.options, prepared.data.data), prepared.options, true);
  const std::size_t after = resident_memory();
  check_batches(planner.step_.step(), planner.sampling_);
  MemoryPlan plan = planner.at(prepared.options.batch);
  plan.program = prepared.resident + (after > before ? after - before : 0);
  return plan;
}

MemoryPlanner::MemoryPlanner(PreparedJob& prepared)
    : MemoryPlanner(prepared.model->model(), prepared.loss, *prepared.optimizer, prepared.metrics,
                    seen_by(prepared.options, prepared.data.data), prepared.options, false) {}

MemoryPlanner::MemoryPlanner(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                             const Metrics& metrics, const TrainingData& data, TrainerOptions options)
    : MemoryPlanner(model, loss, optimizer, metrics, data, std::move(options), false) {}

MemoryPlanner::MemoryPlanner(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                             const Metrics& metrics, TrainingData data, TrainerOptions options, bool code)
    : model_(model),
      data_(std::move(data)),
      options_(std::move(options)),
      sampling_(sampling_of(data_.train, options_.batch, false, options_.drop_last)),
      step_(step_of(model_, loss, optimizer, data_, options_), data_.train,
            with_code(options_.compile, code)) {
  if (data_.validation)
    evaluation_.emplace(evaluation_step(model_, loss, metrics, walked(spec_of(data_), *data_.validation)),
                        *data_.validation, with_code(options_.compile, code));
}

MemoryPlan MemoryPlanner::at(std::int64_t batch, std::int64_t evaluation) const {
  MemoryPlan plan = plan_of(model_, data_, step_, options_, batch);
  TrainerOptions options = options_;
  options.batch = batch;
  if (batch == options_.batch) plan.steps_per_epoch = run_length(data_.train, options.session()).epoch;
  plan.program = kProgram;
  if (evaluation > 0) options.evaluation_rows = evaluation;
  plan.temporaries += evaluation_bytes(options.evaluation_batch());
  return plan;
}

std::size_t MemoryPlanner::evaluation_bytes(std::int64_t rows) const {
  if (!evaluation_) return 0;
  const MemoryReport report = evaluation_->program().memory(evaluation_->sizes(evaluation_->sampling(rows)));
  return report.temporaries + report.results + batch_bytes(*data_.validation, rows);
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
