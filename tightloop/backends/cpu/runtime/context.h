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
  std::int64_t step;
  std::int64_t seed;
};

/// One generated kernel: computes part `part` of `parts` of its outputs.
using KernelFn = void (*)(const StepContext*, std::int64_t part, std::int64_t parts);

}  // namespace tightloop::backends::cpu
