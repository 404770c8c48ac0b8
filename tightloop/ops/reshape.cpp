// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType& x = a.inputs[0].type();
  expect(a, x.dtype == a.declared->dtype, "keeps the dtype");
  expect(a, x.shape.count() == a.declared->shape.count(), "keeps the number of elements");
  return *a.declared;
}

void evaluate(const EvalArgs& a) {
  for (std::int64_t i = 0; i < a.out.count(); ++i) copy_element(a.out, i, *a.inputs[0], i);
}

}  // namespace

const ir::OpDef& reshape_op() {
  static const ir::OpDef op{
      .name = "reshape",
      .doc = "The same elements in row-major order under the declared shape.",
      .kind = ir::OpKind::view,
      .typed = true,
      .infer = infer,
      .evaluate = evaluate,
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {reshape(g, in(y).shape())}; },
      .samples =
          [] {
            return Samples{{.inputs = {{DType::f32, {17, 3}}}, .declared = {{DType::f32, {3, 17}}}},
                           {.inputs = {{DType::f64, {Dim::batch(), 2, 3}}},
                            .declared = {{DType::f64, {Dim::batch(2), 1, 3}}}},
                           {.inputs = {{DType::i64, {1}}}, .declared = {{DType::i64, {}}}}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
