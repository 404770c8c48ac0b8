// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tightloop/base/perf_counters.h>
#include <tightloop/base/spans.h>

#include <thread>

namespace tightloop {
namespace {

std::vector<std::int64_t> steps_in(SpanRing& ring) {
  std::vector<std::int64_t> out;
  ring.drain([&](const Span& s) { out.push_back(s.step); });
  return out;
}

TEST(SpanRing, GivesWhatWasWrittenInOrderAndOnce) {
  SpanRing ring(3);
  EXPECT_EQ(ring.capacity(), 4u);
  for (std::int64_t i = 0; i < 3; ++i) ring.write({1, 2, i, 0});
  EXPECT_EQ(ring.room(), 1u);
  EXPECT_EQ(steps_in(ring), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(steps_in(ring), (std::vector<std::int64_t>{}));
  for (std::int64_t i = 3; i < 7; ++i) ring.write({1, 2, i, 0});
  EXPECT_EQ(steps_in(ring), (std::vector<std::int64_t>{3, 4, 5, 6}));
  EXPECT_EQ(ring.dropped(), 0u);
}

TEST(SpanRing, DropsAndCountsWhatHasNoRoom) {
  SpanRing ring(4);
  for (std::int64_t i = 0; i < 10; ++i) ring.write({1, 2, i, 0});
  EXPECT_EQ(ring.dropped(), 6u);
  EXPECT_EQ(steps_in(ring), (std::vector<std::int64_t>{0, 1, 2, 3}));
  ring.write({1, 2, 10, 0});
  EXPECT_EQ(steps_in(ring), (std::vector<std::int64_t>{10}));
}

TEST(SpanRing, AReaderBesideTheWriterSeesEachSpanOnceAndWhole) {
  SpanRing ring(64);
  constexpr std::int64_t count = 200000;
  std::thread writer([&] {
    for (std::int64_t i = 1; i <= count; ++i) {
      const auto n = static_cast<std::uint64_t>(i);
      ring.write({n, 2 * n, i, 7});
    }
  });
  std::int64_t last = 0, seen = 0;
  const auto read = [&] {
    ring.drain([&](const Span& s) {
      ASSERT_GT(s.step, last);
      ASSERT_EQ(s.begin, static_cast<std::uint64_t>(s.step));
      ASSERT_EQ(s.end, 2 * s.begin);
      last = s.step;
      ++seen;
    });
  };
  while (seen + static_cast<std::int64_t>(ring.dropped()) < count) read();
  writer.join();
  read();
  EXPECT_EQ(seen + static_cast<std::int64_t>(ring.dropped()), count);
}

TEST(Spans, RingsHaveRoomForSomeSteps) {
  Spans spans(16);
  spans.reserve(2, 3);
  EXPECT_EQ(spans.threads(), 2);
  EXPECT_EQ(spans.steps_of_room(), 5);
  spans.ring(1).write({1, 2, 42, 0});
  spans.reserve(3, 100);
  EXPECT_EQ(spans.threads(), 3);
  EXPECT_GE(spans.steps_of_room(), 4);
  EXPECT_EQ(steps_in(spans.ring(1)), (std::vector<std::int64_t>{42})) << "a larger ring keeps what is there";
}

TEST(SpanScope, WritesOnlyWhileItIsOn) {
  Spans spans;
  spans.reserve(1, 1);
  const auto name = spans.add({"sleeping", SpanKind::callback});
  { const SpanScope scope(nullptr, name, 1); }
  { const SpanScope scope(&spans, name, 2); }
  spans.set_on(true);
  { const SpanScope scope(&spans, name, 3); }
  EXPECT_EQ(steps_in(spans.ring(0)), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(spans.names()[0].text, "sleeping");
}

TEST(TickScale, TicksRunForward) {
  const TickScale scale;
  const std::uint64_t before = ticks();
  std::uint64_t after = before;
  while (after < before + 1000) after = ticks();
  EXPECT_GT(scale.seconds_per_tick(), 1e-11);
  EXPECT_LT(scale.seconds_per_tick(), 1e-6);
}

TEST(PerfCounters, GiveSomethingSensibleOrNothing) {
  PerfCounters counters;
  EXPECT_FALSE(counters.read().has_value()) << "nothing was counted yet";
  counters.start();
  volatile double sum = 0;
  for (int i = 0; i < 1000000; ++i) sum = sum + 1;
  counters.stop();
  if (const auto counts = counters.read()) {
    EXPECT_GT(counts->cycles, 1e5);
    EXPECT_GT(counts->instructions, 1e6);
  }
}

}  // namespace
}  // namespace tightloop
