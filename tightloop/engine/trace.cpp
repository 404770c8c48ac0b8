// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/trace.h>
#include <tightloop/ops/functions.h>

#include <algorithm>

namespace tightloop {
namespace {

Trace*& innermost() {
  thread_local Trace* trace = nullptr;
  return trace;
}

}  // namespace

Trace::Trace() : outer_(innermost()) { innermost() = this; }
Trace::~Trace() { innermost() = outer_; }
Trace* Trace::current() { return innermost(); }

std::string Trace::free_name(const std::string& wanted) const {
  const std::string base = wanted.empty() ? "state" : wanted;
  const auto taken = [&](const std::string& name) {
    return std::any_of(used_.begin(), used_.end(),
                       [&](const Used& u) { return ir::input_name(u.input.node()) == name; });
  };
  std::string name = base;
  for (int i = 2; taken(name); ++i) name = base + "#" + std::to_string(i);
  return name;
}

Trace::Used& Trace::use(const Variable& variable) {
  for (Used& u : used_)
    if (u.variable.id() == variable.id()) return u;
  used_.push_back({variable, input(free_name(variable.name()), "state", variable.type()), {}});
  return used_.back();
}

Tensor Trace::read(const Variable& variable) {
  const Used& u = use(variable);
  return u.next.defined() ? u.next : u.input;
}

void Trace::write(const Variable& variable, Tensor next) { use(variable).next = std::move(next); }

ir::Graph Trace::graph(std::string name, const std::vector<Tensor>& arguments,
                       const std::vector<ir::Graph::Output>& outputs) const {
  ir::Graph graph{std::move(name), arguments, outputs};
  for (const Used& u : used_) {
    graph.inputs.push_back(u.input);
    if (u.next.defined()) graph.outputs.push_back({ir::input_name(u.input.node()), u.next});
  }
  return graph;
}

}  // namespace tightloop
