// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/file.h>

using namespace tightloop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    gunzip(std::as_bytes(std::span(data, size)), "fuzz", 1 << 20);
  } catch (const Error&) {
  }
  return 0;
}
