// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/source.h>
#include <tightloop/train/job.h>

namespace tightloop::train {

/// The index of formats that training data is read from.
std::span<const data::SourceFormat> source_formats();

/// Opens a file as one of source_formats(); see data::open_source().
data::Source open_source(const std::string& path);

/// The job with the columns of its training table in place of the patterns that choose them: other tables
/// (validation, evaluation, prediction) may hold them in another order, or more that match.
Job with_columns(Job job);

}  // namespace tightloop::train
