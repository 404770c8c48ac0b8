// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/codegen/alike.h>
#include <tightloop/backends/cpu/plan/assembly.h>
#include <tightloop/ir/text.h>
#include <tightloop/ops/index.h>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

class Writer {
 public:
  Writer(const Plan& plan, const Kernel& kernel, Terms& terms)
      : plan_(plan), own_(kernel.roots.begin(), kernel.roots.end()), terms_(terms) {
    text_ = std::to_string(static_cast<int>(kernel.kind)) + (kernel.batchwise ? "b" : "w") +
            to_string(Shape(kernel.domain)) + "\n";
    for (const Node* r : kernel.roots) write(r);
    for (const Node* s : kernel.sources) text_ += " s" + std::to_string(numbers_.at(s));
    for (const Node* r : kernel.roots) text_ += " r" + std::to_string(numbers_.at(r));
  }

  std::string finish() { return std::move(text_); }

 private:
  /// A node after those that it is computed from; `outside` ones are read from memory.
  void write(const Node* n) {
    if (numbers_.contains(n)) return;
    const bool outside = is_input(n) || (plan_.schedule.is_root(n) && !own_.contains(n));
    for (std::size_t i = 0; !outside && i < n->inputs.size(); ++i) {
      if (n->op->kind == ir::OpKind::contraction) write(operand_of(n, i));
      write(n->inputs[i].id());
    }
    numbers_.emplace(n, numbers_.size());
    text_ += (outside ? std::string("@") : std::string(n->op->name)) + to_string(n->type);
    if (is_input(n)) text_ += ir::input_role(*n);
    if (!outside) inside(n);
    if (plan_.in_panels.contains(n)) text_ += " panels";
    if (const auto at = plan_.memory.find(n); at != plan_.memory.end()) text_ += " m" + buffer(at->second);
    text_ += "\n";
  }

  void inside(const Node* n) {
    const bool slice = n->op == &ops::slice_op();
    if (slice) text_ += starts(n);
    for (const auto& [name, value] : n->attrs)
      if (!slice || (name != "start" && name != "stop")) text_ += " " + name + "=" + ir::attr_text(value);
    for (const Tensor& t : n->inputs) text_ += " %" + std::to_string(numbers_.at(t.id()));
    if (const auto at = plan_.stores.find(n); at != plan_.stores.end())
      for (const int b : at->second) text_ += " >" + buffer(b);
    if (const auto at = plan_.places.find(n); at != plan_.places.end()) piece(n, at->second);
  }

  void piece(const Node* n, const Plan::Place& place) {
    const std::size_t axis = joined_axis(place.assembly);
    text_ +=
        " into " + to_string(place.assembly->type) + std::to_string(axis) + "@" + term(n, axis, place.start);
    for (const int b : plan_.stores.at(place.assembly)) text_ += " >" + buffer(b);
  }

  std::string buffer(int id) {
    const auto [at, first] = terms_.buffers.emplace(id, terms_.values.size());
    if (first) terms_.values.push_back(id);
    return std::to_string(at->second);
  }

  /// Of axes that are cut; the others start at 0.
  std::string starts(const Node* slice) {
    std::string text;
    const auto& start = slice->attrs.at<ir::Ints>("start");
    for (std::size_t d = 0; d < start.size(); ++d) {
      if (slice->type.shape[d] == slice->inputs[0].dim(d)) continue;
      text += std::to_string(d) + "@" + term(slice, d, start[d]) + ",";
    }
    return text;
  }

  std::string term(const Node* n, std::size_t axis, std::int64_t start) {
    terms_.starts.emplace(std::pair{n, axis}, terms_.values.size());
    terms_.values.push_back(start);
    return std::to_string(terms_.values.size() - 1);
  }

  const Plan& plan_;
  std::unordered_set<const Node*> own_;
  Terms& terms_;
  std::unordered_map<const Node*, std::size_t> numbers_;
  std::string text_;
};

}  // namespace

std::string shape_of_kernel(const Plan& plan, const Kernel& kernel, Terms& terms) {
  return Writer(plan, kernel, terms).finish();
}

Alike find_alike(const Plan& plan) {
  const auto& kernels = plan.schedule.kernels;
  Alike alike{std::vector<std::size_t>(kernels.size()), std::vector<Terms>(kernels.size())};
  std::unordered_map<std::string, std::size_t> first;
  std::vector<int> count(kernels.size(), 0);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    alike.model[i] = i;
    if (!is_generated(kernels[i].kind)) continue;
    alike.model[i] = first.emplace(shape_of_kernel(plan, kernels[i], alike.terms[i]), i).first->second;
    ++count[alike.model[i]];
  }
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (count[alike.model[i]] < 2) alike.terms[i] = {};
  return alike;
}

}  // namespace tightloop::backends::cpu
