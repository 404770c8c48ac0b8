// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/index.h>
#include <tightloop/ops/window.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  expect(a, convolved(a, *a.declared, a.inputs[1].type()) == a.inputs[0].type(),
         "the convolution of the result with the weight must be typed as the first input");
  return *a.declared;
}

void evaluate(const EvalArgs& a) {
  const auto y = values_of(*a.inputs[0]), w = values_of(*a.inputs[1]);
  std::vector<double> x(static_cast<std::size_t>(a.out.count()), 0);
  const ConvolutionShape shape = convolution_shape(a.node);
  each_product(shape, shape.batch.value(a.sizes), [&](std::int64_t i, std::int64_t k, std::int64_t o) {
    x[static_cast<std::size_t>(i)] += y[static_cast<std::size_t>(o)] * w[static_cast<std::size_t>(k)];
  });
  store(x, a.out);
}

Tensors vjp(const Tensor& x, const Tensor& g) {
  const Tensor &y = in(x, 0), &w = in(x, 1);
  return {ir::make_node(convolution_op(), {g, w}, x.node().attrs),
          ir::make_node(convolution_weight_grad_op(), {g, y}, x.node().attrs, &w.type())};
}

}  // namespace

const ir::OpDef& convolution_input_grad_op() {
  static const ir::OpDef op{
      .name = "convolution_input_grad",
      .doc =
          "g [B, O, ...] and weight [O, C/groups, kernel...] give the declared [B, C, ...]: the gradient of "
          "`convolution` by x, linear in both; as a layer, the transposed convolution.",
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
              return Sample{.inputs = {y, w}, .attrs = attrs, .declared = {x}};
            });
          },
  };
  return op;
}

}  // namespace tightloop::ops
