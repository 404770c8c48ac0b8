// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/prelu.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/activations.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

std::int64_t positive(std::int64_t count) {
  if (count < 1) throw Error(fmt::format("prelu: num_parameters must be 1 or greater, got {}", count));
  return count;
}

}  // namespace

PReLU::PReLU(std::int64_t count, double init) : weight({positive(count)}, init::constant(init)) {}

std::string PReLU::describe() const { return fmt::format("PReLU({})", weight.dims()[0]); }

Tensor PReLU::forward(const Tensor& x) { return prelu(x, weight); }

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType&) {
  return std::make_unique<PReLU>(o.at<std::int64_t>("num_parameters"), o.at<double>("init"));
}

}  // namespace

const LayerDef& prelu_def() {
  static const LayerDef def{
      "prelu",
      "x, or weight · x below 0",
      {{"num_parameters", OptionType::integer, std::int64_t{1}, "1, or the channels of x"},
       {"init", OptionType::number, 0.25}},
      build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
