// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/plan/plan.h>
#include <tightloop/backends/facts.h>

#include <unordered_set>
#include <vector>

namespace tightloop::backends::cpu {

/// Says of single kernels where they come from and what they do.
class KernelReader {
 public:
  explicit KernelReader(const Plan& plan);

  /// All but the part and the work.
  KernelFacts describe(std::size_t kernel) const;
  /// With the part that most of its operations belong to, flops and bytes of a step.
  KernelFacts measure(std::size_t kernel, const Sizes& sizes) const;

 private:
  std::vector<const ir::Node*> nodes_of(const Kernel& kernel) const;
  Part part_of(const Kernel& kernel, const std::vector<const ir::Node*>& nodes, const Sizes& sizes) const;
  Part part_of(const ir::Node* root) const;
  std::string path_of(const Kernel& kernel, const std::vector<const ir::Node*>& nodes) const;
  void add_reads(const Kernel& kernel, const std::vector<const ir::Node*>& nodes, const Sizes& sizes,
                 KernelFacts& facts) const;
  void add_writes(const Kernel& kernel, const Sizes& sizes, KernelFacts& facts) const;
  bool is_local(const ir::Node* root) const;

  const Plan& plan_;
  std::unordered_set<const ir::Node*> roots_;
  std::unordered_set<const ir::Node*> forward_;  ///< what the loss, or else any result, needs
  std::unordered_set<const ir::Node*> learned_;  ///< what depends on a state
  std::unordered_set<const ir::Node*> taught_;   ///< what the next values of parameters need
};

}  // namespace tightloop::backends::cpu
