// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/last_dims.h>

#include <tightloop/nn/layers/spatial.h>

#include <fmt/format.h>

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

OptionSpec last_dims_spec() {
  return {"normalized_shape", OptionType::sizes, {}, "the last dims; none: one"};
}

std::vector<std::int64_t> last_dims(const char* layer, const Options& resolved, const TensorType& x) {
  if (!resolved.has("normalized_shape")) {
    if (x.shape.rank() == 0 || !x.shape.dims().back().is_static())
      throw Error(fmt::format("{}: x must be [..., features], got {}", layer, to_string(x)));
    return {x.shape.dims().back().factor};
  }
  return sizes_of(resolved, "normalized_shape");
}

}  // namespace layers
}  // namespace tightloop::nn
