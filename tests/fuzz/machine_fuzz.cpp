// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/doctor/machine_facts.h>

#include <cstdlib>

using namespace tightloop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (train::count_cpus(text) < 0) std::abort();
  for (const std::string& word : train::features_of(text))
    if (word.empty() || word.find(' ') != std::string::npos) std::abort();
  return 0;
}
