// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/index.h>
#include <tightloop/ops/window.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  expect(a, convolved(a, a.inputs[0].type(), *a.declared) == a.inputs[1].type(),
         "the convolution of the first input with the result must be typed as the second");
  return *a.declared;
}

void evaluate(const EvalArgs& a) {
  const auto x = values_of(*a.inputs[0]), y = values_of(*a.inputs[1]);
  std::vector<double> w(static_cast<std::size_t>(a.out.count()), 0);
  const ConvolutionShape shape = convolution_shape(a.node);
  each_product(shape, shape.batch.value(a.sizes), [&](std::int64_t i, std::int64_t k, std::int64_t o) {
    w[static_cast<std::size_t>(k)] += x[static_cast<std::size_t>(i)] * y[static_cast<std::size_t>(o)];
  });
  store(w, a.out);
}

Tensors vjp(const Tensor& w, const Tensor& g) {
  const Tensor &x = in(w, 0), &y = in(w, 1);
  return {ir::make_node(convolution_input_grad_op(), {y, g}, w.node().attrs, &x.type()),
          ir::make_node(convolution_op(), {x, g}, w.node().attrs)};
}

}  // namespace

const ir::OpDef& convolution_weight_grad_op() {
  static const ir::OpDef op{
      .name = "convolution_weight_grad",
      .doc =
          "x [B, C, ...] and g [B, O, ...] give the declared [O, C/groups, kernel...]: the gradient of "
          "`convolution` by its weight, linear in both.",
      .kind = ir::OpKind::window,
      .arity = 2,
      .typed = true,
      .attrs = convolution_attrs(),
      .infer = infer,
      .evaluate = evaluate,
      .vjp = vjp,
      .precision = ir::Precision::low,
      .samples =
          [] {
            return convolution_samples([](const auto& x, const auto& w, const auto& y, const auto& attrs) {
              return Sample{.inputs = {x, y}, .attrs = attrs, .declared = {w}};
            });
          },
  };
  return op;
}

}  // namespace tightloop::ops
