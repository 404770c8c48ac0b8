// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/spread.h>

#include <gtest/gtest.h>
#include <cmath>
#include <vector>

namespace tightloop::train {
namespace {

/// Quantiles of Student's distribution, two-sided, as printed tables have them.
TEST(Spread, StudentQuantiles) {
  const std::pair<std::int64_t, double> table[] = {
      {1, 12.706205}, {2, 4.302653},  {3, 3.182446},  {4, 2.776445},  {5, 2.570582},
      {9, 2.262157},  {10, 2.228139}, {29, 2.045230}, {30, 2.042272}, {99, 1.984217}};
  for (const auto& [freedom, t] : table) EXPECT_NEAR(student_quantile(0.95, freedom), t, 2e-6) << freedom;
  EXPECT_NEAR(student_quantile(0.99, 4), 4.604095, 2e-6);
  EXPECT_NEAR(student_quantile(0.95, 99999), 1.959988, 1e-5);
}

TEST(Spread, OfValues) {
  const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};
  const Spread s = spread_of(values);
  EXPECT_EQ(s.count, 8);
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_NEAR(s.deviation, std::sqrt(32.0 / 7), 1e-12);
  EXPECT_NEAR(s.high - s.mean, 2.364624 * s.deviation / std::sqrt(8.0), 1e-5);
  EXPECT_NEAR(s.mean - s.low, s.high - s.mean, 1e-12);
}

TEST(Spread, OfOneValueThereIsNone) {
  const std::vector<double> one{3};
  EXPECT_EQ(spread_of(one).mean, 3);
  EXPECT_TRUE(std::isnan(spread_of(one).deviation));
  EXPECT_TRUE(std::isnan(spread_of(one).low));
  EXPECT_ANY_THROW(spread_of(std::vector<double>()));
}

TEST(Spread, RepeatCallsEachSeedOnce) {
  std::vector<std::uint64_t> seeds;
  const Spread s = repeat(3, 40, [&](std::uint64_t seed) {
    seeds.push_back(seed);
    return static_cast<double>(seed);
  });
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{40, 41, 42}));
  EXPECT_EQ(s.count, 3);
  EXPECT_EQ(s.mean, 41);
  EXPECT_EQ(s.deviation, 1);
  EXPECT_THROW(repeat(0, 1, [](std::uint64_t) { return 0.0; }), Error);
}

}  // namespace
}  // namespace tightloop::train
