// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/options.h>
#include <tightloop/nn/module.h>

#include <memory>
#include <span>

namespace tightloop::nn {

/// A module from one tensor to one tensor. Nodes it makes carry its name, so that messages can tell the
/// layer.
class Layer : public Module {
 public:
  Tensor operator()(const Tensor& x);

 protected:
  /// Throws Error naming the layer when x does not fit.
  virtual Tensor forward(const Tensor& x) = 0;
};

/// A layer that a forward text calls by name: name(x, options...). One per file, listed in layers/index.def.
struct LayerDef {
  std::string_view name;
  std::string_view doc;
  std::vector<OptionSpec> options;  ///< positional arguments take them in this order
  /// `input`: the type of x. Throws Error when the layer cannot take it.
  std::unique_ptr<Layer> (*build)(const Options& resolved, const TensorType& input) = nullptr;
};

/// The layers of layers/index.def, in its order.
std::span<const LayerDef* const> all_layers();
/// Null when there is none of this name.
const LayerDef* find_layer(std::string_view name);
/// Checks `given` and builds. Throws Error on an unknown name (suggesting the nearest), option or value.
std::unique_ptr<Layer> make_layer(std::string_view name, const Options& given, const TensorType& input);

}  // namespace tightloop::nn
