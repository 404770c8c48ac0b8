// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/executable.h>

namespace tightloop::backends {

/// The interpreter as an Executable: slow, plain, the same everywhere. `precise` computes f32 in f64 and
/// rounds what leaves the graph.
std::unique_ptr<Executable> make_reference(const ir::Graph& graph, bool precise = false);

}  // namespace tightloop::backends
