// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/moments.h>

#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::optim {

Tensor bias_correction(double beta, const Tensor& t) {
  if (beta == 0) return scalar(1, DType::f64);
  return 1.0 - exp(t * std::log(beta));
}

Tensor moved(const Tensor& average, const Tensor& x, double beta) {
  return average + (1 - beta) * (x - average);
}

Tensor bias_correction(const Tensor& beta, const Tensor& t) { return 1.0 - pow(beta, t); }

Tensor moved(const Tensor& average, const Tensor& x, const Tensor& beta) {
  return average + cast(1.0 - beta, x.dtype()) * (x - average);
}

Tensor moved_square(const Tensor& average, const Tensor& x, double beta) {
  return beta * average + (1 - beta) * square(x);
}

Tensor with_l2(const Tensor& gradient, const Tensor& parameter, double weight_decay) {
  return weight_decay == 0 ? gradient : gradient + weight_decay * parameter;
}

OptionSpec betas_option(double first, double second) {
  return {"betas", OptionType::list, Numbers{first, second},
          "decay of the averages of the gradient and its square"};
}

Betas betas_of(std::string_view optimizer, const Options& resolved) {
  const auto& betas = resolved.at<Numbers>("betas");
  if (betas.size() != 2)
    throw Error(fmt::format("optimizer {}: betas must be two numbers, got {}", optimizer, to_string(betas)));
  return {betas[0], betas[1]};
}

}  // namespace tightloop::optim
