// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tightloop/backends/cpu/runtime/peak.h>

#include <cstddef>

using namespace tightloop::backends::cpu;

namespace {

// The speed of the machine under test is unknown; that the loops really run their work is not.
TEST(Peak, MultiplyAddsAreCountedAndDone) {
  for (const int threads : {1, 2}) {
    const double gflops = measure_peak_gflops(threads);
    EXPECT_GT(gflops, 0.01) << threads;
    EXPECT_LT(gflops, 1000.0 * threads) << threads;
  }
}

TEST(Peak, ReadingIsCountedAndDone) {
  for (const std::size_t bytes : {1, 5000, 300000}) {
    const double rate = measure_read_bandwidth(2, bytes);
    EXPECT_GT(rate, 0.001) << bytes;
    EXPECT_LT(rate, 10000.0) << bytes;
  }
}

}  // namespace
