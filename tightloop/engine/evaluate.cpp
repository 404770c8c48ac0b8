// SPDX-License-Identifier: Apache-2.0
// Tensor::array(): small graphs by the interpreter, larger ones by a program that is kept for the next graph
// of the same text.
#include <tightloop/backends/reference/interpret.h>
#include <tightloop/engine/evaluate.h>
#include <tightloop/engine/lift.h>
#include <tightloop/engine/program.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/window.h>

#include <list>
#include <mutex>

namespace tightloop {
namespace {

using ir::Node;

/// Element operations that the interpreter does in about the time that compiling takes.
constexpr double kInterpreted = 1e6;
constexpr std::size_t kProgramsKept = 64;

double work(const Node& node) {
  const auto elements = [](const Tensor& t) { return static_cast<double>(t.shape().count().factor); };
  double out = static_cast<double>(node.type.shape.count().factor);
  for (const Tensor& t : node.inputs) out = std::max(out, elements(t));
  if (node.op->kind == ir::OpKind::window) return std::max(out, ops::window_flops(node, {}) / 2);
  if (node.op->kind != ir::OpKind::contraction) return out;
  const Tensor& a = node.inputs[0];
  const bool transposed = node.attrs.get<bool>("transpose_a", false);
  return elements(node.inputs[0]) * elements(node.inputs[1]) /
         std::max(1.0, static_cast<double>(a.dim(a.rank() - (transposed ? 2 : 1)).factor));
}

double work(const ir::Graph& graph) {
  double total = 0;
  for (const Node* node : ir::topological(graph)) total += node->inputs.empty() ? 0 : work(*node);
  return total;
}

/// The programs used last, by the text of their graph.
class Programs {
 public:
  std::vector<Array> run(const Lifted& lifted) {
    const std::lock_guard lock(mutex_);
    Program& program = find(lifted.graph);
    for (const auto& [name, value] : lifted.bound) program.bind(name, value);
    program.run_once();
    std::vector<Array> out;
    for (const auto& o : lifted.graph.outputs) out.push_back(program.result(o.name).clone());
    for (const auto& [name, value] : lifted.bound) program.release(name);
    return out;
  }

 private:
  struct Entry {
    std::string text;
    Program program;
  };

  Program& find(const ir::Graph& graph) {
    std::string text = ir::print(graph);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->text != text) continue;
      entries_.splice(entries_.begin(), entries_, it);
      return it->program;
    }
    if (entries_.size() == kProgramsKept) entries_.pop_back();
    entries_.push_front({std::move(text), Program::compile(graph)});
    return entries_.front().program;
  }

  std::mutex mutex_;
  std::list<Entry> entries_;
};

std::vector<Array> run(const Lifted& lifted) {
  if (work(lifted.graph) > kInterpreted) {
    static Programs programs;
    return programs.run(lifted);
  }
  std::vector<Array> inputs;
  for (const auto& [name, value] : lifted.bound) inputs.push_back(value);
  return backends::interpret(lifted.graph, inputs);
}

/// The first input without a value, null when there is none.
const Node* missing_input(const Tensor& root) {
  std::vector<const Node*> pending{root.id()};
  std::unordered_map<const Node*, bool> seen;
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (node->value != nullptr || !seen.emplace(node, true).second) continue;
    if (node->op == &ops::input_op() || node->op == &ops::size_op() || !node->type.shape.is_static())
      return node;
    for (const Tensor& t : node->inputs) pending.push_back(t.id());
  }
  return nullptr;
}

void check(const Tensor& tensor) {
  const Node* missing = missing_input(tensor);
  if (missing == nullptr) return;
  const std::string what = missing->op == &ops::input_op() ? "the input '" + ir::input_name(*missing) + "'"
                                                           : std::string("a dim that only a run knows");
  throw Error("this tensor has no value yet: it depends on " + what +
              ". Values can be read outside the function being traced, not inside");
}

}  // namespace

bool can_evaluate(const Tensor& tensor) { return missing_input(tensor) == nullptr; }

void evaluate(const std::vector<Tensor>& tensors) {
  ir::Graph graph{"eager", {}, {}};
  std::vector<Tensor> wanted;
  for (const Tensor& t : tensors) {
    if (t.node().value != nullptr) continue;
    check(t);
    graph.outputs.push_back({std::to_string(wanted.size()), t});
    wanted.push_back(t);
  }
  if (wanted.empty()) return;
  const std::vector<Array> values = run(lift_values(graph, Scalars::inputs));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    wanted[i].node().value = std::make_shared<const Array>(values[i]);
}

const Array& Tensor::array() const {
  if (node().value == nullptr) evaluate({*this});
  return *node().value;
}

double Tensor::item() const {
  const Array& a = array();
  if (a.count() != 1) throw Error("item: the tensor is " + to_string(type()) + ", not a single element");
  return a.at(0);
}

}  // namespace tightloop
