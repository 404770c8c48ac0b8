// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/npy_table.h>
#include <tightloop/train/loggers/steps.h>
#include <tightloop/train/report/step_curve.h>

using namespace tightloop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const io::NpyTable table = io::parse_npy_table(text, "steps.npy");
    require(train::rows_until(table, text, 100) <= table.rows, "rows_until: more rows than there are");
    train::report::step_curve(text, "steps.npy");
  } catch (const Error&) {
  }
  return 0;
}
