// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/assembly.h>
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/backends/cpu/plan/plan.h>
#include <tightloop/backends/cpu/plan/recompute.h>
#include <tightloop/ops/index.h>

#include <algorithm>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

class Planner {
 public:
  explicit Planner(const Recomputed& step) {
    const ir::Graph& graph = plan_.graph = step.graph;
    plan_.schedule = make_schedule(step);
    plan_.stretch = stretch_of(graph);
    for (const auto& [node, home] : plan_.schedule.home) roots_.insert(node);
    for (std::size_t i = 0; i < graph.inputs.size(); ++i)
      plan_.memory[graph.inputs[i].id()] =
          add({Buffer::Kind::input, graph.inputs[i].type(), static_cast<int>(i)});
    find_readers();
    find_panels();
    place_pieces();
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) place_output(static_cast<int>(i));
    for (const Kernel& kernel : plan_.schedule.kernels)
      for (const Node* r : kernel.roots)
        if (plan_.schedule.stored.contains(r) && !is_piece(r) && !plan_.memory.contains(r))
          store_in(r, temporary(r));
    find_unconditional();
    set_lifetimes();
  }

  Plan finish() { return std::move(plan_); }

 private:
  int add(Buffer b) {
    plan_.buffers.push_back(std::move(b));
    return static_cast<int>(plan_.buffers.size()) - 1;
  }

  int temporary(const Node* r) {
    return add({Buffer::Kind::temporary, r->type, -1, plan_.in_panels.contains(r)});
  }

  void store_in(const Node* r, int buffer) {
    // These kernels write one place only.
    const KernelKind kind = plan_.schedule.kernels[static_cast<std::size_t>(plan_.schedule.home.at(r))].kind;
    const bool once =
        kind == KernelKind::scatter || kind == KernelKind::library || kind == KernelKind::window;
    if (once && plan_.memory.contains(r)) {
      plan_.copies.push_back({plan_.memory.at(r), buffer});
      return;
    }
    plan_.stores[r].push_back(buffer);
    plan_.memory.emplace(r, buffer);
  }

  void find_readers() {
    const auto& kernels = plan_.schedule.kernels;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      if (kernels[k].only_if != nullptr) uses_[kernels[k].only_if].push_back({static_cast<int>(k), true});
      for (const Node* r : kernels[k].roots)
        for (const Leaf& leaf : leaves_of(r, roots_)) {
          uses_[leaf.node].push_back({static_cast<int>(k), leaf.aligned});
        }
    }
  }

  void find_panels() {
    for (const Kernel& kernel : plan_.schedule.kernels) {
      const Node* r = kernel.roots[0];
      if (kernel.kind == KernelKind::transpose && r->type.shape.rank() == 2 && r->type.shape.is_static())
        plan_.in_panels.insert(r);
    }
    for (const auto& o : plan_.graph.outputs) plan_.in_panels.erase(storage_of(o.value.id()));
    for (const Node* n : ir::topological(plan_.graph))
      for (std::size_t i = 0; i < n->inputs.size(); ++i)
        if (i != 1 || n->op != &ops::matmul_op() || goes_to_library(n))
          plan_.in_panels.erase(n->inputs[i].id());
  }

  void place_pieces() {
    for (const Kernel& kernel : plan_.schedule.kernels) {
      if (kernel.kind != KernelKind::assembly) continue;
      const Node* assembly = kernel.roots[0];
      std::int64_t start = 0;
      for (const Tensor& piece : assembly->inputs) {
        plan_.places[piece.id()] = {assembly, start};
        start += piece.dim(joined_axis(assembly)).factor;
      }
    }
  }

  void place_output(int i) {
    const auto& output = plan_.graph.outputs[static_cast<std::size_t>(i)];
    const Node* value = output.value.id();
    const Tensor* state = plan_.graph.input(output.name);
    if (state == nullptr) {
      const int result = add({Buffer::Kind::result, value->type, i});
      if (is_input(value))
        first_copies_.push_back({plan_.memory.at(value), result});
      else
        store_in(value, result);
      return;
    }
    if (value == state->id()) return;
    const int target = plan_.memory.at(state->id());
    // The pieces of an assembly are written before its own turn.
    if (!is_input(value) && !is_assembly(value) &&
        may_overwrite(state->id(), plan_.schedule.home.at(value))) {
      store_in(value, target);
      return;
    }
    const int aside = is_input(value) ? add({Buffer::Kind::temporary, value->type, -1}) : temporary(value);
    if (is_input(value))
      first_copies_.push_back({plan_.memory.at(value), aside});
    else
      store_in(value, aside);
    plan_.copies.push_back({aside, target});
  }

  /// The old value of `state` is needed before the phase of kernel `writer` only, and in it element by
  /// element.
  bool may_overwrite(const Node* state, int writer) const {
    const int phase = plan_.schedule.phase_of(writer);
    const auto found = uses_.find(state);
    const auto clashes = [&](const Use& use) {
      return use.kernel == writer ? !use.aligned : plan_.schedule.phase_of(use.kernel) >= phase;
    };
    if (found != uses_.end() && std::any_of(found->second.begin(), found->second.end(), clashes))
      return false;
    return std::none_of(plan_.graph.outputs.begin(), plan_.graph.outputs.end(), [&](const auto& o) {
      return o.value.id() == state && o.name != ir::input_name(*state);
    });
  }

  /// A kernel whose state is not updated in place runs in every step: its copy wants what it writes.
  void find_unconditional() {
    for (Kernel& kernel : plan_.schedule.kernels)
      for (const Node* r : kernel.roots) {
        const auto stores = plan_.stores.find(r);
        if (stores != plan_.stores.end() &&
            std::any_of(stores->second.begin(), stores->second.end(), [&](int b) { return is_copied(b); }))
          kernel.only_if = nullptr;
      }
  }

  void set_lifetimes() {
    const auto end = static_cast<int>(plan_.schedule.phases.size());
    for (const auto& [node, stores] : plan_.stores)
      for (const int b : stores) {
        const int home = plan_.schedule.home.at(node);
        int begin = home;
        int last = home;
        if (is_assembly(node))
          for (const Tensor& piece : node->inputs)
            begin = std::min(begin, plan_.schedule.home.at(piece.id()));
        if (plan_.memory.at(node) == b && uses_.contains(node))
          for (const Use& use : uses_.at(node)) last = std::max(last, use.kernel);
        Buffer& buffer = plan_.buffers[static_cast<std::size_t>(b)];
        buffer.first = plan_.schedule.phase_of(begin);
        buffer.last = plan_.schedule.phase_of(last);
        const bool chain = plan_.schedule.kernels[static_cast<std::size_t>(home)].batchwise;
        if (buffer.kind == Buffer::Kind::temporary && chain && carries_batch(buffer.type.shape) &&
            buffer.first == buffer.last && !is_copied(b))
          buffer = {Buffer::Kind::local, buffer.type, -1, false, begin, last};
      }
    // Copies of whole inputs happen after everything else, in two rounds, so that swapped states work.
    plan_.copies.insert(plan_.copies.begin(), first_copies_.begin(), first_copies_.end());
    for (const auto& copy : plan_.copies)
      for (const int b : {copy.from, copy.to}) plan_.buffers[static_cast<std::size_t>(b)].last = end;
    for (const auto& copy : first_copies_) plan_.buffers[static_cast<std::size_t>(copy.to)].first = end;
  }

  bool is_copied(int b) const {
    return std::any_of(plan_.copies.begin(), plan_.copies.end(), [&](const auto& c) { return c.from == b; });
  }

  struct Use {
    int kernel;
    bool aligned;
  };

  Plan plan_;
  std::unordered_set<const Node*> roots_;
  std::unordered_map<const Node*, std::vector<Use>> uses_;
  std::vector<Plan::Copy> first_copies_;
};

}  // namespace

Plan make_plan(const Recomputed& step) { return Planner(step).finish(); }
Plan make_plan(const ir::Graph& graph) { return make_plan(Recomputed{graph}); }

}  // namespace tightloop::backends::cpu
