// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/layer.h>

#include <tightloop/nn/layers/index.h>

#include <fmt/format.h>

#include <array>

namespace tightloop::nn {

Tensor Layer::operator()(const Tensor& x) {
  const ir::Scope scope(name());
  return forward(x);
}

std::span<const LayerDef* const> all_layers() {
  static const auto layers = std::to_array<const LayerDef*>({
#define TIGHTLOOP_LAYER(name) &layers::name##_def(),
#include <tightloop/nn/layers/index.def>
#undef TIGHTLOOP_LAYER
  });
  return layers;
}

const LayerDef* find_layer(std::string_view name) {
  for (const LayerDef* def : all_layers())
    if (def->name == name) return def;
  return nullptr;
}

std::unique_ptr<Layer> make_layer(std::string_view name, const Options& given, const TensorType& input) {
  if (const LayerDef* def = find_layer(name)) return def->build(resolve(name, given, def->options), input);
  std::vector<std::string> names;
  for (const LayerDef* def : all_layers()) names.emplace_back(def->name);
  throw Error(fmt::format("unknown layer '{}'{}", name, suggestion(name, names)));
}

}  // namespace tightloop::nn
