// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType& x = a.inputs[0].type();
  const auto &low = a.attrs.at<Ints>("low"), &high = a.attrs.at<Ints>("high");
  expect(a, low.size() == x.shape.rank() && high.size() == low.size(),
         "low and high must have one number a dim");
  auto dims = x.shape.dims();
  for (std::size_t d = 0; d < dims.size(); ++d) {
    expect(a, low[d] >= 0 && high[d] >= 0, "low and high must not be negative");
    expect(a, dims[d].is_static() || low[d] + high[d] == 0, "a symbolic dim cannot be padded");
    dims[d].factor += low[d] + high[d];
  }
  return {x.dtype, Shape(std::move(dims))};
}

void evaluate(const EvalArgs& a) {
  const auto& low = a.node.attrs.at<Ints>("low");
  const auto strides = row_major_strides(a.out.dims());
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < low.size(); ++d) offset += low[d] * strides[d];
  const double value = a.node.attrs.at<double>("value");
  for (std::int64_t i = 0; i < a.out.count(); ++i) a.out.set(i, value);
  walk(a.inputs[0]->dims(), strides, offset,
       [&](std::int64_t i, std::int64_t k) { copy_element(a.out, k, *a.inputs[0], i); });
}

Tensors vjp(const Tensor& y, const Tensor& g) {
  const auto& low = y.node().attrs.at<Ints>("low");
  Tensor inner = g;
  for (std::size_t d = 0; d < low.size(); ++d)
    if (in(y).dim(d) != y.dim(d))
      inner = slice(inner, static_cast<std::int64_t>(d), low[d], low[d] + in(y).dim(d).factor);
  return {inner};
}

}  // namespace

const ir::OpDef& pad_op() {
  static const ir::OpDef op{
      .name = "pad",
      .doc = "x with low[d] and high[d] elements of `value` before and after dim d.",
      .kind = ir::OpKind::view,
      .attrs = {{"low", Ints{}}, {"high", Ints{}}, {"value", 0.0}},
      .infer = infer,
      .evaluate = evaluate,
      .vjp = vjp,
      .samples =
          [] {
            return Samples{{.inputs = {{DType::f32, {17, 3}}},
                            .attrs = {{"low", Ints{1, 0}}, {"high", Ints{2, 4}}, {"value", 0.5}}},
                           {.inputs = {{DType::f64, {Dim::batch(), 3}}},
                            .attrs = {{"low", Ints{0, 1}}, {"high", Ints{0, 1}}, {"value", 0.0}}},
                           {.inputs = {{DType::i32, {3}}},
                            .attrs = {{"low", Ints{0}}, {"high", Ints{1}}, {"value", -1.0}}}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
