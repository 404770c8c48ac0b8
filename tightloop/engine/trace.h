// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/variable.h>
#include <tightloop/ir/graph.h>

namespace tightloop {

/// While it lives, the variables that this thread reads and assigns belong to a graph being made. Traces
/// nest; the innermost counts.
class Trace {
 public:
  Trace();
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  /// Null when there is none.
  static Trace* current();

  /// A variable that the traced code used.
  struct Used {
    Variable variable;
    Tensor input;  ///< of role state, under a name of its own
    Tensor next;   ///< what was assigned last; empty when it was only read
  };
  const std::vector<Used>& used() const { return used_; }

  Tensor read(const Variable& variable);
  void write(const Variable& variable, Tensor next);

  /// The graph of `outputs`, with `arguments` before the variables among its inputs, and the next value of
  /// each assigned variable among its outputs.
  ir::Graph graph(std::string name, const std::vector<Tensor>& arguments,
                  const std::vector<ir::Graph::Output>& outputs) const;

 private:
  Used& use(const Variable& variable);
  std::string free_name(const std::string& wanted) const;
  std::vector<Used> used_;
  Trace* outer_;
};

}  // namespace tightloop
