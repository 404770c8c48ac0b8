// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data that is made sample by sample: folders of images, tar shards, and NPY files larger than memory.
#include <tightloop/data/images/folder.h>
#include <tightloop/train/load.h>

#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

/// The job's data when they are of that kind, else nothing. Images that fit well into memory and are the same
/// in every epoch are decoded once. Throws Error naming what does not fit the job.
std::optional<LoadedData> load_streams(const Job& job, nn::TargetKind target, Observer* observer = nullptr);

/// The same for other data of a trained model; see load_other().
std::optional<DataPart> load_other_streams(const Job& job, nn::TargetKind target,
                                           const std::vector<std::string>& sources,
                                           const std::vector<std::string>& classes, bool with_target);

/// The job without the transforms at the head of its lists that are done in decoding.
Job after_decoding(Job job);

/// What decoding does to images, in training or in evaluation. With data.memory = "resident" random crops are
/// left to the step, which draws the same ones.
data::ImageOptions image_options(const Job& job, bool training);

/// What the makers of samples need to know.
struct StreamRequest {
  const Job& job;
  nn::TargetKind kind = nn::TargetKind::values;
  bool with_target = true;
  bool training = true;
  std::vector<std::string> classes = {};         ///< of a trained model, or filled in
  std::vector<std::string> notes = {};           ///< what the user should know
  std::optional<data::ImageAdvice> advice = {};  ///< where the user does not write a job
  Observer* observer = nullptr;                  ///< told how far decoding is

  data::ImageOptions images() const;
};

/// A value of each sample of `part`, by the name of a field or, of `arrays` that lie in files, of a file:
/// numbers, or with `text` numbers that tell its values apart. Throws Error where it is not known before the
/// samples are made.
Array sample_column(const Job& job, const DataPart& part, bool arrays, const std::string& name, bool text);

std::shared_ptr<const data::Samples> folder_samples(const std::string& path, StreamRequest& request);
std::shared_ptr<const data::Samples> shard_samples(const std::string& path, StreamRequest& request);
/// Each field from an NPY file: name, path. Small files are kept in memory.
std::shared_ptr<const data::Samples> array_samples(
    const std::vector<std::pair<std::string, std::string>>& files, const StreamRequest& request);

}  // namespace tightloop::train
