// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/graph.h>
#include <tightloop/ir/recompute.h>

namespace tightloop::train {

/// `what` for this step graph: patterns among its layers (`*` any characters, `?` one) become the outermost
/// layers that they match. A graph without a backward computes nothing again. Throws Error for a pattern that
/// no layer matches.
Recompute recompute_in(const ir::Graph& graph, Recompute what);

}  // namespace tightloop::train
