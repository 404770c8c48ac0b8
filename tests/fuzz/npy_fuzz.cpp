// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/npy.h>

using namespace tightloop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Array a = io::parse_npy(Bytes::copy_of({reinterpret_cast<const char*>(data), size}), "fuzz");
    double sum = 0;
    for (std::int64_t i = 0; i < a.count(); ++i) sum += a.at(i);
    volatile double used = sum;
    (void)used;
  } catch (const Error&) {
  }
  return 0;
}
