// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/profile/profile.h>

#include <string>
#include <vector>

namespace tightloop::train {

/// What a run's time goes to, and what to do about it.
struct Finding {
  /// "loader", "evaluation", "checkpoint", "logging", "callbacks", "threads", "batch", "memory", "f32",
  /// "compute" or "kernels".
  std::string cause;
  double share = 0;  ///< of the time of a step with all that comes with it
  double gain = 1;   ///< expected: so many times as fast at best; measured where a trial was run
  std::string what;  ///< a sentence with the numbers
  std::string next;  ///< a sentence: the next step
};

/// The time of a step with its share of what happens between steps: evaluations, checkpoints and the like.
double whole_step(const Profile& profile);

/// What slows the run down, the most promising first. Never empty for a profile that has steps: where nothing
/// stands out, that is the finding.
std::vector<Finding> judge(const Profile& profile);

/// The first finding and up to two more in a paragraph.
std::string verdict_text(const Profile& profile);

}  // namespace tightloop::train
