// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/evaluate.h>

#include <algorithm>
#include <cstring>

namespace tightloop::train {
namespace {

void bind_parameters(BoundStep& bound, const ParameterLookup& parameters) {
  const auto names = bound.program().state_names();
  for (const auto& path : bound.step().parameters)
    if (std::find(names.begin(), names.end(), path) != names.end())
      bound.program().bind(path, parameters(path));
}

/// Predictions stand in the order of the samples, so none may be left out.
DataPart without_skipping(DataPart part) {
  part.loader.skip = false;
  return part;
}

}  // namespace

ParameterLookup parameters_of(const Model& model) {
  return [module = model.module](const std::string& path) { return module->state(path).array(); };
}

Evaluator::Evaluator(const Model& model, const nn::LossFn& loss, Metrics metrics, const DataSpec& data,
                     const DataPart& part, std::int64_t batch, const ParameterLookup& parameters,
                     const CompileOptions& options)
    : metrics_(std::move(metrics)),
      bound_(evaluation_step(model, loss, metrics_, walked(data, part)), part, options),
      sampling_(bound_.sampling(batch)) {
  bind_parameters(bound_, parameters);
}

Evaluation Evaluator::run() {
  bound_.reset();
  bound_.run(sampling_, 0, sampling_.steps_per_epoch());
  bound_.check_data();
  bound_.check_files();
  Evaluation out{bound_.mean_loss(), {}};
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    std::vector<Array> states;
    for (const auto& s : metrics_[m]->states(bound_.step().prediction))
      states.push_back(bound_.program().state(metric_state(m, s.name)));
    out.metrics.push_back(metrics_[m]->finish(states));
  }
  return out;
}

Array predict_all(const Model& model, const DataSpec& data, const DataPart& given, std::int64_t batch,
                  const CompileOptions& options) {
  const DataPart part = without_skipping(given);
  BoundStep bound(prediction_step(model, walked(data, part)), part, options);
  bind_parameters(bound, parameters_of(model));
  bound.reset();
  const Sampling sampling = bound.sampling(batch);
  std::vector<std::int64_t> dims = bound.step().prediction.shape.values({part.count(), part.total()});
  Array out(bound.step().prediction.dtype, dims);
  std::byte* to = out.bytes();
  for (std::int64_t step = 0; step < sampling.steps_per_epoch(); ++step) {
    bound.run(sampling, step, 1);
    const Array y = bound.program().result("prediction");
    std::memcpy(to, y.bytes(), y.size_bytes());
    to += y.size_bytes();
  }
  bound.check_data();
  bound.check_files();
  return out;
}

}  // namespace tightloop::train
