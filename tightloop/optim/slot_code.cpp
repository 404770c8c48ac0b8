// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/slot_code.h>

#include <tightloop/ops/functions.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::optim {
namespace {

constexpr std::int64_t kSlotStream = 0x6e730000;
constexpr double kPositiveCodes = 255, kSignedCodes = 127, kSignedZero = 128;

/// The first of the dims that a block has whole.
std::size_t first_inside(const Shape& shape) {
  std::int64_t elements = 1;
  for (std::size_t axis = shape.rank(); axis > 0; --axis) {
    elements *= shape[axis - 1].factor;
    if (elements >= kSmallestBlock) return axis - 1;
  }
  return 0;
}

Axes block_axes(const Shape& shape) {
  Axes out;
  for (std::size_t axis = first_inside(shape); axis < shape.rank(); ++axis)
    out.push_back(static_cast<std::int64_t>(axis));
  return out;
}

Shape scales_of(const Shape& shape) {
  std::vector<Dim> dims;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    dims.push_back(axis < first_inside(shape) ? shape[axis] : Dim(1));
  return Shape(std::move(dims));
}

bool is_positive(const Optimizer& rule, const std::string& slot) {
  const auto names = rule.positive_slots();
  return std::find(names.begin(), names.end(), slot) != names.end();
}

Tensor fourth(const Tensor& x) { return square(square(x)); }

/// x or its neighbour among the bf16 numbers on the other side. A step of 0.6 of the least relative distance
/// of two such numbers, rounded, is the next one for every significand.
Tensor round_bf16(const Tensor& x, const Tensor& draw) {
  const auto nearest = [](const Tensor& t) { return cast(cast(t, DType::bf16), DType::f32); };
  const Tensor b = nearest(x), error = x - b;
  const Tensor other = nearest(b + b * sign(error) * sign(b) * (0.6 / 128));
  return cast(select(draw * abs(other - b) < abs(error), other, b), DType::bf16);
}

/// The lower of two codes whose values are `low` and `high`, or the upper one.
Tensor chosen(const Tensor& code, const Tensor& x, const Tensor& low, const Tensor& high,
              const Tensor& draw) {
  return code + select(draw * (high - low) < x - low, scalar(1), scalar(0));
}

Tensor positive_code(const Tensor& x, const Tensor& draw) {
  const Tensor code = minimum(floor(sqrt(sqrt(x)) * kPositiveCodes), scalar(kPositiveCodes - 1));
  const Tensor next =
      chosen(code, x, fourth(code / kPositiveCodes), fourth((code + 1.0) / kPositiveCodes), draw);
  return maximum(next, select(x > 0.0, scalar(1), scalar(0)));
}

Tensor signed_code(const Tensor& x, const Tensor& draw) {
  const Tensor size = abs(x);
  const Tensor code = minimum(floor(sqrt(size) * kSignedCodes), scalar(kSignedCodes - 1));
  const Tensor next =
      chosen(code, size, square(code / kSignedCodes), square((code + 1.0) / kSignedCodes), draw);
  return sign(x) * next + kSignedZero;
}

/// Codes and scales.
std::vector<Tensor> int8_codes(const Tensor& x, bool positive, const Tensor& draw) {
  const Tensor scale = x.rank() == 0 ? abs(x) : amax(abs(x), block_axes(x.shape()), true);
  const Tensor share = select(scale > 0.0, x / scale, scalar(0));
  return {cast(positive ? positive_code(share, draw) : signed_code(share, draw), DType::u8), scale};
}

Tensor int8_value(const Tensor& codes, const Tensor& scale, bool positive) {
  const Tensor c = cast(codes, DType::f32);
  if (positive) return scale * fourth(c / kPositiveCodes);
  const Tensor q = (c - kSignedZero) / kSignedCodes;
  return scale * (q * abs(q));
}

}  // namespace

std::vector<SlotState> slot_states(const Optimizer& rule, const TensorType& parameter) {
  std::vector<SlotState> out;
  for (const std::string& slot : rule.slots()) {
    if (rule.slot_type() == SlotType::f32) out.push_back({slot, parameter});
    if (rule.slot_type() == SlotType::bf16) out.push_back({slot, {DType::bf16, parameter.shape}});
    if (rule.slot_type() != SlotType::int8) continue;
    out.push_back({slot, {DType::u8, parameter.shape}});
    out.push_back({slot + "_scale", {DType::f32, scales_of(parameter.shape)}});
  }
  return out;
}

std::vector<Tensor> slot_values(const Optimizer& rule, const TensorType& parameter,
                                std::span<const Tensor> states) {
  if (rule.slot_type() == SlotType::f32) return {states.begin(), states.end()};
  std::vector<Tensor> out;
  std::size_t at = 0;
  for (const std::string& slot : rule.slots()) {
    const Tensor& kept = states[at++];
    const Tensor value =
        rule.slot_type() == SlotType::bf16 ? kept : int8_value(kept, states[at++], is_positive(rule, slot));
    out.push_back(cast(value, parameter.dtype));
  }
  return out;
}

std::vector<Tensor> slot_codes(const Optimizer& rule, const TensorType& parameter,
                               std::span<const Tensor> values, const SlotDraw& draw) {
  std::vector<Tensor> out(values.begin(), values.end());
  if (rule.slot_type() == SlotType::f32) return out;
  out.clear();
  const auto slots = rule.slots();
  const Tensor drawn = random_uniform(parameter.shape, draw.seed, draw.step, kSlotStream + draw.stream);
  for (std::size_t s = 0; s < slots.size(); ++s) {
    // One draw for two slots: one rounds up where the other rounds down.
    const Tensor x = cast(values[s], DType::f32), own = s % 2 == 0 ? drawn : 1.0 - drawn;
    if (rule.slot_type() == SlotType::bf16)
      out.push_back(round_bf16(x, own));
    else
      for (Tensor& t : int8_codes(x, is_positive(rule, slots[s]), own)) out.push_back(std::move(t));
  }
  return out;
}

SlotType slot_type(std::string_view name, std::string_view owner) {
  if (name == "f32") return SlotType::f32;
  if (name == "bf16") return SlotType::bf16;
  if (name == "int8") return SlotType::int8;
  throw Error(fmt::format("{}: state must be 'f32', 'bf16' or 'int8', not '{}'{}", owner, name,
                          suggestion(name, {"f32", "bf16", "int8"})));
}

}  // namespace tightloop::optim
