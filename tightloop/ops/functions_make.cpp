// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/index.h>

#include <cmath>

namespace tightloop {
namespace {

using ir::make_node;

Tensor random(const ir::OpDef& op, Tensor seed, Tensor step, ir::Attrs attrs, const TensorType& type) {
  return make_node(op, {std::move(seed), std::move(step)}, std::move(attrs), &type);
}

}  // namespace

Tensor full(Shape shape, double value, DType dtype) {
  const TensorType type{dtype, std::move(shape)};
  if (is_floating(dtype)) return make_node(ops::constant_op(), {}, {{"value", value}}, &type);
  if (std::trunc(value) != value || std::abs(value) >= 0x1p63)
    throw Error("full: " + std::to_string(value) + " is not a value of " + std::string(name(dtype)));
  return make_node(ops::constant_op(), {}, {{"value", static_cast<std::int64_t>(value)}}, &type);
}

Tensor zeros(Shape shape, DType dtype) { return full(std::move(shape), 0, dtype); }
Tensor ones(Shape shape, DType dtype) { return full(std::move(shape), 1, dtype); }
Tensor scalar(double value, DType dtype) { return full({}, value, dtype); }

Tensor iota(Shape shape, std::int64_t axis, DType dtype) {
  const std::int64_t front = ops::front_axis("iota", axis, shape.rank());
  const TensorType type{dtype, std::move(shape)};
  return make_node(ops::iota_op(), {}, {{"axis", front}}, &type);
}

Tensor size(Dim dim, DType dtype) {
  if (dim.is_static()) return full({}, static_cast<double>(dim.factor), dtype);
  const TensorType type{dtype, {}};
  const std::string symbol = dim.symbol == Symbol::batch ? "B" : "N";
  return make_node(ops::size_op(), {}, {{"factor", dim.factor}, {"symbol", symbol}}, &type);
}

Tensor input(const std::string& name, const std::string& role, TensorType type) {
  return make_node(ops::input_op(), {}, {{"name", name}, {"role", role}}, &type);
}

Tensor random_uniform(Shape shape, Tensor seed, Tensor step, std::int64_t stream, DType dtype) {
  return random(ops::random_uniform_op(), std::move(seed), std::move(step), {{"stream", stream}},
                {dtype, std::move(shape)});
}

Tensor random_normal(Shape shape, Tensor seed, Tensor step, std::int64_t stream, DType dtype) {
  return random(ops::random_normal_op(), std::move(seed), std::move(step), {{"stream", stream}},
                {dtype, std::move(shape)});
}

Tensor random_bernoulli(Shape shape, double p, Tensor seed, Tensor step, std::int64_t stream) {
  return random(ops::random_bernoulli_op(), std::move(seed), std::move(step), {{"p", p}, {"stream", stream}},
                {DType::boolean, std::move(shape)});
}

}  // namespace tightloop
