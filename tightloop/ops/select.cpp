// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& select_op() {
  static const ir::OpDef op{
      .name = "select",
      .doc = "a where the bool input is true, else b. The branch not taken gets gradient 0, never NaN.",
      .arity = 3,
      .infer =
          [](const InferArgs& a) {
            expect(a, a.inputs[0].dtype() == DType::boolean, "the condition must be bool");
            expect(a, a.inputs[1].type() == a.inputs[2].type() && a.inputs[0].shape() == a.inputs[1].shape(),
                   "inputs must have one shape, and both values one dtype");
            return a.inputs[1].type();
          },
      .evaluate =
          [](const EvalArgs& a) {
            for (std::int64_t i = 0; i < a.out.count(); ++i)
              copy_element(a.out, i, *a.inputs[a.inputs[0]->int_at(i) != 0 ? 1 : 2], i);
          },
      .body = [](ScalarBuilder& b, Scalars in, const ir::Node&) { return b.select(in[0], in[1], in[2]); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        const Tensor zero = full(g.shape(), 0, g.dtype());
        return {{}, select(in(y), g, zero), select(in(y), zero, g)};
      },
      .samples =
          [] {
            return Samples{{.inputs = {{DType::boolean, {257}}, {DType::f32, {257}}, {DType::f32, {257}}}},
                           {.inputs = {{DType::boolean, {3}}, {DType::f64, {3}}, {DType::f64, {3}}}},
                           {.inputs = {{DType::boolean, {3}}, {DType::i64, {3}}, {DType::i64, {3}}}}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
