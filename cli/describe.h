// SPDX-License-Identifier: Apache-2.0
#pragma once
// What inspect and check show of data: texts for people, and objects for --json.
#include <tightloop/data/describe_images.h>
#include <tightloop/data/source.h>
#include <tightloop/train/load.h>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tightloop::cli {

/// Rows, columns with type, range, mean, missing fields and classes, first rows; arrays with type, range,
/// mean and first rows. Each line ends in a line end.
std::string text_of(const data::Source& source);
nlohmann::ordered_json json_of(const data::Source& source);

/// Size, channels and bits as stored, and what a job makes of it.
std::string text_of(const data::ImageSummary& image);
nlohmann::ordered_json json_of(const data::ImageSummary& image);
/// Images, classes, sizes, and in one line each what is damaged or no image.
std::string text_of(const data::FolderSummary& folder);
nlohmann::ordered_json json_of(const data::FolderSummary& folder);
/// Samples, their files by extension, names.
std::string text_of(const data::ShardSummary& shard);
nlohmann::ordered_json json_of(const data::ShardSummary& shard);

/// The fields of the training part as the model gets them, and how many rows each class of the target has.
std::string fields_text(const train::LoadedData& data);

}  // namespace tightloop::cli
