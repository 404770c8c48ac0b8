// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/pass.h>

namespace tightloop::passes {

/// The passes of passes/index.def.
std::span<const ir::Pass> all_passes();
/// Null when there is no pass of this name.
const ir::Pass* find_pass(std::string_view name);

#define TIGHTLOOP_PASS(name) ir::Graph name(const ir::Graph& graph);
#include <tightloop/passes/index.def>
#undef TIGHTLOOP_PASS

}  // namespace tightloop::passes
