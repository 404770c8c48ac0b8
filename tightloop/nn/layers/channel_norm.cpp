// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/channel_norm.h>

#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/moments.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

Array ones_of(std::int64_t channels) {
  Array a(DType::f32, {channels});
  for (float& v : a.as<float>()) v = 1;
  return a;
}

}  // namespace

ChannelNorm::ChannelNorm(const char* kind, const char* name, std::int64_t channels,
                         ChannelNormOptions options, std::size_t low, std::size_t high)
    : kind_(kind), label_(name), channels_(channels), options_(options), low_(low), high_(high) {
  if (channels < 1) throw Error(fmt::format("{}: the channels must be 1 or more, not {}", kind, channels));
  if (!(options.eps > 0)) throw Error(fmt::format("{}: eps must be above 0, not {}", kind, options.eps));
  if (options.momentum && !(*options.momentum >= 0 && *options.momentum <= 1))
    throw Error(fmt::format("{}: momentum, the weight of the new value, must be 0..1, not {}", kind,
                            *options.momentum));
  if (options.affine) {
    weight.emplace(Shape{channels}, init::ones());
    bias.emplace(Shape{channels}, init::zeros());
  }
  if (!options.track_running_stats) return;
  running_mean.emplace(Array(DType::f32, {channels}));
  running_var.emplace(ones_of(channels));
  num_batches_tracked.emplace(Array(DType::i64, {}));
}

void ChannelNorm::fields(Fields& f) {
  if (weight) f("weight", *weight)("bias", *bias);
  if (running_mean)
    f("running_mean", *running_mean)("running_var", *running_var)("num_batches_tracked",
                                                                  *num_batches_tracked);
}

std::string ChannelNorm::describe() const {
  return fmt::format("{}({}, eps={}, momentum={}{}{})", label_, channels_, options_.eps,
                     options_.momentum ? fmt::format("{}", *options_.momentum) : "none",
                     options_.affine ? "" : ", affine=false",
                     options_.track_running_stats ? "" : ", track_running_stats=false");
}

std::string ChannelNorm::title() const {
  return Module::name().empty() ? kind_ : fmt::format("{} '{}'", kind_, Module::name());
}

bool ChannelNorm::following() const { return Context::training() && running_mean.has_value(); }

void ChannelNorm::follow(const Tensor& mean, const Tensor& variance, const Tensor& weight) const {
  const Tensor kept = 1.0 - weight;
  running_mean->update(running_mean->value() * kept + mean * weight);
  running_var->update(running_var->value() * kept + variance * weight);
}

Tensor ChannelNorm::forward(const Tensor& x) {
  if (x.rank() < low_ || x.rank() > high_ || !x.dim(1).is(channels_) || !is_floating(x.dtype())) {
    std::string dims = low_ == high_ && high_ == 4   ? ", height, width"
                       : low_ == high_ && high_ == 5 ? ", depth, height, width"
                       : high_ == 3                  ? low_ == 2 ? " (, length)" : ", length"
                                                     : ", ...";
    throw Error(fmt::format("{}: x must be floating [batch, {}{}], got {}", kind_, channels_, dims,
                            to_string(x.type())));
  }
  const auto affine = [&](const Tensor& y) {
    return weight ? y * per_channel(*weight, x.rank()) + per_channel(*bias, x.rank()) : y;
  };
  if ((Context::training() && !stays()) || !running_mean) return affine(normalize(x));
  const Tensor variance = cast(*running_var, x.dtype() == DType::f64 ? DType::f64 : DType::f32);
  const Tensor scale = rsqrt(variance + options_.eps);
  const Tensor y =
      (x - per_channel(*running_mean, x.rank())) * per_channel(weight ? scale * *weight : scale, x.rank());
  return bias ? y + per_channel(*bias, x.rank()) : y;
}

namespace layers {

std::int64_t channels_of(const char* layer, const TensorType& x) {
  if (x.shape.rank() < 2 || !x.shape[1].is_static())
    throw Error(fmt::format("{}: x must be [batch, channels, ...], got {}", layer, to_string(x)));
  return x.shape[1].factor;
}

std::vector<OptionSpec> channel_option_specs(bool affine, bool track, bool momentum_or_none) {
  return {{"eps", OptionType::number, 1e-5},
          {.name = "momentum",
           .type = OptionType::number,
           .fallback = 0.1,
           .doc = "weight of the batch in the running statistics",
           .or_none = momentum_or_none},
          {"affine", OptionType::boolean, affine},
          {"track_running_stats", OptionType::boolean, track}};
}

ChannelNormOptions channel_options(const Options& o) {
  ChannelNormOptions out;
  out.eps = o.at<double>("eps");
  out.momentum = o.has("momentum") ? std::optional(o.at<double>("momentum")) : std::nullopt;
  out.affine = o.at<bool>("affine");
  out.track_running_stats = o.at<bool>("track_running_stats");
  return out;
}

}  // namespace layers
}  // namespace tightloop::nn
