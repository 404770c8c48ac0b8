// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tests/support/files.h>
#include <tightloop/base/recorder.h>

#include <thread>
#include <vector>

namespace tightloop {
namespace {

std::vector<std::int64_t> steps_until(const RecordedSteps& steps, std::int64_t end) {
  std::vector<std::int64_t> out;
  for (std::int64_t s = steps.after(0); s <= end; s = steps.after(s)) out.push_back(s);
  return out;
}

TEST(RecordedSteps, EveryFewSteps) {
  EXPECT_EQ(steps_until({.every = 1}, 4), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(steps_until({.every = 3}, 10), (std::vector<std::int64_t>{3, 6, 9}));
  EXPECT_EQ((RecordedSteps{.every = 3}.after(4)), 6);
  EXPECT_TRUE(steps_until({.every = 0}, 1000).empty());
}

TEST(RecordedSteps, FewerAndFewer) {
  const RecordedSteps steps{.every = 2, .doubles_after = 4};
  EXPECT_EQ(steps_until(steps, 40), (std::vector<std::int64_t>{2, 4, 8, 16, 32}));
  // The same from wherever one asks.
  const RecordedSteps usual{.every = 50, .doubles_after = 50000};
  for (std::int64_t from : {0, 49, 50, 49999, 50000, 50001, 99999, 100000, 123456, 7654321}) {
    std::int64_t first = usual.after(0);
    while (first <= from) first = usual.after(first);
    EXPECT_EQ(usual.after(from), first) << from;
  }
  EXPECT_LT(steps_until(usual, 100'000'000).size(), 8000u);
}

TEST(Recorder, RefusesStepsThatDoNotFitEachOther) {
  EXPECT_ERROR(Recorder({"x"}, {.every = -1}), "every -1 steps");
  EXPECT_ERROR(Recorder({"x"}, {.every = 50, .doubles_after = 120}), "a multiple of the first");
}

struct Values {
  float loss = 0;
  double lr = 0;
  std::int64_t whole = 0;
  std::vector<RecordedScalar> scalars{{DType::f32, &loss}, {DType::f64, &lr}, {DType::i64, &whole}};
};

TEST(Recorder, WhatIsWrittenIsReadOnceAndInOrder) {
  Recorder recorder({"loss", "lr", "whole"});
  Values v;
  for (int i = 1; i <= 3; ++i) {
    v.loss = 0.5F * static_cast<float>(i);
    v.lr = 0.1 * i;
    v.whole = -i;
    recorder.write(i, v.scalars);
  }
  std::int64_t next = 1;
  const auto check = [&](std::int64_t step, std::span<const double> values) {
    EXPECT_EQ(step, next++);
    EXPECT_EQ(values[0], 0.5 * static_cast<double>(step));
    EXPECT_EQ(values[1], 0.1 * static_cast<double>(step));
    EXPECT_EQ(values[2], -static_cast<double>(step));
  };
  recorder.read(check, 2);
  EXPECT_EQ(next, 3);
  recorder.read(check);
  EXPECT_EQ(next, 4);
  recorder.read(check);
  EXPECT_EQ(next, 4);
}

TEST(Recorder, RepeatedStepsLeaveNoRecordUnlessTheRunWentBack) {
  Recorder recorder({"loss"});
  const float loss = 1;
  const RecordedScalar scalar[] = {{DType::f32, &loss}};
  for (int i = 1; i <= 5; ++i) recorder.write(i, scalar);
  recorder.write(3, scalar);
  EXPECT_EQ(recorder.written(), 5u);
  recorder.go_back(2);
  recorder.write(3, scalar);
  EXPECT_EQ(recorder.written(), 6u);
}

TEST(Recorder, AFullRingIsThinnedNotWaitedFor) {
  Recorder recorder({"step"}, {}, 64);
  std::int64_t step = 0;
  const RecordedScalar scalar[] = {{DType::i64, &step}};
  for (step = 1; step <= 10'000; ++step) recorder.write(step, scalar);  // nobody reads
  EXPECT_EQ(recorder.written(), 64u);
  EXPECT_EQ(recorder.left_out(), 10'000u - 64u);
  std::vector<std::int64_t> seen;
  const auto read = [&] { recorder.read([&](std::int64_t s, auto) { seen.push_back(s); }); };
  read();
  // A reader that keeps up sees every step again after a while.
  for (; step <= 1'000'000; ++step) {
    recorder.write(step, scalar);
    if (step % 16 == 0) read();
  }
  read();
  ASSERT_GT(seen.size(), 1000u);
  for (std::size_t i = seen.size() - 1000; i < seen.size(); ++i) EXPECT_EQ(seen[i], seen[i - 1] + 1);
  EXPECT_EQ(recorder.written() + recorder.left_out(), 1'000'000u);
  EXPECT_EQ(seen.size(), recorder.written());
}

TEST(Recorder, AReaderHalfAsFastSeesStepsThatAreSpreadOut) {
  Recorder recorder({"step"}, {}, 64);
  std::int64_t step = 0, last = 0, widest = 0;
  const RecordedScalar scalar[] = {{DType::i64, &step}};
  for (step = 1; step <= 100'000; ++step) {
    recorder.write(step, scalar);
    if (step % 128 != 0) continue;  // twice as many as there is room for
    recorder.read([&](std::int64_t s, auto) {
      if (s > 5000) widest = std::max(widest, s - last);
      last = s;
    });
  }
  EXPECT_GT(recorder.written(), 35'000u);
  EXPECT_LE(widest, 128);
}

TEST(Recorder, TwoThreadsShareItWithoutTearingARecord) {
  Recorder recorder({"a", "b"}, {}, 256);
  std::int64_t step = 0;
  double negative = 0;
  const RecordedScalar scalars[] = {{DType::i64, &step}, {DType::f64, &negative}};
  constexpr std::int64_t kSteps = 200'000;
  std::atomic<bool> done{false};
  std::uint64_t seen = 0;
  std::int64_t last = 0, wrong = 0;
  std::thread reader([&] {
    for (bool finished = false; !finished;) {
      finished = done;
      recorder.read([&](std::int64_t s, std::span<const double> values) {
        wrong += s <= last || values[0] != static_cast<double>(s) || values[1] != -static_cast<double>(s);
        last = s;
        ++seen;
      });
    }
  });
  for (step = 1; step <= kSteps; ++step) {
    negative = -static_cast<double>(step);
    recorder.write(step, scalars);
  }
  done = true;
  reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(seen, recorder.written());
  EXPECT_EQ(seen + recorder.left_out(), static_cast<std::uint64_t>(kSteps));
}

}  // namespace
}  // namespace tightloop
