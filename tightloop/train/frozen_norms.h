// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/channel_norm.h>

#include <vector>

namespace tightloop::train {

/// While it lives and `on`, BatchNorm and the like whose weight and bias are frozen use their running
/// statistics in training too, and leave them alone.
class FrozenNorms {
 public:
  FrozenNorms(nn::Module* module, bool on) {
    if (!on) return;
    for (const auto& [path, part] : module->modules())
      if (auto* norm = dynamic_cast<nn::ChannelNorm*>(part)) {
        norm->evaluate_when_frozen();
        norms_.push_back(norm);
      }
  }
  ~FrozenNorms() {
    for (nn::ChannelNorm* norm : norms_) norm->evaluate_when_frozen(false);
  }
  FrozenNorms(const FrozenNorms&) = delete;
  FrozenNorms& operator=(const FrozenNorms&) = delete;

 private:
  std::vector<nn::ChannelNorm*> norms_;
};

}  // namespace tightloop::train
