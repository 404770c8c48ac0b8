// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/normalize.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/activations.h>

#include <fmt/format.h>

namespace tightloop::nn {

Normalize::Normalize(NormalizeOptions options) : options_(options) {
  if (!(options.p > 0)) throw Error(fmt::format("normalize: p must be above 0, got {}", options.p));
}

std::string Normalize::describe() const {
  return fmt::format("Normalize({}, dim={})", options_.p, options_.axis);
}

Tensor Normalize::forward(const Tensor& x) { return normalize(x, options_.p, options_.axis, options_.eps); }

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType&) {
  return std::make_unique<Normalize>(
      NormalizeOptions{o.at<double>("p"), o.at<std::int64_t>("dim"), o.at<double>("eps")});
}

}  // namespace

const LayerDef& normalize_def() {
  static const LayerDef def{"normalize",
                            "x / max(p-norm along dim, eps)",
                            {{"p", OptionType::number, 2.0},
                             {"dim", OptionType::integer, std::int64_t{1}},
                             {"eps", OptionType::number, 1e-12}},
                            build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
