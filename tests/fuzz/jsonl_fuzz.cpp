// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/loggers/jsonl.h>

using namespace tightloop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t kept = train::lines_until(text, 100, 10);
  require(kept <= size && (kept == 0 || text[kept - 1] == '\n'), "lines_until: not the end of a line");
  require(train::lines_until(text.substr(0, kept), 100, 10) == kept, "lines_until: not the same again");
  return 0;
}
