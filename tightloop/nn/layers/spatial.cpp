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

Shape convolution_weight(const std::string& layer, std::size_t spatial, std::int64_t in, std::int64_t out,
                         const PerDim& kernel, std::int64_t groups, bool transposed) {
  if (in < 1 || out < 1)
    throw Error(fmt::format("{}: channels must be 1 or more, got {} in and {} out", layer, in, out));
  if (groups < 1 || in % groups != 0 || out % groups != 0)
    throw Error(
        fmt::format("{}: groups must divide the channels ({} in, {} out), got {}", layer, in, out, groups));
  std::vector<Dim> dims{transposed ? in : out, (transposed ? out : in) / groups};
  for (const std::int64_t k : kernel.of(layer, "kernel_size", spatial)) dims.emplace_back(k);
  return Shape(std::move(dims));
}

std::vector<std::int64_t> sizes_of(const Options& resolved, std::string_view name) {
  const auto& numbers = resolved.at<Numbers>(name);
  return {numbers.begin(), numbers.end()};
}

PerDim per_dim(const Options& resolved, std::string_view name) { return sizes_of(resolved, name); }

std::optional<PerDim> optional_per_dim(const Options& resolved, std::string_view name) {
  if (!resolved.has(name)) return std::nullopt;
  return per_dim(resolved, name);
}

OptionSpec sizes_option(std::string_view name, std::int64_t fallback, std::string_view doc) {
  return {name, OptionType::sizes, Numbers{static_cast<double>(fallback)}, doc};
}

}  // namespace tightloop::nn
