// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/fit_steps.h>
#include <tightloop/train/fit_whole.h>

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

/// What lbfgs, which has no update in the step, cannot do.
void check_plain(const TrainerOptions& o) {
  const auto refuse = [](bool given, const char* what) {
    if (given) throw Error(fmt::format("optimizer lbfgs: takes no {}", what));
  };
  refuse(o.update.schedule != nullptr, "schedule");
  refuse(o.update.gradients.clip_norm > 0 || o.update.gradients.clip_value > 0 ||
             o.update.gradients.noise > 0 || o.update.gradients.centralize,
         "clipping");
  refuse(o.update.accumulate > 1, "accumulation: an update sees all rows anyway");
  refuse(o.update.ema > 0, "averages of the weights");
  refuse(!o.callbacks.empty(), "callbacks");
  refuse(!o.resume.empty(), "checkpoint to go on from");
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
}

History Trainer::fit(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                     const TrainingData& given) {
  initialize_missing(model, options_.seed);
  const TrainingData data = with_evaluation_transforms(given);
  if (const auto* lbfgs = dynamic_cast<const optim::Lbfgs*>(&optimizer)) {
    check_plain(options_);
    return fit_whole(model, loss, *lbfgs, data, options_, metrics_);
  }
  return fit_steps(model, loss, optimizer, data, options_, metrics_);
}

void Trainer::check(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                    const TrainingData& given) const {
  initialize_missing(model, options_.seed);
  if (dynamic_cast<const optim::Lbfgs*>(&optimizer) != nullptr) {
    check_plain(options_);
    return check_whole(given);
  }
  check_steps(model, loss, optimizer, with_evaluation_transforms(given), options_, metrics_);
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
                       const std::vector<data::FieldScale>& scales) {
  initialize_missing(model, options_.seed);
  DataSpec spec = DataSpec::of(inputs.data, "", scales);
  spec.inputs.insert(spec.inputs.end(), spec.target.begin(), spec.target.end());
  spec.target.clear();
  return predict_all(model, spec, inputs, options_.evaluation_batch(), options_.compile);
}

}  // namespace tightloop::train
