// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/lift.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

namespace tightloop {
namespace {

using ir::Node;

/// Depth first, not below a node that has a value.
class Lifter {
 public:
  Lifter(const ir::Graph& graph, Scalars scalars) : scalars_(scalars) {
    out_.graph.name = graph.name;
    out_.graph.inputs = graph.inputs;
    for (const Tensor& t : graph.inputs) map_.emplace(t.id(), t);
  }

  void output(const ir::Graph::Output& o) {
    visit(o.value);
    out_.graph.outputs.push_back({o.name, map_.at(o.value.id())});
  }

  Lifted take() { return std::move(out_); }

 private:
  void visit(const Tensor& root) {
    std::vector<Tensor> stack{root};
    while (!stack.empty()) {
      const Tensor top = stack.back();
      if (map_.contains(top.id())) {
        stack.pop_back();
      } else if (top.node().value != nullptr) {
        map_.emplace(top.id(), leaf(top));
      } else if (!push_missing(top, stack)) {
        map_.emplace(top.id(), ir::rebuild(top, mapped(top)));
      }
    }
  }

  bool push_missing(const Tensor& t, std::vector<Tensor>& stack) const {
    const std::size_t before = stack.size();
    for (const Tensor& input : t.node().inputs)
      if (!map_.contains(input.id())) stack.push_back(input);
    return stack.size() != before;
  }

  std::vector<Tensor> mapped(const Tensor& t) const {
    std::vector<Tensor> inputs;
    for (const Tensor& input : t.node().inputs) inputs.push_back(map_.at(input.id()));
    return inputs;
  }

  Tensor leaf(const Tensor& t) {
    const Array& value = *t.node().value;
    if (scalars_ == Scalars::constants && value.rank() == 0) return constant(value, t.type());
    const std::string name = "#" + std::to_string(out_.bound.size());
    out_.bound.emplace_back(name, value);
    out_.graph.inputs.push_back(input(name, "argument", t.type()));
    return out_.graph.inputs.back();
  }

  static Tensor constant(const Array& scalar, const TensorType& type) {
    ir::AttrValue value = scalar.at(0);
    if (!is_floating(scalar.dtype())) value = scalar.int_at(0);
    return ir::make_node(ops::constant_op(), {}, {{"value", std::move(value)}}, &type);
  }

  Scalars scalars_;
  Lifted out_;
  ir::NodeMap map_;
};

}  // namespace

Lifted lift_values(const ir::Graph& graph, Scalars scalars) {
  Lifter lifter(graph, scalars);
  for (const auto& o : graph.outputs) lifter.output(o);
  return lifter.take();
}

}  // namespace tightloop
