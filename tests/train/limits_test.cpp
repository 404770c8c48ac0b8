// SPDX-License-Identifier: Apache-2.0
// Shorter epochs, overfitting, and the look at the validation rows before the first step.
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/sgd.h>
#include <tightloop/train/trainer.h>

#include <gtest/gtest.h>
#include <cmath>

namespace tightloop::train {
namespace {

struct Net : nn::Module {
  nn::Linear lin{2, 1};
  void fields(nn::Fields& f) override { f("lin", lin); }
  Tensor operator()(Tensor x) { return lin(x); }
};

data::Dataset rows(std::int64_t n, std::int64_t first = 0) {
  Array x(DType::f32, {n, 2}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = static_cast<double>((first + i) * 37 % 41) / 20 - 1;
    const double b = static_cast<double>((first + i) * 17 % 29) / 14 - 1;
    x.set(2 * i, a), x.set(2 * i + 1, b);
    y.set(i, a - 2 * b + 0.5);
  }
  return data::Dataset({{"x", x}, {"y", y}});
}

const nn::LossFn kMse = nn::make_loss("mse");
const optim::Sgd kSgd({.lr = 0.05});

TrainerOptions options() {
  TrainerOptions o;
  o.epochs = 4;
  o.batch = 8;
  o.compile.backend = Backend::reference;
  return o;
}

struct Trained {
  History history;
  std::vector<double> weights;
};

Trained train(const TrainerOptions& o, const TrainingData& data) {
  Net net;
  net.initialize(3);
  Trained out{Trainer(o).fit(model_of(net), kMse, kSgd, data), {}};
  for (const auto& s : net.state_dict())
    for (std::int64_t i = 0; i < s.array().count(); ++i) out.weights.push_back(s.array().at(i));
  return out;
}

std::string refusal(const TrainerOptions& o, const TrainingData& data) {
  try {
    train(o, data);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(BatchLimit, OfBatches) {
  EXPECT_EQ(BatchLimit().of(7, "x"), 7);
  EXPECT_EQ(BatchLimit(3).of(7, "x"), 3);
  EXPECT_EQ(BatchLimit(30).of(7, "x"), 7);
  EXPECT_EQ(BatchLimit(0.5).of(7, "x"), 3);
  EXPECT_EQ(BatchLimit(1.0).of(7, "x"), 7);
  EXPECT_EQ(BatchLimit(1).of(7, "x"), 1);
  for (const BatchLimit& bad : {BatchLimit(0), BatchLimit(-1), BatchLimit(0.0), BatchLimit(1.5),
                                BatchLimit(0.1), BatchLimit(std::nan(""))})
    EXPECT_THROW(bad.of(7, "x"), Error);
}

TEST(Limits, AnEpochGoesOnWhereTheOneBeforeEnded) {
  TrainerOptions limited = options(), whole = options();
  limited.limit_batches = 3;  // of 7
  whole.max_steps = 12;
  const Trained a = train(limited, {.train = {rows(50)}}), b = train(whole, {.train = {rows(50)}});
  ASSERT_EQ(a.history.epochs.size(), 4u);
  for (std::size_t e = 0; e < 4; ++e)
    EXPECT_EQ(a.history.epochs[e].step, 3 * static_cast<std::int64_t>(e + 1));
  EXPECT_EQ(b.history.epochs.size(), 2u);
  EXPECT_EQ(a.weights, b.weights);
  limited.limit_batches = 0.5;
  EXPECT_EQ(train(limited, {.train = {rows(50)}}).weights, b.weights);
  limited.limit_batches = 700;
  EXPECT_EQ(train(limited, {.train = {rows(50)}}).history.steps, 28);
}

TEST(Limits, ValidationTakesTheFirstBatches) {
  TrainerOptions o = options();
  o.limit_validation_batches = 2;
  const TrainingData data{.train = {rows(50)}, .validation = DataPart{rows(40, 100)}};
  const TrainingData first{.train = {rows(50)}, .validation = DataPart{rows(16, 100)}};
  const double limited = train(o, data).history.epochs.back().validation->loss;
  EXPECT_EQ(limited, train(options(), first).history.epochs.back().validation->loss);
  EXPECT_NE(limited, train(options(), data).history.epochs.back().validation->loss);
  o.limit_validation_batches = 0.4;
  EXPECT_EQ(limited, train(o, data).history.epochs.back().validation->loss);
}

TEST(Limits, OverfittingIsTrainingOnTheFirstRowsInOrder) {
  TrainerOptions over = options(), plain = options();
  over.overfit_batches = 2;
  plain.shuffle = false;
  const TrainingData all{.train = {rows(50)}, .validation = DataPart{rows(40, 100)}};
  const TrainingData first{.train = {rows(16)}, .validation = DataPart{rows(16)}};
  const Trained a = train(over, all), b = train(plain, first);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.history.epochs.back().validation->loss, b.history.epochs.back().validation->loss);
  EXPECT_TRUE(train(over, {.train = {rows(50)}}).history.epochs.back().validation.has_value());
  over.epochs = 300;
  over.overfit_batches = 1;
  EXPECT_LT(train(over, all).history.epochs.back().validation->loss, 1e-4);
}

TEST(Limits, OverfittingTakesTheListedRowsOfAPart) {
  TrainerOptions over = options(), plain = options();
  over.overfit_batches = 1;
  plain.shuffle = false;
  DataPart part{rows(50)};
  part.rows = {40, 3, 17, 2, 30, 31, 32, 5, 6, 7};
  DataPart eight = part;
  eight.rows.resize(8);
  EXPECT_EQ(train(over, {.train = part}).weights, train(plain, {.train = eight}).weights);
}

struct Classes : nn::Module {
  nn::Linear lin{2, 3};
  void fields(nn::Fields& f) override { f("lin", lin); }
  Tensor operator()(Tensor x) { return lin(x); }
};

data::Dataset labelled(std::int64_t n, std::int64_t bad_row) {
  Array c(DType::i64, {n});
  for (std::int64_t i = 0; i < n; ++i) c.set_int(i, i == bad_row ? 7 : i % 3);
  return data::Dataset({{"x", rows(n)["x"]}, {"c", c}});
}

/// Whether the first step was done when the bad validation label showed.
bool first_step_was_done(std::optional<std::int64_t> sanity_check, std::int64_t bad_row) {
  TrainerOptions o = options();
  o.sanity_check = sanity_check;
  bool started = false;
  o.started = [&] { started = true; };
  Classes net;
  try {
    Trainer(o).fit(net, nn::make_loss("cross_entropy"), kSgd, labelled(30, -1), labelled(900, bad_row));
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("must be 0..2"), std::string::npos) << e.what();
  }
  return started;
}

TEST(Limits, BadValidationRowsShowBeforeTheFirstStep) {
  EXPECT_FALSE(first_step_was_done({}, 300)) << "in the second batch of an evaluation";
  EXPECT_TRUE(first_step_was_done({}, 600));
  EXPECT_FALSE(first_step_was_done(3, 600));
  EXPECT_TRUE(first_step_was_done(0, 0));
}

TEST(Limits, TheLookChangesNothing) {
  TrainerOptions with = options(), without = options();
  without.sanity_check = 0;
  const TrainingData data{.train = {rows(50)}, .validation = DataPart{rows(40, 100)}};
  const Trained a = train(with, data), b = train(without, data);
  EXPECT_EQ(a.weights, b.weights);
  for (std::size_t e = 0; e < a.history.epochs.size(); ++e)
    EXPECT_EQ(a.history.epochs[e].validation->loss, b.history.epochs[e].validation->loss);
}

TEST(Limits, RefusesWhatCannotBe) {
  const TrainingData data{.train = {rows(50)}, .validation = DataPart{rows(40, 100)}};
  TrainerOptions o = options();
  o.limit_batches = 0.01;
  EXPECT_NE(refusal(o, data).find("limit_batches: 0.01 of 7 batches is less than one"), std::string::npos);
  o = options();
  o.limit_validation_batches = -2;
  EXPECT_NE(refusal(o, data).find("limit_validation_batches: must be at least 1 batch, not -2"),
            std::string::npos);
  o = options();
  o.overfit_batches = -1;
  EXPECT_NE(refusal(o, data).find("overfit_batches: must be 0 or greater, not -1"), std::string::npos);
  o = options();
  o.overfit_batches = 1, o.limit_batches = 2;
  EXPECT_NE(refusal(o, data).find("leave limit_batches"), std::string::npos);
  o = options();
  o.sanity_check = -1;
  EXPECT_NE(refusal(o, data).find("sanity_check: must be 0 or greater, not -1"), std::string::npos);
}

}  // namespace
}  // namespace tightloop::train
