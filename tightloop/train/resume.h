// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job.h>

#include <string>
#include <vector>

namespace tightloop::train {

/// What a job changes of the run that it goes on with: "train.epochs: 20 instead of 10". Data, model, loss,
/// seed, frozen parameters and the kind of optimizer may not change: throws Error listing all such keys in
/// the name of `checkpoint`.
std::vector<std::string> changes_on_resume(const Job& before, const Job& now, const std::string& checkpoint);

}  // namespace tightloop::train
