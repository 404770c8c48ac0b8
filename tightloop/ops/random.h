// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the random ops share: types, samples, and Philox in a scalar builder.
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

#include <array>

namespace tightloop::ops {

/// Checks the inputs (seed, step: i64 scalars) and gives the declared type.
TensorType random_type(const InferArgs& a);
Samples random_samples(const ir::Attrs& attrs, std::initializer_list<DType> dtypes);

/// The four words of block `index` as evaluate() needs them.
std::array<std::uint32_t, 4> random_block(const EvalArgs& a, std::uint64_t index);

}  // namespace tightloop::ops
