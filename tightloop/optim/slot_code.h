// SPDX-License-Identifier: Apache-2.0
#pragma once
// Slots in fewer bits. A rule sees them in the parameter's own type; what is kept from step to step is
// - bf16: the value, rounded to one of its two neighbours;
// - int8: a u8 for each element and an f32 for each block, its largest magnitude s. A block is what the
//   trailing dims hold, as many of them as make kSmallestBlock elements (a row of a matrix, the kernels of an
//   output channel), or all. Code c of a slot that is never negative is s · (c / 255)⁴; of others
//   s · q · |q| with q = (c - 128) / 127. So small elements keep a precision of their own, the root of an
//   average of squares as much as the average of the gradient, and where the former is 0 so is the latter.
//   (Codes of an uneven distance: Dettmers et al., "8-bit optimizers via block-wise quantization", 2022.)
// Rounding is stochastic: up with the probability with which it is unbiased, so that changes far smaller than
// the distance of two codes add up over the steps. A positive element is never rounded to 0 in a slot that is
// never negative: rules divide by it.
#include <tightloop/optim/optimizer.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::optim {

inline constexpr std::int64_t kSmallestBlock = 64;

/// A state that keeps a slot or a part of it; all zero bytes mean 0.
struct SlotState {
  std::string slot;  ///< as slot_name() takes it
  TensorType type;
};

/// The states that keep all slots of a parameter.
std::vector<SlotState> slot_states(const Optimizer& rule, const TensorType& parameter);
/// The slots, in the order of the rule's slots(), from the states in the order of slot_states().
std::vector<Tensor> slot_values(const Optimizer& rule, const TensorType& parameter,
                                std::span<const Tensor> states);

/// Names what is drawn for rounding: the same seed, step (i64[]) and stream draw the same.
struct SlotDraw {
  Tensor seed, step;
  std::int64_t stream = 0;
};
/// The states of the next step, in the order of slot_states(), from what the rule made of the slots.
std::vector<Tensor> slot_codes(const Optimizer& rule, const TensorType& parameter,
                               std::span<const Tensor> values, const SlotDraw& draw);

/// "f32", "bf16" or "int8"; throws Error in the name of `owner` for others.
SlotType slot_type(std::string_view name, std::string_view owner);

}  // namespace tightloop::optim
