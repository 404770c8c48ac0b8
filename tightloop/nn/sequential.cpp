// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/sequential.h>

#include <fmt/format.h>

namespace tightloop::nn {

Layer& Sequential::operator[](std::size_t i) {
  if (i >= layers_.size()) throw Error(fmt::format("sequential: no layer {}, it has {}", i, layers_.size()));
  return *layers_[i];
}

void Sequential::fields(Fields& f) {
  for (std::size_t i = 0; i < layers_.size(); ++i) f(std::to_string(i), *layers_[i]);
}

std::string Sequential::describe() const { return fmt::format("Sequential({} layers)", layers_.size()); }

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  for (const auto& layer : layers_) y = (*layer)(y);
  return y;
}

}  // namespace tightloop::nn
