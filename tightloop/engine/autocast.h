// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mixed precision for steps written by hand:
//
//   auto step = tl::compile([&](Tensor x, Tensor y) {
//     const Tensor loss = mse(tl::autocast(net(x), {.low = DType::bf16}), y);     // sums, loss and weights:
//     f32
//     ...
#include <tightloop/passes/autocast.h>

#include <vector>

namespace tightloop {

/// autocast() of `values` together with what variables were assigned in the current trace (running
/// statistics), so that both are of the same rounded values.
std::vector<Tensor> autocast_traced(const std::vector<Tensor>& values, const AutocastOptions& options);

/// The same of one value.
Tensor autocast(const Tensor& value, const AutocastOptions& options);

/// Whether products of this low type are faster than f32's on this processor: bf16 with AVX512-BF16 or AMX.
bool computes_fast(DType low);
/// Whether a product or convolution is large enough to gain by that: those that oneDNN computes.
bool gains_by_low(const ir::Node& node);

}  // namespace tightloop
