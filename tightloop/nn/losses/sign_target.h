// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the losses whose targets are 1 and -1 share.
#include <tightloop/ir/tensor.h>

#include <string_view>

namespace tightloop::nn {

/// `value`, where every target is 1 or -1; others are refused as checked() does.
Tensor with_sign_targets(std::string_view loss, Tensor value, const Tensor& target);

}  // namespace tightloop::nn
