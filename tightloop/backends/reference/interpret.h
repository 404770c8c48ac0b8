// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/ir/graph.h>

#include <vector>

namespace tightloop::backends {

/// Sees every node's value as soon as it is known, inputs first. May throw to end the run.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void saw(const ir::Node& node, const Array& value) = 0;
};

struct InterpretOptions {
  Sizes sizes;             ///< values of B and N
  std::int64_t step = 0;   ///< value of the input of role step
  std::uint64_t seed = 0;  ///< value of the input of role seed
  bool precise = false;    ///< hold f32 values, and compute, in f64; results are f64 then
  Observer* observer = nullptr;
};

/// Runs `graph` op by op by the ops' reference meaning: the oracle of every other backend. `inputs` are in
/// the graph's order (those of role step and seed are ignored); the results are in the order of its outputs.
/// Throws Error when an input is of another type than the graph's.
std::vector<Array> interpret(const ir::Graph& graph, const std::vector<Array>& inputs,
                             const InterpretOptions& options = {});

}  // namespace tightloop::backends
