// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

#include <optional>

namespace tightloop::nn {

struct LinearOptions {
  bool bias = true;
};

/// x [..., in] → x · weightᵀ + bias [..., out]. weight [out, in] and bias [out] start in ±1/√in.
class Linear final : public Layer {
 public:
  /// Throws Error unless both are at least 1.
  Linear(std::int64_t in, std::int64_t out, LinearOptions options = {});
  void fields(Fields& f) override;
  std::string describe() const override;

  Parameter weight;
  std::optional<Parameter> bias;

 protected:
  Tensor forward(const Tensor& x) override;
};

}  // namespace tightloop::nn
