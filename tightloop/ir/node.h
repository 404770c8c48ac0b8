// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/op.h>

namespace tightloop::ir {

/// make_node() under a given scope instead of the thread's own; what the parser and the passes use.
Tensor make_node_at(std::string scope, const OpDef& op, std::vector<Tensor> inputs, Attrs attrs,
                    const TensorType* declared);

}  // namespace tightloop::ir
