// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/index.h>
#include <tightloop/ops/window.h>

namespace tightloop::ops {
namespace {

void evaluate(const EvalArgs& a) {
  const auto x = values_of(*a.inputs[0]), w = values_of(*a.inputs[1]);
  std::vector<double> y(static_cast<std::size_t>(a.out.count()), 0);
  const ConvolutionShape shape = convolution_shape(a.node);
  each_product(shape, shape.batch.value(a.sizes), [&](std::int64_t i, std::int64_t k, std::int64_t o) {
    y[static_cast<std::size_t>(o)] += x[static_cast<std::size_t>(i)] * w[static_cast<std::size_t>(k)];
  });
  store(y, a.out);
}

Tensors vjp(const Tensor& y, const Tensor& g) {
  const Tensor &x = in(y, 0), &w = in(y, 1);
  return {ir::make_node(convolution_input_grad_op(), {g, w}, y.node().attrs, &x.type()),
          ir::make_node(convolution_weight_grad_op(), {x, g}, y.node().attrs, &w.type())};
}

}  // namespace

const ir::OpDef& convolution_op() {
  static const ir::OpDef op{
      .name = "convolution",
      .doc =
          "x [B, C, ...] with weight [O, C/groups, kernel...] gives [B, O, ...], one to three spatial dims: "
          "y[o] = sum of x[o * stride - low + k * dilation] * w[k], x being 0 in the padding (low, high).",
      .kind = ir::OpKind::window,
      .arity = 2,
      .attrs = convolution_attrs(),
      .infer = [](const InferArgs& a) { return convolved(a, a.inputs[0].type(), a.inputs[1].type()); },
      .evaluate = evaluate,
      .vjp = vjp,
      .precision = ir::Precision::low,
      .samples =
          [] {
            return convolution_samples([](const auto& x, const auto& w, const auto&, const auto& attrs) {
              return Sample{.inputs = {x, w}, .attrs = attrs};
            });
          },
  };
  return op;
}

}  // namespace tightloop::ops
