// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/index.h>
#include <tightloop/ops/window.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType& x = a.inputs[0].type();
  expect(a, is_compute_float(x.dtype), "needs f32 or f64 (cast first)");
  return {x.dtype, windowed(a, x)};
}

void evaluate(const EvalArgs& a) {
  const WindowDims dims = window_dims(a.node.inputs[0].shape(), a.node.type.shape, a.node.attrs);
  const auto x = values_of(*a.inputs[0]);
  std::vector<double> y(static_cast<std::size_t>(a.out.count()), 0);
  const std::int64_t in = inputs_of(dims), out = outputs_of(dims);
  for (std::int64_t plane = 0; plane * out < a.out.count(); ++plane)
    each_read(dims, [&](std::int64_t i, std::int64_t o) {
      y[static_cast<std::size_t>(plane * out + o)] += x[static_cast<std::size_t>(plane * in + i)];
    });
  store(y, a.out);
}

}  // namespace

const ir::OpDef& window_sum_op() {
  static const ir::OpDef op{
      .name = "window_sum",
      .doc = "The sum of each window of x [B, C, ...], padding being 0. With `output`, adaptive windows.",
      .kind = ir::OpKind::window,
      .attrs = pooling_attrs(),
      .infer = infer,
      .evaluate = evaluate,
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {ir::make_node(window_spread_op(), {g}, y.node().attrs, &in(y).type())};
      },
      .samples =
          [] {
            return pooling_samples([](const auto& x, const auto&, const auto& attrs) {
              return Sample{.inputs = {x}, .attrs = attrs};
            });
          },
  };
  return op;
}

}  // namespace tightloop::ops
