// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the passes ask of nodes.
#include <tightloop/ir/graph.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

#include <optional>

namespace tightloop::passes {

using Inputs = std::vector<Tensor>;

inline bool is(const Tensor& t, const ir::OpDef& op) { return t.node().op == &op; }
inline bool is(const ir::Node& node, const ir::OpDef& op) { return node.op == &op; }
inline const Tensor& in(const Tensor& t, std::size_t i = 0) { return t.node().inputs[i]; }

/// The value that all elements of a constant have.
std::optional<double> splat(const Tensor& t);
/// True for a constant of exactly this value; 0 also means -0.
bool is_splat(const Tensor& t, double value);
/// A constant of this attribute value.
Tensor constant(const ir::AttrValue& value, const TensorType& type);

/// `x` broadcast to `type`, its dim i becoming dims[i].
Tensor broadcast(Tensor x, ir::Ints dims, const TensorType& type);
/// The attribute `dims` of a broadcast, `perm` of a transpose, …
inline const ir::Ints& ints(const Tensor& t, std::string_view name) {
  return t.node().attrs.at<ir::Ints>(name);
}

}  // namespace tightloop::passes
