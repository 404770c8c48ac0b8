// SPDX-License-Identifier: Apache-2.0
// A transpose of the last two dims beside a matmul becomes its flag: matmul(xᵀ, y), and (x·y)ᵀ = yᵀ·xᵀ.
#include <tightloop/passes/index.h>
#include <tightloop/passes/match.h>

namespace tightloop::passes {
namespace {

using ir::Node;

bool swaps_last_two(const Node& node) {
  if (!is(node, ops::transpose_op()) || node.type.shape.rank() < 2) return false;
  const auto& perm = node.attrs.at<ir::Ints>("perm");
  const std::size_t n = perm.size();
  for (std::size_t i = 0; i + 2 < n; ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return perm[n - 1] == static_cast<std::int64_t>(n - 2);
}
bool swaps_last_two(const Tensor& t) { return swaps_last_two(t.node()); }

Tensor product(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b) {
  const bool swap_a = swaps_last_two(a);
  const bool swap_b = swaps_last_two(b);
  return ir::make_node(ops::matmul_op(), {swap_a ? in(a) : a, swap_b ? in(b) : b},
                       {{"transpose_a", transpose_a != swap_a}, {"transpose_b", transpose_b != swap_b}});
}

Tensor folded(const Node& node, const Inputs& x) {
  const auto flag = [](const Node& n, const char* name) { return n.attrs.get<bool>(name, false); };
  if (is(node, ops::matmul_op()) && (swaps_last_two(x[0]) || swaps_last_two(x[1])))
    return product(x[0], flag(node, "transpose_a"), x[1], flag(node, "transpose_b"));
  if (!swaps_last_two(node) || !is(x[0], ops::matmul_op())) return {};
  const Node& inner = x[0].node();
  return product(in(x[0], 1), !flag(inner, "transpose_b"), in(x[0], 0), !flag(inner, "transpose_a"));
}

}  // namespace

ir::Graph fold_transposes(const ir::Graph& graph) { return ir::rewrite(graph, folded); }

}  // namespace tightloop::passes
