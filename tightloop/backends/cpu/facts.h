// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/plan/plan.h>
#include <tightloop/backends/facts.h>

namespace tightloop::backends::cpu {

/// Kernels of a plan with their layers, their part of the step and their work, and the temporaries with their
/// owners, for steps of these sizes.
StepFacts facts_of(const Plan& plan, const Sizes& sizes);

/// The same for the kernels alone, without their work: their names.
std::vector<std::string> kernel_labels(const Plan& plan);

}  // namespace tightloop::backends::cpu
