// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/embedding.h>

#include <tightloop/nn/layers/embedding_table.h>
#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {

Embedding::Embedding(std::int64_t num, std::int64_t dim, EmbeddingOptions options)
    : weight(table_weight("embedding", num, dim, options.padding_idx)),
      padding_(padding_row("embedding", num, options.padding_idx)) {}

std::string Embedding::describe() const {
  const std::string padding = padding_ ? fmt::format(", padding_idx={}", *padding_) : "";
  return fmt::format("Embedding({}, {}{})", weight.dims()[0], weight.dims()[1], padding);
}

Tensor Embedding::forward(const Tensor& ids) {
  const Tensor index = table_index("embedding", ids);
  Tensor rows = gather(weight, index);
  if (padding_) {
    const Tensor is_padding = unsqueeze(index == static_cast<double>(*padding_), -1);
    rows = select(is_padding, stop_gradient(rows), rows);
  }
  return checked_ids("embedding", rows, index, weight.dims()[0]);
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType&) {
  EmbeddingOptions options;
  if (o.has("padding_idx")) options.padding_idx = o.at<std::int64_t>("padding_idx");
  return std::make_unique<Embedding>(o.at<std::int64_t>("num_embeddings"),
                                     o.at<std::int64_t>("embedding_dim"), options);
}

}  // namespace

const LayerDef& embedding_def() {
  static const LayerDef def{
      "embedding",
      "rows of a table by id",
      {{"num_embeddings", OptionType::integer, {}, "rows of the table", true},
       {"embedding_dim", OptionType::integer, {}, "length of a row", true},
       {"padding_idx", OptionType::integer, {}, "row that starts at 0 and is not trained"}},
      build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
