// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/embedding_bag.h>

#include <tightloop/nn/layers/embedding_table.h>
#include <tightloop/nn/layers/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <limits>

namespace tightloop::nn {
namespace {

constexpr const char* kName = "embedding_bag";

Tensor number(double value, const Tensor& like) { return scalar(value, like.dtype()); }

/// The largest of the rows [B, L, D] that are not padding [B, L, 1]; 0 where all are.
Tensor largest(const Tensor& rows, const Tensor& is_padding) {
  const Tensor low = number(-std::numeric_limits<double>::infinity(), rows);
  const Tensor most = amax(select(is_padding, low, rows), {1});
  return select(all(is_padding, {1}), number(0, rows), most);
}

}  // namespace

EmbeddingBag::EmbeddingBag(std::int64_t num, std::int64_t dim, EmbeddingBagOptions options)
    : weight(table_weight(kName, num, dim, options.padding_idx)),
      mode_(options.mode),
      padding_(padding_row(kName, num, options.padding_idx)) {}

std::string EmbeddingBag::describe() const {
  const char* mode = mode_ == Bag::sum ? "sum" : mode_ == Bag::mean ? "mean" : "max";
  return fmt::format("EmbeddingBag({}, {}, mode={}{})", weight.dims()[0], weight.dims()[1], mode,
                     padding_ ? fmt::format(", padding_idx={}", *padding_) : "");
}

Tensor EmbeddingBag::operator()(const Tensor& ids, const Tensor& per_sample_weights) {
  if (mode_ != Bag::sum) throw Error("embedding_bag: weights of the samples need mode sum");
  if (per_sample_weights.shape() != ids.shape() || !is_floating(per_sample_weights.dtype()))
    throw Error(
        fmt::format("embedding_bag: weights of the samples must be floating and shaped as ids {}, got {}",
                    to_string(ids.shape()), to_string(per_sample_weights.type())));
  const ir::Scope scope(name());
  return bags(ids, &per_sample_weights);
}

Tensor EmbeddingBag::forward(const Tensor& ids) { return bags(ids, nullptr); }

Tensor EmbeddingBag::bags(const Tensor& ids, const Tensor* per_sample_weights) {
  if (ids.rank() != 2)
    throw Error(
        fmt::format("embedding_bag: ids must be [batch, length of a bag], got {}", to_string(ids.type())));
  const Tensor index = table_index(kName, ids);
  Tensor rows = gather(weight, index);
  if (per_sample_weights != nullptr) rows = rows * unsqueeze(*per_sample_weights, -1);
  Tensor out;
  if (!padding_) {
    out = mode_ == Bag::sum ? sum(rows, {1}) : mode_ == Bag::mean ? mean(rows, {1}) : amax(rows, {1});
  } else {
    const Tensor is_padding = unsqueeze(index == static_cast<double>(*padding_), -1);
    const Tensor total = sum(select(is_padding, number(0, rows), rows), {1});
    const Tensor count = sum(cast(logical_not(is_padding), rows.dtype()), {1});
    out = mode_ == Bag::sum    ? total
          : mode_ == Bag::mean ? total / maximum(count, number(1, rows))
                               : largest(rows, is_padding);
  }
  return checked_ids(kName, out, index, weight.dims()[0]);
}

namespace layers {
namespace {

Bag bag_of(const std::string& mode) {
  if (mode == "sum") return Bag::sum;
  if (mode == "mean") return Bag::mean;
  if (mode == "max") return Bag::max;
  throw Error(fmt::format("embedding_bag: mode must be 'sum', 'mean' or 'max', not '{}'", mode));
}

std::unique_ptr<Layer> build(const Options& o, const TensorType&) {
  EmbeddingBagOptions options{.mode = bag_of(o.at<std::string>("mode"))};
  if (o.has("padding_idx")) options.padding_idx = o.at<std::int64_t>("padding_idx");
  return std::make_unique<EmbeddingBag>(o.at<std::int64_t>("num_embeddings"),
                                        o.at<std::int64_t>("embedding_dim"), options);
}

}  // namespace

const LayerDef& embedding_bag_def() {
  static const LayerDef def{"embedding_bag",
                            "rows of a table by id, those of each sample as one",
                            {{"num_embeddings", OptionType::integer, {}, "rows of the table", true},
                             {"embedding_dim", OptionType::integer, {}, "length of a row", true},
                             {"mode", OptionType::text, "mean", "sum, mean or max"},
                             {"padding_idx", OptionType::integer, {}, "row whose ids count for nothing"}},
                            build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
