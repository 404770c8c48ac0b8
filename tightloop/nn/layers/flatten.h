// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn {

/// Dims start..end become one; by default all but the first.
class Flatten final : public Layer {
 public:
  explicit Flatten(std::int64_t start = 1, std::int64_t end = -1) : start_(start), end_(end) {}
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::int64_t start_, end_;
};

}  // namespace tightloop::nn
