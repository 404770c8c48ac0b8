// SPDX-License-Identifier: Apache-2.0
#pragma once
// What inspect and check show of data: texts for people, and objects for --json.
#include <tightloop/data/source.h>
#include <tightloop/train/load.h>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tightloop::cli {

/// Rows, columns with type, range, mean, missing fields and classes, first rows; arrays with type, range,
/// mean and first rows. Each line ends in a line end.
std::string source_text(const data::Source& source);
nlohmann::ordered_json source_json(const data::Source& source);

/// The fields of the training part as the model gets them, and how many rows each class of the target has.
std::string fields_text(const train::LoadedData& data);

}  // namespace tightloop::cli
