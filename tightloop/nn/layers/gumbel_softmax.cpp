// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/gumbel_softmax.h>

#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/activations.h>

#include <fmt/format.h>

namespace tightloop::nn {

GumbelSoftmax::GumbelSoftmax(GumbelSoftmaxOptions options) : options_(options) {
  if (!(options.tau > 0))
    throw Error(fmt::format("gumbel_softmax: tau must be above 0, got {}", options.tau));
}

std::string GumbelSoftmax::describe() const {
  return fmt::format("GumbelSoftmax(tau={}{}, dim={})", options_.tau, options_.hard ? ", hard=true" : "",
                     options_.axis);
}

Tensor GumbelSoftmax::forward(const Tensor& x) {
  Tensor noise;
  if (Context::training()) {
    Context& context = *Context::current();
    noise = random_gumbel(x.shape(), context.seed("gumbel_softmax"), context.step("gumbel_softmax"),
                          context.next_stream());
  }
  return gumbel_softmax(x, noise, options_.tau, options_.hard, options_.axis);
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType&) {
  return std::make_unique<GumbelSoftmax>(
      GumbelSoftmaxOptions{o.at<double>("tau"), o.at<bool>("hard"), o.at<std::int64_t>("dim")});
}

}  // namespace

const LayerDef& gumbel_softmax_def() {
  static const LayerDef def{"gumbel_softmax",
                            "softmax((x + Gumbel noise) / tau) along dim; no noise in evaluation",
                            {{"tau", OptionType::number, 1.0},
                             {"hard", OptionType::boolean, false},
                             {"dim", OptionType::integer, std::int64_t{-1}}},
                            build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
