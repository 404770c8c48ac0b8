// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the random ops share: types, samples, and Philox in both languages.
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

#include <array>
#include <initializer_list>

namespace tightloop::ops {

/// Checks the inputs (seed, step: i64 scalars) and gives the declared type.
TensorType random_type(const InferArgs& a);
Samples random_samples(const ir::Attrs& attrs, std::initializer_list<DType> dtypes);

/// The four words of block `index` as evaluate() needs them.
std::array<std::uint32_t, 4> random_block(const EvalArgs& a, std::uint64_t index);

/// The same as i32 bits in a body; `inputs` are seed and step, `index` is i64.
using Words = std::array<Scalar, 4>;
Words random_words(ScalarBuilder& b, Scalars inputs, const ir::Node& node, Scalar index);
/// words[first + stride·choice], choice an i64 in 0 .. 3 / stride.
Scalar choose_word(ScalarBuilder& b, const Words& words, Scalar choice, std::size_t stride = 1,
                   std::size_t first = 0);
/// base/random.h's uniforms.
Scalar emit_uniform_f32(ScalarBuilder& b, Scalar word);
Scalar emit_uniform_f64(ScalarBuilder& b, Scalar high, Scalar low);

}  // namespace tightloop::ops
