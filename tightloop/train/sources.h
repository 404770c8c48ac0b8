// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/source.h>

namespace tightloop::train {

/// The index of formats that training data is read from.
std::span<const data::SourceFormat> source_formats();

/// Opens a file as one of source_formats(); see data::open_source().
data::Source open_source(const std::string& path);

}  // namespace tightloop::train
