// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/recurrent_options.h>

#include <fmt/format.h>

namespace tightloop::nn::layers {

std::vector<OptionSpec> recurrent_specs(std::optional<OptionSpec> own) {
  std::vector<OptionSpec> specs{
      {"hidden_size", OptionType::integer, {}, "outputs of a step", true},
      {"num_layers", OptionType::integer, std::int64_t{1}},
      {"bias", OptionType::boolean, true},
      {"dropout", OptionType::number, 0.0, "between the layers"},
      {"bidirectional", OptionType::boolean, false},
      {"last", OptionType::boolean, false, "give the last state, not the sequence"}};
  if (own) specs.push_back(*own);
  return specs;
}

RecurrentOptions recurrent_options(const Options& o) {
  return {.num_layers = o.at<std::int64_t>("num_layers"),
          .bias = o.at<bool>("bias"),
          .batch_first = true,
          .dropout = o.at<double>("dropout"),
          .bidirectional = o.at<bool>("bidirectional"),
          .last = o.at<bool>("last")};
}

std::int64_t features_of_sequence(const char* layer, const TensorType& x) {
  if (x.shape.rank() != 3 || !x.shape[1].is_static() || !x.shape[2].is_static())
    throw Error(fmt::format("{}: x must be [B, T, features], got {}", layer, to_string(x)));
  return x.shape[2].factor;
}

}  // namespace tightloop::nn::layers
