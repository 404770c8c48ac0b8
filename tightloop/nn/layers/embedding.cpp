// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/embedding.h>

#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

std::optional<std::int64_t> padding_row(std::int64_t num, std::optional<std::int64_t> given) {
  if (!given) return given;
  if (*given < -num || *given >= num)
    throw Error(fmt::format("embedding: padding_idx must be a row of {}, got {}", num, *given));
  return *given < 0 ? *given + num : *given;
}

std::int64_t positive(const char* what, std::int64_t n) {
  if (n < 1) throw Error(fmt::format("embedding: {} must be 1 or greater, got {}", what, n));
  return n;
}

Initializer rows_initializer(std::int64_t dim, std::optional<std::int64_t> padding) {
  return [dim, padding, draw_normal = init::normal()](Array& a, Draw draw) {
    draw_normal(a, draw);
    if (padding)
      for (std::int64_t i = 0; i < dim; ++i) a.set(*padding * dim + i, 0);
  };
}

}  // namespace

Embedding::Embedding(std::int64_t num, std::int64_t dim, EmbeddingOptions options)
    : weight({positive("num", num), positive("dim", dim)},
             rows_initializer(dim, padding_row(num, options.padding_idx))),
      padding_(padding_row(num, options.padding_idx)) {}

std::string Embedding::describe() const {
  const std::string padding = padding_ ? fmt::format(", padding_idx={}", *padding_) : "";
  return fmt::format("Embedding({}, {}{})", weight.dims()[0], weight.dims()[1], padding);
}

Tensor Embedding::forward(const Tensor& ids) {
  if (!is_integer(ids.dtype()))
    throw Error(fmt::format("embedding: ids must be integers, got {}; cast them", to_string(ids.type())));
  const std::int64_t num = weight.dims()[0];
  const Tensor index = cast(ids, DType::i64);
  Tensor rows = gather(weight, index);
  if (padding_) {
    const Tensor is_padding = unsqueeze(index == static_cast<double>(*padding_), -1);
    rows = select(is_padding, stop_gradient(rows), rows);
  }
  return checked(rows, logical_or(index < 0.0, index >= static_cast<double>(num)), index, "embedding: id",
                 fmt::format("must be 0..{} ({} rows)", num - 1, num));
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
