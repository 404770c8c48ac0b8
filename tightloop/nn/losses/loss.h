// SPDX-License-Identifier: Apache-2.0
#pragma once
// What losses share. Their names, formulas and defaults are those of torch.nn.functional.
#include <tightloop/base/options.h>
#include <tightloop/ir/tensor.h>

#include <functional>
#include <span>
#include <string_view>

namespace tightloop::nn {

enum class Reduction : std::uint8_t {
  mean,
  sum,
  none,       ///< one value for each element or row
  batchmean,  ///< kl_div only: the sum divided by the rows
};

/// The loss of one batch, and its share in an epoch's average: Σ total / Σ weight over the batches. That
/// average does not depend on how the rows are cut into batches.
struct LossValue {
  Tensor value;   ///< scalar of the prediction's dtype: what the gradient is taken of
  Tensor total;   ///< f64[]: value · weight; for `sum`, value
  Tensor weight;  ///< f64[]: rows; for class weights and an ignored class the sum of the rows' weights
};

using LossFn = std::function<LossValue(const Tensor& prediction, const Tensor& target)>;

enum class TargetKind : std::uint8_t {
  values,                    ///< shaped as the prediction
  classes,                   ///< whole numbers 0..C-1, without the prediction's class axis
  classes_or_probabilities,  ///< those, or floating numbers shaped as the prediction
};

/// A loss that a job file names. One per file, listed in losses/index.def.
struct LossDef {
  std::string_view name;
  std::string_view doc;
  TargetKind target = TargetKind::values;
  std::vector<OptionSpec> options;
  LossFn (*build)(const Options& resolved) = nullptr;
};

/// The losses of losses/index.def, in its order.
std::span<const LossDef* const> all_losses();
/// Checks `given` and builds. Throws Error on an unknown name (suggesting the nearest) or option.
LossFn make_loss(std::string_view name, const Options& given = {});
/// Null when there is none of this name.
const LossDef* find_loss(std::string_view name);
/// A loss of the user's own that is a mean over the rows (or over all elements).
LossFn mean_loss(std::function<Tensor(const Tensor& prediction, const Tensor& target)> loss);

/// The target with the prediction's shape and dtype. Equal shapes fit; so do shapes that differ only by a
/// last dim of 1
/// ([B] and [B, 1]), which are aligned. Nothing is broadcast: every other pair throws Error, and so does a
/// prediction that is not floating.
Tensor aligned_target(std::string_view loss, const Tensor& prediction, const Tensor& target);
/// `losses` averaged, added up or left.
Tensor reduced(const Tensor& losses, Reduction reduction);
/// Rows of a batch as f64[]; 1 for a scalar.
Tensor row_count(const Tensor& prediction);
/// Option `reduction` ("mean" or "sum") that every loss of a job takes.
OptionSpec reduction_option();
Reduction reduction_of(std::string_view loss, const Options& resolved);
/// total and weight of a loss whose mean is over the rows.
LossValue by_rows(Tensor value, const Tensor& prediction, Reduction reduction);
/// Option `name` of numbers as an f32 vector; empty Tensor when none.
Tensor vector_option(const Options& resolved, std::string_view name);

}  // namespace tightloop::nn
