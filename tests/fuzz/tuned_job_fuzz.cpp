// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/job.h>
#include <tightloop/train/tune/tuned_job.h>

#include <cstdlib>

using namespace tightloop;

/// A job that is edited reads as the job with the settings. Lines at the end that start with ! are settings.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  train::tune::Settings settings;
  for (auto mark = text.rfind("\n!"); mark != std::string::npos; mark = text.rfind("\n!")) {
    settings.insert(settings.begin(), text.substr(mark + 2));
    text.resize(mark);
  }
  try {
    const std::string wanted = train::to_toml(train::parse_job(text, "fuzz", settings));
    const std::string edited = train::tune::with_settings(text, "fuzz", settings);
    if (train::to_toml(train::parse_job(edited, "again")) != wanted) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
