// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/flatten.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {

std::string Flatten::describe() const { return fmt::format("Flatten({}, {})", start_, end_); }

Tensor Flatten::forward(const Tensor& x) { return flatten(x, start_, end_); }

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType&) {
  return std::make_unique<Flatten>(o.at<std::int64_t>("start_dim"), o.at<std::int64_t>("end_dim"));
}

}  // namespace

const LayerDef& flatten_def() {
  static const LayerDef def{"flatten",
                            "dims start_dim..end_dim become one",
                            {{"start_dim", OptionType::integer, std::int64_t{1}},
                             {"end_dim", OptionType::integer, std::int64_t{-1}}},
                            build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
