// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/models/model.h>

#include <tightloop/nn/models/index.h>

#include <array>

namespace tightloop::nn {

std::span<const LayerDef* const> all_models() {
  static const auto models = std::to_array<const LayerDef*>({
#define TIGHTLOOP_MODEL(name) &models::name##_def(),
#include <tightloop/nn/models/index.def>
#undef TIGHTLOOP_MODEL
  });
  return models;
}

const LayerDef* find_layer_or_model(std::string_view name) {
  for (const LayerDef* def : all_models())
    if (def->name == name) return def;
  return find_layer(name);
}

}  // namespace tightloop::nn
