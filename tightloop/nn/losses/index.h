// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/losses/loss.h>

namespace tightloop::nn::losses {

#define TIGHTLOOP_LOSS(name) const LossDef& name##_def();
#include <tightloop/nn/losses/index.def>
#undef TIGHTLOOP_LOSS

}  // namespace tightloop::nn::losses
