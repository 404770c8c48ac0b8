// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses/sign_target.h>

#include <tightloop/nn/context.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

Tensor with_sign_targets(std::string_view loss, Tensor value, const Tensor& target) {
  const Tensor bad = logical_not(abs(target) == 1.0);
  return checked(std::move(value), bad, target, std::string(loss) + ": target", "must be 1 or -1");
}

}  // namespace tightloop::nn
