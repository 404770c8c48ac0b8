// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/graph.h>

#include <unordered_map>
#include <unordered_set>

namespace tightloop::backends::cpu {

/// A value read by several kernels is stored when computing it again costs more than this many simple
/// vector instructions; one stretched by a broadcast when it costs more than kStretchCost.
inline constexpr double kShareCost = 4;
inline constexpr double kStretchCost = 1;
/// kShareCost of a value whose operands are stored in 16 bits: one transcendental function may be computed
/// twice.
inline constexpr double kLowShareCost = 48;

/// A kernel does about this many instructions an element and no more: the time to compile one grows faster
/// than its size, and values that no register holds would be stored anyway.
inline constexpr double kLargestKernel = 240;

/// Vector instructions for one element of a node alone.
double own_cost(const ir::Node& n);

/// Vector instructions to compute one element of an inline node, looking through other inline nodes.
class CostModel {
 public:
  explicit CostModel(const std::unordered_set<const ir::Node*>& roots) : roots_(roots) {}
  double of(const ir::Node* n);
  /// The same for a root: what its kernel computes for it.
  double inside(const ir::Node* root);

 private:
  const std::unordered_set<const ir::Node*>& roots_;
  std::unordered_map<const ir::Node*, double> known_;
};

/// Floating-point operations of one node, as `bench` counts them (2·M·N·K for a matmul).
double flops_of(const ir::Node& n, const Sizes& sizes);

}  // namespace tightloop::backends::cpu
