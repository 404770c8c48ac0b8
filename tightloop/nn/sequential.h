// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

#include <memory>
#include <vector>

namespace tightloop::nn {

/// Layers one after the other, named "0", "1", ...
///
///     nn::Sequential net(nn::Linear(8, 64), nn::Tanh(), nn::Linear(64, 4));
class Sequential final : public Layer {
 public:
  Sequential() = default;
  template <class... L>
  requires((std::is_base_of_v<Layer, L> && ...) && sizeof...(L) > 0) explicit Sequential(L... layers) {
    (add(std::make_unique<L>(std::move(layers))), ...);
  }

  void add(std::unique_ptr<Layer> layer) { layers_.push_back(std::move(layer)); }
  std::size_t size() const { return layers_.size(); }
  /// Throws Error when there is no layer `i`.
  Layer& operator[](std::size_t i);
  using Layer::operator();

  void fields(Fields& f) override;
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::vector<std::unique_ptr<Layer>> layers_;
};

}  // namespace tightloop::nn
