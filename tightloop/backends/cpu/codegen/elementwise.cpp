// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/codegen/kernels.h>
#include <tightloop/backends/cpu/plan/assembly.h>
#include <tightloop/ops/index.h>

#include <unordered_set>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

constexpr std::int64_t kGrain = 64;  // elements: parts of a flat loop start on cache lines

Dim domain_count(const Kernel& kernel) { return Shape(kernel.domain).count(); }

/// Every access is at the element's own row-major number, or at the one element of a scalar.
class Flatness {
 public:
  explicit Flatness(const KernelBuilder& k) : k_(k), count_(domain_count(k.kernel())) {}

  bool holds() {
    for (const Node* r : k_.kernel().roots)
      if (is_piece(r) || !inline_node(r)) return false;
    return true;
  }

 private:
  bool visit(const Node* n) {
    if (n->op == &ops::constant_op() || n->op == &ops::size_op()) return true;
    const bool foreign = is_input(n) || k_.plan().schedule.is_root(n);
    if (foreign) return n->type.shape.count() == count_;
    return inline_node(n);
  }

  bool inline_node(const Node* n) {
    if (!seen_.insert(n).second) return true;
    if (n->op == &ops::constant_op() || n->op == &ops::size_op()) return true;
    if (!(n->type.shape.count() == count_)) return false;
    if (n->op->kind == ir::OpKind::random) return n->attrs.find("within") == nullptr;
    if (n->op == &ops::broadcast_op() && n->inputs[0].shape().count().is(1)) return true;
    const bool same_order =
        n->op->kind == ir::OpKind::elementwise || n->op == &ops::reshape_op() || is_unit_reshape(n);
    if (!same_order) return false;
    for (const Tensor& t : n->inputs)
      if (!visit(t.id())) return false;
    return true;
  }

  const KernelBuilder& k_;
  Dim count_;
  std::unordered_set<const Node*> seen_;
};

}  // namespace

int kernel_lanes(const Kernel& kernel, const Target& target) {
  bool wide = true;
  for (const Node* r : kernel.roots) wide = wide && r->type.dtype == DType::f64;
  return target.lanes(wide ? 8 : 4);
}

bool leaves_rest(const Dim& d, int lanes) { return d.factor % lanes != 0; }

void emit_elementwise(KernelBuilder& k) {
  const Kernel& kernel = k.kernel();
  const std::vector<Dim>& domain = kernel.domain;
  if (domain.empty()) {
    k.finish_roots({});
    return;
  }
  k.set_lanes(kernel_lanes(kernel, k.target()));
  if (Flatness(k).holds()) {
    const Dim count = domain_count(kernel);
    const auto [begin, end] = k.share(count, kGrain);
    k.vector_loop(begin, end, leaves_rest(count, k.lanes()), [&](llvm::Value* i) {
      k.finish_roots({{k.lane_index(i, k.level())}, true});
    });
    return;
  }
  const bool alone = domain.size() == 1;
  const auto [begin, end] = k.share(domain[0], alone ? kGrain : 1);
  Position p;
  for (std::size_t d = 0; d + 1 < domain.size(); ++d) {
    llvm::Value* i = d == 0 ? k.begin_loop(begin, end, k.number(1))
                            : k.begin_loop(k.number(0), k.extent(domain[d]), k.number(1));
    p.dims.push_back(k.uniform_index(i, k.level()));
  }
  llvm::Value* first = alone ? begin : k.number(0);
  llvm::Value* last = alone ? end : k.extent(domain.back());
  k.vector_loop(first, last, leaves_rest(domain.back(), k.lanes()), [&](llvm::Value* i) {
    Position at = p;
    at.dims.push_back(k.lane_index(i, k.level()));
    k.finish_roots(at);
  });
  for (std::size_t d = 0; d + 1 < domain.size(); ++d) k.end_loop();
}

}  // namespace tightloop::backends::cpu
