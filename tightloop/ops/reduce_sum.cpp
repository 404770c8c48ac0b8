// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/reduce.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  expect(a, a.inputs[0].dtype() != DType::boolean, "does not add bool (cast first)");
  return reduced(a);
}

void evaluate(const EvalArgs& a) {
  if (is_floating(a.out.dtype()))
    fold(a, 0.0, [](double sum, double x) { return sum + x; });
  else
    fold(a, std::uint64_t{0},
         [](std::uint64_t sum, std::int64_t x) { return sum + static_cast<std::uint64_t>(x); });
}

}  // namespace

const ir::OpDef& reduce_sum_op() {
  static const ir::OpDef op{
      .name = "reduce_sum",
      .doc = "Sum over `axes`, which are removed. Integers wrap.",
      .kind = ir::OpKind::reduction,
      .attrs = {{"axes", Ints{}}},
      .infer = infer,
      .evaluate = evaluate,
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {spread_back(y, g)}; },
      .precision = ir::Precision::high,
      .samples =
          [] {
            return reduction_samples({DType::f32, DType::f64, DType::i32, DType::i64});
          },
  };
  return op;
}

}  // namespace tightloop::ops
