// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ir/graph.h>
#include <tightloop/ops/functions.h>
#include <tightloop/passes/differentiate.h>

#include <unordered_set>

namespace tightloop {
namespace {

using ir::Node;

void check(const Tensor& loss, const std::vector<Tensor>& wrt, const Tensor& seed) {
  if (!is_floating(loss.dtype()))
    throw Error("gradients: the loss must be floating, " + to_string(loss.type()) + " came");
  if (!seed.defined() && !loss.shape().is_scalar())
    throw Error("gradients: the loss must be a scalar, " + to_string(loss.type()) +
                " came; reduce it (mean, sum) or give a seed");
  if (seed.defined() && seed.type() != loss.type())
    throw Error("gradients: the seed must be " + to_string(loss.type()) + " like the loss, " +
                to_string(seed.type()) + " came");
  for (const Tensor& t : wrt)
    if (!is_floating(t.dtype()))
      throw Error("gradients: only floating tensors have a gradient, " + to_string(t.type()) + " came");
}

/// One reverse sweep.
class Sweep {
 public:
  Sweep(const Tensor& loss, const std::vector<Tensor>& wrt)
      : order_(ir::topological(std::vector<Tensor>{loss})) {
    for (const Tensor& t : wrt) needed_.insert(t.id());
    handles_.emplace(loss.id(), loss);
    for (const Node* node : order_)
      for (const Tensor& t : node->inputs) {
        handles_.emplace(t.id(), t);
        if (needed_.contains(t.id())) needed_.insert(node);
      }
  }

  void run(const Tensor& loss, Tensor seed) {
    if (needed_.contains(loss.id())) gradients_.emplace(loss.id(), std::move(seed));
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) backward(**it);
  }

  Tensor gradient(const Tensor& t) const {
    const auto found = gradients_.find(t.id());
    return found == gradients_.end() ? zeros(t.shape(), t.dtype()) : found->second;
  }

 private:
  void backward(const Node& node) {
    const auto found = gradients_.find(&node);
    if (found == gradients_.end() || node.op->vjp == nullptr || node.inputs.empty()) return;
    const ir::ScopeOf scope(node);
    const std::vector<Tensor> parts = node.op->vjp(handles_.at(&node), found->second);
    require(parts.size() == node.inputs.size(), "vjp: one gradient an input");
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i].defined() && needed_.contains(node.inputs[i].id())) accumulate(node.inputs[i], parts[i]);
  }

  void accumulate(const Tensor& input, const Tensor& part) {
    require(part.type() == input.type(), "vjp: a gradient of another type than its input");
    const auto [at, first] = gradients_.emplace(input.id(), part);
    if (!first) at->second = add(at->second, part);
  }

  std::vector<const Node*> order_;
  std::unordered_set<const Node*> needed_;  ///< wrt and what depends on it
  ir::NodeMap handles_;
  ir::NodeMap gradients_;
};

}  // namespace

std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Tensor>& wrt, Tensor seed) {
  check(loss, wrt, seed);
  Sweep sweep(loss, wrt);
  sweep.run(loss, seed.defined() ? std::move(seed) : ones(loss.shape(), loss.dtype()));
  std::vector<Tensor> out;
  out.reserve(wrt.size());
  for (const Tensor& t : wrt) out.push_back(sweep.gradient(t));
  return out;
}

}  // namespace tightloop
