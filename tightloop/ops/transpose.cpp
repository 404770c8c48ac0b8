// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType& x = a.inputs[0].type();
  const auto& perm = a.attrs.at<Ints>("perm");
  expect(a, perm.size() == x.shape.rank(), "perm must name every dim");
  std::vector<bool> seen(perm.size(), false);
  std::vector<Dim> dims;
  for (const auto p : perm) {
    const auto d = static_cast<std::size_t>(p);
    expect(a, p >= 0 && d < perm.size() && !seen[d], "perm must name every dim once");
    seen[d] = true;
    dims.push_back(x.shape[d]);
  }
  return {x.dtype, Shape(std::move(dims))};
}

void evaluate(const EvalArgs& a) {
  const auto from = row_major_strides(a.inputs[0]->dims());
  std::vector<std::int64_t> strides;
  for (const auto p : a.node.attrs.at<Ints>("perm")) strides.push_back(from[static_cast<std::size_t>(p)]);
  walk(a.out.dims(), strides, 0,
       [&](std::int64_t i, std::int64_t k) { copy_element(a.out, i, *a.inputs[0], k); });
}

Tensors vjp(const Tensor& y, const Tensor& g) {
  const auto& perm = y.node().attrs.at<Ints>("perm");
  Axes inverse(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return {permute(g, inverse)};
}

}  // namespace

const ir::OpDef& transpose_op() {
  static const ir::OpDef op{
      .name = "transpose",
      .doc = "Dim i of the result is dim perm[i] of x.",
      .kind = ir::OpKind::view,
      .attrs = {{"perm", Ints{}}},
      .infer = infer,
      .evaluate = evaluate,
      .vjp = vjp,
      .samples =
          [] {
            return Samples{
                {.inputs = {{DType::f32, {17, 3}}}, .attrs = {{"perm", Ints{1, 0}}}},
                {.inputs = {{DType::f64, {Dim::batch(), 3, 2}}}, .attrs = {{"perm", Ints{2, 0, 1}}}},
                {.inputs = {{DType::boolean, {3, 1}}}, .attrs = {{"perm", Ints{1, 0}}}}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
