// SPDX-License-Identifier: Apache-2.0
#pragma once
// The normalized_shape of LayerNorm and RMSNorm: the dims at the end over which they normalise.
#include <tightloop/nn/layers/layer.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

/// Throws Error naming the layer for an empty shape and for a dim below 1.
std::vector<std::int64_t> checked_last_dims(const char* layer, std::vector<std::int64_t> shape);
/// The axes of x that are `shape`; throws Error naming the layer when x does not end so or is not floating.
Axes last_axes(const char* layer, const Tensor& x, const std::vector<std::int64_t>& shape);

namespace layers {

/// normalized_shape in a forward text: a number or a list; none is the last dim.
OptionSpec last_dims_spec();
std::vector<std::int64_t> last_dims(const char* layer, const Options& resolved, const TensorType& x);

}  // namespace layers
}  // namespace tightloop::nn
