// SPDX-License-Identifier: Apache-2.0
// matmul with M, N or K of 1 is a broadcast multiply and, unless K is 1, a sum: such loops fuse with what is
// around them, and a register-tiled kernel would idle.
#include <tightloop/passes/index.h>
#include <tightloop/passes/match.h>

namespace tightloop::passes {
namespace {

using ir::Node;

struct Operand {
  Tensor value;             ///< [..., outer, K], or [..., K, outer] when `transposed`
  bool transposed = false;  ///< K stands before the outer dim

  std::size_t rank() const { return value.rank(); }
  std::size_t inner_axis() const { return transposed ? rank() - 2 : rank() - 1; }
  std::size_t outer_axis() const { return transposed ? rank() - 1 : rank() - 2; }
  const Dim& inner() const { return value.dim(inner_axis()); }
  const Dim& outer() const { return value.dim(outer_axis()); }
};

Shape without(const Shape& s, std::size_t axis) {
  std::vector<Dim> dims = s.dims();
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return Shape(std::move(dims));
}

/// `vector` has outer dim 1: Σ over K of matrix · vector, shaped [..., outer of matrix].
Tensor product_with_vector(const Operand& matrix, const Operand& vector) {
  Tensor values = vector.value;
  if (matrix.transposed != vector.transposed) values = transpose(values, -1, -2);
  const Tensor products = mul(matrix.value, broadcast_to(values, matrix.value.shape()));
  return sum(products, {static_cast<std::int64_t>(matrix.inner_axis())});
}

/// K is 1: [..., M, 1] · [..., 1, N].
Tensor outer_product(const Operand& a, const Operand& b, const Shape& shape) {
  const Tensor column = unsqueeze(reshape(a.value, without(a.value.shape(), a.inner_axis())), -1);
  const Tensor row = unsqueeze(reshape(b.value, without(b.value.shape(), b.inner_axis())), -2);
  return mul(broadcast_to(column, shape), broadcast_to(row, shape));
}

Tensor lowered(const Node& node, const Inputs& x) {
  if (!is(node, ops::matmul_op())) return {};
  const Operand a{x[0], node.attrs.get<bool>("transpose_a", false)};
  const Operand b{x[1], !node.attrs.get<bool>("transpose_b", false)};
  if (a.inner().is(1)) return outer_product(a, b, node.type.shape);
  if (b.outer().is(1)) return reshape(product_with_vector(a, b), node.type.shape);
  if (a.outer().is(1)) return reshape(product_with_vector(b, a), node.type.shape);
  return {};
}

}  // namespace

ir::Graph lower_matvec(const ir::Graph& graph) { return ir::rewrite(graph, lowered); }

}  // namespace tightloop::passes
