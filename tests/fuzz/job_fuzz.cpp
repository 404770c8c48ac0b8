// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/job.h>

#include <cstdlib>

using namespace tightloop;

/// A text that is a job prints as one that reads back as itself. The last line, if it starts with !, is an
/// override.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> overrides;
  const auto mark = text.rfind("\n!");
  if (mark != std::string::npos) {
    overrides.push_back(text.substr(mark + 2));
    text.resize(mark);
  }
  try {
    const std::string resolved = train::to_toml(train::parse_job(text, "fuzz", overrides));
    if (train::to_toml(train::parse_job(resolved, "again")) != resolved) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
