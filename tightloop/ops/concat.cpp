// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType& first = a.inputs[0].type();
  const auto axis = a.attrs.at<std::int64_t>("axis");
  expect(a, axis >= 0 && axis < static_cast<std::int64_t>(first.shape.rank()), "axis is outside the shape");
  const auto at = static_cast<std::size_t>(axis);
  auto dims = first.shape.dims();
  dims[at] = 0;
  for (const Tensor& t : a.inputs) {
    expect(a, t.dtype() == first.dtype && t.rank() == dims.size(), "inputs must have one dtype and rank");
    expect(a, t.dim(at).is_static(), "joins along static dims only");
    for (std::size_t d = 0; d < dims.size(); ++d)
      expect(a, d == at || t.dim(d) == dims[d], "inputs may differ along the axis only");
    dims[at].factor += t.dim(at).factor;
  }
  return {first.dtype, Shape(std::move(dims))};
}

void evaluate(const EvalArgs& a) {
  const auto axis = static_cast<std::size_t>(a.node.attrs.at<std::int64_t>("axis"));
  const auto strides = row_major_strides(a.out.dims());
  std::int64_t offset = 0;
  for (const Array* x : a.inputs) {
    walk(x->dims(), strides, offset, [&](std::int64_t i, std::int64_t k) { copy_element(a.out, k, *x, i); });
    offset += x->dims()[axis] * strides[axis];
  }
}

Tensors vjp(const Tensor& y, const Tensor& g) {
  const auto axis = y.node().attrs.at<std::int64_t>("axis");
  Tensors parts;
  std::int64_t start = 0;
  for (const Tensor& x : y.node().inputs) {
    const std::int64_t n = x.dim(static_cast<std::size_t>(axis)).factor;
    parts.push_back(slice(g, axis, start, start + n));
    start += n;
  }
  return parts;
}

}  // namespace

const ir::OpDef& concat_op() {
  static const ir::OpDef op{
      .name = "concat",
      .doc = "The inputs one after the other along the static dim `axis`.",
      .kind = ir::OpKind::view,
      .arity = -1,
      .attrs = {{"axis", std::int64_t{0}}},
      .infer = infer,
      .evaluate = evaluate,
      .vjp = vjp,
      .samples =
          [] {
            return Samples{{.inputs = {{DType::f32, {17, 3}}, {DType::f32, {1, 3}}},
                            .attrs = {{"axis", std::int64_t{0}}}},
                           {.inputs = {{DType::f64, {Dim::batch(), 3}},
                                       {DType::f64, {Dim::batch(), 1}},
                                       {DType::f64, {Dim::batch(), 4}}},
                            .attrs = {{"axis", std::int64_t{1}}}},
                           {.inputs = {{DType::u8, {3}}}, .attrs = {{"axis", std::int64_t{0}}}}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
