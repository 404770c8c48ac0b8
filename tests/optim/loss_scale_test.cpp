// SPDX-License-Identifier: Apache-2.0
// The scale after sequences of updates whose gradients were finite (.) or not (x).
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/optim/loss_scale.h>

#include <string>

namespace tightloop::optim {
namespace {

struct Case {
  const char* name;
  LossScale rule;
  std::string updates;
  std::vector<double> scales;  ///< after each
  std::int64_t lost = -1;      ///< the first update at which the scale should have fallen below its minimum
};

LossScale dynamic(double init, std::int64_t interval, std::int64_t hysteresis = 1, double minimum = 1) {
  LossScale out = LossScale::dynamic();
  out.init = init;
  out.growth_interval = interval;
  out.hysteresis = hysteresis;
  out.minimum = minimum;
  return out;
}

LossScale by_thirds() {
  LossScale out = dynamic(9, 2);
  out.growth = 1.5;
  out.backoff = 1.0 / 3;
  return out;
}

const std::vector<Case> kCases{
    // torch.cuda.amp.GradScaler: scale · 2 after growth_interval good updates in a row, · 0.5 after a bad
    // one.
    {"grows_after_the_interval", dynamic(4, 3), "......", {4, 4, 8, 8, 8, 16}},
    {"a_bad_update_begins_the_interval_anew",
     dynamic(4, 3),
     "..x..."
     "...",
     {4, 4, 2, 2, 2, 4, 4, 4, 8}},
    {"falls_at_each_bad_update", dynamic(65536, 2000), "xxx.", {32768, 16384, 8192, 8192}},
    {"bad_just_before_growth", dynamic(8, 2), ".x.x..", {8, 4, 4, 2, 2, 4}},
    {"other_factors", by_thirds(), "..x..", {9, 13.5, 4.5, 4.5, 6.75}},
    {"no_growth_beyond_f32", dynamic(0x1p127, 1), "..", {0x1p127, 0x1p127}},
    // DeepSpeed's DynamicLossScaler: hysteresis - 1 bad updates are forgiven, until the scale has grown.
    {"hysteresis", dynamic(16, 4, 3), "xxxx....x", {16, 16, 8, 4, 4, 4, 4, 8, 8}},
    {"good_updates_do_not_forgive", dynamic(16, 4, 2), "x..x.x", {16, 16, 16, 8, 8, 4}},
    {"the_minimum", dynamic(4, 2, 1, 2), "xx", {2, 2}, 1},
    {"the_minimum_is_no_end_while_updates_succeed", dynamic(4, 2, 1, 2), "x..x", {2, 2, 4, 2}},
    {"hysteresis_at_the_minimum", dynamic(2, 9, 2, 2), "x.x", {2, 2, 2}, 2},
    {"not_a_power_of_two_stops_at_the_minimum", dynamic(3, 9, 1, 2), "xx", {2, 2}, 1},
    {"fixed", LossScale::fixed(128), "x.x.", {128, 128, 128, 128}},
    {"fixed_ends_after_many_in_a_row", LossScale::fixed(2), std::string(50, 'x'), std::vector<double>(50, 2),
     49},
    {"fixed_forgives", LossScale::fixed(2), std::string(49, 'x') + "." + std::string(49, 'x'),
     std::vector<double>(99, 2)},
};

class Scaler : public ::testing::TestWithParam<std::tuple<CompileOptions, Case>> {};

TEST_P(Scaler, FollowsTheTable) {
  const auto& backend = std::get<0>(GetParam());
  const auto& c = std::get<1>(GetParam());
  check(c.rule);
  const auto feeds = [](double scale, std::int64_t good, std::int64_t left, bool finite) {
    Array flag(DType::boolean, {});
    flag.set(0, finite ? 1 : 0);
    return std::vector<testing::Feed>{
        {Array::scalar(scale)}, {Array::scalar(good)}, {Array::scalar(left)}, {flag}};
  };
  std::vector<testing::Feed> at = feeds(c.rule.init, 0, hysteresis_of(c.rule), true);
  testing::Evaluation step(backend, at, [&](const auto& in) {
    const ScalerStep out = next_scale(c.rule, {in[0], in[1], in[2]}, in[3]);
    return std::vector<Tensor>{out.next.scale, out.next.good, out.next.left, out.lost};
  });
  std::int64_t lost = -1;
  for (std::size_t i = 0; i < c.updates.size(); ++i) {
    at = feeds(at[0].value.at(0), at[1].value.int_at(0), at[2].value.int_at(0), c.updates[i] == '.');
    const auto next = step(at);
    EXPECT_EQ(next[0].at(0), c.scales[i]) << "update " << i;
    if (lost < 0 && next[3].at(0) != 0) lost = static_cast<std::int64_t>(i);
    for (std::size_t s = 0; s < 3; ++s) at[s].value = next[s].clone();
  }
  EXPECT_EQ(lost, c.lost);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Scaler, ::testing::Combine(::testing::ValuesIn(testing::backends()), ::testing::ValuesIn(kCases)),
    [](const auto& info) {
      return std::string(std::get<1>(info.param).name) + "_" + std::to_string(info.index);
    });

class AllFinite : public ::testing::TestWithParam<CompileOptions> {};

TEST_P(AllFinite, OneBadElementIsEnough) {
  for (const DType dtype : {DType::f32, DType::f64})
    for (const double bad : {0.0, 3e38, -1e-40, double(NAN), double(INFINITY), -double(INFINITY)}) {
      Array a(dtype, {3, 5}), b(dtype, {1000});
      for (std::int64_t i = 0; i < 15; ++i) a.set(i, 3e38);
      b.set(997, bad);
      const auto out = testing::evaluate(GetParam(), {{a}, {b}}, [](const auto& in) {
        return std::vector<Tensor>{all_finite({in[0], in[1]}), all_finite({in[0]})};
      });
      EXPECT_EQ(out[0].at(0) != 0, std::isfinite(bad)) << bad;
      EXPECT_EQ(out[1].at(0), 1);
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, AllFinite, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST(LossScaleErrors, SayWhatIsWrong) {
  const auto with = [](auto change) {
    LossScale out = LossScale::dynamic();
    change(out);
    return out;
  };
  EXPECT_ERROR(check(LossScale::fixed(0)), "init_scale must be above 0");
  EXPECT_ERROR(check(LossScale::fixed(1e39)), "a number of f32");
  EXPECT_ERROR(check(with([](LossScale& s) { s.growth = 0.5; })),
               "growth_factor must be at least 1, not 0.5");
  EXPECT_ERROR(check(with([](LossScale& s) { s.backoff = 1; })),
               "backoff_factor must be above 0 and below 1");
  EXPECT_ERROR(check(with([](LossScale& s) { s.growth_interval = 0; })),
               "growth_interval must be at least 1");
  EXPECT_ERROR(check(with([](LossScale& s) { s.hysteresis = 0; })), "hysteresis must be at least 1");
  EXPECT_ERROR(check(with([](LossScale& s) { s.minimum = 1e9; })), "is above the first scale 65536");
  EXPECT_ERROR(check(with([](LossScale& s) { s.init = NAN; })), "not nan");
}

}  // namespace
}  // namespace tightloop::optim
