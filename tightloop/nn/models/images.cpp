// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/conv.h>
#include <tightloop/nn/models/images.h>

#include <fmt/format.h>

namespace tightloop::nn::models {

std::int64_t image_channels(const char* model, const TensorType& x) {
  bool fits = x.shape.rank() == 4;
  for (std::size_t d = 1; fits && d < 4; ++d) fits = x.shape[d].is_static();
  if (!fits) throw Error(fmt::format("{}: x must be images [B, C, H, W], got {}", model, to_string(x)));
  return x.shape[1].factor;
}

void start_by_fan_out(Module& model) {
  model.apply([](Module& m) {
    auto* conv = dynamic_cast<Conv*>(&m);
    if (conv == nullptr) return;
    conv->weight = Parameter(conv->weight.type().shape, init::kaiming_normal(0, init::Fan::out));
    if (conv->bias) conv->bias = Parameter(conv->bias->type().shape);
  });
}

}  // namespace tightloop::nn::models
