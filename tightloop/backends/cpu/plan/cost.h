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

/// Vector instructions to compute one element of an inline node, looking through other inline nodes.
class CostModel {
 public:
  explicit CostModel(const std::unordered_set<const ir::Node*>& roots) : roots_(roots) {}
  double of(const ir::Node* n);

 private:
  const std::unordered_set<const ir::Node*>& roots_;
  std::unordered_map<const ir::Node*, double> known_;
};

/// Floating-point operations of one node, as `bench` counts them (2·M·N·K for a matmul).
double flops_of(const ir::Node& n, const Sizes& sizes);

}  // namespace tightloop::backends::cpu
