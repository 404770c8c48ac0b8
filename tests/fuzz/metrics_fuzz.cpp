// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/report/curves.h>
#include <tightloop/train/report/metric_table.h>

using namespace tightloop;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const train::MetricTable table =
        train::parse_metrics({reinterpret_cast<const char*>(data), size}, "fuzz");
    train::report::curves_html(table, train::best_row(table, train::usual_metric(table)));
  } catch (const Error&) {
  }
  return 0;
}
