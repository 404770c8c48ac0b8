// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/sign_target.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

constexpr double kLeastSquare = 1e-12;  // PyTorch's, added to the square of each length

Tensor cosine(const Tensor& a, const Tensor& b) {
  const Tensor squares = (sum(square(a), {-1}) + kLeastSquare) * (sum(square(b), {-1}) + kLeastSquare);
  return sum(a * b, {-1}) / sqrt(squares);
}

}  // namespace

Tensor cosine_embedding_loss(const Tensor& first, const Tensor& second, const Tensor& target,
                             MarginRankingOptions options) {
  const Tensor other = aligned_target("cosine_embedding", first, second);
  if (first.rank() == 0 || first.rank() > 2)
    throw Error(
        fmt::format("cosine_embedding: vectors must be [D] or [B, D], got {}", to_string(first.type())));
  const Tensor similarity = cosine(first, other);
  const Tensor t = aligned_target("cosine_embedding", similarity, target);
  const Tensor losses = select(t == 1.0, 1.0 - similarity, clamp(similarity - options.margin, 0, {}));
  return with_sign_targets("cosine_embedding", reduced(losses, options.reduction), t);
}

}  // namespace tightloop::nn
