// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/trainer.h>

#include <cstdint>

namespace tightloop::train {

/// The first input of the first `count` validation rows, [rows, ...] as they lie in the data; of the training
/// rows where there are none, and a scalar where rows are windows or a sample cannot be made.
Array first_samples(const TrainingData& data, std::int64_t count);

}  // namespace tightloop::train
