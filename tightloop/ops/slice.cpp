// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {
namespace {

TensorType infer(const InferArgs& a) {
  const TensorType& x = a.inputs[0].type();
  const auto &start = a.attrs.at<Ints>("start"), &stop = a.attrs.at<Ints>("stop"),
             &step = a.attrs.at<Ints>("step");
  expect(a, start.size() == x.shape.rank() && stop.size() == start.size() && step.size() == start.size(),
         "start, stop and step must have one number a dim");
  std::vector<Dim> dims;
  for (std::size_t d = 0; d < start.size(); ++d) {
    const Dim& dim = x.shape[d];
    if (start[d] == 0 && stop[d] == -1 && step[d] == 1) {
      dims.push_back(dim);
      continue;
    }
    expect(a, dim.is_static(), "a symbolic dim can only be kept whole");
    const std::int64_t end = stop[d] == -1 ? dim.factor : stop[d];
    expect(a, start[d] >= 0 && start[d] <= end && end <= dim.factor && step[d] >= 1,
           "dim " + std::to_string(d) + " needs 0 <= start <= stop <= size and step >= 1");
    dims.emplace_back((end - start[d]) / step[d] + ((end - start[d]) % step[d] != 0));
  }
  return {x.dtype, Shape(std::move(dims))};
}

void evaluate(const EvalArgs& a) {
  const auto& start = a.node.attrs.at<Ints>("start");
  const auto& step = a.node.attrs.at<Ints>("step");
  auto strides = row_major_strides(a.inputs[0]->dims());
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < start.size(); ++d) {
    offset += start[d] * strides[d];
    strides[d] *= step[d];
  }
  walk(a.out.dims(), strides, offset,
       [&](std::int64_t i, std::int64_t k) { copy_element(a.out, i, *a.inputs[0], k); });
}

/// x with step - 1 zeros after each element of `axis`, but for the last.
Tensor spread(const Tensor& x, std::size_t axis, std::int64_t step) {
  const std::int64_t n = x.dim(axis).factor;
  if (step == 1 || n == 0) return x;
  auto apart = x.shape().dims();
  apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, Dim(1));
  Axes none(apart.size(), 0);
  Axes after = none;
  after[axis + 1] = step - 1;
  auto joined = x.shape().dims();
  joined[axis] = n * step;
  const Tensor spaced = reshape(pad(reshape(x, Shape(apart)), none, after), Shape(joined));
  return slice(spaced, static_cast<std::int64_t>(axis), 0, (n - 1) * step + 1);
}

Tensors vjp(const Tensor& y, const Tensor& g) {
  const auto& start = y.node().attrs.at<Ints>("start");
  const auto& step = y.node().attrs.at<Ints>("step");
  Tensor spaced = g;
  for (std::size_t d = 0; d < step.size(); ++d) spaced = spread(spaced, d, step[d]);
  Axes after;
  for (std::size_t d = 0; d < start.size(); ++d)
    after.push_back(in(y).dim(d).factor - start[d] - spaced.dim(d).factor);
  return {pad(spaced, start, after)};
}

}  // namespace

const ir::OpDef& slice_op() {
  static const ir::OpDef op{
      .name = "slice",
      .doc =
          "Elements start, start + step, ... below stop of each dim; stop -1 means to the end. "
          "A symbolic dim is kept whole: 0, -1, 1.",
      .kind = ir::OpKind::view,
      .attrs = {{"start", Ints{}}, {"stop", Ints{}}, {"step", Ints{}}},
      .infer = infer,
      .evaluate = evaluate,
      .vjp = vjp,
      .samples =
          [] {
            return Samples{{.inputs = {{DType::f32, {17, 3}}},
                            .attrs = {{"start", Ints{2, 0}}, {"stop", Ints{11, -1}}, {"step", Ints{1, 1}}}},
                           {.inputs = {{DType::f64, {17, 7}}},
                            .attrs = {{"start", Ints{1, 0}}, {"stop", Ints{16, 7}}, {"step", Ints{4, 3}}}},
                           {.inputs = {{DType::f32, {Dim::batch(), 5}}},
                            .attrs = {{"start", Ints{0, 1}}, {"stop", Ints{-1, 4}}, {"step", Ints{1, 2}}}},
                           {.inputs = {{DType::i64, {3}}},
                            .attrs = {{"start", Ints{1}}, {"stop", Ints{2}}, {"step", Ints{1}}}}};
          },
  };
  return op;
}

}  // namespace tightloop::ops
