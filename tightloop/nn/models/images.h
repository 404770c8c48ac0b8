// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn::models {

/// The channels of images [B, C, H, W] with known sizes. Throws Error naming `model` for other shapes.
std::int64_t image_channels(const char* model, const TensorType& x);
/// Convolutions of the model start with normal numbers of variance 2 / (out · kernel) (He et al., 2015),
/// their biases at 0: so torchvision does, for signals to keep their size through many layers.
void start_by_fan_out(Module& model);

}  // namespace tightloop::nn::models
