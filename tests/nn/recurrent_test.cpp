// SPDX-License-Identifier: Apache-2.0
// Recurrent layers beyond the fixtures: sequences of any length, states handed on, and what they refuse.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/gru.h>
#include <tightloop/nn/layers/lstm.h>
#include <tightloop/nn/layers/recurrent_cell.h>
#include <tightloop/nn/layers/rnn.h>

#include <cmath>
#include <set>

namespace tightloop::nn {
namespace {

Array numbers(std::vector<std::int64_t> dims, double phase = 0) {
  Array a(DType::f32, std::move(dims));
  for (std::int64_t i = 0; i < a.count(); ++i)
    a.set(i, std::sin(phase + 12.9898 * static_cast<double>(i + 1)));
  return a;
}

std::vector<std::string> names(Module& module) {
  std::vector<std::string> out;
  for (const auto& p : module.parameters()) out.push_back(p.path);
  return out;
}

TEST(Recurrent, HasPyTorchsNamesShapesAndFirstWeights) {
  LSTM lstm(3, 16, {.num_layers = 2, .bidirectional = true, .proj_size = 5});
  EXPECT_EQ(
      names(lstm),
      (std::vector<std::string>{
          "weight_ih_l0",         "weight_hh_l0",         "bias_ih_l0",           "bias_hh_l0",
          "weight_hr_l0",         "weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
          "bias_hh_l0_reverse",   "weight_hr_l0_reverse", "weight_ih_l1",         "weight_hh_l1",
          "bias_ih_l1",           "bias_hh_l1",           "weight_hr_l1",         "weight_ih_l1_reverse",
          "weight_hh_l1_reverse", "bias_ih_l1_reverse",   "bias_hh_l1_reverse",   "weight_hr_l1_reverse"}));
  EXPECT_EQ(lstm.parameter("weight_ih_l1").dims(), (std::vector<std::int64_t>{64, 10}));
  EXPECT_EQ(lstm.parameter("weight_hh_l0").dims(), (std::vector<std::int64_t>{64, 5}));
  lstm.initialize(4);
  double most = 0;
  for (const auto& p : lstm.parameters())
    for (std::int64_t i = 0; i < p.parameter->count(); ++i) {
      ASSERT_LE(std::abs(p.parameter->array().at(i)), 0.25);
      most = std::max(most, std::abs(p.parameter->array().at(i)));
    }
  EXPECT_GT(most, 0.24);
}

TEST(Recurrent, AStateHandedOnContinuesTheSequence) {
  LSTM lstm(2, 3, {.num_layers = 2, .batch_first = true});
  lstm.initialize(1);
  const Tensor x(numbers({2, 7, 2}));
  const auto [whole, last] = lstm(x, {});
  const auto first = lstm(slice(x, 1, 0, 4), {});
  const auto second = lstm(slice(x, 1, 4, 7), first.state);
  testing::expect_close(second.output.array(), slice(whole, 1, 4, 7).array(), 1e-6, 1e-6);
  testing::expect_close(second.state.c.array(), last.c.array(), 1e-6, 1e-6);
}

TEST(Recurrent, OneSequenceNeedsNoBatch) {
  GRU gru(2, 3, {.bidirectional = true});
  gru.initialize(1);
  const Tensor x(numbers({5, 2})), h(numbers({2, 3}, 1));
  const auto one = gru(x, h);
  const auto many = gru(unsqueeze(x, 1), unsqueeze(h, 1));
  EXPECT_EQ(one.output.array().dims(), (std::vector<std::int64_t>{5, 6}));
  testing::expect_close(one.output.array(), squeeze(many.output, 1).array(), 1e-7);
  testing::expect_close(one.h.array(), squeeze(many.h, 1).array(), 1e-7);
}

TEST(Recurrent, CellsMakeTheStepsOfALayer) {
  GRU gru(2, 3, {.batch_first = true});
  gru.initialize(1);
  GRUCell cell(2, 3);
  for (const char* name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"})
    cell.parameter(name).assign(gru.parameter(std::string(name) + "_l0").array());
  const Tensor x(numbers({2, 4, 2}));
  Tensor h;
  for (std::int64_t t = 0; t < 4; ++t) h = cell(squeeze(slice(x, 1, t, t + 1), 1), h);
  const Tensor y = gru(x);
  testing::expect_close(h.array(), squeeze(slice(y, 1, 3, 4), 1).array(), 1e-6, 1e-7);
}

TEST(Recurrent, DropoutStandsBetweenLayersInTrainingOnly) {
  LSTM lstm(2, 16, {.num_layers = 2, .batch_first = true, .dropout = 0.5});
  lstm.initialize(1);
  const Tensor x(numbers({2, 3, 2}));
  const auto run = [&](bool training, std::int64_t step) {
    const Context context(training, scalar(1, DType::i64), scalar(static_cast<double>(step), DType::i64));
    return lstm(x).array().clone();
  };
  EXPECT_TRUE(identical(run(false, 0), run(false, 1)));
  EXPECT_TRUE(identical(run(true, 1), run(true, 1)));
  EXPECT_FALSE(identical(run(true, 0), run(true, 1)));
  EXPECT_FALSE(identical(run(true, 0), run(false, 0)));
}

TEST(RecurrentErrors, NameTheRule) {
  EXPECT_ERROR(LSTM(0, 3), "lstm: the size of the input must be 1 or greater, got 0");
  EXPECT_ERROR(GRU(2, 0), "gru: hidden_size must be 1 or greater, got 0");
  EXPECT_ERROR(RNN(2, 3, {.num_layers = 0}), "rnn: num_layers must be 1 or greater, got 0");
  EXPECT_ERROR(RNN(2, 3, {.dropout = 2}), "rnn: dropout must be 0..1, got 2");
  EXPECT_ERROR(LSTM(2, 3, {.proj_size = 3}),
               "lstm: proj_size must be 0 (none) or smaller than hidden_size, got 3");
  EXPECT_ERROR(GRU(2, 3, {.proj_size = 1}), "gru: proj_size must be 0: it is of lstm alone, got 1");
  LSTM lstm(2, 3);
  lstm.initialize(1);
  EXPECT_ERROR(lstm(numbers({4, 2, 5})), "lstm: x must be f32 or f64 [T, B, 2] or [T, 2], got f32[4, 2, 5]");
  EXPECT_ERROR(lstm(numbers({0, 2, 2})), "lstm: the sequence is empty");
  EXPECT_ERROR(lstm(numbers({4, 5, 2}), {.h = numbers({1, 5, 3})}),
               "lstm: the initial state needs both h and c");
  EXPECT_ERROR(lstm(numbers({4, 5, 2}), {numbers({1, 4, 3}), numbers({1, 5, 3})}),
               "lstm: the initial h must be f32[1, 5, 3], got f32[1, 4, 3]");
  const Trace trace;
  EXPECT_ERROR(lstm(input("x", "argument", {DType::f32, {Dim::batch(), 4, 2}})),
               "with the batch first say batch_first");
}

}  // namespace
}  // namespace tightloop::nn
