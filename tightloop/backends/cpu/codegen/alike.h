// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/plan/plan.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tightloop::backends::cpu {

/// What may differ between two kernels that share a function: which buffers they use, where their slices
/// start and their pieces go. A call is handed `values`; the function knows each by its number.
struct Terms {
  std::vector<std::int64_t> values;
  std::unordered_map<int, std::size_t> buffers;  ///< buffer of the plan → number
  std::map<std::pair<const ir::Node*, std::size_t>, std::size_t>
      starts;  ///< slice or piece, and axis → number
};

/// Kernels that do the same to other memory have one function: the steps of a recurrence, the blocks of a
/// deep network.
struct Alike {
  /// By kernel: the first kernel like it, whose function it runs; its own number where there is none before.
  std::vector<std::size_t> model;
  /// By kernel; empty for a kernel that is like no other, whose function knows everything already.
  std::vector<Terms> terms;
};

Alike find_alike(const Plan& plan);

/// Everything that the code of a kernel depends on but its terms. Equal texts: equal code.
std::string shape_of_kernel(const Plan& plan, const Kernel& kernel, Terms& terms);

}  // namespace tightloop::backends::cpu
