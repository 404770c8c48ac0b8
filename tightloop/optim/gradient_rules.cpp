// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/clip.h>
#include <tightloop/optim/gradient_rules.h>

namespace tightloop::optim {
namespace {

constexpr std::int64_t kNoiseStream = 0x6e6f0000;

Tensor centralized(const Tensor& g) {
  if (g.rank() < 2) return g;
  Axes axes;
  for (std::size_t axis = 1; axis < g.rank(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  return g - mean(g, axes, true);
}

}  // namespace

void check(const GradientRules& rules) {
  check_not_negative("clip", "value", rules.clip_value);
  check_not_negative("clip", "norm", rules.clip_norm);
  check_not_negative("clip", "noise", rules.noise);
}

std::vector<Tensor> apply(const GradientRules& rules, std::vector<Tensor> gradients, const Tensor& seed,
                          const Tensor& step) {
  check(rules);
  if (rules.centralize)
    for (Tensor& g : gradients) g = centralized(g);
  if (rules.clip_value > 0) gradients = clip_by_value(gradients, rules.clip_value);
  if (rules.clip_norm > 0) gradients = clip_by_global_norm(gradients, rules.clip_norm);
  if (rules.noise == 0) return gradients;
  const Tensor variance = rules.noise / pow(cast(step, DType::f64) + 1.0, scalar(0.55, DType::f64));
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    Tensor& g = gradients[i];
    const Tensor drawn = random_normal(g.shape(), seed, step, kNoiseStream + static_cast<std::int64_t>(i));
    g = g + cast(sqrt(variance), g.dtype()) * cast(drawn, g.dtype());
  }
  return gradients;
}

}  // namespace tightloop::optim
