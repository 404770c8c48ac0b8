// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/sign_target.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

Tensor margin_ranking_loss(const Tensor& first, const Tensor& second, const Tensor& target,
                           MarginRankingOptions options) {
  const Tensor other = aligned_target("margin_ranking", first, second);
  const Tensor t = aligned_target("margin_ranking", first, target);
  const Tensor losses = clamp(options.margin - t * (first - other), 0, {});
  return with_sign_targets("margin_ranking", reduced(losses, options.reduction), t);
}

}  // namespace tightloop::nn
