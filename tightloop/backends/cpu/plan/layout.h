// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/plan/plan.h>

namespace tightloop::backends::cpu {

/// Bytes of the temporaries that are alive at the same time, at most: no layout of them (lay_out() in plan.h)
/// takes less.
std::size_t live_bytes(const Plan& plan, const Sizes& sizes);

}  // namespace tightloop::backends::cpu
