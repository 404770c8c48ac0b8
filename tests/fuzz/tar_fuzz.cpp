// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/shards.h>
#include <tightloop/data/tar.h>

#include <cstring>

using namespace tightloop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = [&](std::span<std::byte> to, std::uint64_t at) {
    if (at > size || to.size() > size - at) __builtin_trap();
    std::memcpy(to.data(), data + at, to.size());
  };
  try {
    for (const data::TarMember& m : data::tar_members(read, size, "fuzz").members)
      if (m.offset > size || m.size > size - m.offset) __builtin_trap();
  } catch (const Error&) {
  }
  try {
    if (size < 40) data::expand_braces({reinterpret_cast<const char*>(data), size});
  } catch (const Error&) {
  }
  return 0;
}
