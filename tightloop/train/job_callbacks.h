// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/callback.h>
#include <tightloop/train/job.h>

#include <memory>
#include <vector>

namespace tightloop::train {

/// The callback `name` as a job's value describes it: a table of options, the value of its main option (a
/// list of options to set true where it has none), true, or false: null. Throws Error with the place in the
/// job.
std::shared_ptr<Callback> job_callback(std::string_view name, const Value& value);
/// Those of a job, in the order of their index.
std::vector<std::shared_ptr<Callback>> job_callbacks(const Job& job);

}  // namespace tightloop::train
