// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/backends/cpu/plan/forward.h>
#include <tightloop/backends/cpu/plan/schedule.h>

#include <algorithm>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

/// Of a batch of usual size, to compare values by their bytes.
constexpr Sizes kUsual{64, 64, 4};
/// A reduction over so many elements makes a small value.
constexpr double kSmall = 16;

void mark_ancestors(const std::vector<Tensor>& of, const std::unordered_map<const Node*, std::size_t>& number,
                    std::vector<bool>& marks) {
  for (const Node* n : ir::topological(of)) marks[number.at(n)] = true;
}

bool is_data(const Node* n) {
  const std::string role = ir::input_role(*n);
  return role == "data" || role == "argument" || role == "rows" || role == "first";
}

}  // namespace

StepNodes::StepNodes(const ir::Graph& graph) : order_(ir::topological(graph)), readers_(order_.size()) {
  for (std::size_t i = 0; i < order_.size(); ++i) number_.emplace(order_[i], i);
  for (auto* marks : {&forward_, &backward_, &material_, &small_, &needed_})
    marks->assign(order_.size(), false);
  level_.assign(order_.size(), 0);
  for (std::size_t i = 0; i < order_.size(); ++i)
    for (const Tensor& t : order_[i]->inputs) {
      const std::size_t from = number(t.id());
      readers_[from].push_back(i);
      level_[i] = std::max(level_[i], level_[from] + 1);
    }
  find_forward(graph);
  find_material();
}

double StepNodes::bytes(std::size_t i) const {
  const TensorType& type = order_[i]->type;
  return static_cast<double>(type.shape.count(kUsual)) * static_cast<double>(size_of(type.dtype));
}

std::size_t StepNodes::base(std::size_t i) const { return number(storage_of(order_[i])); }

void StepNodes::find_forward(const ir::Graph& graph) {
  const auto* loss = graph.output("loss");
  if (loss == nullptr) return;
  mark_ancestors({loss->value}, number_, forward_);
  std::vector<Tensor> updates;
  for (const auto& o : graph.outputs) {
    const Tensor* state = graph.input(o.name);
    if (state != nullptr && forward_[number(state->id())]) updates.push_back(o.value);
  }
  mark_ancestors(updates, number_, backward_);
  for (std::size_t i = 0; i < size(); ++i) backward_[i] = backward_[i] && !forward_[i];
  for (std::size_t i = 0; i < size(); ++i)
    if (backward_[i])
      for (const Tensor& t : order_[i]->inputs)
        if (const std::size_t from = number(t.id()); forward_[from])
          needed_[from] = needed_[base(from)] = true;
}

void StepNodes::find_material() {
  std::vector<bool> data(size());
  for (std::size_t i = 0; i < size(); ++i) {
    const Node* n = order_[i];
    data[i] = is_input(n) && is_data(n);
    double most = 0;
    bool of_small = true;
    for (const Tensor& t : n->inputs) {
      const std::size_t from = number(t.id());
      data[i] = data[i] || data[from];
      most = std::max(most, bytes(from));
      of_small = of_small && (small_[from] || !material_[from]);
    }
    if (is_input(n) || !forward_[i]) continue;
    material_[i] = data[i] || carries_batch(n->type.shape);
    small_[i] = material_[i] && (kSmall * bytes(i) <= most || (of_small && bytes(i) <= 2 * most));
  }
}

}  // namespace tightloop::backends::cpu
