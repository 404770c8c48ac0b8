// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/thread_trial.h>

#include <gtest/gtest.h>

namespace tightloop::backends::cpu {
namespace {

/// Runs `seconds` of steps that take `many` and `one` seconds each; the share of the time with one thread.
double share_of_one(ThreadTrial& trial, double seconds, double many, double one) {
  double at_one = 0, total = 0;
  while (total < seconds) {
    const auto [threads, steps] = trial.next(1'000'000'000);
    EXPECT_GE(steps, 1);
    const double took = static_cast<double>(steps) * (threads == 1 ? one : many);
    trial.took(steps, took);
    total += took;
    if (threads == 1) at_one += took;
  }
  return at_one / total;
}

TEST(ThreadTrial, KeepsWhatIsFasterAndAsksAgain) {
  ThreadTrial trial(2);
  EXPECT_LT(share_of_one(trial, 10, 50e-6, 90e-6), 0.02);
  EXPECT_EQ(trial.threads(), 2);
  EXPECT_GT(share_of_one(trial, 30, 5e-3, 90e-6), 0.9);   // the machine became busy
  EXPECT_LT(share_of_one(trial, 30, 50e-6, 90e-6), 0.1);  // and free again
}

TEST(ThreadTrial, StepsLongerThanATrialRunOnceEachWay) {
  ThreadTrial trial(2);
  EXPECT_EQ(trial.next(100).steps, 1);
  trial.took(1, 0.5);
  EXPECT_EQ(trial.threads(), 1);
  trial.took(1, 0.9);
  EXPECT_EQ(trial.threads(), 2);
}

TEST(ThreadTrial, TriesNothingUnlessItMayChoose) {
  ThreadTrial fixed(2, false);
  EXPECT_EQ(fixed.next(100).steps, 100);
  fixed.took(100, 10);
  EXPECT_EQ(fixed.next(100).threads, 2);
  EXPECT_EQ(fixed.threads(), 2);
}

TEST(ThreadTrial, NeverRunsMoreThanIsLeftAndChoosesNothingAmongOne) {
  ThreadTrial trial(2);
  trial.took(10, 1e-5);
  EXPECT_LE(trial.next(3).steps, 3);
  ThreadTrial one(1);
  EXPECT_EQ(one.next(7).steps, 7);
  one.took(7, 1);
  EXPECT_EQ(one.threads(), 1);
}

}  // namespace
}  // namespace tightloop::backends::cpu
