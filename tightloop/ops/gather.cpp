// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

#include <algorithm>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType &table = a.inputs[0].type(), &index = a.inputs[1].type();
  expect(a, table.shape.rank() >= 1, "the table needs a dim of rows");
  expect(a, index.dtype == DType::i64 || index.dtype == DType::i32, "the index must be i32 or i64");
  expect(a, !table.shape[0].is(0), "the table has no rows");
  auto dims = index.shape.dims();
  dims.insert(dims.end(), table.shape.begin() + 1, table.shape.end());
  return {table.dtype, Shape(std::move(dims))};
}

void evaluate(const EvalArgs& a) {
  const Array &table = *a.inputs[0], &index = *a.inputs[1];
  const std::int64_t rows = table.dims()[0];
  if (rows == 0) return;
  const std::int64_t width = table.count() / rows;
  for (std::int64_t i = 0; i < index.count(); ++i) {
    const std::int64_t row = std::clamp<std::int64_t>(index.int_at(i), 0, rows - 1);
    for (std::int64_t k = 0; k < width; ++k) copy_element(a.out, i * width + k, table, row * width + k);
  }
}

}  // namespace

const ir::OpDef& gather_op() {
  static const ir::OpDef op{
      .name = "gather",
      .doc =
          "Rows of a table [R, ...] at index [I...]: [I..., ...]. An index outside 0..R-1 reads the nearest "
          "row.",
      .kind = ir::OpKind::indexing,
      .arity = 2,
      .infer = infer,
      .evaluate = evaluate,
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {scatter_add(in(y, 1), g, in(y, 0).dim(0)), {}};
      },
      .samples =
          [] {
            return Samples{
                {.inputs = {{DType::f32, {5, 3}}, {DType::i64, {Dim::batch()}}}, .low = 0, .high = 4},
                {.inputs = {{DType::f64, {4, 2, 3}}, {DType::i32, {2, 3}}}, .low = 0, .high = 3},
                {.inputs = {{DType::u8, {Dim::rows(), 17}}, {DType::i64, {Dim::batch()}}},
                 .low = 0,
                 .high = 2},
                {.inputs = {{DType::f32, {257}}, {DType::i64, {}}}, .low = 0, .high = 256}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
