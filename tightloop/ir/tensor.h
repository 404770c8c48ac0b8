// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/base/shape.h>
#include <tightloop/ir/attrs.h>

#include <memory>
#include <string>
#include <vector>

namespace tightloop {

namespace ir {
struct Node;
struct OpDef;
}  // namespace ir

/// A value: a shared handle to an immutable node of the graph that computes it.
/// Ops record nodes; reading (`item`, `array`, `eval`, printing) runs them. A tensor made from an
/// Array is a leaf and holds it without a copy.
class Tensor {
 public:
  Tensor() = default;  ///< empty: every use but assignment and defined() throws InternalError
  // NOLINTNEXTLINE(google-explicit-constructor): an array is a tensor.
  Tensor(Array value);
  explicit Tensor(std::shared_ptr<const ir::Node> node) : node_(std::move(node)) {}

  bool defined() const { return node_ != nullptr; }
  const ir::Node& node() const {
    require(defined(), "use of an empty Tensor");
    return *node_;
  }
  const ir::Node* id() const { return node_.get(); }
  const std::shared_ptr<const ir::Node>& pointer() const { return node_; }

  const TensorType& type() const;
  DType dtype() const { return type().dtype; }
  const Shape& shape() const { return type().shape; }
  std::size_t rank() const { return shape().rank(); }
  const Dim& dim(std::size_t i) const { return shape()[i]; }

  // Reading needs an engine: these are defined in engine/tensor.cpp.

  /// Runs what this tensor needs and keeps the result. Throws Error when it depends on an input
  /// that has no value (inside a function being compiled).
  const Array& array() const;
  const Tensor& eval() const {
    array();
    return *this;
  }
  /// The single element as double; throws Error when there are more.
  double item() const;

 private:
  std::shared_ptr<const ir::Node> node_;
};

namespace ir {

/// One operation applied to its inputs. Immutable but for `value`, which a leaf has from the start
/// and any other node gets when it is read.
struct Node {
  const OpDef* op = nullptr;
  std::vector<Tensor> inputs;
  Attrs attrs;
  TensorType type;
  std::string scope;  ///< path of the layer that made it, e.g. "layer3.0.conv1"; for messages
  mutable std::shared_ptr<const Array> value;

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();  ///< frees long chains without recursion
};

/// Checks arity and attributes against `op`, infers the type and returns the new node.
/// `declared` is the result type of ops that carry it (reshape, broadcast, constant, …), null otherwise.
/// Throws Error naming the op, the rule and what came.
Tensor make_node(const OpDef& op, std::vector<Tensor> inputs, Attrs attrs = {},
                 const TensorType* declared = nullptr);

/// While it lives, nodes made by this thread carry `name` appended to the path.
class Scope {
 public:
  explicit Scope(const std::string& name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  static const std::string& path();

 private:
  std::size_t length_;
};

}  // namespace ir
}  // namespace tightloop
