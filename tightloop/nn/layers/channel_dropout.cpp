// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/channel_dropout.h>

#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/index.h>

#include <fmt/format.h>

namespace tightloop::nn {

ChannelDropout::ChannelDropout(const char* kind, const char* name, double p, std::size_t rank)
    : kind_(kind), label_(name), p_(p), rank_(rank) {
  if (!(p >= 0 && p <= 1)) throw Error(fmt::format("{}: p must be 0..1, got {}", kind, p));
}

std::string ChannelDropout::describe() const { return fmt::format("{}({})", label_, p_); }

Tensor ChannelDropout::forward(const Tensor& x) {
  if (x.rank() != rank_)
    throw Error(fmt::format("{}: x must be [batch, channels, {}], got {}", kind_,
                            rank_ == 3 ? "length" : "height, width", to_string(x.type())));
  std::vector<Dim> mask(rank_, Dim(1));
  mask[0] = x.dim(0);
  mask[1] = x.dim(1);
  return dropped(kind_, x, p_, Shape(std::move(mask)));
}

namespace layers {
namespace {

template <class L>
std::unique_ptr<Layer> build(const Options& o, const TensorType&) {
  return std::make_unique<L>(o.at<double>("p"));
}

}  // namespace

const LayerDef& dropout1d_def() {
  static const LayerDef def{
      "dropout1d",
      "in training, zeroes channels with probability p and scales the others by 1/(1-p)",
      {{"p", OptionType::number, 0.5}},
      build<Dropout1d>};
  return def;
}

const LayerDef& dropout2d_def() {
  static const LayerDef def{
      "dropout2d", "dropout1d of images", {{"p", OptionType::number, 0.5}}, build<Dropout2d>};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
