// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/safetensors.h>

#include <cstring>
#include <string>

using namespace tightloop;

namespace {

void read(std::string_view text) {
  try {
    double sum = 0;
    for (const auto& [name, a] : io::parse_safetensors(Bytes::copy_of(text), "fuzz").tensors)
      for (std::int64_t i = 0; i < a.count(); ++i) sum += a.at(i);
    volatile double used = sum;
    (void)used;
  } catch (const Error&) {
  }
}

}  // namespace

/// Once as it is, and once behind a length that makes all but the last byte a header.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read(text);
  const std::uint64_t length = size == 0 ? 0 : size - 1;
  std::string framed(8, '\0');
  std::memcpy(framed.data(), &length, 8);
  read(framed.append(text));
  return 0;
}
