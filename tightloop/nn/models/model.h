// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn {

/// The models of models/index.def, in its order: layers made of layers, which a forward text calls by name
/// too.
std::span<const LayerDef* const> all_models();
/// The layer or model of this name; null when there is none.
const LayerDef* find_layer_or_model(std::string_view name);

}  // namespace tightloop::nn
