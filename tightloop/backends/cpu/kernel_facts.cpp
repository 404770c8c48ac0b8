// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/kernel_facts.h>
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/backends/cpu/plan/cost.h>
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <array>
#include <functional>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

bool is_silent(const Node* n) { return n->op->kind == ir::OpKind::view || n->op->kind == ir::OpKind::source; }

/// "convolution+add+maximum"; what repeats comes once, and of many the first and the last few are named.
std::string ops_text(const std::vector<const Node*>& nodes, const std::vector<const Node*>& roots) {
  constexpr std::size_t most = 6;
  std::vector<std::string> names;
  for (const Node* n : nodes)
    if (!is_silent(n) && (names.empty() || names.back() != n->op->name)) names.emplace_back(n->op->name);
  if (names.empty()) names.emplace_back(roots[0]->op->name);
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool left_out = names.size() > most && i >= most - 2 && i + 2 < names.size();
    if (left_out && i > most - 2) continue;
    out += (out.empty() ? "" : "+") + (left_out ? std::string("...") : names[i]);
  }
  return out;
}

bool carries_data(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return !d.is_static(); });
}

double bytes_of(const TensorType& type, const Sizes& sizes) {
  return static_cast<double>(type.shape.count(sizes)) * static_cast<double>(size_of(type.dtype));
}

/// Of the rows of resident data a step reads its batch alone.
double batch_bytes(const TensorType& type, const Sizes& sizes) {
  return bytes_of(type, {sizes.batch, std::min(sizes.batch, sizes.rows), sizes.groups});
}

/// A product that is summed for each group of samples goes over the samples of all groups once.
double operations_of(const Node* n, const Sizes& sizes) {
  const bool once = n->op->kind == ir::OpKind::contraction && is_group_sum(n);
  return flops_of(*n, sizes) / (once ? static_cast<double>(std::max<std::int64_t>(1, sizes.groups)) : 1);
}

std::string parameter_of(std::string name) { return name.starts_with("ema.") ? name.substr(4) : name; }

std::string reason_of(const Kernel& kernel) {
  const Node& n = *kernel.roots[0];
  switch (kernel.kind) {
    case KernelKind::library:
      return "a large f32 matrix product, by oneDNN";
    case KernelKind::window:
      return is_library_convolution(n) ? "f32 with channels and products enough for oneDNN"
             : n.op->name.find("convolution") != std::string_view::npos
                 ? "few channels or products: oneDNN would gain nothing"
                 : "pooling and the like, which only move or compare";
    case KernelKind::matmul:
      return "generated with its epilogue: the weight is too small for oneDNN to gain";
    case KernelKind::assembly:
      return "its pieces are written to their places by whoever computes them";
    default:
      return "generated";
  }
}

Supplier supplier_of(const Kernel& kernel) {
  if (kernel.kind == KernelKind::library) return Supplier::library;
  if (kernel.kind == KernelKind::assembly) return Supplier::none;
  if (kernel.kind != KernelKind::window) return Supplier::generated;
  return is_library_convolution(*kernel.roots[0]) ? Supplier::library : Supplier::loops;
}

}  // namespace

KernelReader::KernelReader(const Plan& plan) : plan_(plan) {
  for (const auto& [node, home] : plan_.schedule.home) roots_.insert(node);
  std::vector<Tensor> goals;
  if (const auto* loss = plan_.graph.output("loss")) goals.push_back(loss->value);
  if (goals.empty())
    for (const auto& o : plan_.graph.outputs)
      if (plan_.graph.input(o.name) == nullptr) goals.push_back(o.value);
  if (goals.empty())
    for (const auto& o : plan_.graph.outputs) goals.push_back(o.value);
  for (const Node* n : ir::topological(goals)) forward_.insert(n);
  std::vector<Tensor> next;
  for (const auto& o : plan_.graph.outputs)
    if (const Tensor* state = plan_.graph.input(o.name); state != nullptr && forward_.contains(state->id()))
      next.push_back(o.value);
  for (const Node* n : ir::topological(next)) taught_.insert(n);
  for (const Node* n : ir::topological(plan_.graph)) {
    const bool state = n->op == &ops::input_op() && ir::input_role(*n) == "state";
    if (state || std::any_of(n->inputs.begin(), n->inputs.end(),
                             [&](const Tensor& t) { return learned_.contains(t.id()); }))
      learned_.insert(n);
  }
}

