// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of a job file, one file each; index.cpp puts them in the order in which a job is written.
#include <tightloop/train/job.h>

#include <vector>

namespace tightloop::train::keys {

std::vector<Key> data_keys();
std::vector<Key> stream_keys();
std::vector<Key> model_keys();
std::vector<Key> train_keys();
std::vector<Key> output_keys();

}  // namespace tightloop::train::keys
