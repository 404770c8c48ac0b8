// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const Shape& from = a.inputs[0].shape();
  const Shape& to = a.declared->shape;
  const auto& dims = a.attrs.at<Ints>("dims");
  expect(a, a.inputs[0].dtype() == a.declared->dtype, "keeps the dtype");
  expect(a, dims.size() == from.rank(), "dims must name an output dim for each input dim");
  std::int64_t last = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    expect(a, dims[i] > last && dims[i] < static_cast<std::int64_t>(to.rank()),
           "dims must increase inside the result");
    const Dim& target = to[static_cast<std::size_t>(dims[i])];
    expect(a, from[i] == target || from[i].is(1), "only a dim of 1 stretches");
    last = dims[i];
  }
  return *a.declared;
}

void evaluate(const EvalArgs& a) {
  const auto& dims = a.node.attrs.at<Ints>("dims");
  const auto& from = a.inputs[0]->dims();
  const auto from_strides = row_major_strides(from);
  std::vector<std::int64_t> strides(a.out.rank(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (from[i] != 1) strides[static_cast<std::size_t>(dims[i])] = from_strides[i];
  walk(a.out.dims(), strides, 0,
       [&](std::int64_t i, std::int64_t k) { copy_element(a.out, i, *a.inputs[0], k); });
}

Tensors vjp(const Tensor& y, const Tensor& g) {
  const auto& dims = y.node().attrs.at<Ints>("dims");
  const Shape& from = in(y).shape();
  Axes summed;
  for (std::size_t d = 0, i = 0; d < y.rank(); ++d) {
    const bool mapped = i < dims.size() && dims[i] == static_cast<std::int64_t>(d);
    if (!mapped || from[i] != y.dim(d)) summed.push_back(static_cast<std::int64_t>(d));
    if (mapped) ++i;
  }
  return {reshape(summed.empty() ? g : sum(g, summed), from)};
}

}  // namespace

const ir::OpDef& broadcast_op() {
  static const ir::OpDef op{
      .name = "broadcast",
      .doc =
          "x repeated to the declared shape: input dim i becomes output dim dims[i], stretched when it is 1.",
      .kind = ir::OpKind::view,
      .typed = true,
      .attrs = {{"dims", Ints{}}},
      .infer = infer,
      .evaluate = evaluate,
      .vjp = vjp,
      .samples =
          [] {
            return Samples{
                {.inputs = {{DType::f32, {3}}},
                 .attrs = {{"dims", Ints{1}}},
                 .declared = {{DType::f32, {Dim::batch(), 3}}}},
                {.inputs = {{DType::f64, {}}}, .attrs = {{"dims", Ints{}}}, .declared = {{DType::f64, {17}}}},
                {.inputs = {{DType::f32, {3, 1}}},
                 .attrs = {{"dims", Ints{0, 2}}},
                 .declared = {{DType::f32, {3, 5, 17}}}},
                {.inputs = {{DType::i32, {1}}},
                 .attrs = {{"dims", Ints{0}}},
                 .declared = {{DType::i32, {3}}}}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
