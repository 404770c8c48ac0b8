// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

#define TIGHTLOOP_OPTIMIZER(name) const OptimizerDef& name##_def();
#include <tightloop/optim/index.def>
#undef TIGHTLOOP_OPTIMIZER

}  // namespace tightloop::optim
