// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/index.h>
#include <tightloop/ops/planes.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType &x = a.inputs[0].type(), &index = a.inputs[1].type();
  expect_planes(a, x, index);
  return {x.dtype, index.shape};
}

void evaluate(const EvalArgs& a) {
  each_in_plane(*a.inputs[1], *a.inputs[0],
                [&](std::int64_t i, std::int64_t at) { copy_element(a.out, i, *a.inputs[0], at); });
}

}  // namespace

const ir::OpDef& plane_gather_op() {
  static const ir::OpDef op{
      .name = "plane_gather",
      .doc =
          "Elements of the planes of x [B, C, ...] at index i32 [B, C, ...], which counts within a plane: "
          "shaped as the "
          "index. 0 where the index is outside the plane.",
      .kind = ir::OpKind::indexing,
      .arity = 2,
      .infer = infer,
      .evaluate = evaluate,
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {ir::make_node(plane_scatter_op(), {in(y, 1), g}, {}, &in(y, 0).type()), {}};
      },
      .samples =
          [] {
            const Dim batch = Dim::batch();
            return Samples{
                {.inputs = {{DType::f32, {batch, 3, 4, 5}}, {DType::i32, {batch, 3, 7}}},
                 .low = 0,
                 .high = 19},
                {.inputs = {{DType::f64, {2, 1, 6}}, {DType::i32, {2, 1, 2, 3}}}, .low = -1, .high = 6}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
