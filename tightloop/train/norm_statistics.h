// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/channel_norm.h>
#include <tightloop/train/evaluate.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace tightloop::train {

struct TrainerOptions;

/// Running statistics of BatchNorm for weights that no batch has seen, such as averages: one pass over the
/// training rows, in batches as they are trained on, whose statistics are averaged with equal weights; as
/// torch.optim.swa_utils.update_bn.
class NormStatistics {
 public:
  /// `data` as walked() gives it and `part` must outlive it.
  NormStatistics(const Model& model, const DataSpec& data, const DataPart& part,
                 const TrainerOptions& options);
  /// False when the model has no such statistics; then run() does nothing.
  bool any() const { return bound_ != nullptr; }
  /// The statistics for these parameters, which are read in place.
  void run(const ParameterLookup& parameters);
  /// A running mean, a running variance or a counter; null when run() makes no such. A view.
  const Array* find(const std::string& path) const;

 private:
  std::unique_ptr<BoundStep> bound_;
  Sampling sampling_;
  std::map<std::string, Array> statistics_;
};

}  // namespace tightloop::train
