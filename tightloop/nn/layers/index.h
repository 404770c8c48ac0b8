// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn::layers {

#define TIGHTLOOP_LAYER(name) const LayerDef& name##_def();
#include <tightloop/nn/layers/index.def>
#undef TIGHTLOOP_LAYER

}  // namespace tightloop::nn::layers
