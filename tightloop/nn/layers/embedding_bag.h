// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

#include <optional>

namespace tightloop::nn {

enum class Bag : std::uint8_t { sum, mean, max };

struct EmbeddingBagOptions {
  Bag mode = Bag::mean;
  std::optional<std::int64_t> padding_idx =
      {};  ///< ids of this row count for nothing; negative: from the end
};

/// ids [B, L] → the rows of weight [num, dim] that they name, of each bag of L as one: [B, dim]. A bag of
/// nothing but padding is 0. weight starts in N(0, 1), its padding row at 0. Ids outside 0..num-1 are refused
/// (see checked()).
class EmbeddingBag final : public Layer {
 public:
  /// Throws Error unless both are at least 1 and the padding row exists.
  EmbeddingBag(std::int64_t num, std::int64_t dim, EmbeddingBagOptions options = {});
  void fields(Fields& f) override { f("weight", weight); }
  std::string describe() const override;

  using Layer::operator();
  /// Each row times its weight [B, L] before the sum. Throws Error for other modes than sum.
  Tensor operator()(const Tensor& ids, const Tensor& per_sample_weights);

  Parameter weight;

 protected:
  Tensor forward(const Tensor& ids) override;

 private:
  Tensor bags(const Tensor& ids, const Tensor* per_sample_weights);

  Bag mode_;
  std::optional<std::int64_t> padding_;
};

}  // namespace tightloop::nn
