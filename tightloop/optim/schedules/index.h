// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/schedule.h>

namespace tightloop::optim {

#define TIGHTLOOP_SCHEDULE(name) const ScheduleDef& name##_schedule();
#include <tightloop/optim/schedules/index.def>
#undef TIGHTLOOP_SCHEDULE

}  // namespace tightloop::optim
