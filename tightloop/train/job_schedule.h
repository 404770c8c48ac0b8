// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/schedule.h>
#include <tightloop/train/value.h>

#include <string>

namespace tightloop::train {

/// What train.schedule says.
struct JobSchedule {
  optim::SchedulePtr schedule;  ///< null: none
  bool per_step = false;        ///< every = "step"
  std::string monitor;          ///< of reduce_on_plateau
};

/// `"cosine"`, `{ name = "one_cycle", max_lr = 0.01 }`, a list of such that follow each other, each but the
/// last with `steps`, or `{ name = "product", of = [...] }`. Throws Error with the place in the job.
JobSchedule job_schedule(const Value& value);

}  // namespace tightloop::train
