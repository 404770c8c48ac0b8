// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

namespace tightloop::backends::cpu {

/// What generated code is handed. The code generator knows the offsets of these members.
struct StepContext {
  void** buffers;      ///< one pointer per buffer of the plan
  std::int64_t batch;  ///< B
  std::int64_t rows;   ///< N
  std::int64_t first;  ///< row of the batch, where the data are walked in order
  std::int64_t epoch;
  std::int64_t step;
  std::int64_t seed;
  std::int64_t groups;  ///< G
  std::int64_t group;   ///< the one that a batchwise kernel is in,
  std::int64_t fresh;   ///< and 1 in the group's first stretch of samples, else 0
};

/// One generated kernel: computes part `part` of `parts` of its outputs. A batchwise kernel: the samples from
/// `part` up to `parts`, all of one group. `terms` tell it from kernels that share its function
/// (codegen/alike.h).
using KernelFn = void (*)(const StepContext*, std::int64_t part, std::int64_t parts,
                          const std::int64_t* terms);

}  // namespace tightloop::backends::cpu
