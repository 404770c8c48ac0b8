// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the data where it lies to what the model and the loss get, as nodes of the step's graph: rows or
// windows are gathered, images transformed, numbers cast and normalised.
#include <tightloop/train/step.h>

#include <utility>
#include <vector>

namespace tightloop::train {

/// The inputs of a batch, f32 or (integers) i64 [B, ...], of windows [B, length, ...]. `tables` are the
/// data's graph inputs [N, ...], in the order of the spec. `share` becomes the share of a row's own target
/// where samples are mixed, else stays undefined.
std::vector<Tensor> read_inputs(const DataSpec& data, const std::vector<Tensor>& tables,
                                const data::Transforms::Source& batch, Tensor& share);
/// The target of a batch, f32 or i64: [B, ...]; of windows [B, rows, ...] without a last dim of 1, and [B]
/// for class numbers one row ahead. Class numbers that are mixed become probabilities [B, C] of the
/// prediction's C classes. Throws Error when that cannot be.
Tensor read_target(const DataSpec& data, const Tensor& table, const data::Transforms::Source& batch,
                   const Tensor& share, const Tensor& prediction);
/// The row that is mixed in, for each sample of a batch: i64[B].
Tensor partners_of(const DataSpec& data, const data::Transforms::Source& batch);
/// Names and types of the inputs as the model gets them. Throws Error when transforms do not fit.
std::vector<std::pair<std::string, TensorType>> input_types(const DataSpec& data);

}  // namespace tightloop::train
