// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/options.h>
#include <tightloop/train/job.h>

namespace tightloop::train {

/// The options of something chosen by name. Throws Error with the place in the job of a value that is none.
Options to_options(const Choice& choice);

}  // namespace tightloop::train
