// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/moments.h>

#include <tightloop/ir/op.h>
#include <tightloop/nn/context.h>

#include <algorithm>

namespace tightloop::nn {
namespace {

/// The source of a broadcast that repeats it along all of `axes`, as [1, C, 1, ...]; else empty.
Tensor constant_along(const Tensor& x, const Axes& axes) {
  if (x.node().op->name != "broadcast") return {};
  const Tensor& source = x.node().inputs[0];
  const auto& to = x.node().attrs.at<ir::Ints>("dims");
  std::vector<Dim> dims(x.rank(), Dim(1));
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!source.dim(i).is(1) && std::find(axes.begin(), axes.end(), to[i]) != axes.end()) return {};
    dims[static_cast<std::size_t>(to[i])] = source.dim(i);
  }
  return reshape(source, Shape(std::move(dims)));
}

}  // namespace

Moments moments(const Tensor& x, const Axes& axes) {
  const Tensor average = mean(x, axes, true);
  const Tensor centered = x - average;
  return {average, mean(centered * centered, axes, true), centered};
}

Tensor normalized(const Moments& m, double eps) { return m.centered * rsqrt(m.variance + eps); }

Tensor per_channel(const Tensor& c, std::size_t rank) {
  std::vector<Dim> dims(rank, Dim(1));
  dims[1] = c.dim(0);
  return reshape(c, Shape(std::move(dims)));
}

Shifted without_shift(const Tensor& x, const Axes& axes) {
  const Context* context = Context::current();
  if (context == nullptr || !context->parameters_only || x.node().op->name != "add") return {x, {}};
  for (const std::size_t side : {std::size_t{1}, std::size_t{0}})
    if (const Tensor shift = constant_along(x.node().inputs[side], axes); shift.defined())
      return {x.node().inputs[1 - side], shift};
  return {x, {}};
}

}  // namespace tightloop::nn
