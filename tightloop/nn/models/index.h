// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/models/model.h>

namespace tightloop::nn::models {

#define TIGHTLOOP_MODEL(name) const LayerDef& name##_def();
#include <tightloop/nn/models/index.def>
#undef TIGHTLOOP_MODEL

}  // namespace tightloop::nn::models
