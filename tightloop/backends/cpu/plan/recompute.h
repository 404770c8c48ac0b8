// SPDX-License-Identifier: Apache-2.0
#pragma once
// Less memory for more arithmetic: values of the forward that the backward reads are computed again for it,
// from few that are kept (Chen et al. 2016, "Training deep nets with sublinear memory cost"). This is a stage
// of the plan and comes after every pass, so that nothing makes the two computations one again.
#include <tightloop/backends/cpu/plan/plan.h>
#include <tightloop/ir/graph.h>
#include <tightloop/ir/recompute.h>

#include <unordered_map>
#include <unordered_set>

namespace tightloop::backends::cpu {

struct Recomputed {
  ir::Graph graph;
  /// A node that computes again, and a value of the backward that must be there before: without it, nothing
  /// would keep the second computation from running right after the first.
  std::unordered_map<const ir::Node*, const ir::Node*> waits = {};
  /// Values that are computed from: they lie in memory.
  std::unordered_set<const ir::Node*> kept = {};
};

/// `graph` must be in the form prepare() leaves it. One without a backward comes back as it is. The forward
/// is what the output `loss` needs, the backward what the next values of the states it reads need beside.
Recomputed recompute(const ir::Graph& graph, const Recompute& what);

/// The schedule and the plan of such a graph, which must be in the form prepare() leaves it.
Schedule make_schedule(const Recomputed& step);
Plan make_plan(const Recomputed& step);

/// Nodes of `graph` in an order that respects `waits` too, but for those that would wait in a circle; like
/// ir::topological() where there are none.
std::vector<const ir::Node*> in_order(const ir::Graph& graph,
                                      const std::unordered_map<const ir::Node*, const ir::Node*>& waits);

}  // namespace tightloop::backends::cpu
