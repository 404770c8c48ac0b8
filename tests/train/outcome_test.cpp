// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses/loss.h>
#include <tightloop/nn/sequential.h>
#include <tightloop/train/report/layers.h>
#include <tightloop/train/report/outcome.h>
#include <tightloop/train/trainer.h>

#include <gtest/gtest.h>
#include <cmath>

namespace tightloop::train {
namespace {

constexpr std::int64_t kRows = 300;

/// x: [rows, 2], and class or value targets that follow from it.
data::Dataset rows_of(bool classes) {
  Array x(DType::f32, {kRows, 2});
  for (std::int64_t i = 0; i < 2 * kRows; ++i) x.set(i, std::sin(static_cast<double>(i) * 1.7));
  Array y(classes ? DType::i64 : DType::f32, {kRows});
  for (std::int64_t i = 0; i < kRows; ++i)
    classes ? y.set_int(i, i % 3) : y.set(i, 3 * x.at(2 * i) - x.at(2 * i + 1));
  return data::Dataset({{"x", x}, {"y", y}});
}

struct Fitted {
  explicit Fitted(std::int64_t outputs) : net(nn::Linear(2, outputs)) {
    net.initialize(7);
    model = model_of(net);
  }
  Array predicted(const data::Dataset& rows) {
    return Trainer(TrainerOptions{}).predict(net, data::Dataset({{"x", rows["x"]}}));
  }
  nn::Sequential net;
  Model model;
};

TEST(Outcomes, ClassesAreTheLargestScores) {
  const data::Dataset rows = rows_of(true);
  Fitted fitted(3);
  const Outcome out = outcome_of(fitted.model, {"cross_entropy"}, DataSpec::of(rows), {rows}, {.batch = 64});
  ASSERT_TRUE(out.classes);
  const Array p = fitted.predicted(rows);
  std::int64_t plain[3][3] = {};
  for (std::int64_t i = 0; i < kRows; ++i) {
    int best = 0;
    for (int c = 1; c < 3; ++c) best = p.at(3 * i + c) > p.at(3 * i + best) ? c : best;
    ++plain[i % 3][best];
  }
  for (int t = 0; t < 3; ++t)
    for (int c = 0; c < 3; ++c) EXPECT_EQ(out.classes->at(t, c), plain[t][c]) << t << " " << c;
  EXPECT_EQ(out.rows, kRows);
}

TEST(Outcomes, IgnoredClassesAreLeftOut) {
  const data::Dataset rows = rows_of(true);
  Fitted fitted(3);
  const Choice loss{"cross_entropy", Value::Table{{"ignore_index", std::int64_t{1}}}};
  const Outcome out = outcome_of(fitted.model, loss, DataSpec::of(rows), {rows});
  ASSERT_TRUE(out.classes);
  EXPECT_EQ(out.classes->rows(), kRows * 2 / 3);
  EXPECT_EQ(out.classes->scores()[1].rows, 0);
}

TEST(Outcomes, ValuesAreComparedRowByRow) {
  const data::Dataset rows = rows_of(false);
  Fitted fitted(1);
  const Outcome out = outcome_of(fitted.model, {"mse"}, DataSpec::of(rows), {rows}, {.batch = 64});
  ASSERT_EQ(out.outputs.size(), 1u);
  const Array p = fitted.predicted(rows);
  double squares = 0, sum = 0;
  for (std::int64_t i = 0; i < kRows; ++i) {
    const double error = p.at(i) - rows["y"].at(i);
    squares += error * error, sum += error;
  }
  EXPECT_EQ(out.outputs[0].name(), "y");
  EXPECT_EQ(out.outputs[0].count(), kRows);
  EXPECT_NEAR(out.outputs[0].rmse(), std::sqrt(squares / kRows), 1e-6);
  EXPECT_NEAR(out.outputs[0].bias(), sum / kRows, 1e-6);
}

TEST(Outcomes, ManyRowsAreLookedAtHereAndThere) {
  const data::Dataset rows = rows_of(false);
  Fitted fitted(1);
  DataPart part{rows};
  for (std::int64_t i = 0; i < kRows; i += 2) part.rows.push_back(i);  // of a split
  const Outcome out = outcome_of(fitted.model, {"l1"}, DataSpec::of(rows), part, {.most_rows = 50});
  EXPECT_EQ(out.rows, 50);
  EXPECT_EQ(out.all_rows, kRows / 2);
  ASSERT_EQ(out.outputs.size(), 1u);
  for (std::size_t i = 0; i < 50; ++i)
    EXPECT_FLOAT_EQ(static_cast<float>(out.outputs[0].truth()[i]),
                    static_cast<float>(rows["y"].at(static_cast<std::int64_t>(i) * 6)));
}

TEST(Outcomes, OtherLossesHaveNone) {
  const data::Dataset rows = rows_of(false);
  Fitted fitted(1);
  EXPECT_TRUE(outcome_of(fitted.model, {"kl_div"}, DataSpec::of(rows), {rows}).empty());
  EXPECT_TRUE(outcome_of(fitted.model, {"my_own"}, DataSpec::of(rows), {rows}).empty());
}

TEST(Layers, HaveTheirShapesAndParameters) {
  const data::Dataset rows = rows_of(false);
  nn::Sequential net(nn::Linear(2, 16), nn::Linear(16, 1));
  net.initialize(1);
  const auto layers = layers_of(model_of(net), DataSpec::of(rows));
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].path, "0");
  EXPECT_EQ(layers[0].output, "[B, 16]");
  EXPECT_EQ(layers[0].parameters, 48);
  EXPECT_EQ(layers[1].output, "[B, 1]");
}

}  // namespace
}  // namespace tightloop::train
