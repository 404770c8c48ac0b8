// SPDX-License-Identifier: Apache-2.0
#pragma once
// What only some steps need: a state whose next value is select(c, next, state), c one bool[], changes only
// where c is true, and all that only such states read need not be computed elsewhere. Update rules that run
// once in so many steps, or are skipped, cost nothing in the other steps.
#include <tightloop/ir/graph.h>

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace tightloop::backends::cpu {

/// States with fewer elements are updated in every step: skipping them saves less than a kernel of their own
/// costs.
inline constexpr std::int64_t kSmallestConditional = 4096;

struct Conditions {
  /// Nodes that matter only where their condition is true: the selects, and what nothing else reads.
  std::unordered_map<const ir::Node*, const ir::Node*> of;
  /// All conditions with what they are computed from: to be had before the nodes above.
  std::unordered_set<const ir::Node*> deciding;

  /// The condition of a node; null: none.
  const ir::Node* at(const ir::Node* n) const {
    const auto found = of.find(n);
    return found == of.end() ? nullptr : found->second;
  }
};

Conditions find_conditions(const ir::Graph& graph);

}  // namespace tightloop::backends::cpu
