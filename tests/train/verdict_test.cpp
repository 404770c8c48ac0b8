// SPDX-License-Identifier: Apache-2.0
// Verdicts about profiles whose cause is known.
#include <gtest/gtest.h>
#include <tightloop/train/profile/verdict.h>

namespace tightloop::train {
namespace {

constexpr double kMicro = 1e-6;

ProfileRow kernel(const char* label, double micros, double floor, bool by_memory,
                  const char* part = "forward") {
  ProfileRow row{label, "", part, SpanKind::kernel, 0, 1, micros * kMicro};
  row.floor = floor * kMicro;
  row.by_memory = by_memory;
  row.bytes = by_memory ? floor * kMicro * 10e9 : 1;
  return row;
}

ProfileRow other(SpanKind kind, const char* category, double micros) {
  return {category, "", category, kind, -1, 1, micros * kMicro};
}

/// Rows of 10,000 in batches of 500: 20 steps an epoch; validation after each.
Profile of(std::vector<ProfileRow> rows) {
  Profile p;
  p.steps = 100;
  p.run_steps = 200;
  p.setting = {.batch = 500, .rows = 10000, .steps_per_epoch = 20, .evaluate_every = 1, .cores = 2};
  p.peak_gflops = 100;
  p.bandwidth = 10;
  p.rows = std::move(rows);
  for (const ProfileRow& row : p.rows) p.step += row.seconds;
  p.step_median = p.step;
  return p;
}

std::string cause(const Profile& p) { return judge(p).at(0).cause; }

TEST(Verdict, WaitingForSamplesIsTheLoader) {
  Profile p = of({other(SpanKind::load, "waiting for samples", 620), kernel("matmul", 380, 300, false)});
  p.setting.stream = true;
  p.setting.workers = 2;
  const Finding f = judge(p).at(0);
  EXPECT_EQ(f.cause, "loader");
  EXPECT_NEAR(f.share, .62, 1e-9);
  EXPECT_NEAR(f.gain, 1 / .38, 1e-9);
  EXPECT_NE(f.what.find("62.0 % of the time waits for samples that are loaded on 2 workers"),
            std::string::npos)
      << f.what;
  EXPECT_NE(verdict_text(p).find("(expected 2.6 x)"), std::string::npos) << verdict_text(p);
}

TEST(Verdict, ATinyBatchIsOverhead) {
  Profile p = of({kernel("matmul", 2, .1, false), other(SpanKind::rows, "choosing rows", .2)});
  p.setting.batch = 4;
  EXPECT_EQ(cause(p), "batch") << "a short step of few rows that the machine's limits do not explain";
  p.trials.push_back({"data.batch = 32", 1e6, 6e6});
  EXPECT_EQ(cause(p), "batch");
  EXPECT_DOUBLE_EQ(judge(p).at(0).gain, 6);
  p.trials[0].after = 1.05e6;
  EXPECT_NE(cause(p), "batch") << "a larger one was tried and gained nothing";
}

TEST(Verdict, TrafficAtTheMachinesRateIsMemoryBound) {
  const Profile p = of({kernel("w: mul+add", 700, 600, true, "update"), kernel("matmul", 300, 200, false)});
  const Finding f = judge(p).at(0);
  EXPECT_EQ(f.cause, "memory");
  EXPECT_NE(f.next.find("train.accumulate"), std::string::npos) << f.next;
}

TEST(Verdict, F32IsNeedlessOnlyWhereTheHardwareHasBetter) {
  Profile p = of({kernel("matmul", 900, 700, false), kernel("add", 100, 60, true)});
  EXPECT_EQ(cause(p), "compute");
  p.setting.fast_bf16 = true;
  EXPECT_EQ(cause(p), "f32");
  EXPECT_NE(judge(p).at(0).next.find("train.precision"), std::string::npos);
  p.setting.f32 = false;
  EXPECT_EQ(cause(p), "compute");
}

TEST(Verdict, ThreadsThatWaitAreTooMany) {
  Profile p = of({kernel("matmul", 500, 300, false), other(SpanKind::wait, "waiting for threads", 500)});
  p.threads = 8;
  EXPECT_EQ(cause(p), "threads");
  p.trials.push_back({"train.threads = 1", 1e6, 1.7e6});
  EXPECT_DOUBLE_EQ(judge(p).at(0).gain, 1.7);
}

TEST(Verdict, LoaderThreadsThatCrowdTheCoresAreTooMany) {
  Profile p = of({other(SpanKind::load, "waiting for samples", 600), kernel("matmul", 400, 300, false)});
  p.setting.stream = true;
  p.setting.workers = 64;
  p.trials.push_back({"data.workers as many as pay", 1000, 1500});
  EXPECT_EQ(cause(p), "threads");
  EXPECT_NE(judge(p).at(0).what.find("64 loader threads share 2 cores"), std::string::npos);
  p.trials[0].after = 1010;
  EXPECT_EQ(cause(p), "loader");
}

TEST(Verdict, ValidationCountsAsOftenAsTheJobAsks) {
  Profile p = of({kernel("matmul", 100, 80, false)});
  p.activities.push_back({"evaluation", SpanKind::evaluation, 1e-3, 10});  // 100 us each
  EXPECT_NE(cause(p), "evaluation") << "once in 20 steps: 5 %";
  p.setting.steps_per_epoch = 1;
  const Finding f = judge(p).at(0);
  EXPECT_EQ(f.cause, "evaluation");
  EXPECT_NEAR(f.share, .5, 1e-9);
  EXPECT_NEAR(whole_step(p), 200e-6, 1e-12);
  EXPECT_NE(f.what.find("after every 1 step"), std::string::npos) << f.what;
}

TEST(Verdict, CheckpointsAndLoggingAreNamed) {
  Profile p = of({kernel("matmul", 100, 80, false)});
  p.activities.push_back({"checkpoint", SpanKind::callback, 200 * 150e-6, 200});
  EXPECT_EQ(cause(p), "checkpoint");
  p.activities[0] = {"logging", SpanKind::logging, 200 * 150e-6, 200};
  EXPECT_EQ(cause(p), "logging");
  p.activities[0] = {"early_stopping", SpanKind::callback, 200 * 150e-6, 200};
  EXPECT_EQ(cause(p), "callbacks");
}

TEST(Verdict, WhereNothingStandsOutItSaysSo) {
  const Profile p = of(
      {kernel("a", 50, 30, false), kernel("b", 50, 30, true), other(SpanKind::other, "between steps", 300)});
  EXPECT_EQ(cause(p), "kernels");
  EXPECT_EQ(judge(p).at(0).gain, 1);
  EXPECT_NE(verdict_text(p).find("Nothing stands out"), std::string::npos) << verdict_text(p);
  EXPECT_TRUE(judge(Profile()).empty());
}

}  // namespace
}  // namespace tightloop::train
