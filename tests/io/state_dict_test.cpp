// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/base/half.h>
#include <tightloop/io/state_dict.h>

#include <cmath>
#include <limits>

namespace tightloop::io {
namespace {

TensorFile one(const std::string& name, Array a) { return {{{name, std::move(a)}}, {}}; }

TEST(StateDict, ListsEveryMisfitByName) {
  TensorFile file;
  file.tensors.emplace_back("lin.weight", Array(DType::f32, {2, 3}));
  file.tensors.emplace_back("lin.bias", Array(DType::i64, {3}));
  file.tensors.emplace_back("old", Array(DType::f32, {1}));
  file.tensors.emplace_back("older", Array(DType::f32, {1}));
  const std::vector<Slot> slots{
      {"lin.weight", DType::f32, {3, 2}}, {"lin.bias", DType::f32, {3}}, {"new", DType::f32, {}}};
  const LoadReport report = load_report(file, slots);
  EXPECT_FALSE(report.fits());
  EXPECT_EQ(report.matched, 2u);
  EXPECT_EQ(report.missing, std::vector<std::string>{"new"});
  EXPECT_EQ(report.unexpected, (std::vector<std::string>{"old", "older"}));
  EXPECT_EQ(report.mis_shaped,
            std::vector<std::string>{"lin.weight: f32[2, 3] in the file, f32[3, 2] wanted"});
  EXPECT_EQ(report.mis_typed, std::vector<std::string>{"lin.bias: i64[3] in the file, f32[3] wanted"});
  const std::string said = tightloop::testing::error_of([&] { load_state(file, slots, "m"); });
  for (const char* part : {"m: the tensors do not fit", "missing (1): new", "unexpected (2): old, older",
                           "mis-shaped (1): lin.weight: f32[2, 3] in the file, f32[3, 2] wanted", "lin.bias"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST(StateDict, StrictByDefaultAndNeverLaxAboutShapes) {
  TensorFile file = one("a", Array::scalar(1.f));
  const std::vector<Slot> more{{"a", DType::f32, {}}, {"b", DType::f32, {}}};
  EXPECT_ERROR(load_state(file, more, "m"), "missing (1): b");
  const LoadedState state = load_state(file, more, "m", {.strict = false});
  EXPECT_EQ(state.values[0]->at(0), 1);
  EXPECT_FALSE(state.values[1].has_value());
  EXPECT_ERROR(load_state(file, {{"a", DType::f32, {1}}}, "m", {.strict = false}), "mis-shaped");
  EXPECT_ERROR(load_state(file, {{"a", DType::i32, {}}}, "m", {.strict = false}), "type refused");
}

TEST(StateDict, NoNameInCommonIsAnError) {
  const TensorFile file = one("a", Array::scalar(1.f));
  EXPECT_ERROR(load_state(file, {{"b", DType::f32, {}}}, "m", {.strict = false}), "no tensor has the name");
  EXPECT_ERROR(load_state({}, {{"b", DType::f32, {}}}, "m"), "missing (1): b");
  EXPECT_ERROR(load_state(file, {}, "m"), "unexpected (1): a");
  EXPECT_TRUE(load_state({}, {}, "m").values.empty());
}

TEST(StateDict, SharesWhatNeedsNoConversion) {
  const Array a = Array::of<float>({2}, {1, 2});
  EXPECT_EQ(load_state(one("a", a), {{"a", DType::f32, {2}}}, "m").values[0]->bytes(), a.bytes());
}

TEST(StateDict, Bf16WidensExactly) {
  Array a(DType::bf16, {65536});
  for (int i = 0; i < 65536; ++i)
    reinterpret_cast<std::uint16_t*>(a.bytes())[i] = static_cast<std::uint16_t>(i);
  const LoadedState state = load_state(one("a", a), {{"a", DType::f32, {65536}}}, "m");
  EXPECT_TRUE(state.report.rounded.empty());
  for (int i = 0; i < 65536; ++i) {
    const float want = from_bf16(static_cast<std::uint16_t>(i));
    const float got = state.values[0]->as<float>()[static_cast<std::size_t>(i)];
    ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)));
  }
}

TEST(StateDict, F32IntoBf16RoundsToNearestEvenAndSaysSo) {
  const Array a = Array::of<float>({4}, {1.f + 0x1p-8f, 1.f + 0x3p-8f, 1.f + 0x1p-8f + 0x1p-20f, -3.f});
  const LoadedState state = load_state(one("a", a), {{"a", DType::bf16, {4}}}, "m");
  EXPECT_EQ(state.report.rounded, std::vector<std::string>{"a: f32[4] in the file, bf16[4] wanted"});
  EXPECT_NE(state.report.text().find("rounded to nearest even (1): a"), std::string::npos);
  EXPECT_TRUE(state.report.fits());
  EXPECT_EQ(state.values[0]->at(0), 1.0);
  EXPECT_EQ(state.values[0]->at(1), 1.0 + 0x4p-8);
  EXPECT_EQ(state.values[0]->at(2), 1.0 + 0x2p-8);
  EXPECT_EQ(state.values[0]->at(3), -3.0);
}

TEST(StateDict, WhatWouldBecomeInfiniteIsRefused) {
  EXPECT_ERROR(load_state(one("a", Array::of<float>({2}, {1, 1e5})), {{"a", DType::f16, {2}}}, "m"),
               "element 1 of 'a' is 100000.000000, which is infinite in f16");
  const float infinity = std::numeric_limits<float>::infinity();
  const auto state = load_state(one("a", Array::scalar(infinity)), {{"a", DType::f16, {}}}, "m");
  EXPECT_TRUE(std::isinf(state.values[0]->at(0)));
}

TEST(StateDict, EveryPairOfTypes) {
  const auto widens = [](DType from, DType to) {
    using D = DType;
    const std::pair<D, D> exact[] = {{D::bf16, D::f32}, {D::f16, D::f32}, {D::bf16, D::f64},
                                     {D::f16, D::f64},  {D::f32, D::f64}, {D::u8, D::i32},
                                     {D::u8, D::i64},   {D::i32, D::i64}};
    return std::find(std::begin(exact), std::end(exact), std::pair(from, to)) != std::end(exact) ||
           from == to;
  };
  for (const auto& from : kDTypes)
    for (const auto& to : kDTypes) {
      const LoadReport report = load_report(one("a", Array(from.dtype, {1})), {{"a", to.dtype, {1}}});
      const bool exact = widens(from.dtype, to.dtype);
      const bool rounds = !exact && from.floating && to.floating;
      EXPECT_EQ(report.mis_typed.empty(), exact || rounds) << from.name << " into " << to.name;
      EXPECT_EQ(report.rounded.empty(), !rounds) << from.name << " into " << to.name;
    }
}

}  // namespace
}  // namespace tightloop::io
