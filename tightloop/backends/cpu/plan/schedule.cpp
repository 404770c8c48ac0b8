// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/library/low_matmul.h>
#include <tightloop/backends/cpu/plan/assembly.h>
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/backends/cpu/plan/conditional.h>
#include <tightloop/backends/cpu/plan/cost.h>
#include <tightloop/backends/cpu/plan/lower_attention.h>
#include <tightloop/backends/cpu/plan/merge_dims.h>
#include <tightloop/backends/cpu/plan/phases.h>
#include <tightloop/backends/cpu/plan/recompute.h>
#include <tightloop/backends/cpu/plan/schedule.h>
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <array>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;
using ir::OpKind;
using NodeSet = std::unordered_set<const Node*>;

bool is_op(const Node* n, const ir::OpDef& op) { return n->op == &op; }

bool is_identity(const Node* n) { return is_op(n, ops::stop_gradient_op()); }

/// Its inputs are whole arrays in memory, not values computed in its loops.
bool reads_memory(const Node* n) { return n->op->kind == OpKind::contraction || is_window(n); }

bool is_low(DType d) { return d == DType::bf16 || d == DType::f16; }

/// A value that was rounded to bf16 or f16, as f32.
bool is_widening(const Node* n) {
  return is_op(n, ops::cast_op()) && n->type.dtype == DType::f32 && is_low(n->inputs[0].dtype());
}

/// What is rounded to half its bytes is stored so, and read so by all.
bool is_narrowing(const Node* n) { return is_op(n, ops::cast_op()) && is_low(n->type.dtype); }

bool swaps_last_two(const Node* n) {
  if (!is_op(n, ops::transpose_op())) return false;
  const auto& perm = n->attrs.at<ir::Ints>("perm");
  const auto count = static_cast<std::int64_t>(perm.size());
  for (std::int64_t i = 0; i < count; ++i)
    if (perm[static_cast<std::size_t>(i)] != (i == count - 2 ? count - 1 : i == count - 1 ? count - 2 : i))
      return false;
  return count >= 2;
}

/// Blocks are transposed from memory alone.
bool is_transposed_widening(const Node* n) {
  return swaps_last_two(n) && is_widening(storage_of(n->inputs[0].id()));
}

bool moves_only_ones(const Node* transposed) {
  std::int64_t last = -1;
  for (const std::int64_t from : transposed->attrs.at<ir::Ints>("perm")) {
    if (transposed->inputs[0].dim(static_cast<std::size_t>(from)).is(1)) continue;
    if (from < last) return false;
    last = from;
  }
  return true;
}

/// Collects the roots of a graph in topological order.
class RootFinder {
 public:
  explicit RootFinder(const Recomputed& step)
      : order_(in_order(step.graph, step.waits)),
        roots_(step.kept.begin(), step.kept.end()),
        conditions_(find_conditions(step.graph)) {
    std::stable_partition(order_.begin(), order_.end(),
                          [&](const Node* n) { return conditions_.deciding.contains(n); });
    for (const auto& [node, condition] : conditions_.of) roots_.insert(condition);
    for (const Node* n : order_) {
      if (computes_as_root(n)) roots_.insert(n);
      if (reads_memory(n))
        for (std::size_t i = 0; i < n->inputs.size(); ++i) add(operand_of(n, i));
      if (is_narrowing(n)) add(n);
      if (is_transposed_widening(n)) add(storage_of(n->inputs[0].id()));
      if (is_assembly(n))
        for (const Tensor& t : n->inputs) add(t.id());
    }
    for (const auto& o : step.graph.outputs) add(o.value.id());
    share_dear_values();
  }

  const NodeSet& roots() const { return roots_; }
  const Conditions& conditions() const { return conditions_; }
  std::vector<const Node*> ordered() const {
    std::vector<const Node*> out;
    for (const Node* n : order_)
      if (roots_.contains(n)) out.push_back(n);
    return out;
  }

 private:
  void add(const Node* n) {
    if (!is_input(n)) roots_.insert(n);
  }

  /// Inline nodes that several kernels read, or that a broadcast would compute many times, become roots
  /// when computing them again costs more than storing and loading them.
  void share_dear_values() {
    const auto readers = count_readers();
    CostModel cost(roots_);
    for (const Node* n : order_) {
      if (roots_.contains(n) || is_input(n)) continue;
      const double c = cost.of(n);
      const auto found = readers.find(n);
      const Readers r = found == readers.end() ? Readers{} : found->second;
      const bool repeated = r.count > 1 && c > (comes_from_low(n) ? kLowShareCost : kShareCost);
      const bool stretched = r.stretched && c > kStretchCost && !n->type.shape.is_scalar();
      const bool needs_memory = r.reshaped;
      const bool large = c > kLargestKernel / 2;
      if (repeated || stretched || needs_memory || large) roots_.insert(n);
    }
  }

