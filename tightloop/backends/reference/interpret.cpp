// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/reference/interpret.h>

namespace tightloop::backends {
namespace {

using ir::Node;

class Interpreter {
 public:
  Interpreter(const ir::Graph& graph, const InterpretOptions& options)
      : graph_(graph), options_(options), order_(ir::topological(graph)) {
    for (const Node* node : order_)
      for (const Tensor& t : node->inputs) ++uses_[t.id()];
    for (const auto& o : graph.outputs) ++uses_[o.value.id()];
  }

  std::vector<Array> run(const std::vector<Array>& inputs) {
    require(inputs.size() == graph_.inputs.size(), "interpret: one array an input");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Node& node = graph_.inputs[i].node();
      keep(node, input_value(node, inputs[i]));
    }
    for (const Node* node : order_)
      if (!values_.contains(node)) compute(*node);
    std::vector<Array> results;
    for (const auto& o : graph_.outputs) results.push_back(values_.at(o.value.id()));
    return results;
  }

 private:
  DType held(DType dtype) const { return options_.precise && dtype == DType::f32 ? DType::f64 : dtype; }

  Array input_value(const Node& node, const Array& given) const {
    const std::string role = ir::input_role(node);
    if (role == "step") return Array::scalar(options_.step);
    if (role == "seed") return Array::scalar(static_cast<std::int64_t>(options_.seed));
    if (given.dtype() != node.type.dtype || given.dims() != node.type.shape.values(options_.sizes))
      throw Error("input '" + ir::input_name(node) + "' must be " + to_string(node.type) + ", " +
                  given.type_string() + " came");
    return held(given.dtype()) == given.dtype() ? given : given.cast(held(given.dtype()));
  }

  void compute(const Node& node) {
    require(node.op->evaluate != nullptr, "interpret: the op has no reference meaning");
    std::vector<const Array*> inputs;
    for (const Tensor& t : node.inputs) inputs.push_back(&values_.at(t.id()));
    Array out(held(node.type.dtype), node.type.shape.values(options_.sizes));
    node.op->evaluate({node, inputs, out, options_.sizes});
    for (const Tensor& t : node.inputs) release(t.id());
    keep(node, std::move(out));
  }

  void keep(const Node& node, Array value) {
    if (options_.observer != nullptr) options_.observer->saw(node, value);
    values_.emplace(&node, std::move(value));
  }

  void release(const Node* node) {
    if (--uses_.at(node) == 0) values_.erase(node);
  }

  const ir::Graph& graph_;
  const InterpretOptions& options_;
  std::vector<const Node*> order_;
  std::unordered_map<const Node*, std::size_t> uses_;
  std::unordered_map<const Node*, Array> values_;
};

}  // namespace

std::vector<Array> interpret(const ir::Graph& graph, const std::vector<Array>& inputs,
                             const InterpretOptions& options) {
  return Interpreter(graph, options).run(inputs);
}

}  // namespace tightloop::backends
