// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/train/norm_statistics.h>
#include <tightloop/train/trainer.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace tightloop::train {
namespace {

/// The BatchNorms of a model that keep running statistics, by path.
std::vector<std::pair<std::string, nn::BatchNorm*>> norms_of(nn::Module& module) {
  std::vector<std::pair<std::string, nn::BatchNorm*>> out;
  for (const auto& [path, part] : module.modules())
    if (auto* norm = dynamic_cast<nn::BatchNorm*>(part); norm != nullptr && norm->running_mean)
      out.emplace_back(path, norm);
  return out;
}

/// While it lives, these BatchNorms average their batches plainly.
class PlainAverages {
 public:
  explicit PlainAverages(const std::vector<std::pair<std::string, nn::BatchNorm*>>& norms) {
    for (const auto& [path, norm] : norms) {
      before_.emplace_back(norm, norm->momentum());
      norm->set_momentum({});
    }
  }
  ~PlainAverages() {
    for (const auto& [norm, momentum] : before_) norm->set_momentum(momentum);
  }
  PlainAverages(const PlainAverages&) = delete;
  PlainAverages& operator=(const PlainAverages&) = delete;

 private:
  std::vector<std::pair<nn::BatchNorm*, std::optional<double>>> before_;
};

}  // namespace

NormStatistics::NormStatistics(const Model& model, const DataSpec& data, const DataPart& part,
                               const TrainerOptions& options) {
  const auto norms = norms_of(*model.module);
  if (norms.empty()) return;
  const PlainAverages plain(norms);
  bound_ = std::make_unique<BoundStep>(statistics_step(model, data), part, options.compile);
  sampling_ = bound_->sampling(options.batch, options.shuffle, options.drop_last, options.seed);
  bound_->program().set_seed(options.seed);
  const auto states = bound_->program().state_names();
  for (const auto& [path, norm] : norms)
    for (const char* name : {"running_mean", "running_var", "num_batches_tracked"}) {
      const std::string full = (path.empty() ? "" : path + ".") + name;
      if (std::find(states.begin(), states.end(), full) != states.end())
        statistics_.emplace(full, bound_->program().state(full));
    }
  if (statistics_.empty()) bound_.reset();
}

void NormStatistics::run(const ParameterLookup& parameters) {
  if (!any()) return;
  const auto states = bound_->program().state_names();
  for (const auto& path : bound_->step().parameters)
    if (!statistics_.contains(path) && std::find(states.begin(), states.end(), path) != states.end())
      bound_->program().bind(
          path, bound_->step().graph.output(path) == nullptr ? parameters(path) : parameters(path).clone());
  for (auto& [path, array] : statistics_) std::memset(array.bytes(), 0, array.size_bytes());
  bound_->reset();
  bound_->run(sampling_, 0, sampling_.steps_per_epoch());
}

const Array* NormStatistics::find(const std::string& path) const {
  const auto found = statistics_.find(path);
  return found == statistics_.end() ? nullptr : &found->second;
}

}  // namespace tightloop::train
