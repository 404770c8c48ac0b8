// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/buffer.h>
#include <tightloop/ops/functions.h>

namespace tightloop {

Buffer::Buffer(Array initial) : initial_(initial.clone()), variable_(std::move(initial)) {}

void Buffer::update(const Tensor& next) const { variable_.assign(stop_gradient(cast(next, type().dtype))); }

void Buffer::to(DType dtype) {
  if (dtype == type().dtype || !is_floating(type().dtype)) return;
  variable_ = Variable(variable_.array().cast(dtype), name());
  initial_ = initial_.cast(dtype);
}

}  // namespace tightloop
