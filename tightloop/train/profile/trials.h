// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job_run.h>
#include <tightloop/train/profile/profile.h>

#include <vector>

namespace tightloop::train {

/// Tries on the job's own data what its profile lets hope for, about `seconds` each way in turns: a larger
/// batch, one thread, as many loader threads as pay. Nothing is kept of the steps, but the model's weights
/// change.
std::vector<ProfileTrial> try_changes(PreparedJob& prepared, const Profile& profile, double seconds = 0.3);

}  // namespace tightloop::train
