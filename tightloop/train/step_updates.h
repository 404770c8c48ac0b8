// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a training step does with the loss: gradients, their sums, and the update rule.
#include <tightloop/nn/module.h>
#include <tightloop/train/step_builder.h>

#include <vector>

namespace tightloop::train {

using NamedParameters = std::vector<nn::Module::NamedParameter>;

/// Those that training changes: not frozen, and part of the loss. Throws Error when there is none.
NamedParameters trained_of(const NamedParameters& parameters, const Tensor& loss);
std::vector<Tensor> values_of(const NamedParameters& parameters);

/// Gradients of the loss → accumulation → their rules → update rule: the next values of the parameters, and
/// the optimizer's slots as states. Throws Error when nothing can be trained.
void add_updates(StepBuilder& builder, const NamedParameters& parameters, const nn::LossValue& loss,
                 const optim::Optimizer& rule, const UpdateOptions& options, const RunLength& length);

/// Σ gradient of LossValue::total, whose quotient by Σ weight is the gradient of the loss over all rows.
/// total itself carries no gradient: it is value times a number that does not depend on the parameters.
void add_gradient_sums(StepBuilder& builder, const NamedParameters& parameters, const nn::LossValue& loss,
                       const optim::Optimizer& rule);

}  // namespace tightloop::train
