// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/tune/measure.h>

#include <string>

namespace tightloop::train::tune {

/// The text of a job file with other values for the keys that `settings` name: values are replaced where they
/// stand and new keys put at the end of their table, so that comments, order and what is not concerned stay.
/// Where the file is written in a way that does not allow that (a table of dotted keys), the whole is written
/// anew without comments. Either way it reads as the job with these settings. Throws Error for a text or
/// settings that are no job.
std::string with_settings(const std::string& text, const std::string& source, const Settings& settings);

}  // namespace tightloop::train::tune