  /// Everything of its size that it is computed from is stored as bf16 or f16: storing it too would take
  /// three times the memory.
  bool comes_from_low(const Node* n) {
    const auto known = from_low_.find(n);
    if (known != from_low_.end()) return known->second;
    bool any = false, all = true;
    for (const Tensor& t : n->inputs) {
      const Node* from = t.id();
      if (!(from->type.shape.count() == n->type.shape.count())) continue;
      const bool low =
          is_input(from) || roots_.contains(from) ? is_low(from->type.dtype) : comes_from_low(from);
      const bool number = from->op->kind == OpKind::source && !is_input(from);
      const bool stretched = is_op(from, ops::broadcast_op());
      any = any || low;
      all = all && (low || number || stretched);
    }
    return from_low_[n] = any && all;
  }

  struct Readers {
    int count = 0;
    bool stretched = false;
    bool reshaped = false;
  };

  std::unordered_map<const Node*, Readers> count_readers() const {
    std::unordered_map<const Node*, Readers> readers;
    for (const Node* n : order_)
      for (const Tensor& t : n->inputs) {
        Readers& r = readers[t.id()];
        ++r.count;
        if (is_op(n, ops::broadcast_op()) && !(t.type().shape.count() == n->type.shape.count()))
          r.stretched = true;
        if (is_op(n, ops::reshape_op()) && !is_unit_reshape(n)) readers[storage_of(n)].reshaped = true;
      }
    return readers;
  }

  std::vector<const Node*> order_;
  NodeSet roots_;
  std::unordered_map<const Node*, bool> from_low_;
  Conditions conditions_;
};

/// Assigns roots to kernels greedily, in topological order, keeping the kernel graph acyclic.
class Clusterer {
 public:
  Clusterer(const Recomputed& step, const RootFinder& finder)
      : step_(step), roots_(finder.roots()), conditions_(finder.conditions()), cost_(roots_) {
    for (const Node* r : finder.ordered()) place(r);
  }

  Schedule finish() {
    Schedule s;
    for (Kernel& k : kernels_) {
      k.batchwise = runs_batchwise(k);
      if (k.batchwise) k.only_if = nullptr;
      if (k.only_if != nullptr) s.stored.insert(k.only_if);
    }
    const PhaseOrder order = order_in_phases(kernels_, depends_);
    s.phases = order.phases;
    std::vector<int> position(kernels_.size());
    for (std::size_t i = 0; i < order.kernels.size(); ++i)
      position[static_cast<std::size_t>(order.kernels[i])] = static_cast<int>(i);
    for (const int k : order.kernels) s.kernels.push_back(std::move(kernels_[static_cast<std::size_t>(k)]));
    for (const auto& [node, k] : home_) s.home[node] = position[static_cast<std::size_t>(k)];
    for (const auto& o : step_.graph.outputs)
      if (!is_input(o.value.id())) s.stored.insert(o.value.id());
    for (const auto& [node, leaves] : leaves_)
      for (const Leaf& leaf : leaves)
        if (!is_input(leaf.node) && (s.home.at(leaf.node) != s.home.at(node) || !leaf.aligned))
          s.stored.insert(leaf.node);
    return s;
  }

 private:
  void place(const Node* r) {
    leaves_[r] = leaves_of(r, roots_);
    std::vector<Leaf> leaves = leaves_[r];
    add_waits(r, leaves);
    int k = -1;
    if (is_reduction(r))
      k = sibling_reduction(r, leaves);
    else if (!computes_as_root(r) && !is_block_transpose(r) && !is_widening(r))
      k = fusable(r, leaves);
    if (k < 0) k = open(r);
    Kernel& kernel = kernels_[static_cast<std::size_t>(k)];
    work_[static_cast<std::size_t>(k)] += cost_.inside(r);
    kernel.roots.push_back(r);
    kernel.name += (kernel.name.empty() ? "" : "+") + std::string(r->op->name);
    if (is_reduction(r) || kernel.roots.size() == 1) kernel.sources.push_back(r);
    home_[r] = k;
    if (kernel.only_if != nullptr)
      depends_.add(static_cast<std::size_t>(k), static_cast<std::size_t>(home_.at(kernel.only_if)));
    for (const Leaf& leaf : leaves)
      if (!is_input(leaf.node))
        depends_.add(static_cast<std::size_t>(k), static_cast<std::size_t>(home_.at(leaf.node)));
  }

