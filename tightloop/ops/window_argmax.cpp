// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/index.h>
#include <tightloop/ops/window.h>

#include <cmath>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType& x = a.inputs[0].type();
  expect(a, is_compute_float(x.dtype), "needs f32 or f64 (cast first)");
  Shape shape = windowed(a, x);
  std::int64_t plane = 1;
  for (std::size_t d = 2; d < x.shape.rank(); ++d) {
    expect(a, x.shape[d].factor < (std::int64_t{1} << 31) / plane, "positions in a plane must fit into i32");
    plane *= x.shape[d].factor;
  }
  return {DType::i32, std::move(shape)};
}

void evaluate(const EvalArgs& a) {
  const WindowDims dims = window_dims(a.node.inputs[0].shape(), a.node.type.shape, a.node.attrs);
  const auto x = values_of(*a.inputs[0]);
  const std::int64_t in = inputs_of(dims), out = outputs_of(dims);
  for (std::int64_t plane = 0; plane * out < a.out.count(); ++plane) {
    std::int64_t last = -1;
    double best = 0;
    each_read(dims, [&](std::int64_t i, std::int64_t o) {
      const double v = x[static_cast<std::size_t>(plane * in + i)];
      if (o == last && !(v > best) && !(std::isnan(v) && !std::isnan(best))) return;
      last = o;
      best = v;
      a.out.set_int(plane * out + o, i);
    });
  }
}

}  // namespace

const ir::OpDef& window_argmax_op() {
  static const ir::OpDef op{
      .name = "window_argmax",
      .doc =
          "i32 position in its plane of the largest element of each window of x [B, C, ...]: the first of "
          "equals, the first NaN if any; padding never wins. With `output`, adaptive windows.",
      .kind = ir::OpKind::window,
      .attrs = pooling_attrs(),
      .infer = infer,
      .evaluate = evaluate,
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
