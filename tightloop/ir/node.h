// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/op.h>

namespace tightloop::ir {

/// make_node() under a given scope instead of the thread's own; what the parser and the passes use.
Tensor make_node_at(std::string scope, const OpDef& op, std::vector<Tensor> inputs, Attrs attrs,
                    const TensorType* declared);

/// While it lives, the thread's path is that of `node`: what replaces a node keeps its place in messages.
class ScopeOf {
 public:
  explicit ScopeOf(const Node& node);
  ~ScopeOf();
  ScopeOf(const ScopeOf&) = delete;
  ScopeOf& operator=(const ScopeOf&) = delete;

 private:
  std::string saved_;
};

}  // namespace tightloop::ir
