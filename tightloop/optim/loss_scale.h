// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loss scaling: the loss is multiplied before differentiation and gradients are divided afterwards, so that
// small ones survive where values are f16 (Micikevicius et al., "Mixed precision training", 2018).
#include <tightloop/ir/tensor.h>

#include <cstdint>

namespace tightloop::optim {

/// How the loss is scaled. The rule is torch.cuda.amp.GradScaler's, with its defaults, and DeepSpeed's
/// hysteresis and minimum: a gradient that is not finite skips the update and multiplies the scale by
/// `backoff`; `growth_interval` updates without one multiply it by `growth`.
struct LossScale {
  enum class Kind : std::uint8_t {
    automatic,  ///< dynamic where values are f16, else none
    none,
    fixed,  ///< `init` throughout; updates are still skipped
    dynamic
  };
  Kind kind = Kind::automatic;
  double init = 65536;
  double growth = 2;
  double backoff = 0.5;
  std::int64_t growth_interval = 2000;  ///< updates
  /// The scale falls at the so manieth skipped update, and at each one after it until it has grown again.
  std::int64_t hysteresis = 1;
  /// It falls no further; where it would have to, the run ends.
  double minimum = 1;

  static LossScale dynamic() { return {.kind = Kind::dynamic}; }
  static LossScale fixed(double scale) { return {.kind = Kind::fixed, .init = scale}; }
  static LossScale none() { return {.kind = Kind::none}; }

  bool active() const { return kind == Kind::fixed || kind == Kind::dynamic; }
  /// What `automatic` means in a run whose values are f16, or are not.
  LossScale resolved(bool half) const;
};

/// Skipped updates in a row that end a run whose scale is fixed.
inline constexpr std::int64_t kMostSkipped = 50;

/// Throws Error for values out of range.
void check(const LossScale& scale);

/// What a scaler keeps from update to update.
struct ScalerState {
  Tensor scale;  ///< f64[], a value of f32
  Tensor good;   ///< i64[]: updates since the last one that was skipped or made the scale grow
  Tensor left;   ///< i64[]: skipped updates up to the one at which the scale falls
};
/// `left` at the start.
std::int64_t hysteresis_of(const LossScale& rule);

struct ScalerStep {
  ScalerState next;
  Tensor lost;  ///< bool[]: the scale should have fallen below its minimum
};
/// The state after an update whose gradients were all finite, or not (bool[]).
ScalerStep next_scale(const LossScale& rule, const ScalerState& state, const Tensor& finite);

/// bool[]: no element of any of them is NaN or infinite.
Tensor all_finite(const std::vector<Tensor>& gradients);

}  // namespace tightloop::optim
