// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/index.h>
#include <tightloop/ops/window.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType& g = a.inputs[0].type();
  expect(a, is_compute_float(g.dtype) && a.declared->dtype == g.dtype,
         "needs f32 or f64, and keeps it (cast first)");
  expect(a, windowed(a, *a.declared) == g.shape, "the windows of the result must be shaped as the input");
  return *a.declared;
}

void evaluate(const EvalArgs& a) {
  const WindowDims dims = window_dims(a.node.type.shape, a.node.inputs[0].shape(), a.node.attrs);
  const auto g = values_of(*a.inputs[0]);
  std::vector<double> x(static_cast<std::size_t>(a.out.count()), 0);
  const std::int64_t in = inputs_of(dims), out = outputs_of(dims);
  for (std::int64_t plane = 0; plane * in < a.out.count(); ++plane)
    each_read(dims, [&](std::int64_t i, std::int64_t o) {
      x[static_cast<std::size_t>(plane * in + i)] += g[static_cast<std::size_t>(plane * out + o)];
    });
  store(x, a.out);
}

}  // namespace

const ir::OpDef& window_spread_op() {
  static const ir::OpDef op{
      .name = "window_spread",
      .doc =
          "Each element of g [B, C, ...] added to all elements of its window in the declared [B, C, ...]: "
          "the "
          "gradient of `window_sum`.",
      .kind = ir::OpKind::window,
      .typed = true,
      .attrs = pooling_attrs(),
      .infer = infer,
      .evaluate = evaluate,
      .vjp = [](const Tensor& x, const Tensor& g) -> Tensors {
        return {ir::make_node(window_sum_op(), {g}, x.node().attrs)};
      },
      .samples =
          [] {
            return pooling_samples([](const auto& x, const auto& y, const auto& attrs) {
              return Sample{.inputs = {y}, .attrs = attrs, .declared = {x}};
            });
          },
  };
  return op;
}

}  // namespace tightloop::ops
