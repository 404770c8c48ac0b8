// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/npz.h>

using namespace tightloop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = io::NpzFile::parse(Bytes::copy_of({reinterpret_cast<const char*>(data), size}), "fuzz");
    for (const auto& name : file.names()) {
      const Array a = file.read(name);
      double sum = 0;
      for (std::int64_t i = 0; i < a.count(); ++i) sum += a.at(i);
      volatile double used = sum;
      (void)used;
    }
  } catch (const Error&) {
  }
  return 0;
}
