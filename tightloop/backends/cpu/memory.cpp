// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/memory.h>
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/backends/cpu/plan/cost.h>
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/ops/index.h>

#include <algorithm>

namespace tightloop::backends::cpu {
namespace {

/// Between the memories of two threads, against lines fetched in pairs.
constexpr std::size_t kApart = 128;

std::size_t rounded(std::size_t bytes) { return (bytes + kApart - 1) / kApart * kApart; }

}  // namespace

LibraryConvolution library_convolution(const ir::Node& n) {
  const bool pieces = is_weight_pieces(&n);
  const auto direction = pieces || n.op == &ops::convolution_weight_grad_op()
                             ? ConvolutionDirection::weight_grad
                         : n.op == &ops::convolution_op() ? ConvolutionDirection::forward
                                                          : ConvolutionDirection::input_grad;
  return {convolution_of(n),
          direction,
          pieces ? n.type.shape[0].factor : 1,
          {operand_of(&n, 0)->type.dtype, operand_of(&n, 1)->type.dtype}};
}

std::size_t temporary_bytes(const Plan& plan, const Sizes& sizes, int threads) {
  const Layout layout = lay_out(plan, sizes);
  std::size_t scratch = 0;
  for (const Kernel& kernel : plan.schedule.kernels)
    if (kernel.kind == KernelKind::window && is_library_convolution(*kernel.roots[0])) {
      const ir::Node& n = *kernel.roots[0];
      scratch = std::max(scratch, library_convolution(n).expected_scratch(n.inputs[0].dim(0).value(sizes)));
    }
  return layout.bytes + static_cast<std::size_t>(threads) * (rounded(layout.local_bytes) + scratch) +
         static_cast<std::size_t>(sizes.batch) * sizeof(std::int64_t);
}

double recomputed_share(const Plan& plan, const std::unordered_set<const ir::Node*>& again_nodes,
                        const Sizes& sizes) {
  double again = 0, once = 0;
  for (const ir::Node* n : ir::topological(plan.graph)) {
    const Sizes all{sizes.batch, sizes.rows, most_groups(sizes.batch, plan.stretch)};
    (again_nodes.contains(n) ? again : once) += flops_of(*n, all);
  }
  return once > 0 ? again / once : 0;
}

}  // namespace tightloop::backends::cpu
