// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/dropout.h>

#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {

Dropout::Dropout(double p) : p_(p) {
  if (!(p >= 0 && p <= 1)) throw Error(fmt::format("dropout: p must be 0..1, got {}", p));
}

std::string Dropout::describe() const { return fmt::format("Dropout({})", p_); }

Tensor Dropout::forward(const Tensor& x) { return dropped("dropout", x, p_, x.shape()); }

Tensor dropped(const char* layer, const Tensor& x, double p, const Shape& mask) {
  if (!is_floating(x.dtype()))
    throw Error(fmt::format("{}: x must be floating, got {}", layer, to_string(x.type())));
  if (!Context::training() || p == 0) return x;
  Context& context = *Context::current();
  const std::int64_t stream = context.next_stream();
  const Tensor zero = zeros({}, x.dtype());
  if (p == 1) return broadcast_to(zero, x.shape());
  const Tensor keep = random_bernoulli(mask, 1 - p, context.seed(layer), context.step(layer), stream);
  return select(keep, x * (1 / (1 - p)), zero);
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType&) {
  return std::make_unique<Dropout>(o.at<double>("p"));
}

}  // namespace

const LayerDef& dropout_def() {
  static const LayerDef def{
      "dropout",
      "in training, zeroes elements with probability p and scales the others by 1/(1-p)",
      {{"p", OptionType::number, 0.5}},
      build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
