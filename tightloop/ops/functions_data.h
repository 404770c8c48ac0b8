// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions that a step reads its data with; the rules of functions.h hold here too.
#include <tightloop/ir/tensor.h>

#include <cstdint>

namespace tightloop {

/// `length` rows of `table` [R, ...] from each row in index [I...] on: [I..., length, ...]. A window that
/// would leave the table is moved inside; the table must have so many rows.
Tensor gather_window(Tensor table, Tensor index, std::int64_t length);

/// Uniform in [0, 1), f32: word 0..3 of the Philox block that (seed, stream, step, index) name. `seed` and
/// `step` are i64 scalars, `index` is i64 [...], e.g. the numbers of samples: what is drawn for one does not
/// depend on its place in a batch.
Tensor random_at(Tensor seed, Tensor step, Tensor index, std::int64_t stream, std::int64_t word = 0);

}  // namespace tightloop
