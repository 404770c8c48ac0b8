// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/norm_statistics.h>
#include <tightloop/train/run.h>

#include <map>
#include <memory>
#include <string>

namespace tightloop::train {

struct SwaOptions {
  double lr = 0;                    ///< the rate that averaged epochs come to
  double start = 0.8;               ///< below 1: a share of the epochs; else the first epoch (from 1)
  std::int64_t anneal_epochs = 10;  ///< from the rate of the first epoch to `lr`
  bool linear = false;              ///< the way there: linear, or a cosine
  bool evaluate = true;             ///< evaluations and the model at the end have the averages
};

/// Stochastic weight averaging (Izmailov et al., 2018), as torch.optim.swa_utils: the parameters at the end
/// of each epoch from `start` on are averaged with equal weights, while the rate goes to `lr` and stays
/// there. BatchNorm gets statistics of its own for the averages, see NormStatistics. The model ends with the
/// averages, also beside an early stopping that would restore the best epoch.
class Swa final : public Callback {
 public:
  /// Throws Error for values out of range.
  explicit Swa(SwaOptions options);
  std::string_view name() const override { return "swa"; }
  void check(const RunFacts& facts) const override;
  void prepare(UpdateOptions& update) const override;
  void start(Run& run) override;
  void step(Run& run) override;
  void weights(Run& run) override;
  Saved save() const override;
  void load(Run& run, const Saved& saved) override;

  std::int64_t averaged() const { return count_; }  ///< epochs in the averages

 private:
  void add(Run& run);
  void show(Run& run);
  std::optional<Array> find(Run& run, const std::string& path);

  SwaOptions options_;
  std::map<std::string, Array> averages_;
  std::int64_t count_ = 0;
  std::int64_t statistics_of_ = 0;  ///< the count for which the statistics were made
  std::unique_ptr<NormStatistics> statistics_;
};

}  // namespace tightloop::train
