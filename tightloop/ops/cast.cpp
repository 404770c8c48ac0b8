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
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {is_floating(y.dtype()) && is_floating(in(y).dtype()) ? cast(g, in(y).dtype()) : Tensor()};
      },
      .samples = [] { return cast_samples(); },
  };
  return op;
}

}  // namespace tightloop::ops
