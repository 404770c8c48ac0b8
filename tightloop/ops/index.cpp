// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/index.h>

#include <algorithm>
#include <array>

namespace tightloop::ops {

std::span<const ir::OpDef* const> all_ops() {
  static const auto ops = std::to_array<const ir::OpDef*>({
#define TIGHTLOOP_OP(name) &name##_op(),
#include <tightloop/ops/index.def>
#undef TIGHTLOOP_OP
  });
  return ops;
}

const ir::OpDef* find_op(std::string_view name) {
  const auto ops = all_ops();
  const auto found = std::find_if(ops.begin(), ops.end(), [&](const auto* op) { return op->name == name; });
  return found == ops.end() ? nullptr : *found;
}

}  // namespace tightloop::ops
