// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/evaluate.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace tightloop::train {
namespace {

void bind_parameters(BoundStep& bound, const ParameterLookup& parameters) {
  const auto names = bound.program().state_names();
  for (const auto& path : bound.step().parameters)
    if (std::find(names.begin(), names.end(), path) != names.end())
      bound.program().bind(path, parameters(path));
}

DataPart with_skipping(DataPart part, bool skip) {
  part.loader.skip = part.loader.skip && skip;
  return part;
}

/// Puts the rows of a batch where their samples stand, which begins at row `first` of `out` or later.
void place_rows(const BoundStep& bound, const Array& batch, std::int64_t first, Array& out) {
  const std::size_t row = out.size_bytes() / static_cast<std::size_t>(out.dims()[0]);
  const DataPart& part = bound.part();
  if (!part.is_stream()) {
    std::memcpy(out.bytes() + static_cast<std::size_t>(first) * row, batch.bytes(), batch.size_bytes());
    return;
  }
  const Array& numbers = bound.bound_data(kSampleField);
  for (std::int64_t i = 0; i < numbers.count(); ++i, ++first) {
    const auto number_at = [&](std::int64_t r) {
      return part.rows.empty() ? r : part.rows[static_cast<std::size_t>(r)];
    };
    while (number_at(first) != numbers.int_at(i)) ++first;
    std::memcpy(out.bytes() + static_cast<std::size_t>(first) * row,
                batch.bytes() + static_cast<std::size_t>(i) * row, row);
  }
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

void Evaluator::bind(const ParameterLookup& parameters) { bind_parameters(bound_, parameters); }

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

void Evaluator::check(std::int64_t batches) {
  bound_.reset();
  bound_.run(sampling_, 0, std::min(batches, sampling_.steps_per_epoch()));
  bound_.check_data();
}

Array predict_all(const Model& model, const DataSpec& data, const DataPart& given, std::int64_t batch,
                  const CompileOptions& options, std::map<std::int64_t, std::string>* skipped) {
  StepGraph step = prediction_step(model, walked(data, given));
  const bool gaps = skipped != nullptr && is_floating(step.prediction.dtype);
  const DataPart part = with_skipping(given, gaps);
  BoundStep bound(std::move(step), part, options);
  bind_parameters(bound, parameters_of(model));
  bound.reset();
  const Sampling sampling = bound.sampling(batch);
  std::vector<std::int64_t> dims = bound.step().prediction.shape.values({part.count(), part.total()});
  Array out(bound.step().prediction.dtype, dims);
  if (gaps && part.loader.skip)
    for (std::int64_t i = 0; i < out.count(); ++i) out.set(i, std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t s = 0; s < sampling.steps_per_epoch(); ++s) {
    bound.run(sampling, s, 1);
    place_rows(bound, bound.program().result("prediction"), s * sampling.batch, out);
  }
  bound.check_data();
  if (skipped != nullptr) *skipped = bound.skipped();
  bound.check_files();
  return out;
}

void compare_all(const Model& model, StepGraph step, const DataPart& part, std::int64_t batch,
                 const CompileOptions& options, const std::function<void(Program&)>& see) {
  BoundStep bound(std::move(step), part, options);
  bind_parameters(bound, parameters_of(model));
  bound.reset();
  const Sampling sampling = bound.sampling(batch);
  for (std::int64_t step = 0; step < sampling.steps_per_epoch(); ++step) {
    bound.run(sampling, step, 1);
    see(bound.program());
  }
  bound.check_data();
}

}  // namespace tightloop::train
