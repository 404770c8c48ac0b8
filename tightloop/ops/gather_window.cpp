// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

#include <algorithm>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType &table = a.inputs[0].type(), &index = a.inputs[1].type();
  const auto length = a.attrs.at<std::int64_t>("length");
  expect(a, table.shape.rank() >= 1, "the table needs a dim of rows");
  expect(a, index.dtype == DType::i64, "the index must be i64");
  expect(a, length >= 1, "the length must be at least 1");
  expect(a, !table.shape[0].is_static() || table.shape[0].factor >= length,
         "the table has fewer rows than the length");
  auto dims = index.shape.dims();
  dims.emplace_back(length);
  dims.insert(dims.end(), table.shape.begin() + 1, table.shape.end());
  return {table.dtype, Shape(std::move(dims))};
}

void evaluate(const EvalArgs& a) {
  const Array &table = *a.inputs[0], &index = *a.inputs[1];
  const auto length = a.node.attrs.at<std::int64_t>("length");
  const std::int64_t rows = table.dims()[0];
  if (index.count() == 0) return;
  require(rows >= length, "gather_window: fewer rows than the length");
  const std::int64_t width = table.count() / rows;
  for (std::int64_t i = 0; i < index.count(); ++i) {
    const std::int64_t first = std::clamp<std::int64_t>(index.int_at(i), 0, rows - length);
    for (std::int64_t k = 0; k < length * width; ++k)
      copy_element(a.out, i * length * width + k, table, first * width + k);
  }
}

}  // namespace

const ir::OpDef& gather_window_op() {
  static const ir::OpDef op{
      .name = "gather_window",
      .doc =
          "`length` rows of a table [R, ...] from each row in index [I...] on: [I..., length, ...]. A window "
          "that "
          "would leave the table is moved inside. The table must have so many rows.",
      .kind = ir::OpKind::indexing,
      .arity = 2,
      .attrs = {{"length", std::int64_t{1}}},
      .infer = infer,
      .evaluate = evaluate,
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        const auto length = y.node().attrs.at<std::int64_t>("length");
        const Tensor &table = in(y, 0), &index = in(y, 1);
        const Tensor first =
            minimum(maximum(index, scalar(0, DType::i64)), size(table.dim(0), DType::i64) - length);
        auto dims = index.shape().dims();
        dims.emplace_back(length);
        const Shape shape(std::move(dims));
        const Tensor rows = broadcast_to(unsqueeze(first, -1), shape) +
                            iota(shape, static_cast<std::int64_t>(shape.rank()) - 1);
        return {scatter_add(rows, g, table.dim(0)), {}};
      },
      .samples =
          [] {
            const auto length = [](std::int64_t n) { return ir::Attrs{{"length", n}}; };
            return Samples{
                {.inputs = {{DType::f32, {29, 3}}, {DType::i64, {Dim::batch()}}},
                 .attrs = length(5),
                 .low = 0,
                 .high = 27},
                {.inputs = {{DType::f32, {513}}, {DType::i64, {Dim::batch()}}},
                 .attrs = length(37),
                 .low = 0,
                 .high = 512},
                {.inputs = {{DType::u8, {31, 2, 3}}, {DType::i64, {2, 3}}},
                 .attrs = length(4),
                 .low = 0,
                 .high = 27},
                {.inputs = {{DType::f64, {7}}, {DType::i64, {}}}, .attrs = length(7), .low = -3, .high = 9}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
