// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of a job file, one file each; index.cpp puts them in the order in which a job is written.
#include <tightloop/train/job.h>

#include <vector>

namespace tightloop::train::keys {

std::vector<Key> data_keys();
std::vector<Key> stream_keys();  ///< how samples are made; of [data]
std::vector<Key> view_keys();    ///< how the data are split, sampled and changed; also of [data]
std::vector<Key> model_keys();
std::vector<Key> train_keys();
std::vector<Key> update_keys();  ///< how numbers are kept apart from 0 and infinity; also of [train]
std::vector<Key> run_keys();     ///< runs for development, and several runs; also of [train]
std::vector<Key> output_keys();

/// What data.shuffle, data.sampler, data.split, data.fold and data.window ask of each other. Throws Error for
/// those that contradict; sets data.shuffle by the sampler.
void check_views(const Value& document, Job& job);

}  // namespace tightloop::train::keys
