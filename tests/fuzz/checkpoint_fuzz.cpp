// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/checkpoint.h>

#include <cstdlib>
#include <string>

using namespace tightloop;

/// Bytes are a whole checkpoint or an Error; what is read has the step that it tells.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (train::parse_checkpoint(Bytes::copy_of(text), "fuzz").step < 0) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
