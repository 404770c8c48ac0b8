// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/linear.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {
namespace {

std::int64_t positive(const char* what, std::int64_t n) {
  if (n < 1) throw Error(fmt::format("linear: {} must be 1 or greater, got {}", what, n));
  return n;
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, LinearOptions options)
    : weight({positive("out features", out), positive("in features", in)},
             init::kaiming_uniform(std::sqrt(5.0))) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  if (options.bias) bias.emplace(Shape{out}, init::uniform(-bound, bound));
}

void Linear::fields(Fields& f) {
  f("weight", weight);
  if (bias) f("bias", *bias);
}

std::string Linear::describe() const {
  return fmt::format("Linear({}, {}{})", weight.dims()[1], weight.dims()[0], bias ? "" : ", bias=false");
}

Tensor Linear::forward(const Tensor& x) {
  const std::int64_t in = weight.dims()[1];
  if (x.rank() == 0 || !x.dim(x.rank() - 1).is(in) || !is_floating(x.dtype()))
    throw Error(fmt::format("linear: x must be floating [..., {}], got {}", in, to_string(x.type())));
  const Tensor y = matmul_transposed(x, weight);
  return bias ? y + *bias : y;
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  if (x.shape.rank() == 0 || !x.shape.dims().back().is_static())
    throw Error(fmt::format("linear: x must be [..., features], got {}", to_string(x)));
  return std::make_unique<Linear>(x.shape.dims().back().factor, o.at<std::int64_t>("out_features"),
                                  LinearOptions{o.at<bool>("bias")});
}

}  // namespace

const LayerDef& linear_def() {
  static const LayerDef def{
      "linear",
      "x · weightᵀ + bias over the last dim",
      {{"out_features", OptionType::integer, {}, "outputs", true}, {"bias", OptionType::boolean, true}},
      build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
