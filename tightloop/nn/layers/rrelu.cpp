// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/rrelu.h>

#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/activations.h>

#include <fmt/format.h>

namespace tightloop::nn {

RReLU::RReLU(double lower, double upper) : lower_(lower), upper_(upper) {
  if (!(lower <= upper)) throw Error(fmt::format("rrelu: lower {} is above upper {}", lower, upper));
}

std::string RReLU::describe() const { return fmt::format("RReLU({}, {})", lower_, upper_); }

Tensor RReLU::forward(const Tensor& x) {
  if (!Context::training()) return rrelu(x, lower_, upper_);
  Context& context = *Context::current();
  return rrelu(x, lower_, upper_, context.seed("rrelu"), context.step("rrelu"), context.next_stream());
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType&) {
  return std::make_unique<RReLU>(o.at<double>("lower"), o.at<double>("upper"));
}

}  // namespace

const LayerDef& rrelu_def() {
  static const LayerDef def{"rrelu",
                            "x, or below 0 a slope times x: drawn in training, the middle in evaluation",
                            {{"lower", OptionType::number, 1.0 / 8}, {"upper", OptionType::number, 1.0 / 3}},
                            build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
