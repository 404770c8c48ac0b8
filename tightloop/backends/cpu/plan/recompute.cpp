// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/assembly.h>
#include <tightloop/backends/cpu/plan/forward.h>
#include <tightloop/backends/cpu/plan/recompute.h>
#include <tightloop/ir/node.h>

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <utility>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

/// A value of the backward that comes before all that reads a segment, and as late as can be: the gradient
/// of what the segment makes.
class Arrivals {
 public:
  Arrivals(const StepNodes& step, const Segments& segments) : step_(step), marks_(step.size(), -1) {
    for (std::size_t i = 0; i < step.size(); ++i) {
      if (segments[i] < 0) continue;
      const auto s = static_cast<std::size_t>(segments[i]);
      if (s >= members_.size()) members_.resize(s + 1);
      members_[s].push_back(i);
    }
  }

  std::size_t segments() const { return members_.size(); }

  std::optional<std::size_t> of(std::size_t segment) {
    const auto mark = static_cast<int>(segment);
    int top = 0;
    std::vector<std::size_t> reached;
    const auto reach = [&](std::size_t i) {
      if (!step_.backward(i) || marks_[i] == mark) return;
      marks_[i] = mark;
      reached.push_back(i);
    };
    for (const std::size_t i : members_[segment]) {
      top = std::max(top, step_.level(i));
      for (const std::size_t r : step_.readers(i)) reach(r);
    }
    for (std::size_t at = 0; at < reached.size(); ++at)
      for (const std::size_t r : step_.readers(reached[at])) reach(r);
    return earliest(reached, mark, top);
  }

 private:
  std::optional<std::size_t> earliest(const std::vector<std::size_t>& reached, int mark, int top) const {
    std::optional<std::size_t> best;
    std::pair<int, int> rank;
    for (const std::size_t i : reached)
      for (const Tensor& t : step_.node(i)->inputs) {
        const std::size_t from = step_.number(t.id());
        if (!step_.backward(from) || marks_[from] == mark || step_.level(from) <= top) continue;
        const std::pair<int, int> own{step_.level(i), -step_.level(from)};
        if (best && rank <= own) continue;
        best = from;
        rank = own;
      }
    return best;
  }

  const StepNodes& step_;
  std::vector<std::vector<std::size_t>> members_;
  std::vector<int> marks_;
};

/// Gives the backward's nodes values of its own in the place of those of a segment.
class Cloner {
 public:
  Cloner(const StepNodes& step, const Segments& segments) : step_(step), segments_(segments) {
    Arrivals arrivals(step, segments);
    for (std::size_t s = 0; s < arrivals.segments(); ++s) arrivals_.push_back(arrivals.of(s));
  }

  Recomputed run(const ir::Graph& graph) {
    out_.graph = ir::rewrite(graph, [&](const Node& n, const std::vector<Tensor>& inputs) -> Tensor {
      const std::size_t i = step_.number(&n);
      Tensor made = step_.backward(i) ? reader(n, inputs) : Tensor();
      if (is_arrival(i)) {
        if (!made.defined()) made = same(n, inputs);
        arrived_[i] = made.id();
      }
      return made;
    });
    for (const auto& [clone, arrival] : waiting_) out_.waits.emplace(clone, arrived_.at(arrival));
    return std::move(out_);
  }

 private:
  bool is_arrival(std::size_t i) const {
    return std::any_of(arrivals_.begin(), arrivals_.end(), [&](const auto& a) { return a == i; });
  }

  /// The segment that value `i` of the forward is computed again with.
  std::optional<std::size_t> segment(std::size_t i) const {
    if (segments_[i] < 0) return {};
    const auto s = static_cast<std::size_t>(segments_[i]);
    return arrivals_[s] ? std::optional(s) : std::nullopt;
  }

  static Tensor same(const Node& n, const std::vector<Tensor>& inputs) {
    return ir::make_node(*n.op, inputs, n.attrs, n.op->typed ? &n.type : nullptr);
  }

  Tensor reader(const Node& n, std::vector<Tensor> inputs) {
    bool changed = false;
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (const auto s = segment(step_.number(n.inputs[k].id()))) {
        inputs[k] = again(*s, n.inputs[k]);
        changed = true;
      }
    return changed ? same(n, inputs) : Tensor();
  }

