// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

#include <optional>

namespace tightloop::nn {

struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx =
      {};  ///< this row starts at 0 and gets no gradient; negative: from the end
};

/// ids [...] → rows of weight [num, dim]: [..., dim]. weight starts in N(0, 1). Ids outside 0..num-1 are
/// refused (see checked()).
class Embedding final : public Layer {
 public:
  /// Throws Error unless both are at least 1 and the padding row exists.
  Embedding(std::int64_t num, std::int64_t dim, EmbeddingOptions options = {});
  void fields(Fields& f) override { f("weight", weight); }
  std::string describe() const override;

  Parameter weight;

 protected:
  Tensor forward(const Tensor& ids) override;

 private:
  std::optional<std::int64_t> padding_;
};

}  // namespace tightloop::nn
