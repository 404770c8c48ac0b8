// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/last_dims.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {

std::vector<std::int64_t> checked_last_dims(const char* layer, std::vector<std::int64_t> shape) {
  if (shape.empty()) throw Error(fmt::format("{}: normalized_shape must have at least one dim", layer));
  for (const auto d : shape)
    if (d < 1)
      throw Error(fmt::format("{}: normalized_shape must be of dims of at least 1, not [{}]", layer,
                              fmt::join(shape, ", ")));
  return shape;
}

Axes last_axes(const char* layer, const Tensor& x, const std::vector<std::int64_t>& shape) {
  bool fits = x.rank() >= shape.size() && is_floating(x.dtype());
  const std::size_t first = fits ? x.rank() - shape.size() : 0;
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = x.dim(first + i).is(shape[i]);
  if (!fits)
    throw Error(fmt::format("{}: x must be floating [..., {}], got {}", layer, fmt::join(shape, ", "),
                            to_string(x.type())));
  Axes axes;
  for (std::size_t d = first; d < x.rank(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  return axes;
}

namespace layers {

OptionSpec last_dims_spec() { return {"normalized_shape", OptionType::list, {}, "the last dims; none: one"}; }

std::vector<std::int64_t> last_dims(const char* layer, const Options& resolved, const TensorType& x) {
  std::vector<std::int64_t> out;
  if (!resolved.has("normalized_shape")) {
    if (x.shape.rank() == 0 || !x.shape.dims().back().is_static())
      throw Error(fmt::format("{}: x must be [..., features], got {}", layer, to_string(x)));
    return {x.shape.dims().back().factor};
  }
  for (const double d : resolved.at<Numbers>("normalized_shape")) {
    if (!(std::floor(d) == d && d >= 1 && d < 0x1p53))
      throw Error(
          fmt::format("{}: normalized_shape must be of whole numbers of at least 1, not {}", layer, d));
    out.push_back(static_cast<std::int64_t>(d));
  }
  return out;
}

}  // namespace layers
}  // namespace tightloop::nn
