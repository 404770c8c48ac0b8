// SPDX-License-Identifier: Apache-2.0
#include <tightloop/passes/match.h>

namespace tightloop::passes {

std::optional<double> splat(const Tensor& t) {
  if (!is(t, ops::constant_op())) return std::nullopt;
  const ir::AttrValue& value = *t.node().attrs.find("value");
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  const double real = std::get<double>(value);
  return t.dtype() == DType::f32 ? static_cast<double>(static_cast<float>(real)) : real;
}

bool is_splat(const Tensor& t, double value) {
  const auto found = splat(t);
  return found && *found == value;
}

Tensor constant(const ir::AttrValue& value, const TensorType& type) {
  return ir::make_node(ops::constant_op(), {}, {{"value", value}}, &type);
}

Tensor broadcast(Tensor x, ir::Ints dims, const TensorType& type) {
  return ir::make_node(ops::broadcast_op(), {std::move(x)}, {{"dims", std::move(dims)}}, &type);
}

}  // namespace tightloop::passes