  /// What computes again comes after what it waits for, as if it read that.
  void add_waits(const Node* r, std::vector<Leaf>& leaves) const {
    const auto at = step_.waits.find(r);
    if (at == step_.waits.end()) return;
    std::vector<Leaf> of{{at->second, false}};
    if (!roots_.contains(at->second)) of = leaves_of(at->second, roots_);
    for (const Leaf& leaf : of)
      if (home_.contains(leaf.node)) leaves.push_back({leaf.node, false});
  }

  int open(const Node* r) {
    Kernel k;
    k.domain = squeezed(r->type.shape);
    k.late = is_widening(r);
    k.kind = goes_to_library(r)                   ? KernelKind::library
             : is_window(r)                       ? KernelKind::window
             : r->op->kind == OpKind::contraction ? KernelKind::matmul
             : is_assembly(r)                     ? KernelKind::assembly
             : is_reduction(r)                    ? KernelKind::reduce
             : is_op(r, ops::scatter_add_op())    ? KernelKind::scatter
             : is_block_transpose(r)              ? KernelKind::transpose
                                                  : KernelKind::elementwise;
    k.only_if = conditions_.at(r);
    kernels_.push_back(std::move(k));
    depends_.add_kernel();
    work_.push_back(0);
    return static_cast<int>(kernels_.size()) - 1;
  }

  bool is_block_transpose(const Node* r) const {
    if (!is_op(r, ops::transpose_op()) || size_of(r->type.dtype) != 4) return false;
    const Node* from = storage_of(r->inputs[0].id());
    return (is_input(from) || roots_.contains(from)) && swaps_last_two(r);
  }

  bool accepts_epilogue(const Kernel& k) const {
    return k.kind == KernelKind::elementwise || k.kind == KernelKind::reduce || k.kind == KernelKind::matmul;
  }

  /// No leaf may come out of a kernel that itself waits for `k`; leaves inside `k` must be aligned.
  bool legal(int k, const std::vector<Leaf>& leaves) const {
    return std::all_of(leaves.begin(), leaves.end(), [&](const Leaf& leaf) {
      if (is_input(leaf.node)) return true;
      const int from = home_.at(leaf.node);
      return from == k ? leaf.aligned : !waits_for(from, k);
    });
  }

  int fusable(const Node* r, const std::vector<Leaf>& leaves) const {
    const std::vector<Dim> domain = squeezed(r->type.shape);
    const double own = cost_.inside(r);
    const auto fits = [&](int k) {
      if (work_[static_cast<std::size_t>(k)] + own > kLargestKernel) return false;
      const Kernel& kernel = kernels_[static_cast<std::size_t>(k)];
      return accepts_epilogue(kernel) && !kernel.late && kernel.domain == domain &&
             kernel.only_if == conditions_.at(r) && legal(k, leaves);
    };
    int best = -1;
    for (const Leaf& leaf : leaves)
      if (!is_input(leaf.node) && leaf.aligned && fits(home_.at(leaf.node)))
        best = std::max(best, home_.at(leaf.node));
    if (best >= 0) return best;
    for (int k = static_cast<int>(kernels_.size()) - 1; k >= first_near(); --k)
      if (kernels_[static_cast<std::size_t>(k)].kind == KernelKind::elementwise && fits(k) &&
          (domain.empty() || shares_leaf(k, leaves)))
        return k;
    return -1;
  }

  bool shares_leaf(int k, const std::vector<Leaf>& leaves) const {
    for (const Node* other : kernels_[static_cast<std::size_t>(k)].roots)
      for (const Leaf& a : leaves_.at(other))
        for (const Leaf& b : leaves)
          if (a.node == b.node && a.aligned && b.aligned) return true;
    return false;
  }

  int sibling_reduction(const Node* r, const std::vector<Leaf>& leaves) const {
    if (r->attrs.find("axes") == nullptr) return -1;
    for (int k = static_cast<int>(kernels_.size()) - 1; k >= first_near(); --k) {
      const Kernel& kernel = kernels_[static_cast<std::size_t>(k)];
      if (kernel.kind != KernelKind::reduce || kernel.sources.size() >= kMaxSiblings) continue;
      const Node* other = kernel.sources[0];
      const bool same = other->attrs.find("axes") != nullptr &&
                        other->inputs[0].shape() == r->inputs[0].shape() &&
                        other->attrs.at<ir::Ints>("axes") == r->attrs.at<ir::Ints>("axes") &&
                        is_group_sum(other) == is_group_sum(r);
      const bool outside = std::none_of(leaves.begin(), leaves.end(), [&](const Leaf& leaf) {
        return !is_input(leaf.node) && home_.at(leaf.node) == k;
      });
      if (same && outside && kernel.only_if == conditions_.at(r) && legal(k, leaves)) return k;
    }
    return -1;
  }

