// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/tune/statistics.h>

#include <gtest/gtest.h>

namespace tightloop::train::tune {
namespace {

TEST(TuneStatistics, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_THROW(median({}), InternalError);
}

/// Sorted values 1, 2, …, n in another order.
std::vector<double> shuffled(int n) {
  std::vector<double> out;
  for (int i = 0; i < n; ++i) out.push_back(1 + (i * 7) % n);
  return out;
}

struct Case {
  int n;
  double low, high, coverage;
};

// From tables of the sign test: 1 - 2 · P(Binomial(n, 1/2) < k) with the largest k that reaches 0.9.
TEST(TuneStatistics, IntervalsAreThoseOfTheSignTest) {
  const Case cases[] = {{1, 1, 1, 0},        {2, 1, 2, 0.5},       {3, 1, 3, 0.75},      {4, 1, 4, 0.875},
                        {5, 1, 5, 0.9375},   {6, 1, 6, 0.96875},   {8, 2, 7, 0.9296875}, {9, 2, 8, 0.9609375},
                        {11, 3, 9, 0.93457}, {12, 3, 10, 0.96143}, {15, 4, 12, 0.96484}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.n);
    const Interval i = median_interval(shuffled(c.n));
    EXPECT_EQ(i.low, c.low);
    EXPECT_EQ(i.high, c.high);
    EXPECT_NEAR(i.coverage, c.coverage, 1e-5);
    EXPECT_EQ(i.middle, (c.n + 1) / 2.0);
  }
}

TEST(TuneStatistics, AnOutlierMovesNoMedian) {
  const Interval i = median_interval({1.0, 1.01, 0.99, 1.02, 0.98, 50, 1.0, 1.0});
  EXPECT_NEAR(i.middle, 1.0, 1e-12);
  EXPECT_LE(i.high, 1.02);
}

TEST(TuneStatistics, Verdicts) {
  const double least = 0.02;
  EXPECT_EQ(judge({1.5, 1.4, 1.6, 0.94}, least), Verdict::faster);
  EXPECT_EQ(judge({1.5, 1.4, 1.6, 0.75}, least), Verdict::open) << "too few trials";
  EXPECT_EQ(judge({1.05, 0.99, 1.1, 0.94}, least), Verdict::open) << "may be slower";
  EXPECT_EQ(judge({1.01, 1.005, 1.015, 0.94}, least), Verdict::noise) << "surely faster, but by too little";
  EXPECT_EQ(judge({1.0, 0.95, 1.01, 0.94}, least), Verdict::noise);
  EXPECT_EQ(judge({0.8, 0.7, 0.9, 0.94}, least), Verdict::slower);
  EXPECT_EQ(judge({0.99, 0.9, 1.3, 0.94}, least), Verdict::open);
  EXPECT_EQ(name(Verdict::faster), "faster");
}

}  // namespace
}  // namespace tightloop::train::tune