/// What the kernel computes: its roots and what is inline in it, in order.
std::vector<const Node*> KernelReader::nodes_of(const Kernel& kernel) const {
  std::vector<const Node*> out;
  std::unordered_set<const Node*> seen;
  const std::function<void(const Node*)> visit = [&](const Node* n) {
    if (!seen.insert(n).second) return;
    for (const Tensor& t : n->inputs)
      if (!roots_.contains(t.id()) && !is_input(t.id())) visit(t.id());
    out.push_back(n);
  };
  for (const Node* root : kernel.roots) visit(root);
  return out;
}

Part KernelReader::part_of(const Node* root) const {
  if (forward_.contains(root)) return learned_.contains(root) ? Part::forward : Part::data;
  if (!taught_.contains(root)) return Part::update;
  if (carries_data(root->type.shape)) return Part::backward;
  const bool sums_data = std::any_of(root->inputs.begin(), root->inputs.end(),
                                     [](const Tensor& t) { return carries_data(t.shape()); });
  return sums_data ? Part::backward : Part::update;
}

/// That to which most operations belong.
Part KernelReader::part_of(const Kernel& kernel, const std::vector<const Node*>& nodes,
                           const Sizes& sizes) const {
  std::array<double, 4> work{};
  for (const Node* n : nodes) work[static_cast<std::size_t>(part_of(n))] += operations_of(n, sizes);
  const auto most = std::max_element(work.begin(), work.end());
  return *most > 0 ? static_cast<Part>(most - work.begin()) : part_of(kernel.roots[0]);
}

/// The layer of the first root that has one; else the state that the kernel computes.
std::string KernelReader::path_of(const Kernel& kernel, const std::vector<const Node*>& nodes) const {
  for (const Node* root : kernel.roots)
    if (!root->scope.empty()) return root->scope;
  for (const Node* n : nodes)
    if (!n->scope.empty()) return n->scope;
  for (const auto& o : plan_.graph.outputs)
    if (std::find(kernel.roots.begin(), kernel.roots.end(), o.value.id()) != kernel.roots.end())
      return parameter_of(o.name);
  return "";
}

bool KernelReader::is_local(const Node* root) const {
  const auto at = plan_.memory.find(root);
  return at != plan_.memory.end() &&
         plan_.buffers[static_cast<std::size_t>(at->second)].kind == Buffer::Kind::local;
}

void KernelReader::add_reads(const Kernel& kernel, const std::vector<const Node*>& nodes, const Sizes& sizes,
                             KernelFacts& facts) const {
  std::unordered_set<const Node*> seen(kernel.roots.begin(), kernel.roots.end());
  for (const Node* n : nodes)
    for (std::size_t i = 0; i < n->inputs.size(); ++i) {
      const Node* from = n->inputs[i].id();
      if ((!roots_.contains(from) && !is_input(from)) || !seen.insert(from).second) continue;
      if (n->op->kind == ir::OpKind::indexing && i == 0)  // picks some of it
        facts.bytes += std::min(batch_bytes(from->type, sizes), bytes_of(n->type, sizes));
      else
        (is_local(from) ? facts.cached : facts.bytes) += batch_bytes(from->type, sizes);
    }
}

void KernelReader::add_writes(const Kernel& kernel, const Sizes& sizes, KernelFacts& facts) const {
  for (const Node* root : kernel.roots) {
    const auto stores = plan_.stores.find(root);
    const double bytes = bytes_of(root->type, sizes);
    if (plan_.places.contains(root)) facts.bytes += bytes;
    if (stores != plan_.stores.end())
      (is_local(root) ? facts.cached : facts.bytes) += bytes * static_cast<double>(stores->second.size());
  }
}

KernelFacts KernelReader::describe(std::size_t number) const {
  const Kernel& kernel = plan_.schedule.kernels[number];
  const auto nodes = nodes_of(kernel);
  KernelFacts out;
  out.path = path_of(kernel, nodes);
  out.ops = ops_text(nodes, kernel.roots);
  out.supplier = supplier_of(kernel);
  out.reason = reason_of(kernel);
  out.type = to_string(kernel.roots[0]->type);
  out.chain = kernel.batchwise;
  out.phase = plan_.schedule.phase_of(static_cast<int>(number));
  return out;
}

KernelFacts KernelReader::measure(std::size_t number, const Sizes& sizes) const {
  KernelFacts out = describe(number);
  const Kernel& kernel = plan_.schedule.kernels[number];
  const auto nodes = nodes_of(kernel);
  out.part = part_of(kernel, nodes, sizes);
  if (kernel.kind == KernelKind::assembly) return out;
  for (const Node* n : nodes) out.flops += operations_of(n, sizes);
  add_reads(kernel, nodes, sizes, out);
  add_writes(kernel, sizes, out);
  return out;
}

}  // namespace tightloop::backends::cpu
