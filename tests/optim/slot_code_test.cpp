// SPDX-License-Identifier: Apache-2.0
// Slots in fewer bits: bytes, rounding that is right on average, and what rules make of them.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tests/support/update_rules.h>
#include <tightloop/base/half.h>
#include <tightloop/engine/loop.h>
#include <tightloop/optim/optim.h>

#include <cmath>

namespace tightloop::optim {
namespace {

const TensorType kMatrix{DType::f32, Shape{8, 64}};

/// What is read back of slots that were kept.
class Codes {
 public:
  Codes(const CompileOptions& backend, const Optimizer& rule, const Array& value)
      : evaluation_(backend, feeds(value, 0), [&rule](const auto& in) {
          const std::vector<Tensor> values(rule.slots().size(), in[0]);
          const auto states = slot_codes(rule, kMatrix, values, {scalar(7, DType::i64), in[1], 0});
          return slot_values(rule, kMatrix, states);
        }) {}

  std::vector<Array> operator()(const Array& value, std::int64_t step) {
    return evaluation_(feeds(value, step));
  }

 private:
  static std::vector<testing::Feed> feeds(const Array& value, std::int64_t step) {
    return {{value}, {Array::scalar(step)}};
  }
  testing::Evaluation evaluation_;
};

/// Eight rows of very different size, each of magnitudes over six decades; `low`: the least sign.
Array numbers(double low) {
  Array out(DType::f32, {8, 64});
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const double sign = i % 3 == 0 ? low : 1;
    out.set(i, i % 7 == 0 ? 0 : sign * std::pow(10.0, -(i / 64) - static_cast<double>(i % 61) / 10));
  }
  return out;
}

class SlotCodes : public ::testing::TestWithParam<std::tuple<CompileOptions, SlotType>> {};

TEST_P(SlotCodes, AreRightOnAverage) {
  const auto& [backend, type] = GetParam();
  const Optimizer& rule = with_slots(Adam(), type);
  for (std::size_t slot = 0; slot < 2; ++slot) {
    const Array x = numbers(slot == 0 ? -1 : 1);
    Codes codes(backend, rule, x);
    const int draws = 400;
    std::vector<double> sums(512), squares(512);
    for (int step = 0; step < draws; ++step) {
      const Array y = codes(x, step)[slot];
      for (std::size_t i = 0; i < 512; ++i) {
        const double error = y.at(static_cast<std::int64_t>(i)) - x.at(static_cast<std::int64_t>(i));
        sums[i] += error, squares[i] += error * error;
      }
    }
    int far = 0;
    for (std::int64_t i = 0; i < 512; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double mean = sums[at] / draws, deviation = std::sqrt(squares[at] / draws / draws);
      double largest = 0;
      for (std::int64_t k = i / 64 * 64; k < i / 64 * 64 + 64; ++k)
        largest = std::max(largest, std::abs(x.at(k)));
      EXPECT_TRUE(x.at(i) != 0 || squares[at] == 0);
      // A positive element below the first code is never 0: it is too large, by up to 2.4e-10 of the block.
      const double allowed = slot == 1 && type == SlotType::int8 ? 2.4e-10 * largest : 0;
      if (std::abs(mean) > 4 * deviation + allowed + 1e-6 * std::abs(x.at(i))) ++far;
    }
    EXPECT_LE(far, 6) << "of 512 means of " << draws << " draws, beyond four deviations";
  }
}

TEST_P(SlotCodes, LieBesideTheValue) {
  const auto& [backend, type] = GetParam();
  const Optimizer& rule = with_slots(Adam(), type);
  for (std::size_t slot = 0; slot < 2; ++slot) {
    const Array x = numbers(slot == 0 ? -1 : 1), y = Codes(backend, rule, x)(x, 3)[slot];
    for (std::int64_t i = 0; i < 512; ++i) {
      double largest = 0;
      for (std::int64_t k = i / 64 * 64; k < i / 64 * 64 + 64; ++k)
        largest = std::max(largest, std::abs(x.at(k)));
      const double share = std::abs(x.at(i)) / largest;
      // The distance of two codes: of q|q| it is 2√x/127, of q⁴ it is 4x^(3/4)/255.
      const double distance = type == SlotType::bf16 ? std::abs(x.at(i)) / 127
                              : slot == 0 ? largest * (2 * std::sqrt(share) / 127 + 1.0 / 127 / 127)
                                          : largest * (4 * std::pow(share, 0.75) / 255 * 1.1 + 1e-8);
      EXPECT_LE(std::abs(y.at(i) - x.at(i)), distance) << slot << " " << i << " " << x.at(i);
      EXPECT_TRUE(slot == 0 || x.at(i) == 0 || y.at(i) > 0) << "rules divide by it";
    }
  }
}

TEST_P(SlotCodes, RepeatForTheSameStepAndDifferForAnother) {
  const auto& [backend, type] = GetParam();
  const Optimizer& rule = with_slots(Adam(), type);
  const Array x = numbers(1);
  Codes codes(backend, rule, x);
  const Array first = codes(x, 5)[0].clone(), other = codes(x, 6)[0].clone(), again = codes(x, 5)[0].clone();
  EXPECT_TRUE(identical(first, again));
  EXPECT_FALSE(identical(first, other));
}

INSTANTIATE_TEST_SUITE_P(Types, SlotCodes,
                         ::testing::Combine(::testing::ValuesIn(testing::backends()),
                                            ::testing::Values(SlotType::bf16, SlotType::int8)));

TEST(SlotCode, WhatFitsIsKept) {
  const Optimizer& rule = with_slots(Adam(), SlotType::bf16);
  Array x(DType::f32, {8, 64});
  for (std::int64_t i = 0; i < x.count(); ++i)
    x.set(i, from_bf16(static_cast<std::uint16_t>(0x3000 + 17 * i + (i % 2 == 0 ? 0x8000 : 0))));
  for (const CompileOptions& backend : testing::backends()) {
    Codes codes(backend, rule, x);
    for (std::int64_t step = 0; step < 5; ++step) EXPECT_TRUE(identical(codes(x, step)[0], x));
  }
}

/// Every bf16 number has its neighbours found: halfway between two both come, and nothing else.
TEST(SlotCode, Bf16RoundsToTheTwoNeighbours) {
  const Optimizer& rule = with_slots(Adam(), SlotType::bf16);
  Codes codes(testing::backends().back(), rule, Array(DType::f32, {8, 64}));
  for (const std::uint16_t from : {0x3f80, 0x4000, 0x3fc0, 0x7e00, 0x0880, 0xbf80, 0xc07f})
    for (const int up : {1, -1}) {
      const float a = from_bf16(from), b = from_bf16(static_cast<std::uint16_t>(from + up));
      Array x(DType::f32, {8, 64});
      for (std::int64_t i = 0; i < 512; ++i) x.set(i, (a + b) / 2);
      const Array y = codes(x, 1)[0];
      int first = 0;
      for (std::int64_t i = 0; i < 512; ++i) {
        EXPECT_TRUE(y.at(i) == a || y.at(i) == b) << a << " " << b << " " << y.at(i);
        first += y.at(i) == a ? 1 : 0;
      }
      EXPECT_NEAR(first, 256, 60) << a << " " << b;
    }
}

TEST(SlotCode, StatesHaveTheBytesOfTheirType) {
  const auto bytes = [](SlotType type, const Shape& shape) {
    const auto rule = with_slots(Adam(), type);
    std::int64_t out = 0;
    for (const auto& s : slot_states(rule, {DType::f32, shape}))
      out += s.type.shape.count().factor * static_cast<std::int64_t>(size_of(s.type.dtype));
    return out;
  };
  EXPECT_EQ(bytes(SlotType::f32, {512, 256}), 2 * 4 * 512 * 256);
  EXPECT_EQ(bytes(SlotType::bf16, {512, 256}), 2 * 2 * 512 * 256);
  EXPECT_EQ(bytes(SlotType::int8, {512, 256}), 2 * (512 * 256 + 4 * 512));
  EXPECT_EQ(bytes(SlotType::int8, {32, 16, 3, 3}), 2 * (32 * 144 + 4 * 32)) << "a block is 144 elements";
  EXPECT_EQ(bytes(SlotType::int8, {10, 8}), 2 * (80 + 4)) << "less than a block a row: all are one";
  EXPECT_EQ(bytes(SlotType::int8, {7}), 2 * (7 + 4));
  EXPECT_EQ(bytes(SlotType::int8, {}), 2 * (1 + 4));
}

/// A bowl of many scales: every rule comes as far with slots in fewer bits as with its own.
TEST(SlotCode, EveryRuleLearnsWithThem) {
  for (const OptimizerDef* def : testing::update_rules()) {
    if (make_optimizer(def->name)->slots().empty()) continue;
    std::vector<double> ends;
    for (const char* state : {"f32", "bf16", "int8"}) {
      SCOPED_TRACE(std::string(def->name) + " " + state);
      Array start(DType::f32, {16, 64});
      for (std::int64_t i = 0; i < start.count(); ++i) start.set(i, 1 + 0.001 * static_cast<double>(i % 37));
      const Variable w(start, "w");
      const double lr = def->name == "adadelta" ? 20 : def->name == "sgd" ? 0.02 : 0.01;
      State rule(make_optimizer(def->name, {{"lr", lr}, {"state", std::string(state)}}), {w});
      auto step = loop([&] {
        const Tensor scale = cast(iota({16, 1}, 0), DType::f32) / 16.0 + 0.1;
        const Tensor loss = mean(square(w.value() * scale)) * 100.0;
        rule.minimize(loss);
        return loss;
      });
      step.run(300);
      double sum = 0;
      for (std::int64_t i = 0; i < 1024; ++i) sum += w.array().at(i) * w.array().at(i);
      ends.push_back(std::sqrt(sum / 1024));
      EXPECT_TRUE(std::isfinite(ends.back()));
    }
    EXPECT_LT(ends[0], 0.98) << def->name << " does learn";
    for (std::size_t i = 1; i < 3; ++i)
      EXPECT_NEAR(ends[i], ends[0], 0.02 + 0.1 * ends[0]) << def->name << " " << i;
  }
}

TEST(SlotCodeErrors, AreNamed) {
  EXPECT_ERROR(make_optimizer("adam", {{"state", std::string("int4")}}),
               "optimizer adam: state must be 'f32', 'bf16' or 'int8', not 'int4'");
  EXPECT_ERROR(make_optimizer("sgd", {{"state", std::string("bf16")}}),
               "optimizer sgd: keeps no state, so it cannot be kept in fewer bits");
  EXPECT_EQ(make_optimizer("sgd", {{"momentum", 0.9}, {"state", std::string("bf16")}})->slot_type(),
            SlotType::bf16);
  EXPECT_ERROR(make_optimizer("adam", {{"stat", std::string("bf16")}}), "did you mean 'state'?");
}

}  // namespace
}  // namespace tightloop::optim
