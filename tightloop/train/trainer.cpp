// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/check_run.h>
#include <tightloop/train/fit_steps.h>
#include <tightloop/train/fit_whole.h>
#include <tightloop/train/frozen_norms.h>

#include <fmt/format.h>

namespace tightloop::train {
namespace {

/// Parameters that nobody gave a value are drawn from the seed.
void initialize_missing(const Model& model, std::uint64_t seed) {
  std::uint32_t stream = 0;
  for (const auto& [path, parameter] : model.module->parameters()) {
    if (!parameter->has_value()) parameter->initialize({seed, stream});
    ++stream;
  }
}

Metrics by_name(const std::vector<std::string>& names) {
  Metrics out;
  for (const auto& n : names) out.push_back(nn::make_metric(n));
  return out;
}

/// Validation sees what training sees, but for what is random.
TrainingData with_evaluation_transforms(TrainingData data) {
  if (data.validation && !data.validation->transforms && data.train.transforms)
    data.validation->transforms = data.train.transforms->evaluation();
  return data;
}

}  // namespace

SessionOptions TrainerOptions::session() const {
  SessionOptions out{batch, shuffle, drop_last, seed, compile, update, epochs, max_steps};
  if (update.schedule != nullptr && update.schedule->plateau() != nullptr) out.update.scaled_rate = true;
  for (const auto& callback : callbacks) callback->prepare(out.update);
  return out;
}

Trainer::Trainer(TrainerOptions options) : Trainer(options, by_name(options.metrics)) {}

Trainer::Trainer(TrainerOptions options, Metrics metrics)
    : options_(std::move(options)), metrics_(std::move(metrics)) {
  if (options_.epochs < 1)
    throw Error(fmt::format("the trainer needs at least 1 epoch, not {}", options_.epochs));
  if (options_.evaluate_every < 1)
    throw Error(fmt::format("evaluate_every must be at least 1 epoch, not {}", options_.evaluate_every));
  if (options_.log_every < kLogAutomatically)
    throw Error(
        fmt::format("log_every must be at least 1 step, or 0 for epochs only, not {}", options_.log_every));
}

History Trainer::fit(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                     const TrainingData& given) {
  check_run(model, optimizer, given, options_);
  initialize_missing(model, options_.seed);
  const TrainingData data = with_evaluation_transforms(given);
  const FrozenNorms norms(model.module, options_.frozen_norm_evaluates);
  if (const auto* lbfgs = dynamic_cast<const optim::Lbfgs*>(&optimizer)) {
    return fit_whole(model, loss, *lbfgs, data, options_, metrics_);
  }
  return fit_steps(model, loss, optimizer, data, options_, metrics_);
}

Evaluation Trainer::evaluate(const Model& model, const nn::LossFn& loss, const DataPart& part,
                             const std::vector<data::FieldScale>& scales, const std::string& target) {
  initialize_missing(model, options_.seed);
  const DataSpec spec = DataSpec::of(part.data, target, scales);
  Evaluator evaluator(model, loss, metrics_, spec, part, options_.evaluation_batch(), parameters_of(model),
                      options_.compile);
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
  return predict_all(model, spec, inputs, options_.evaluation_batch(), options_.compile, skipped);
}

}  // namespace tightloop::train
