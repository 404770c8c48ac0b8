// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/plan/depends.h>
#include <tightloop/backends/cpu/plan/schedule.h>

namespace tightloop::backends::cpu {

struct PhaseOrder {
  std::vector<int> kernels;  ///< numbers of the kernels in the order to run them
  std::vector<Phase> phases;
};

/// Orders kernels in as few phases as their dependencies allow.
PhaseOrder order_in_phases(const std::vector<Kernel>& kernels, const Depends& depends);

}  // namespace tightloop::backends::cpu
