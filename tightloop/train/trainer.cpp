// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/check_run.h>
#include <tightloop/train/fit_steps.h>
#include <tightloop/train/fit_whole.h>
#include <tightloop/train/frozen_norms.h>
#include <tightloop/train/memory_budget.h>

#include <fmt/format.h>

namespace tightloop::train {
namespace {

Metrics by_name(const std::vector<std::string>& names) {
  Metrics out;
  for (const auto& n : names) out.push_back(nn::make_metric(n));
  return out;
}

/// The first batches alone, for training and validation.
TrainingData overfitted(TrainingData data, std::int64_t rows) {
  const bool own = data.validation && data.validation->transforms;
  DataPart part = first_rows(std::move(data.train), rows);
  if (own)
    part.transforms = data.validation->transforms;
  else if (part.transforms)
    part.transforms = part.transforms->evaluation();
  data.train = part;
  data.validation = std::move(part);
  return data;
}

}  // namespace

SessionOptions TrainerOptions::session() const {
  const bool in_order = overfit_batches > 0;
  SessionOptions out{batch,     shuffle && !in_order, drop_last, seed, compile, update, epochs,
                     max_steps, limit_batches};
  if (update.schedule != nullptr && update.schedule->plateau() != nullptr) out.update.scaled_rate = true;
  for (const auto& callback : callbacks) callback->prepare(out.update);
  const Precision computed = on_this_machine(precision).precision;
  out.update.loss_scale = update.loss_scale.resolved(computed.is_mixed() && computed.type == DType::f16);
  if (computed.is_mixed() && computed.level == Precision::Level::O3) out.update.parameters = computed.type;
  return out;
}

void initialize_missing(const Model& model, std::uint64_t seed) {
  std::uint32_t stream = 0;
  for (const auto& [path, parameter] : model.module->parameters()) {
    if (!parameter->has_value()) parameter->initialize({seed, stream});
    ++stream;
  }
}

TrainingData seen_by(const TrainerOptions& options, TrainingData data) {
  if (data.validation && !data.validation->transforms && data.train.transforms)
    data.validation->transforms = data.train.transforms->evaluation();
  std::int64_t rows = 0;
  if (options.overfit_batches > 0) {
    if (__builtin_mul_overflow(options.overfit_batches, options.batch, &rows)) rows = data.train.count();
    return overfitted(std::move(data), rows);
  }
  if (!data.validation || options.limit_validation_batches.all() || options.batch < 1) return data;
  const Sampling all{.rows = data.validation->count(), .batch = options.batch};
  const std::int64_t batches =
      options.limit_validation_batches.of(all.steps_per_epoch(), "limit_validation_batches");
  if (batches < all.steps_per_epoch())
    data.validation = first_rows(std::move(*data.validation), batches * options.batch);
  return data;
}

void check(const TrainerOptions& options) {
  if (options.epochs < 1)
    throw Error(fmt::format("the trainer needs at least 1 epoch, not {}", options.epochs));
  if (options.evaluate_every < 1)
    throw Error(fmt::format("evaluate_every must be at least 1 epoch, not {}", options.evaluate_every));
  if (options.log_every < kLogAutomatically)
    throw Error(
        fmt::format("log_every must be at least 1 step, or 0 for epochs only, not {}", options.log_every));
  if (options.overfit_batches < 0)
    throw Error(fmt::format("overfit_batches: must be 0 or greater, not {}", options.overfit_batches));
  if (options.sanity_check.value_or(0) < 0)
    throw Error(fmt::format("sanity_check: must be 0 or greater, not {}", *options.sanity_check));
  if (options.overfit_batches > 0 && !(options.limit_batches.all() && options.limit_validation_batches.all()))
    throw Error(
        "overfit_batches takes the first batches alone, for training and validation; leave limit_batches and "
        "limit_validation_batches out");
}

Trainer::Trainer(TrainerOptions options) : Trainer(options, by_name(options.metrics)) {}

Trainer::Trainer(TrainerOptions options, Metrics metrics)
    : options_(std::move(options)), metrics_(std::move(metrics)) {
  check(options_);
}

Model Trainer::computed(Model model) const {
  if (model.precision == Precision()) model.precision = on_this_machine(options_.precision).precision;
  return model;
}

History Trainer::fit(const Model& asked, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                     const TrainingData& given) {
  const Model model = computed(asked);
  if (model.precision.type == DType::f64 && model.module != nullptr) model.module->to(DType::f64);
  if (const std::string note = on_this_machine(options_.precision).note;
      !note.empty() && options_.observer != nullptr && model.precision == Precision())
    options_.observer->note(note);
  check_run(model, optimizer, given, options_);
  initialize_missing(model, options_.seed);
  const TrainingData data = seen_by(options_, given);
  const FrozenNorms norms(model.module, options_.frozen_norm_evaluates);
  TrainerOptions options = options_;
  if (options.memory > 0) {
    const MemoryChoice choice = fit_memory(model, loss, optimizer, metrics_, data, options);
    apply(choice, options);
    if (options.observer != nullptr) options.observer->note(choice.text());
  }
  if (const auto* lbfgs = dynamic_cast<const optim::Lbfgs*>(&optimizer)) {
    return fit_whole(model, loss, *lbfgs, data, options, metrics_);
  }
  return fit_steps(model, loss, optimizer, data, options, metrics_);
}

Evaluation Trainer::evaluate(const Model& model, const nn::LossFn& loss, const DataPart& part,
                             const std::vector<data::FieldScale>& scales, const std::string& target) {
  initialize_missing(model, options_.seed);
  const DataSpec spec = DataSpec::of(part.data, target, scales);
  Evaluator evaluator(computed(model), loss, metrics_, spec, part, options_.evaluation_batch(),
                      parameters_of(model), options_.compile);
  Evaluation out = evaluator.run();
  for (const auto& [number, what] : evaluator.bound().skipped()) out.skipped.push_back(what);
  return out;
}

Array Trainer::predict(const Model& model, const DataPart& inputs,
                       const std::vector<data::FieldScale>& scales,
                       std::map<std::int64_t, std::string>* skipped) {
  initialize_missing(model, options_.seed);
  DataSpec spec = DataSpec::of(inputs.data, "", scales);
  spec.inputs.insert(spec.inputs.end(), spec.target.begin(), spec.target.end());
  spec.target.clear();
  return predict_all(computed(model), spec, inputs, options_.evaluation_batch(), options_.compile, skipped);
}

}  // namespace tightloop::train
