// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/index.h>
#include <tightloop/ops/planes.h>
#include <tightloop/ops/window.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType &index = a.inputs[0].type(), &updates = a.inputs[1].type();
  expect(a, updates.shape == index.shape, "index and updates must have one shape");
  expect(a, a.declared->dtype == updates.dtype, "keeps the dtype of the updates");
  expect_planes(a, *a.declared, index);
  return *a.declared;
}

void evaluate(const EvalArgs& a) {
  const auto updates = values_of(*a.inputs[1]);
  std::vector<double> sums(static_cast<std::size_t>(a.out.count()), 0);
  each_in_plane(*a.inputs[0], a.out, [&](std::int64_t i, std::int64_t at) {
    sums[static_cast<std::size_t>(at)] += updates[static_cast<std::size_t>(i)];
  });
  store(sums, a.out);
}

}  // namespace

const ir::OpDef& plane_scatter_op() {
  static const ir::OpDef op{
      .name = "plane_scatter",
      .doc =
          "Zeros of the declared type [B, C, ...] plus updates [B, C, ...] added in each plane at index i32, "
          "shaped as the updates: the gradient of `plane_gather`. An index outside the plane is dropped.",
      .kind = ir::OpKind::indexing,
      .arity = 2,
      .typed = true,
      .infer = infer,
      .evaluate = evaluate,
      .vjp = [](const Tensor& x, const Tensor& g) -> Tensors {
        return {{}, ir::make_node(plane_gather_op(), {g, in(x, 0)})};
      },
      .samples =
          [] {
            const Dim batch = Dim::batch();
            return Samples{{.inputs = {{DType::i32, {batch, 3, 7}}, {DType::f32, {batch, 3, 7}}},
                            .declared = {{DType::f32, {batch, 3, 4, 5}}},
                            .low = 0,
                            .high = 19},
                           {.inputs = {{DType::i32, {2, 1, 2, 3}}, {DType::f64, {2, 1, 2, 3}}},
                            .declared = {{DType::f64, {2, 1, 3}}},
                            .low = -1,
                            .high = 3}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
