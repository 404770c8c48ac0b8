// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/lamb.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/clip.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

namespace tightloop::optim {
namespace {

enum : std::size_t { kLr, kScale, kEps };  // what prepare() makes

}  // namespace

Lamb::Lamb(LambOptions options) : options_(options) {
  check_not_negative("lamb", "learning rate", options.lr);
  check_fraction("lamb", "beta1", options.beta1);
  check_fraction("lamb", "beta2", options.beta2);
  check_not_negative("lamb", "eps", options.eps);
  check_not_negative("lamb", "weight_decay", options.weight_decay);
}

// As in Adam, √(1-β₂ᵗ) is multiplied in above and below.
Factors Lamb::prepare(const Tensor& step, const Tensor& lr, double) const {
  const Tensor t = cast(step, DType::f64);
  const Tensor root = sqrt(bias_correction(options_.beta2, t));
  return {lr, root / bias_correction(options_.beta1, t), options_.eps * root};
}

Update Lamb::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                    const Factors& factors, double weight_decay) const {
  const DType dtype = parameter.dtype();
  const Tensor m = moved(slots[0], gradient, options_.beta1);
  const Tensor v = moved_square(slots[1], gradient, options_.beta2);
  const Tensor adaptive = div_root(cast(factors[kScale], dtype) * m, v, cast(factors[kEps], dtype));
  const Tensor u = with_l2(adaptive, parameter, weight_decay);
  const Tensor own = global_norm({parameter}), length = global_norm({u});
  const Tensor both = logical_and(own > 0.0, length > 0.0);
  const Tensor trust = select(both, own / length, scalar(1, DType::f64));
  return {parameter - cast(factors[kLr] * trust, dtype) * u, {m, v}};
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  const auto [beta1, beta2] = betas_of("lamb", o);
  return std::make_unique<Lamb>(
      LambOptions{o.at<double>("lr"), beta1, beta2, o.at<double>("eps"), o.at<double>("weight_decay")});
}

}  // namespace

const OptimizerDef& lamb_def() {
  static const OptimizerDef def{
      "lamb",
      "AdamW's direction, as long as lr times the parameter",
      {{"lr", OptionType::number, 1e-3, "learning rate"},
       betas_option(0.9, 0.999),
       {"eps", OptionType::number, 1e-6, "added to the denominator"},
       {"weight_decay", OptionType::number, 1e-2, "added to the direction before its length is taken"}},
      build};
  return def;
}

}  // namespace tightloop::optim
