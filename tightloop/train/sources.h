// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/source.h>
#include <tightloop/train/job.h>

#include <optional>

namespace tightloop::train {

/// The index of formats that training data is read from.
std::span<const data::SourceFormat> source_formats();

/// How the job says that its files are read.
data::SourceOptions source_options(const Job& job);

/// Opens a file as one of source_formats(); see data::open_source().
data::Source open_source(const std::string& path, const data::SourceOptions& options = {});

/// The training part of a data set that is a folder as a whole (CIFAR); nothing when it is not one.
std::optional<data::Source> open_folder(const std::string& folder, const data::SourceOptions& options);

/// The job with the columns of its training table in place of the patterns that choose them: other tables
/// (validation, evaluation, prediction) may hold them in another order, or more that match.
Job with_columns(Job job);

}  // namespace tightloop::train
