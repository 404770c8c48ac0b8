// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {
namespace {

Samples cast_samples() {
  Samples all;
  for (const auto& from : kDTypes)
    for (const auto& to : kDTypes)
      all.push_back({.inputs = {{from.dtype, {17}}}, .declared = {{to.dtype, {17}}}, .low = 0, .high = 9});
  return all;
}

/// f32 rounded to a value of bf16 (the upper 16 bits), as base/half.h.
Scalar round_bf16(Scalar x) {
  ScalarBuilder& b = *x.builder;
  const auto word = [&](std::int64_t value) { return b.constant_int(DType::i32, value); };
  const Scalar bits = b.bitcast(x, DType::i32);
  const Scalar even = b.bit_and(b.shift_right(bits, 16), word(1));
  const Scalar rounded = b.bit_and(bits + even + word(0x7fff), word(-0x10000));
  return b.select(b.compare(ir::Compare::ne, x, x), x, b.bitcast(rounded, DType::f32));
}

/// f32 rounded to a value of f16: 10 bits of fraction, steps of 2^-24 below 2^-14, infinity from 65520 on.
Scalar round_f16(Scalar x) {
  ScalarBuilder& b = *x.builder;
  const auto word = [&](std::int64_t value) { return b.constant_int(DType::i32, value); };
  const Scalar bits = b.bitcast(x, DType::i32);
  const Scalar even = b.bit_and(b.shift_right(bits, 13), word(1));
  const Scalar normal = b.bitcast(b.bit_and(bits + even + word(0xfff), word(-0x2000)), DType::f32);
  const Scalar size = b.abs(x);
  const Scalar tiny = b.copysign((size + 0.5) - 0.5, x);
  const Scalar y = b.select(b.compare(ir::Compare::lt, size, b.like(x, 0x1p-14)), tiny, normal);
  const Scalar over = b.compare(ir::Compare::ge, size, b.like(x, 65520));
  return b.select(over, b.copysign(b.like(x, INFINITY), x), b.select(b.compare(ir::Compare::ne, x, x), x, y));
}

/// bf16 and f16 travel as f32 values that they can hold.
Scalar fast(ScalarBuilder& b, Scalars in, const ir::Node& node) {
  const DType to = node.type.dtype;
  if (to == DType::bf16) return round_bf16(b.convert(in[0], DType::f32));
  if (to == DType::f16) return round_f16(b.convert(in[0], DType::f32));
  return b.convert(in[0], to);
}

}  // namespace

const ir::OpDef& cast_op() {
  static const ir::OpDef op{
      .name = "cast",
      .doc = "x in the declared dtype, converted as Array::cast: floats to integers truncate and saturate.",
      .typed = true,
      .infer =
          [](const InferArgs& a) {
            expect(a, a.declared->shape == a.inputs[0].shape(), "keeps the shape");
            return *a.declared;
          },
      .evaluate =
          [](const EvalArgs& a) {
            for (std::int64_t i = 0; i < a.out.count(); ++i) copy_element(a.out, i, *a.inputs[0], i);
          },
      .body = fast,
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {is_floating(y.dtype()) && is_floating(in(y).dtype()) ? cast(g, in(y).dtype()) : Tensor()};
      },
      .samples = [] { return cast_samples(); },
  };
  return op;
}

}  // namespace tightloop::ops
