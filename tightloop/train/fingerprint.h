// SPDX-License-Identifier: Apache-2.0
#pragma once
// What tells whether data is still the data that a run began with.
#include <tightloop/train/trainer.h>

#include <string>

namespace tightloop::train {

/// One line a thing: its name, and a hash (XXH3) of its type and content. Fields in memory are hashed whole
/// up to 16 MiB, and beyond that 4096 stretches of 4 KiB, evenly spread, so that a file larger than memory is
/// not read through. Of a stream it is the number of samples and the names of 4096 of them.
std::string fingerprint(const TrainingData& data);

/// "" when both are the same, else what differs: "field 'x' of the training data has other values".
std::string fingerprint_difference(const std::string& before, const std::string& now);

}  // namespace tightloop::train
