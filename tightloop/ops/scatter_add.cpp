// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

#include <algorithm>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType &index = a.inputs[0].type(), &updates = a.inputs[1].type();
  const Shape& out = a.declared->shape;
  const auto lead = static_cast<std::ptrdiff_t>(index.shape.rank());
  expect(a, index.dtype == DType::i64 || index.dtype == DType::i32, "the index must be i32 or i64");
  expect(a, is_compute_float(updates.dtype) || is_integer(updates.dtype),
         "updates must be f32, f64 or integers (cast first)");
  expect(a, a.declared->dtype == updates.dtype, "keeps the dtype of the updates");
  expect(a,
         updates.shape.rank() >= index.shape.rank() &&
             std::equal(index.shape.begin(), index.shape.end(), updates.shape.begin()),
         "updates must begin with the dims of the index");
  expect(a,
         out.rank() >= 1 &&
             std::equal(out.begin() + 1, out.end(), updates.shape.begin() + lead, updates.shape.end()),
         "a row of the result must be shaped as an update");
  return *a.declared;
}

void evaluate(const EvalArgs& a) {
  const Array &index = *a.inputs[0], &updates = *a.inputs[1];
  const std::int64_t rows = a.out.dims()[0];
  const std::int64_t width = index.count() == 0 ? 0 : updates.count() / index.count();
  std::vector<double> sums(static_cast<std::size_t>(a.out.count()), 0);
  const bool real = is_floating(updates.dtype());
  for (std::int64_t i = 0; i < index.count(); ++i) {
    const std::int64_t row = index.int_at(i);
    if (row < 0 || row >= rows) continue;
    for (std::int64_t k = 0; k < width; ++k) {
      const std::int64_t to = row * width + k;
      if (real)
        sums[static_cast<std::size_t>(to)] += updates.at(i * width + k);
      else
        a.out.set_int(to,
                      static_cast<std::int64_t>(static_cast<std::uint64_t>(a.out.int_at(to)) +
                                                static_cast<std::uint64_t>(updates.int_at(i * width + k))));
    }
  }
  for (std::size_t i = 0; real && i < sums.size(); ++i) a.out.set(static_cast<std::int64_t>(i), sums[i]);
}

Tensors vjp(const Tensor& y, const Tensor& g) {
  const Tensor &index = in(y, 0), &updates = in(y, 1);
  const Tensor rows = y.dim(0).is_static() ? full({}, static_cast<double>(y.dim(0).factor), index.dtype())
                                           : size(y.dim(0), index.dtype());
  const Tensor inside = logical_and(index >= 0, less(index, rows));
  Ints dims;
  for (std::size_t d = 0; d < index.rank(); ++d) dims.push_back(static_cast<std::int64_t>(d));
  return {{},
          select(broadcast_dims(inside, updates.shape(), dims), gather(g, index),
                 full(updates.shape(), 0, g.dtype()))};
}

}  // namespace

const ir::OpDef& scatter_add_op() {
  static const ir::OpDef op{
      .name = "scatter_add",
      .doc =
          "Zeros of the declared type [R, ...] plus updates [I..., ...] added to the rows index [I...]; an "
          "index "
          "outside 0..R-1 is dropped.",
      .kind = ir::OpKind::indexing,
      .arity = 2,
      .typed = true,
      .infer = infer,
      .evaluate = evaluate,
      .vjp = vjp,
      .samples =
          [] {
            return Samples{{.inputs = {{DType::i64, {Dim::batch()}}, {DType::f32, {Dim::batch(), 3}}},
                            .declared = {{DType::f32, {5, 3}}},
                            .low = -1,
                            .high = 5},
                           {.inputs = {{DType::i32, {2, 3}}, {DType::f64, {2, 3, 17}}},
                            .declared = {{DType::f64, {4, 17}}},
                            .low = 0,
                            .high = 3},
                           {.inputs = {{DType::i64, {257}}, {DType::f32, {257}}},
                            .declared = {{DType::f32, {3}}},
                            .low = 0,
                            .high = 2},
                           {.inputs = {{DType::i64, {}}, {DType::i64, {3}}},
                            .declared = {{DType::i64, {2, 3}}},
                            .low = 0,
                            .high = 1}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
