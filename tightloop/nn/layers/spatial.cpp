// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/spatial.h>

#include <fmt/format.h>

#include <algorithm>

namespace tightloop::nn {

void expect_spatial(const std::string& layer, const TensorType& x, std::size_t spatial,
                    std::int64_t channels) {
  static constexpr const char* kDims[] = {"L", "H, W", "D, H, W"};
  const bool fits =
      x.shape.rank() == spatial + 2 && is_floating(x.dtype) &&
      std::all_of(x.shape.begin() + 1, x.shape.end(), [](const Dim& d) { return d.is_static(); }) &&
      (channels == 0 || x.shape[1].is(channels));
  if (!fits)
    throw Error(fmt::format("{}: x must be floating [B, {}, {}], got {}", layer,
                            channels == 0 ? "C" : std::to_string(channels), kDims[spatial - 1],
                            to_string(x)));
}

PerDim per_dim(const Options& resolved, std::string_view name) {
  const auto& numbers = resolved.at<Numbers>(name);
  return std::vector<std::int64_t>(numbers.begin(), numbers.end());
}

std::optional<PerDim> optional_per_dim(const Options& resolved, std::string_view name) {
  if (!resolved.has(name)) return std::nullopt;
  return per_dim(resolved, name);
}

OptionSpec sizes_option(std::string_view name, std::int64_t fallback, std::string_view doc) {
  return {name, OptionType::sizes, Numbers{static_cast<double>(fallback)}, doc};
}

}  // namespace tightloop::nn
