// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tightloop/backends/cpu/runtime/cores.h>
#include <tightloop/backends/cpu/runtime/cost.h>

using namespace tightloop::backends::cpu;

namespace {

constexpr Rates kMachine{
    .operations = 100e9, .bytes = 50e9, .barrier_of_two = 0.2e-6, .barrier_of_all = 0.8e-6, .cores = 16};

StepWork step_of(double microseconds, int kernels, std::int64_t parts = 1 << 20) {
  StepWork work;
  for (int i = 0; i < kernels; ++i) work.kernels.push_back({microseconds * 1e-6 / kernels * 100e9, 0, parts});
  work.barriers = kernels;
  return work;
}

TEST(ThreadCost, BarriersGrowWithTheRounds) {
  EXPECT_EQ(kMachine.barrier(1), 0);
  EXPECT_DOUBLE_EQ(kMachine.barrier(2), 0.2e-6);
  EXPECT_DOUBLE_EQ(kMachine.barrier(4), 0.4e-6);
  EXPECT_DOUBLE_EQ(kMachine.barrier(16), 0.8e-6);
}

TEST(ThreadCost, ThePredictionIsTheLongerOfArithmeticAndMemoryPlusBarriers) {
  const StepWork work{{{100e3, 100e3, 1 << 20}, {400e3, 0, 1 << 20}}, 3};
  EXPECT_DOUBLE_EQ(predicted_seconds(work, 1, kMachine), 2e-6 + 4e-6);
  EXPECT_DOUBLE_EQ(predicted_seconds(work, 2, kMachine), 1e-6 + 2e-6 + 3 * 0.2e-6);
}

TEST(ThreadCost, PartsLimitTheGain) {
  EXPECT_DOUBLE_EQ(predicted_seconds(step_of(9, 1, 1), 4, kMachine), 9e-6 + 0.4e-6);
  EXPECT_DOUBLE_EQ(predicted_seconds(step_of(9, 1, 3), 2, kMachine), 6e-6 + 0.2e-6);
  EXPECT_EQ(choose_threads(step_of(1000, 3, 1), 16, kMachine), 1);
  EXPECT_EQ(choose_threads(step_of(1000, 3, 4), 16, kMachine), 4);
  EXPECT_EQ(choose_threads(step_of(1000, 3, 0), 16, kMachine), 1);
}

TEST(ThreadCost, ATinyStepGetsOneThreadAndALargeOneAll) {
  EXPECT_EQ(choose_threads(step_of(0.7, 4), 16, kMachine), 1);
  EXPECT_EQ(choose_threads(step_of(10000, 20), 16, kMachine), 16);
  EXPECT_EQ(choose_threads(step_of(10000, 20), 3, kMachine), 3);
  EXPECT_EQ(choose_threads(step_of(10000, 20), 64, kMachine), 16);
  EXPECT_EQ(choose_threads(StepWork{}, 16, kMachine), 1);
}

TEST(ThreadCost, MoreWorkNeverGetsFewerThreadsAndIsNeverPredictedSlower) {
  int before = 1;
  for (double microseconds = 0.1; microseconds < 1e5; microseconds *= 1.3) {
    const StepWork work = step_of(microseconds, 10);
    const int threads = choose_threads(work, 16, kMachine);
    EXPECT_GE(threads, before) << microseconds;
    EXPECT_LE(predicted_seconds(work, threads, kMachine), predicted_seconds(work, 1, kMachine));
    before = threads;
  }
  EXPECT_EQ(before, 16);
}

TEST(ThreadCost, DearBarriersMeanOneThread) {
  Rates busy = kMachine;
  busy.barrier_of_two = busy.barrier_of_all = 100e-6;
  EXPECT_EQ(choose_threads(step_of(1000, 20), 16, busy), 1);
}

TEST(ThreadCost, TypicalRatesSendTinyStepsToOneThreadAndLargeOnesToAll) {
  EXPECT_EQ(choose_threads(step_of(0.2, 4), 1000, typical_rates(8)), 1);
  EXPECT_EQ(choose_threads(step_of(1e6, 4), 1000, typical_rates(8)), 8);
  EXPECT_EQ(choose_threads(step_of(1e6, 4), 1, typical_rates(8)), 1);
}

}  // namespace
