// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/group_norm.h>

#include <tightloop/nn/layers/channel_norm.h>
#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/moments.h>

#include <fmt/format.h>

namespace tightloop::nn {

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t channels, GroupNormOptions options)
    : groups_(groups), channels_(channels), eps_(options.eps) {
  if (groups < 1 || channels < 1 || channels % groups != 0)
    throw Error(fmt::format("group_norm: {} channels are not divided by {} groups", channels, groups));
  if (!(eps_ > 0)) throw Error(fmt::format("group_norm: eps must be above 0, not {}", eps_));
  if (!options.affine) return;
  weight.emplace(Shape{channels}, init::ones());
  bias.emplace(Shape{channels}, init::zeros());
}

void GroupNorm::fields(Fields& f) {
  if (weight) f("weight", *weight)("bias", *bias);
}

std::string GroupNorm::describe() const {
  return fmt::format("GroupNorm({}, {}, eps={}{})", groups_, channels_, eps_, weight ? "" : ", affine=false");
}

Tensor GroupNorm::forward(const Tensor& x) {
  if (x.rank() < 2 || !x.dim(1).is(channels_) || !is_floating(x.dtype()))
    throw Error(fmt::format("group_norm: x must be floating [batch, {}, ...], got {}", channels_,
                            to_string(x.type())));
  std::vector<Dim> rest(x.shape().begin() + 2, x.shape().end());
  const Shape grouped{x.dim(0), groups_, Shape(std::move(rest)).count().factor * (channels_ / groups_)};
  const Tensor y = reshape(normalized(moments(reshape(x, grouped), {2}), eps_), x.shape());
  return weight ? y * per_channel(*weight, x.rank()) + per_channel(*bias, x.rank()) : y;
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  return std::make_unique<GroupNorm>(o.at<std::int64_t>("num_groups"), channels_of("group_norm", x),
                                     GroupNormOptions{o.at<double>("eps"), o.at<bool>("affine")});
}

}  // namespace

const LayerDef& group_norm_def() {
  static const LayerDef def{
      "group_norm",
      "groups of channels of each sample centred and scaled",
      {{"num_groups", OptionType::integer, {}, "groups that the channels are cut into", true},
       {"eps", OptionType::number, 1e-5},
       {"affine", OptionType::boolean, true}},
      build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