  /// Kernels before this one are not looked at: what shares data with them finds it cold, and a long
  /// recurrence would take a time that grows with the square of its steps.
  int first_near() const { return std::max(0, static_cast<int>(kernels_.size()) - kReach); }

  bool waits_for(int a, int b) const {
    return depends_.waits(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
  }

  bool runs_batchwise(const Kernel& k) const {
    return (accepts_epilogue(k) || k.kind == KernelKind::assembly) &&
           std::all_of(k.roots.begin(), k.roots.end(),
                       [&](const Node* r) { return is_batchwise(r, roots_); });
  }

  static constexpr std::size_t kMaxSiblings = 4;
  static constexpr int kReach = 1024;

  const Recomputed& step_;
  const NodeSet& roots_;
  const Conditions& conditions_;
  std::vector<Kernel> kernels_;
  mutable CostModel cost_;
  std::vector<double> work_;  ///< instructions an element, by kernel
  Depends depends_;
  std::unordered_map<const Node*, int> home_;
  std::unordered_map<const Node*, std::vector<Leaf>> leaves_;
};

void collect_leaves(const Node* n, bool aligned, const NodeSet& roots,
                    std::unordered_map<const Node*, bool>& seen, std::vector<const Node*>& order,
                    NodeSet& walked_aligned, NodeSet& walked) {
  if (is_input(n) || roots.contains(n)) {
    const auto [at, fresh] = seen.emplace(n, aligned);
    if (fresh)
      order.push_back(n);
    else
      at->second = at->second && aligned;
    return;
  }
  NodeSet& visited = aligned ? walked_aligned : walked;
  if (!visited.insert(n).second) return;
  const bool keeps = n->op->kind == OpKind::elementwise || is_unit_reshape(n);
  for (const Tensor& t : n->inputs)
    collect_leaves(t.id(), aligned && keeps, roots, seen, order, walked_aligned, walked);
}

}  // namespace

std::vector<Dim> squeezed(const Shape& shape) {
  std::vector<Dim> out;
  for (const Dim& d : shape)
    if (!d.is(1)) out.push_back(d);
  return out;
}

const Node* storage_of(const Node* n) {
  while (is_op(n, ops::reshape_op()) || is_identity(n)) n = n->inputs[0].id();
  return n;
}

bool library_reads_low(const Node* n) {
  return n->inputs.size() == 2 && library_computes(DType::bf16) &&
         std::all_of(n->inputs.begin(), n->inputs.end(), [](const Tensor& t) {
           const Node* from = storage_of(t.id());
           return is_widening(from) && from->inputs[0].dtype() == DType::bf16;
         });
}

const Node* operand_of(const Node* reader, std::size_t i) {
  const Node* n = storage_of(reader->inputs[i].id());
  const bool reads_low = reader->op->kind == OpKind::contraction
                             ? !goes_to_library(reader) || library_reads_low(reader)
                             : is_library_convolution(*reader);
  return reads_low && is_widening(n) ? storage_of(n->inputs[0].id()) : n;
}

bool is_input(const Node* n) { return is_op(n, ops::input_op()); }

bool is_unit_reshape(const Node* n) {
  if (is_identity(n)) return true;
  if (is_op(n, ops::reshape_op()) || is_op(n, ops::broadcast_op()))
    return squeezed(n->type.shape) == squeezed(n->inputs[0].shape());
  return is_op(n, ops::transpose_op()) && moves_only_ones(n);
}

bool is_reduction(const Node* n) { return n->op->kind == OpKind::reduction; }

bool computes_as_root(const Node* n) {
  return n->op->kind == OpKind::contraction || n->op->kind == OpKind::reduction ||
         is_op(n, ops::scatter_add_op()) || is_assembly(n) || is_window(n);
}

int Schedule::phase_of(int kernel) const {
  int phase = 0;
  while (phases[static_cast<std::size_t>(phase)].last <= kernel) ++phase;
  return phase;
}

