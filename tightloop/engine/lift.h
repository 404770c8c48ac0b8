// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/ir/graph.h>

#include <utility>
#include <vector>

namespace tightloop {

/// A graph whose known values became inputs.
struct Lifted {
  ir::Graph graph;
  std::vector<std::pair<std::string, Array>> bound;  ///< input name → value
};

enum class Scalars : std::uint8_t {
  inputs,     ///< a scalar value becomes an input as any other: one program serves all values
  constants,  ///< a scalar value is written into the code
};

/// Replaces each node that has a value (data leaves and whatever was read before) by an input of role
/// argument, named #0, #1, …; what only they needed is left out.
Lifted lift_values(const ir::Graph& graph, Scalars scalars);

}  // namespace tightloop
