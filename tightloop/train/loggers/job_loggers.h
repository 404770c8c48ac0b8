// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job.h>
#include <tightloop/train/loggers/logger.h>

#include <memory>
#include <string>
#include <vector>

namespace tightloop::train {

/// The loggers that a job asks for, whose files go to `folder`. Throws Error with the place in the job.
std::vector<std::shared_ptr<Logger>> job_loggers(const std::vector<Choice>& choices,
                                                 const std::string& folder);

/// The job as its logs show it: its text, and as hyperparameters the keys that decide how it learns, tables
/// by their entries ("train.optimizer.lr").
RunDescription describe_job(const Job& job);

}  // namespace tightloop::train
