// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/adadelta.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

namespace tightloop::optim {

Adadelta::Adadelta(AdadeltaOptions options) : options_(options) {
  check_not_negative("adadelta", "learning rate", options.lr);
  check_share("adadelta", "rho", options.rho);
  check_not_negative("adadelta", "eps", options.eps);
  check_not_negative("adadelta", "weight_decay", options.weight_decay);
}

Factors Adadelta::prepare(const Tensor&, const Tensor& lr, double) const { return {lr}; }

Update Adadelta::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                        const Factors& factors, double weight_decay) const {
  const Tensor g = with_l2(gradient, parameter, weight_decay);
  const Tensor squares = moved_square(slots[0], g, options_.rho);
  const Tensor delta = sqrt(slots[1] + options_.eps) * rsqrt(squares + options_.eps) * g;
  return {parameter - cast(factors[0], parameter.dtype()) * delta,
          {squares, moved_square(slots[1], delta, options_.rho)}};
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  return std::make_unique<Adadelta>(AdadeltaOptions{o.at<double>("lr"), o.at<double>("rho"),
                                                    o.at<double>("eps"), o.at<double>("weight_decay")});
}

}  // namespace

const OptimizerDef& adadelta_def() {
  static const OptimizerDef def{"adadelta",
                                "steps as long as the average of earlier ones",
                                {{"lr", OptionType::number, 1.0, "learning rate"},
                                 {"rho", OptionType::number, 0.9, "decay of the averages of squares"},
                                 {"eps", OptionType::number, 1e-6, "added under both roots"},
                                 {"weight_decay", OptionType::number, 0.0, "L2, added to the gradient"}},
                                build};
  return def;
}

}  // namespace tightloop::optim
