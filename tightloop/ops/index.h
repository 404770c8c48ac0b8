// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/op.h>

#include <span>
#include <string_view>

namespace tightloop::ops {

/// The ops of ops/index.def, in its order.
std::span<const ir::OpDef* const> all_ops();
/// Null when there is no op of this name.
const ir::OpDef* find_op(std::string_view name);

#define TIGHTLOOP_OP(name) const ir::OpDef& name##_op();
#include <tightloop/ops/index.def>
#undef TIGHTLOOP_OP

}  // namespace tightloop::ops
