// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ir/graph.h>
#include <tightloop/ir/node.h>

#include <algorithm>
#include <cstdint>

namespace tightloop::ir {
namespace {

/// A set of nodes in one piece of memory: half of the time of a pass over a long recurrence is spent here.
class Seen {
 public:
  /// False when it was there.
  bool insert(const Node* node) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    if (!place(node)) return false;
    ++count_;
    return true;
  }

 private:
  bool place(const Node* node) {
    std::size_t at = (reinterpret_cast<std::uintptr_t>(node) >> 4) * 0x9e3779b97f4a7c15U >> 20;
    for (;; ++at) {
      const Node*& slot = slots_[at & (slots_.size() - 1)];
      if (slot == node) return false;
      if (slot != nullptr) continue;
      slot = node;
      return true;
    }
  }
  void grow() {
    const std::vector<const Node*> old = std::move(slots_);
    slots_.assign(std::max<std::size_t>(64, 4 * old.size()), nullptr);
    for (const Node* node : old)
      if (node != nullptr) place(node);
  }

  std::vector<const Node*> slots_;  ///< a power of two; null: free
  std::size_t count_ = 0;
};

/// Depth first with a stack of its own: graphs may be deeper than the thread's stack.
class Sorter {
 public:
  void visit(const Node* root) {
    enter(root);
    while (!stack_.empty()) {
      Frame& frame = stack_.back();
      if (frame.next == frame.node->inputs.size()) {
        order_.push_back(frame.node);
        stack_.pop_back();
      } else {
        enter(frame.node->inputs[frame.next++].id());
      }
    }
  }
  std::vector<const Node*> take() { return std::move(order_); }

 private:
  struct Frame {
    const Node* node;
    std::size_t next;
  };
  void enter(const Node* node) {
    require(node != nullptr, "graph: an empty Tensor");
    if (seen_.insert(node)) stack_.push_back({node, 0});
  }
  std::vector<Frame> stack_;
  Seen seen_;
  std::vector<const Node*> order_;
};

}  // namespace

std::string input_name(const Node& input) { return input.attrs.at<std::string>("name"); }
std::string input_role(const Node& input) { return input.attrs.at<std::string>("role"); }

const Tensor* Graph::input(std::string_view wanted) const {
  for (const Tensor& t : inputs)
    if (t.node().attrs.at<std::string>("name") == wanted) return &t;
  return nullptr;
}

const Graph::Output* Graph::output(std::string_view wanted) const {
  const auto found =
      std::find_if(outputs.begin(), outputs.end(), [&](const Output& o) { return o.name == wanted; });
  return found == outputs.end() ? nullptr : &*found;
}

std::vector<const Node*> topological(const Graph& graph) {
  Sorter sorter;
  for (const Tensor& t : graph.inputs) sorter.visit(t.id());
  for (const auto& o : graph.outputs) sorter.visit(o.value.id());
  return sorter.take();
}

std::vector<const Node*> topological(const std::vector<Tensor>& roots) {
  Sorter sorter;
  for (const Tensor& t : roots) sorter.visit(t.id());
  return sorter.take();
}

Tensor rebuild(const Tensor& tensor, std::vector<Tensor> inputs) {
  const Node& node = tensor.node();
  const bool same = std::equal(inputs.begin(), inputs.end(), node.inputs.begin(), node.inputs.end(),
                               [](const Tensor& a, const Tensor& b) { return a.id() == b.id(); });
  if (same) return tensor;
  return make_node_at(node.scope, *node.op, std::move(inputs), node.attrs,
                      node.op->typed ? &node.type : nullptr);
}

}  // namespace tightloop::ir
