// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/embedding_table.h>

#include <tightloop/nn/context.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

std::int64_t positive(const char* layer, const char* what, std::int64_t n) {
  if (n < 1) throw Error(fmt::format("{}: {} must be 1 or greater, got {}", layer, what, n));
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

std::optional<std::int64_t> padding_row(const char* layer, std::int64_t num,
                                        std::optional<std::int64_t> given) {
  if (!given) return given;
  if (*given < -num || *given >= num)
    throw Error(fmt::format("{}: padding_idx must be a row of {}, got {}", layer, num, *given));
  return *given < 0 ? *given + num : *given;
}

Parameter table_weight(const char* layer, std::int64_t num, std::int64_t dim,
                       std::optional<std::int64_t> padding) {
  return {Shape{positive(layer, "num", num), positive(layer, "dim", dim)},
          rows_initializer(dim, padding_row(layer, num, padding))};
}

Tensor table_index(const char* layer, const Tensor& ids) {
  if (!is_integer(ids.dtype()))
    throw Error(fmt::format("{}: ids must be integers, got {}; cast them", layer, to_string(ids.type())));
  return cast(ids, DType::i64);
}

Tensor checked_ids(const char* layer, Tensor result, const Tensor& index, std::int64_t num) {
  return checked(std::move(result), logical_or(index < 0.0, index >= static_cast<double>(num)), index,
                 fmt::format("{}: id", layer), fmt::format("must be 0..{} ({} rows)", num - 1, num));
}

}  // namespace tightloop::nn