std::vector<Leaf> leaves_of(const Node* root, const NodeSet& roots) {
  std::unordered_map<const Node*, bool> seen;
  std::vector<const Node*> order;
  NodeSet walked_aligned;
  NodeSet walked;
  const bool keeps = root->op->kind == OpKind::elementwise || is_unit_reshape(root);
  for (std::size_t i = 0; i < root->inputs.size(); ++i) {
    const Node* n = reads_memory(root) ? operand_of(root, i) : root->inputs[i].id();
    collect_leaves(n, keeps, roots, seen, order, walked_aligned, walked);
  }
  std::vector<Leaf> out;
  for (const Node* n : order) out.push_back({n, seen.at(n)});
  return out;
}

Schedule make_schedule(const Recomputed& step) {
  const RootFinder finder(step);
  return Clusterer(step, finder).finish();
}

Schedule make_schedule(const ir::Graph& graph) { return make_schedule(Recomputed{graph}); }

bool goes_to_library(const Node* n) {
  if (n->op->kind != OpKind::contraction || n->type.dtype != DType::f32 || is_group_sum(n)) return false;
  const Shape& a = n->inputs[0].shape();
  const bool transposed = n->attrs.get<bool>("transpose_a", false);
  std::int64_t largest = 0;
  const std::array<Dim, 3> sides{n->type.shape[a.rank() - 2], n->type.shape[a.rank() - 1],
                                 a[a.rank() - (transposed ? 2 : 1)]};
  for (std::size_t i = 0; i < 3; ++i) {
    const Dim &x = sides[i], &y = sides[(i + 1) % 3];
    if (x.is_static() && y.is_static()) largest = std::max(largest, x.factor * y.factor);
  }
  const auto rows = [](const Dim& d) { return d.is_static() ? 0 : d.factor; };
  if (rows(sides[2]) >= kLongSum) return largest >= kLibrarySum;
  const bool sequence = std::max(rows(sides[0]), rows(sides[1])) >= kLongSequence;
  return largest >= (sequence ? kLibrarySequenceWeight : kLibraryWeight);
}

namespace {

/// Widens anew.
Tensor widened(const Tensor& low) {
  const TensorType type{DType::f32, low.shape()};
  return ir::make_node(ops::cast_op(), {low}, {}, &type);
}

/// Views of what was rounded are views of what is stored, widened where they are read. An operand that its
/// reader cannot read as it is stored is widened for that reader alone: one widened value for the forward and
/// the backward would be kept in f32 between them.
ir::Graph widen_late(const ir::Graph& graph) {
  return ir::rewrite(graph, [](const Node& n, const std::vector<Tensor>& inputs) -> Tensor {
    if (n.op->kind == OpKind::view && inputs.size() == 1 && is_widening(inputs[0].id())) {
      const Tensor& low = inputs[0].node().inputs[0];
      const TensorType type{low.dtype(), n.type.shape};
      return widened(ir::make_node(*n.op, {low}, n.attrs, n.op->typed ? &type : nullptr));
    }
    if (!reads_memory(&n)) return {};
    std::vector<Tensor> own;
    bool changed = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool anew = is_widening(inputs[i].id()) && !is_low(operand_of(&n, i)->type.dtype);
      own.push_back(anew ? widened(inputs[i].node().inputs[0]) : inputs[i]);
      changed = changed || anew;
    }
    return changed ? ir::make_node(*n.op, std::move(own), n.attrs, n.op->typed ? &n.type : nullptr)
                   : Tensor();
  });
}

}  // namespace

ir::Graph prepare(const ir::Graph& graph) {
  std::unordered_map<const Node*, Tensor> turned;  // by operand: one copy for all products that read it
  const ir::Graph row_major = ir::rewrite(
      widen_late(lower_attention(merge_dims(graph))),
      [&](const Node& n, const std::vector<Tensor>& inputs) -> Tensor {
        if (n.op != &ops::matmul_op() || !n.attrs.get<bool>("transpose_b", false) || goes_to_library(&n))
          return {};
        const auto rank = static_cast<std::int64_t>(inputs[1].rank());
        Tensor& other = turned[inputs[1].id()];
        if (!other.defined()) other = transpose(inputs[1], rank - 2, rank - 1);
        ir::Attrs attrs;
        if (n.attrs.get<bool>("transpose_a", false)) attrs.set("transpose_a", true);
        return ir::make_node(ops::matmul_op(), {inputs[0], other}, std::move(attrs));
      });
  return split_batch_sums(lower_concats(split_weight_gradients(row_major)));
}

}  // namespace tightloop::backends::cpu
