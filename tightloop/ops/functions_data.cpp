// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/ops/functions_data.h>
#include <tightloop/ops/index.h>

namespace tightloop {

Tensor gather_window(Tensor table, Tensor index, std::int64_t length) {
  return ir::make_node(ops::gather_window_op(), {std::move(table), cast(std::move(index), DType::i64)},
                       {{"length", length}});
}

Tensor random_at(Tensor seed, Tensor step, Tensor index, std::int64_t stream, std::int64_t word) {
  const Shape shape = index.shape();
  return ir::make_node(ops::random_at_op(),
                       {broadcast_to(std::move(seed), shape), broadcast_to(std::move(step), shape),
                        cast(std::move(index), DType::i64)},
                       {{"stream", stream}, {"word", word}});
}

}  // namespace tightloop
