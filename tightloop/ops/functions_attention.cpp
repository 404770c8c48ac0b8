// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/attention.h>
#include <tightloop/ops/build.h>
#include <tightloop/ops/index.h>

#include <cmath>

namespace tightloop {
namespace {

using namespace ops;

Shape leading(const Tensor& x) { return Shape(std::vector<Dim>(x.shape().begin(), x.shape().end() - 2)); }

Tensor with_leading(const Tensor& x, const Shape& lead) {
  auto dims = lead.dims();
  dims.insert(dims.end(), x.shape().end() - 2, x.shape().end());
  return broadcast_to(x, Shape(std::move(dims)));
}

/// The mask with the rank of the scores.
Tensor aligned_mask(Tensor mask, const Shape& lead, DType dtype) {
  if (mask.rank() > lead.rank() + 2)
    throw Error("attention: the mask " + to_string(mask.type()) + " has more dims than the scores");
  auto dims = mask.shape().dims();
  dims.insert(dims.begin(), lead.rank() + 2 - dims.size(), Dim(1));
  mask = reshape(std::move(mask), Shape(std::move(dims)));
  return mask.dtype() == DType::boolean ? mask : cast(std::move(mask), dtype);
}

}  // namespace

Tensor attention(Tensor q, Tensor k, Tensor v, const AttentionOptions& options) {
  for (const Tensor* t : {&q, &k, &v})
    if (t->rank() < 2)
      throw Error("attention: q, k and v must be [..., rows, features], got " + to_string(t->type()));
  const DType dtype = promote(promote(q.dtype(), k.dtype()), v.dtype());
  const DType computed = is_compute_float(dtype) ? dtype : DType::f32;
  const Shape lead =
      broadcast_shape("attention", broadcast_shape("attention", leading(q), leading(k)), leading(v));
  const double features = static_cast<double>(q.dim(q.rank() - 1).factor);
  const std::int64_t width = v.dim(v.rank() - 1).factor;
  std::vector<Tensor> inputs;
  for (const Tensor& t : {q, k, v}) inputs.push_back(with_leading(cast(t, computed), lead));
  if (options.mask.defined()) inputs.push_back(aligned_mask(options.mask, lead, computed));
  ir::Attrs attrs{{"scale", options.scale.value_or(1 / std::sqrt(features))}};
  if (options.causal) attrs.set("causal", true);
  if (options.dropout != 0) {
    inputs.insert(inputs.end(), {options.seed, options.step});
    attrs.set("dropout", options.dropout);
    if (options.stream != 0) attrs.set("stream", options.stream);
  }
  return slice(ir::make_node(attention_op(), std::move(inputs), std::move(attrs)), -1, 0, width);
}

}  // namespace tightloop
