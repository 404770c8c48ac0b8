// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/cifar.h>

#include <cstdlib>

using namespace tightloop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = Bytes::copy_of({reinterpret_cast<const char*>(data), size});
  for (const io::Cifar kind : {io::Cifar::ten, io::Cifar::hundred}) {
    try {
      const auto d = io::parse_cifar({{"a", bytes}, {"b", bytes}}, kind);
      if (d.images.dims()[0] != d.labels.count()) std::abort();
      for (const auto label : d.labels.as<std::int64_t>())
        if (label < 0 || label >= static_cast<int>(kind)) std::abort();
    } catch (const Error&) {
    }
  }
  return 0;
}
