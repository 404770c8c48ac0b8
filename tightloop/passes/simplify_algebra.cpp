// SPDX-License-Identifier: Apache-2.0
// Identities of elementwise ops that keep every bit, NaN and infinity included, but for the sign of a zero:
// x + 0 becomes x also where x is -0.
#include <tightloop/passes/index.h>
#include <tightloop/passes/match.h>

#include <array>
#include <cmath>

namespace tightloop::passes {
namespace {

using ir::Node;

bool same(const Tensor& a, const Tensor& b) { return a.id() == b.id(); }
bool is_neg(const Tensor& t) { return is(t, ops::neg_op()); }
bool whole(const Tensor& t) { return is_integer(t.dtype()); }

Tensor simplify_add(const Node&, const Inputs& x) {
  if (is_splat(x[1], 0)) return x[0];
  if (is_splat(x[0], 0)) return x[1];
  if (is_neg(x[1])) return sub(x[0], in(x[1]));
  if (is_neg(x[0])) return sub(x[1], in(x[0]));
  return {};
}

Tensor simplify_sub(const Node&, const Inputs& x) {
  if (is_splat(x[1], 0)) return x[0];
  if (is_neg(x[1])) return add(x[0], in(x[1]));
  if (same(x[0], x[1]) && whole(x[0])) return zeros(x[0].shape(), x[0].dtype());
  return {};
}

Tensor simplify_mul(const Node&, const Inputs& x) {
  for (const std::size_t i : {0u, 1u}) {
    const Tensor& other = x[1 - i];
    if (is_splat(x[i], 1)) return other;
    if (is_splat(x[i], 0) && whole(other)) return x[i];
    if (is_splat(x[i], -1)) return neg(other);
  }
  if (is_neg(x[0]) && is_neg(x[1])) return mul(in(x[0]), in(x[1]));
  return {};
}

bool is_power_of_two(double v) {
  int exponent = 0;
  return std::isfinite(v) && std::abs(std::frexp(v, &exponent)) == 0.5 && std::abs(exponent) < 100;
}

Tensor simplify_div(const Node&, const Inputs& x) {
  const auto divisor = splat(x[1]);
  if (!divisor || !is_power_of_two(*divisor)) return {};
  return *divisor == 1 ? x[0] : mul(x[0], full(x[0].shape(), 1 / *divisor, x[0].dtype()));
}

Tensor simplify_pow(const Node&, const Inputs& x) {
  if (is_splat(x[1], 1)) return x[0];
  if (is_splat(x[1], 2)) return mul(x[0], x[0]);
  if (is_splat(x[1], 0)) return ones(x[0].shape(), x[0].dtype());
  if (is_splat(x[1], -1) && !whole(x[0])) return div(ones(x[0].shape(), x[0].dtype()), x[0]);
  return {};
}

Tensor simplify_neg(const Node&, const Inputs& x) { return is_neg(x[0]) ? in(x[0]) : Tensor(); }
Tensor simplify_same(const Node&, const Inputs& x) { return same(x[0], x[1]) ? x[0] : Tensor(); }
Tensor simplify_stop_gradient(const Node&, const Inputs& x) { return x[0]; }

Tensor simplify_abs(const Node&, const Inputs& x) {
  if (is_neg(x[0])) return abs(in(x[0]));
  return is(x[0], ops::abs_op()) ? x[0] : Tensor();
}

Tensor simplify_not(const Node&, const Inputs& x) {
  return is(x[0], ops::logical_not_op()) ? in(x[0]) : Tensor();
}

Tensor simplify_and(const Node& node, const Inputs& x) {
  for (const std::size_t i : {0u, 1u}) {
    if (is_splat(x[i], 1)) return x[1 - i];
    if (is_splat(x[i], 0)) return x[i];
  }
  return simplify_same(node, x);
}

Tensor simplify_or(const Node& node, const Inputs& x) {
  for (const std::size_t i : {0u, 1u}) {
    if (is_splat(x[i], 0)) return x[1 - i];
    if (is_splat(x[i], 1)) return x[i];
  }
  return simplify_same(node, x);
}

Tensor simplify_select(const Node&, const Inputs& x) {
  if (const auto condition = splat(x[0])) return *condition != 0 ? x[1] : x[2];
  if (is(x[0], ops::logical_not_op())) return select(in(x[0]), x[2], x[1]);
  return same(x[1], x[2]) ? x[1] : Tensor();
}

/// Every value of `from` is a value of `to`.
bool holds_exactly(DType from, DType to) {
  if (from == to || from == DType::boolean) return true;
  switch (to) {
    case DType::f64:
      return from != DType::i64;
    case DType::f32:
      return from == DType::bf16 || from == DType::f16 || from == DType::u8;
    case DType::i64:
      return from == DType::i32 || from == DType::u8;
    case DType::i32:
    case DType::f16:
      return from == DType::u8;
    case DType::bf16:
      return from == DType::u8;
    default:
      return false;
  }
}

Tensor simplify_cast(const Node& node, const Inputs& x) {
  if (x[0].type() == node.type) return x[0];
  if (!is(x[0], ops::cast_op())) return {};
  const Tensor& source = in(x[0]);
  return holds_exactly(source.dtype(), x[0].dtype()) ? cast(source, node.type.dtype) : Tensor();
}

struct Rule {
  const ir::OpDef& (*op)();
  Tensor (*simplify)(const Node&, const Inputs&);
};

constexpr std::array<Rule, 15> kRules{{
    {ops::add_op, simplify_add},
    {ops::sub_op, simplify_sub},
    {ops::mul_op, simplify_mul},
    {ops::div_op, simplify_div},
    {ops::pow_op, simplify_pow},
    {ops::neg_op, simplify_neg},
    {ops::abs_op, simplify_abs},
    {ops::minimum_op, simplify_same},
    {ops::maximum_op, simplify_same},
    {ops::logical_not_op, simplify_not},
    {ops::logical_and_op, simplify_and},
    {ops::logical_or_op, simplify_or},
    {ops::select_op, simplify_select},
    {ops::cast_op, simplify_cast},
    {ops::stop_gradient_op, simplify_stop_gradient},
}};

Tensor simplified(const Node& node, const Inputs& x) {
  if (node.op->kind != ir::OpKind::elementwise) return {};
  for (const Rule& rule : kRules)
    if (node.op == &rule.op()) return rule.simplify(node, x);
  return {};
}

}  // namespace

ir::Graph simplify_algebra(const ir::Graph& graph) { return ir::rewrite(graph, simplified); }

}  // namespace tightloop::passes
