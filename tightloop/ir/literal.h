// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/op.h>

namespace tightloop::ir {

/// The op of a leaf that holds data (`node.value`), as Tensor(Array) makes. Graphs handed to a backend
/// contain none: the engine turns each into an input.
const OpDef& literal_op();

}  // namespace tightloop::ir
