// SPDX-License-Identifier: Apache-2.0
#pragma once
// Positions as layers; as functions see nn/positions.h.
#include <tightloop/nn/layers/layer.h>
#include <tightloop/nn/positions.h>

namespace tightloop::nn {

/// x [..., T, D] plus the first T rows of weight [length, D], which starts in N(0, 1) as an embedding does.
class LearnedPositions final : public Layer {
 public:
  /// Throws Error unless both are at least 1.
  LearnedPositions(std::int64_t length, std::int64_t features);
  void fields(Fields& f) override { f("weight", weight); }
  std::string describe() const override;

  Parameter weight;

 protected:
  Tensor forward(const Tensor& x) override;
};

/// x [..., T, D] plus sinusoidal_positions(T, D).
class SinusoidalPositions final : public Layer {
 public:
  std::string describe() const override { return "SinusoidalPositions"; }

 protected:
  Tensor forward(const Tensor& x) override;
};

/// rotary(x).
class RotaryPositions final : public Layer {
 public:
  explicit RotaryPositions(RotaryOptions options = {}) : options_(options) {}
  std::string describe() const override { return "RotaryPositions"; }

 protected:
  Tensor forward(const Tensor& x) override { return rotary(x, options_); }

 private:
  RotaryOptions options_;
};

}  // namespace tightloop::nn
