// SPDX-License-Identifier: Apache-2.0
#pragma once
// The learning rate by a range test (L. N. Smith, "Cyclical Learning Rates for Training Neural Networks",
// 2015): the rate grows exponentially from step to step while the loss is watched.
//   const auto found = train::find_rate(net, loss, tl::optim::Adam({.lr = 1e-3}), dataset, {.batch = 128});
//   if (found.suggestion) ... tl::optim::Adam({.lr = *found.suggestion})
#include <tightloop/train/trainer.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

struct RateSearch {
  double low = 1e-8;         ///< the first update's rate
  double high = 1;           ///< the last one's
  std::int64_t steps = 100;  ///< updates; at least 2
  double smoothing = 0.98;   ///< of the exponential average of the loss
  double stop_at = 4;        ///< ends when the average exceeds so many times the lowest one; 0: never
};

struct RatePoint {
  double rate = 0;
  double loss = 0;      ///< of that update's batches, before the update
  double smoothed = 0;  ///< average ← β · average + (1 - β) · loss, divided by 1 - βⁿ
};

struct RateResult {
  std::vector<RatePoint> points;
  /// Where the loss falls most steeply over the logarithm of the rate, see steepest_rate().
  std::optional<double> suggestion = {};
  bool stopped = false;  ///< before `high`, by stop_at or a loss that is not finite
};

/// Where the loss of a search falls most steeply: by the straight line through the 11 points around, between
/// the point where a tenth of the whole fall is done and the lowest one, so that neither the flat start nor
/// what follows counts. The losses are averaged over as many points. None where there are fewer than 20
/// points, and where the fall from the median of the first tenth to the lowest one is no more than what the
/// batches differ among each other explains: four times the standard deviation that it would have without
/// any learning, which follows from the differences of successive losses.
std::optional<double> steepest_rate(const std::vector<RatePoint>& points);

/// Searches with the data, order, groups, clipping and accumulation of a training by `options`; its schedule
/// and callbacks have no part. The model's parameters and buffers are as before at the end; those that had no
/// value have the one that training would draw. Throws Error for options out of range, an optimizer without a
/// rate for its steps (lbfgs), and data that break a rule.
RateResult find_rate(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                     const TrainingData& data, const TrainerOptions& options, const RateSearch& search = {});

template <std::derived_from<nn::Module> M>
RateResult find_rate(M& module, const nn::LossFn& loss, const optim::Optimizer& optimizer, DataPart train,
                     const TrainerOptions& options, const RateSearch& search = {}) {
  return find_rate(model_of(module), loss, optimizer, {.train = std::move(train)}, options, search);
}
template <std::derived_from<nn::Module> M>
RateResult find_rate(M& module, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                     const data::Dataset& train, const TrainerOptions& options,
                     const RateSearch& search = {}) {
  return find_rate(module, loss, optimizer, DataPart{train}, options, search);
}

/// "rate,loss,smoothed" and a line a point.
std::string to_csv(const RateResult& result);
/// A drawing of the loss over the logarithm of the rate.
std::string to_svg(const RateResult& result);

}  // namespace tightloop::train