  /// The forward itself stays as it is, so its nodes are those of the graph that is rewritten.
  Tensor again(std::size_t s, const Tensor& value) {
    struct Frame {
      Tensor value;
      std::size_t next = 0;
      std::vector<Tensor> inputs = {};
    };
    std::vector<Frame> stack{{value}};
    for (;;) {
      Frame& frame = stack.back();
      const Node& n = frame.value.node();
      if (frame.next < n.inputs.size()) {
        const Tensor& input = n.inputs[frame.next];
        if (!is_again(input, is_assembly(&n))) {
          keep(input);
          frame.inputs.push_back(input);
          ++frame.next;
        } else if (const auto at = clones_.find({s, input.id()}); at != clones_.end()) {
          frame.inputs.push_back(at->second);
          ++frame.next;
        } else {
          stack.push_back({input});
        }
        continue;
      }
      const Tensor clone = made(s, frame.value, frame.inputs);
      stack.pop_back();
      if (stack.empty()) return clone;
    }
  }

  Tensor made(std::size_t s, const Tensor& value, const std::vector<Tensor>& inputs) {
    const auto at = clones_.find({s, value.id()});
    if (at != clones_.end()) return at->second;
    const ir::ScopeOf scope(value.node());
    Tensor clone = same(value.node(), inputs);
    clones_.emplace(std::pair(s, value.id()), clone);
    waiting_.emplace_back(clone.id(), *arrivals_[s]);
    return clone;
  }

  /// The pieces of an assembly belong to it alone.
  bool is_again(const Tensor& value, bool piece) const {
    return piece || segment(step_.number(value.id())).has_value();
  }

  void keep(const Tensor& value) {
    const std::size_t i = step_.number(value.id());
    if (step_.material(i) && !step_.small(i) && value.node().op->kind == ir::OpKind::elementwise)
      out_.kept.insert(value.id());
  }

  const StepNodes& step_;
  const Segments& segments_;
  std::vector<std::optional<std::size_t>> arrivals_;  ///< by segment
  std::map<std::pair<std::size_t, const Node*>, Tensor> clones_;
  std::vector<std::pair<const Node*, std::size_t>> waiting_;
  std::unordered_map<std::size_t, const Node*> arrived_;
  Recomputed out_;
};

}  // namespace

Recomputed recompute(const ir::Graph& graph, const Recompute& what) {
  if (what.what == Recompute::What::nothing || graph.output("loss") == nullptr) return {graph};
  const StepNodes step(graph);
  const Segments segments = choose_segments(step, what);
  if (std::all_of(segments.begin(), segments.end(), [](int s) { return s < 0; })) return {graph};
  return Cloner(step, segments).run(graph);
}

std::vector<const Node*> in_order(const ir::Graph& graph,
                                  const std::unordered_map<const Node*, const Node*>& waits) {
  std::vector<const Node*> plain = ir::topological(graph);
  if (waits.empty()) return plain;
  std::unordered_map<const Node*, std::size_t> number;
  for (std::size_t i = 0; i < plain.size(); ++i) number.emplace(plain[i], i);
  std::vector<std::vector<std::size_t>> readers(plain.size());
  std::vector<std::size_t> missing(plain.size(), 0);
  const auto edge = [&](const Node* from, std::size_t to) {
    readers[number.at(from)].push_back(to);
    ++missing[to];
  };
  for (std::size_t i = 0; i < plain.size(); ++i) {
    for (const Tensor& t : plain[i]->inputs) edge(t.id(), i);
    if (const auto at = waits.find(plain[i]); at != waits.end()) edge(at->second, i);
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < plain.size(); ++i)
    if (missing[i] == 0) ready.push(i);
  std::vector<const Node*> out;
  std::vector<bool> waiting(plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) waiting[i] = waits.contains(plain[i]);
  std::size_t stuck = 0;  // waits before this number were given up
  while (out.size() < plain.size()) {
    while (ready.empty()) {
      require(stuck < plain.size(), "in_order: a cycle");
      if (waiting[stuck] && missing[stuck] > 0 && --missing[stuck] == 0) ready.push(stuck);
      ++stuck;
    }
    const std::size_t i = ready.top();
    ready.pop();
    out.push_back(plain[i]);
    for (const std::size_t r : readers[i])
      if (missing[r] > 0 && --missing[r] == 0) ready.push(r);
  }
  return out;
}

}  // namespace tightloop::backends::cpu
