// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>

#include <tightloop/data/samples_of.h>
#include <tightloop/nn/losses.h>
#include <tightloop/nn/nn.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/diagnose.h>
#include <tightloop/train/trainer.h>

#include <cmath>
#include <set>

namespace tightloop::train {
namespace {

constexpr std::int64_t kRows = 50;

/// y = the class of a point on a spiral.
struct Points {
  std::set<std::int64_t> broken = {};
  std::int64_t nan = -1;
  std::int64_t bad_class = -1;

  std::int64_t size() const { return kRows; }
  auto get(std::int64_t i) const {
    if (broken.contains(i)) throw Error("point " + std::to_string(i) + " is lost");
    const float t = static_cast<float>(i) / 8;
    const float first = i == nan ? NAN : t * std::cos(t);
    return std::tuple{std::array{first, t * std::sin(t)}, i == bad_class ? std::int64_t{9} : i % 3};
  }
  std::string name(std::int64_t i) const { return "point " + std::to_string(i); }
};

struct Net : nn::Module {
  nn::Linear hidden{2, 16}, out{16, 3};
  void fields(nn::Fields& f) override { f("hidden", hidden), f("out", out); }
  Tensor operator()(const Tensor& x) { return out(relu(hidden(x))); }
};

data::Dataset resident() { return data::load_all(data::samples_of(Points{})).data; }

struct Result {
  History history;
  Array weights;
};

Result train(const DataPart& part, const TrainerOptions& options, std::optional<DataPart> validation = {}) {
  Net net;
  Trainer trainer(options);
  Result out;
  out.history = trainer.fit(net, nn::make_loss("cross_entropy"), optim::Adam({.lr = 0.01}), part,
                            std::move(validation));
  out.weights = net.out.weight.array().clone();
  return out;
}

TEST(Stream, TrainsToTheSameBitsAsDataInMemory) {
  const TrainerOptions options{.epochs = 4, .batch = 8, .seed = 3, .metrics = {"accuracy"}};
  const Result want = train({resident()}, options, DataPart{resident()});
  for (const int workers : {data::kAutomatic, 0, 1, 3}) {
    const DataPart part = stream(data::samples_of(Points{}), {.workers = workers});
    const Result got = train(part, options, part);
    EXPECT_TRUE(identical(got.weights, want.weights)) << workers;
    ASSERT_EQ(got.history.epochs.size(), 4u);
    EXPECT_EQ(got.history.epochs[3].train_loss, want.history.epochs[3].train_loss);
    EXPECT_EQ(got.history.epochs[3].validation->loss, want.history.epochs[3].validation->loss);
    EXPECT_EQ(got.history.epochs[1].validation->metrics, want.history.epochs[1].validation->metrics);
  }
}

TEST(Stream, ListedRowsAndDroppedLastBatches) {
  const TrainerOptions options{.epochs = 3, .batch = 8, .drop_last = true};
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 1; i < kRows; i += 2) rows.push_back(i);
  DataPart part = stream(data::samples_of(Points{.broken = {2, 4, 48}}), {.workers = 1});
  part.rows = rows;
  EXPECT_EQ(part.count(), 25);
  const Result got = train(part, options);
  EXPECT_EQ(got.history.steps, 9);
  EXPECT_TRUE(identical(got.weights, train({resident(), rows}, options).weights));
}

TEST(Stream, StepsAreVerifiedBesideTheInterpreter) {
  EXPECT_EQ(
      train(stream(data::samples_of(Points{})), {.epochs = 1, .batch = 20, .verify_steps = 3}).history.steps,
      3);
}

TEST(Stream, MessagesNameTheSample) {
  const TrainerOptions options{.epochs = 2, .batch = 8};
  EXPECT_ERROR(train(stream(data::samples_of(Points{.bad_class = 33})), options),
               "(rows count from 1); point 33");
  EXPECT_ERROR(train(stream(data::samples_of(Points{.nan = 21})), options),
               "nan in the data of 'x', sample 22 (point 21)");
  EXPECT_ERROR(train(stream(data::samples_of(Points{.broken = {13}})), options),
               "point 13 is lost (sample 14)");
}

TEST(Stream, SkippedSamplesAreListedAndTheOthersTrained) {
  const DataPart part = stream(data::samples_of(Points{.broken = {13, 14}}), {.workers = 1, .skip = true});
  const Result got = train(part, {.epochs = 2, .batch = 8}, part);
  EXPECT_EQ(got.history.steps, 14);
  ASSERT_EQ(got.history.skipped.size(), 4u);
  EXPECT_EQ(got.history.skipped[1], "point 14 is lost (sample 15)");
  EXPECT_TRUE(std::isfinite(got.history.epochs[1].validation->loss));
}

TEST(Stream, EvaluatesAndPredictsInOrder) {
  Net net;
  net.initialize(1);
  Trainer trainer({.batch = 7});
  const auto loss = nn::make_loss("cross_entropy");
  const Evaluation want = trainer.evaluate(net, loss, resident());
  EXPECT_EQ(trainer.evaluate(net, loss, stream(data::samples_of(Points{}))).loss, want.loss);
  struct Inputs {
    std::int64_t size() const { return kRows; }
    auto get(std::int64_t i) const { return std::get<0>(Points{}.get(i)); }
  };
  const Array y = trainer.predict(net, stream(data::samples_of(Inputs{}), {.workers = 2, .skip = true}));
  const data::Dataset x({{"x", resident()["x"]}});
  EXPECT_TRUE(identical(y, trainer.predict(net, x)));
  const Evaluation some =
      trainer.evaluate(net, loss, stream(data::samples_of(Points{.broken = {3}}), {.skip = true}));
  ASSERT_EQ(some.skipped.size(), 1u);
}

TEST(Stream, PredictionsLeaveGapsForWhatIsSkipped) {
  Net net;
  net.initialize(1);
  struct Inputs {
    std::set<std::int64_t> broken = {};
    std::int64_t size() const { return kRows; }
    auto get(std::int64_t i) const {
      if (broken.contains(i)) throw Error("is lost");
      return std::get<0>(Points{}.get(i));
    }
  };
  Trainer trainer({.batch = 7});
  const Array want = trainer.predict(net, stream(data::samples_of(Inputs{})));
  DataPart part = stream(data::samples_of(Inputs{{1, 8, 20, 21}}), {.workers = 1, .skip = true});
  std::map<std::int64_t, std::string> skipped;
  const Array got = trainer.predict(model_of(net), part, {}, &skipped);
  ASSERT_EQ(got.dims(), want.dims());
  EXPECT_EQ(skipped.size(), 4u);
  for (std::int64_t i = 0; i < got.count(); ++i) {
    if (skipped.contains(i / 3))
      EXPECT_TRUE(std::isnan(got.at(i)));
    else
      EXPECT_EQ(got.at(i), want.at(i));
  }
  part.rows = {3, 8, 9, 21, 22};
  const Array some = trainer.predict(model_of(net), part, {}, &skipped);
  EXPECT_TRUE(std::isnan(some.at(3)));
  EXPECT_EQ(some.at(6), want.at(27));
  EXPECT_TRUE(std::isnan(some.at(9)));
  EXPECT_EQ(some.at(12), want.at(66));
}

/// Images of one value, and that value's `power` as the target.
struct Grays {
  int power = 1;
  std::int64_t size() const { return kRows; }
  Array image(std::int64_t i) const {
    Array a(DType::f32, {1, 2, 2});
    for (std::int64_t p = 0; p < 4; ++p) a.set(p, static_cast<double>(i % 10));
    return a;
  }
  auto get(std::int64_t i) const {
    return std::tuple{image(i), std::array{std::pow(static_cast<float>(i % 10), static_cast<float>(power))}};
  }
};

/// The mean of an image, to a power; its parameters change nothing.
struct MeanNet : nn::Module {
  int power = 1;
  nn::Linear idle{1, 1};
  void fields(nn::Fields& f) override { f("idle", idle); }
  Tensor operator()(const Tensor& x) {
    const Tensor m = mean(x, {2, 3});
    return (power == 2 ? m * m : m) + 0.0 * idle(m);
  }
};

double mixed_loss(int power) {
  DataPart part = stream(data::samples_of(Grays{power}), {.workers = 1});
  part.transforms.emplace().add("mixup");
  MeanNet net;
  net.power = power;
  return Trainer({.epochs = 2, .batch = 8})
      .fit(net, nn::make_loss("mse"), optim::Sgd({.lr = 0.1}), part)
      .epochs[1]
      .train_loss;
}

TEST(Stream, MixesImagesAndTargetsOfTheSamePartnerInTheBatch) {
  EXPECT_NEAR(mixed_loss(1), 0, 1e-9);  // a mean of a mixture is the mixture of the means
  EXPECT_GT(mixed_loss(2), 1);          // and that of squares is not: there are mixtures
}

TEST(Stream, LbfgsWantsItsRowsInMemory) {
  Net net;
  EXPECT_ERROR(
      Trainer({.epochs = 1})
          .fit(net, nn::make_loss("cross_entropy"), optim::Lbfgs(), stream(data::samples_of(Points{}))),
      "the training data is a stream");
}

}  // namespace
}  // namespace tightloop::train
