// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn {

struct NormalizeOptions {
  double p = 2;
  std::int64_t axis = 1;
  double eps = 1e-12;
};

/// x / max(‖x‖, eps) with the p-norm along an axis: torch.nn.functional.normalize.
class Normalize final : public Layer {
 public:
  /// Throws Error unless p > 0.
  explicit Normalize(NormalizeOptions options = {});
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  NormalizeOptions options_;
};

}  // namespace tightloop::nn
