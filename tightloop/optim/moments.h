// SPDX-License-Identifier: Apache-2.0
#pragma once
// What rules that average gradients share.
#include <tightloop/base/options.h>
#include <tightloop/ir/tensor.h>

namespace tightloop::optim {

/// 1 - βᵗ as f64[], what is missing from an average that started at 0. `t`: f64[], 1 in the first step.
Tensor bias_correction(double beta, const Tensor& t);
/// average + (1 - β)(x - average)
Tensor moved(const Tensor& average, const Tensor& x, double beta);
/// The same with a β that moves, f64[].
Tensor bias_correction(const Tensor& beta, const Tensor& t);
Tensor moved(const Tensor& average, const Tensor& x, const Tensor& beta);
/// β·average + (1 - β)x²
Tensor moved_square(const Tensor& average, const Tensor& x, double beta);
/// The gradient with L2 decay added.
Tensor with_l2(const Tensor& gradient, const Tensor& parameter, double weight_decay);

struct Betas {
  double first, second;
};
/// Option `betas`, a list of two numbers; others throw Error.
OptionSpec betas_option(double first, double second);
Betas betas_of(std::string_view optimizer, const Options& resolved);

}  // namespace tightloop::optim
