// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/layer_norm.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/last_dims.h>
#include <tightloop/nn/layers/moments.h>

#include <fmt/format.h>

namespace tightloop::nn {

LayerNorm::LayerNorm(std::vector<std::int64_t> shape, LayerNormOptions options)
    : shape_(checked_last_dims("layer_norm", std::move(shape))), eps_(options.eps) {
  if (!(options.eps > 0)) throw Error(fmt::format("layer_norm: eps must be above 0, not {}", options.eps));
  if (!options.elementwise_affine) return;
  const Shape dims(std::vector<Dim>(shape_.begin(), shape_.end()));
  weight.emplace(dims, init::ones());
  if (options.bias) bias.emplace(dims, init::zeros());
}

void LayerNorm::fields(Fields& f) {
  if (weight) f("weight", *weight);
  if (bias) f("bias", *bias);
}

std::string LayerNorm::describe() const {
  return fmt::format("LayerNorm([{}], eps={}{})", fmt::join(shape_, ", "), eps_,
                     !weight ? ", elementwise_affine=false"
                     : !bias ? ", bias=false"
                             : "");
}

Tensor LayerNorm::forward(const Tensor& x) {
  Tensor y = normalized(moments(x, last_axes("layer_norm", x, shape_)), eps_);
  if (weight) y = y * *weight;
  return bias ? y + *bias : y;
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  return std::make_unique<LayerNorm>(
      last_dims("layer_norm", o, x),
      LayerNormOptions{o.at<double>("eps"), o.at<bool>("elementwise_affine"), o.at<bool>("bias")});
}

}  // namespace

const LayerDef& layer_norm_def() {
  static const LayerDef def{"layer_norm",
                            "the last dims centred and scaled",
                            {last_dims_spec(),
                             {"eps", OptionType::number, 1e-5},
                             {"elementwise_affine", OptionType::boolean, true},
                             {"bias", OptionType::boolean, true}},
                            build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
