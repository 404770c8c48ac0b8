// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/profile/outputs.h>

#include <string>

using namespace tightloop;

/// A text is a trace or an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    train::check_trace(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const Error&) {
  }
  return 0;
}
