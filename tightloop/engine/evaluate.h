// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/ir/tensor.h>

#include <vector>

namespace tightloop {

/// True when nothing that `tensor` needs is an input without a value.
bool can_evaluate(const Tensor& tensor);

/// Reads several tensors in one go, so that what they share is computed once.
void evaluate(const std::vector<Tensor>& tensors);

}  // namespace tightloop
