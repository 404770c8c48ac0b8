// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/adam.h>
#include <tightloop/optim/adamw.h>
#include <tightloop/optim/lbfgs.h>
#include <tightloop/optim/sgd.h>
#include <tightloop/train/trainer.h>

#include <gtest/gtest.h>
#include <cmath>
#include <fstream>
#include <limits>

namespace tightloop::train {
namespace {

struct Net : nn::Module {
  nn::Linear lin{3, 1};
  Parameter par{{1}};
  void fields(nn::Fields& f) override { f("lin", lin)("par", par); }
  Tensor operator()(Tensor x, Tensor f) { return lin(x) + par * f; }
};

float noise(std::int64_t i) { return static_cast<float>((i * 7919 % 101) - 50) / 50.0f; }

/// y = x·(1, -2, 0.5) + 0.25 + 3·f
data::Dataset rows(std::int64_t n) {
  Array x(DType::f32, {n, 3}), f(DType::f32, {n, 1}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < n; ++i) {
    const double v[3] = {noise(3 * i), noise(3 * i + 1), noise(5 * i + 2)};
    for (int c = 0; c < 3; ++c) x.set(3 * i + c, v[c]);
    f.set(i, noise(11 * i + 7));
    y.set(i, v[0] - 2 * v[1] + 0.5 * v[2] + 0.25 + 3 * f.at(i));
  }
  return data::Dataset({{"x", x}, {"f", f}, {"y", y}});
}

TrainerOptions options(std::int64_t epochs, std::int64_t batch) {
  TrainerOptions o;
  o.epochs = epochs;
  o.batch = batch;
  o.compile.backend = Backend::reference;
  return o;
}

const nn::LossFn kMse = nn::make_loss("mse");

TEST(Trainer, LearnsALinearFunction) {
  Net net;
  const History history =
      Trainer(options(60, 16)).fit(net, kMse, optim::Adam({.lr = 0.05}), rows(100), rows(40));
  EXPECT_EQ(history.epochs.size(), 60u);
  EXPECT_EQ(history.steps, 60 * 7);
  EXPECT_LT(history.epochs.back().train_loss, 1e-3);
  EXPECT_LT(history.epochs.back().validation->loss, 1e-3);
  EXPECT_NEAR(net.par.array().at(0), 3, 0.05);
}

struct Matrix : nn::Module {
  nn::Linear lin{4, 1, {.bias = false}};
  void fields(nn::Fields& f) override { f("lin", lin); }
  Tensor operator()(Tensor x, Tensor f) { return lin(concat({x, f}, 1)); }
};

TEST(Trainer, EveryOptimizerLearns) {
  for (const optim::OptimizerDef* def : optim::all_optimizers()) {
    Matrix net;
    const History history =
        Trainer(options(10, 16)).fit(net, kMse, *optim::make_optimizer(def->name), rows(100));
    EXPECT_LT(history.epochs.back().train_loss, history.epochs.front().train_loss) << def->name;
  }
}

TEST(Trainer, MuonNamesTheParameterThatIsNoMatrix) {
  Net net;
  try {
    Trainer(options(1, 16)).fit(net, kMse, *optim::make_optimizer("muon"), rows(20));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("parameter lin.bias is f32[1]"), std::string::npos) << e.what();
  }
}

TEST(Trainer, GroupsAreKeptOutOfDecay) {
  Net net;
  net.initialize(1);
  net.par.assign(Array::of<float>({1}, {1}));
  net.lin.freeze();
  const auto rule =
      optim::with_groups(optim::AdamW({.lr = 0.1, .weight_decay = 0.5}), optim::without_decay({"par"}));
  data::Dataset still(
      {{"x", Array(DType::f32, {8, 3})}, {"f", Array(DType::f32, {8, 1})}, {"y", Array(DType::f32, {8, 1})}});
  Trainer(options(5, 4)).fit(net, kMse, rule, still);
  EXPECT_EQ(net.par.array().at(0), 1) << "no gradient and no decay: exactly as it was";
}

TEST(Trainer, LbfgsMinimizesOverAllRows) {
  for (const std::int64_t batch : {100, 32, 7}) {
    for (const Backend backend : {Backend::reference, Backend::cpu}) {
      Net net;
      TrainerOptions o = options(40, batch);
      o.compile.backend = backend;
      o.verify_steps = 2;
      const History history = Trainer(o).fit(
          net, kMse, optim::Lbfgs({.max_iter = 1, .line_search = optim::LineSearch::strong_wolfe}), rows(100),
          rows(40));
      EXPECT_LT(history.epochs.size(), 40u) << "a tolerance ends the run";
      EXPECT_LT(history.epochs.back().train_loss, 1e-9);
      EXPECT_LT(history.epochs.back().validation->loss, 1e-9);
      EXPECT_NEAR(net.par.array().at(0), 3, 1e-4);
      EXPECT_NEAR(Trainer(o).evaluate(net, kMse, rows(100)).loss, history.epochs.back().train_loss, 1e-10);
    }
  }
}

TEST(Trainer, LbfgsCountsIterationsAsSteps) {
  Net net;
  TrainerOptions o = options(9, 100);
  o.max_steps = 5;
  const auto slow = optim::Lbfgs({.lr = 0.01, .max_iter = 3});
  const History history = Trainer(o).fit(net, kMse, slow, rows(100));
  EXPECT_EQ(history.epochs.size(), 2u) << "the epoch that reaches max_steps is the last";
  EXPECT_EQ(history.epochs[0].step, 3);
  EXPECT_EQ(history.steps, 6);
}

TEST(Trainer, LbfgsGoesTheSameWayForEveryBatch) {
  std::vector<double> losses;
  for (const char* reduction : {"mean", "sum"})
    for (const std::int64_t batch : {50, 33}) {
      Net net;
      TrainerOptions o = options(4, batch);
      o.seed = 3;
      losses.push_back(
          Trainer(o)
              .fit(net, nn::make_loss("mse", {{"reduction", reduction}}), optim::Lbfgs(), rows(50))
              .epochs.back()
              .train_loss);
    }
  EXPECT_NEAR(losses[0], losses[1], 1e-6 * losses[0]);
  EXPECT_NEAR(losses[2], losses[3], 1e-6 * losses[2]);
  EXPECT_NEAR(losses[0], losses[2], 1e-6 * losses[0]) << "of one output a row, the sum's average is the mean";
}

TEST(Trainer, LbfgsKeepsTheLastGoodWeights) {
  Net net;
  net.initialize(1);
  const Array before = net.lin.weight.array().clone();
  const auto steep = nn::mean_loss([](const Tensor& p, const Tensor& y) { return mean(exp(square(p - y))); });
  EXPECT_THROW(Trainer(options(5, 50)).fit(net, steep, optim::Lbfgs({.lr = 1e4, .max_iter = 1}), rows(50)),
               NonFinite);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(net.lin.weight.array().at(i), before.at(i));
  try {
    Trainer(options(1, 50))
        .fit(net, kMse, optim::with_groups(optim::Lbfgs(), optim::without_decay({"par"})), rows(50));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("takes no groups"), std::string::npos) << e.what();
  }
}

/// A model whose loss of row i is the value in x: the parameter takes no part in the value.
struct Fixed : nn::Module {
  Parameter p{{1}};
  void fields(nn::Fields& f) override { f("p", p); }
  Tensor operator()(Tensor x) { return x + 0.0 * p; }
};

TEST(Trainer, EpochAverageWeighsTheShortLastBatchByItsRows) {
  Array x(DType::f32, {522, 1}), y(DType::f32, {522, 1});
  for (std::int64_t i = 0; i < 522; ++i) x.set(i, i < 256 ? 0.7 : i < 512 ? 0.8 : 0.9);
  Fixed net;
  auto o = options(1, 256);
  o.shuffle = false;
  const auto history =
      Trainer(o).fit(net, nn::make_loss("l1"), optim::Sgd({.lr = 0}), data::Dataset({{"x", x}, {"y", y}}));
  EXPECT_NEAR(history.epochs[0].train_loss, 0.7528736, 1e-6);
}

double loss_in_batches(Net& net, const nn::LossFn& loss, const data::Dataset& data, std::int64_t batch) {
  const Model model = model_of(net);
  const DataPart part{data};
  CompileOptions compile;
  compile.backend = Backend::reference;
  return Evaluator(model, loss, {}, DataSpec::of(data), part, batch, parameters_of(model), compile)
      .run()
      .loss;
}

TEST(Trainer, EvaluationIsTheSameForEveryBatchSize) {
  Net net;
  net.initialize(3);
  const auto data = rows(101);
  for (const char* name : {"mse", "l1", "huber", "bce_with_logits"}) {
    const nn::LossFn loss = nn::make_loss(name);
    const double all = loss_in_batches(net, loss, data, 101);
    for (const std::int64_t batch : {1, 7, 64})
      EXPECT_NEAR(loss_in_batches(net, loss, data, batch), all, 1e-6 * std::fabs(all))
          << name << " " << batch;
  }
}

TEST(Trainer, PredictsEveryRowInOrder) {
  Net net;
  net.initialize(3);
  const auto data = rows(10);
  const data::Dataset inputs({data.fields()[0], data.fields()[1]});
  const Array all = Trainer(options(1, 100)).predict(net, inputs);
  EXPECT_EQ(all.dims(), (std::vector<std::int64_t>{10, 1}));
  DataSpec spec = DataSpec::of(data);
  spec.target.clear();
  const DataPart part{inputs};
  EXPECT_TRUE(identical(all, predict_all(model_of(net), spec, part, 3, options(1, 1).compile)));
}

TEST(Trainer, ShuffleIsRepeatableAndSeeded) {
  std::vector<double> weights;
  for (const std::uint64_t seed : {1, 1, 2}) {
    Net net;
    net.initialize(0);
    auto o = options(2, 8);
    o.seed = seed;
    Trainer(o).fit(net, kMse, optim::Sgd({.lr = 0.1}), rows(50));
    weights.push_back(net.par.array().at(0));
  }
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_NE(weights[0], weights[2]);
}

TEST(Trainer, MaxStepsEndsInTheMiddleOfAnEpoch) {
  Net net;
  auto o = options(5, 10);
  o.max_steps = 13;
  const History history = Trainer(o).fit(net, kMse, optim::Sgd({.lr = 0.1}), rows(100));
  EXPECT_EQ(history.steps, 13);
  EXPECT_EQ(history.epochs.back().step, 13);
  EXPECT_EQ(history.epochs.size(), 2u);
}

template <class F>
std::string message(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Trainer, DropLastWithABatchLargerThanTheDataIsRefusedWithTheNumbers) {
  Net net;
  auto o = options(5, 1024);
  o.drop_last = true;
  EXPECT_EQ(message([&] { Trainer(o).fit(net, kMse, optim::Adam(), rows(100)); }),
            "an epoch would have no step: there are 100 training rows, fewer than a batch of 1024, and the "
            "short last "
            "batch is dropped; take a smaller batch or drop_last = false");
}

struct Logarithm : nn::Module {
  nn::Linear lin{1, 1};
  void fields(nn::Fields& f) override { f("lin", lin); }
  Tensor operator()(Tensor x) {
    const Tensor h = log(x);
    return lin(h);
  }
};

TEST(Trainer, NonFiniteLossNamesTheStepAndTheOp) {
  Array x(DType::f32, {40, 1}), y(DType::f32, {40, 1});
  for (std::int64_t i = 0; i < 40; ++i) x.set(i, i == 25 ? -1 : 2);
  Logarithm net;
  auto o = options(3, 4);
  o.shuffle = false;
  const std::string what = message([&] {
    Trainer(o).fit(net, kMse, optim::Sgd({.lr = 0.01}), data::Dataset({{"x", x}, {"y", y}}));
  });
  EXPECT_NE(what.find("step 6: the loss is not finite; it began in step 6 with op log"), std::string::npos)
      << what;
  EXPECT_TRUE(std::isfinite(net.lin.weight.array().at(0)));
}

TEST(Trainer, NaNInTheDataNamesTheFieldAndTheRow) {
  auto data = rows(30);
  Array x = data["x"].clone();
  x.set(3 * 17 + 1, std::numeric_limits<double>::quiet_NaN());
  Net net;
  auto o = options(1, 4);
  const std::string what = message([&] {
    Trainer(o).fit(net, kMse, optim::Sgd({.lr = 0.01}),
                   data::Dataset({{"x", x}, data.fields()[1], data.fields()[2]}));
  });
  EXPECT_NE(what.find("nan in the data of 'x', row 18 (rows count from 1)"), std::string::npos) << what;
  EXPECT_EQ(what.find("learning rate"), std::string::npos) << what;
}

TEST(Trainer, NaNInTheStartWeightsNamesTheTensor) {
  Net net;
  net.initialize(1);
  Array par(DType::f32, {1});
  par.set(0, -std::numeric_limits<double>::quiet_NaN());
  net.par.assign(par);
  const std::string what =
      message([&] { Trainer(options(1, 4)).fit(net, kMse, optim::Sgd({.lr = 0.01}), rows(30)); });
  EXPECT_NE(what.find("with nan in 'par' at the start of the step, before any training"), std::string::npos)
      << what;
  EXPECT_EQ(what.find("learning rate"), std::string::npos) << what;
}

TEST(Trainer, VerifyReportsALostLossAsSuch) {
  Net net;
  auto o = options(1, 4);
  o.verify_steps = 3;
  const std::string what = message([&] { Trainer(o).fit(net, kMse, optim::Sgd({.lr = 1e30}), rows(30)); });
  EXPECT_NE(what.find("not finite; it began in step"), std::string::npos) << what;
  EXPECT_NE(what.find("with op "), std::string::npos) << what;
}

TEST(Trainer, DivergenceIsFoundInTheUpdateThatMadeIt) {
  Net net;
  const std::string what =
      message([&] { Trainer(options(1000, 10)).fit(net, kMse, optim::Sgd({.lr = 1e6}), rows(100)); });
  EXPECT_NE(what.find("not finite; it began in step"), std::string::npos) << what;
  EXPECT_TRUE(std::isfinite(net.par.array().at(0)));
}

struct Classifier : nn::Module {
  nn::Linear lin{3, 5};
  void fields(nn::Fields& f) override { f("lin", lin); }
  Tensor operator()(Tensor x) { return lin(x); }
};

TEST(Trainer, LabelsOutOfRangeAreNamedWithRowAndValue) {
  const auto data = rows(20);
  for (const std::int64_t bad : {5, -1}) {
    Array labels(DType::i64, {20});
    labels.set_int(13, bad);
    Classifier net;
    const std::string what = message([&] {
      Trainer(options(2, 6))
          .fit(net, nn::make_loss("cross_entropy"), optim::Adam(),
               data::Dataset({data.fields()[0], {"label", labels}}));
    });
    EXPECT_NE(what.find("target " + std::to_string(bad) + " in row 14 "), std::string::npos) << what;
  }
}

TEST(Trainer, MetricsOfTheValidationPart) {
  const auto data = rows(20);
  Array labels(DType::u8, {20});
  Classifier net;
  auto o = options(1, 6);
  o.metrics = {"accuracy"};
  const data::Dataset set({data.fields()[0], {"label", labels}});
  const auto history = Trainer(o).fit(net, nn::make_loss("cross_entropy"), optim::Adam({.lr = 1}), set, set);
  EXPECT_EQ(history.epochs[0].validation->metrics[0], 1);
}

TEST(Trainer, RowsOfASplitAreTheOnlyOnesSeen) {
  Fixed net;
  Array x(DType::f32, {10, 1}), y(DType::f32, {10, 1});
  for (std::int64_t i = 0; i < 10; ++i) x.set(i, double(i));
  TrainingData data{.train = {data::Dataset({{"x", x}, {"y", y}}), {1, 4, 7}},
                    .validation = DataPart{data::Dataset({{"x", x}, {"y", y}}), {0, 9}}};
  const auto h = Trainer(options(1, 2)).fit(model_of(net), nn::make_loss("l1"), optim::Sgd({.lr = 0}), data);
  EXPECT_NEAR(h.epochs[0].train_loss, 4, 1e-6);
  EXPECT_NEAR(h.epochs[0].validation->loss, 4.5, 1e-6);
}

TEST(Trainer, NormalizesByTheGivenScales) {
  Fixed net;
  Array x(DType::u8, {4, 2}), y(DType::f32, {4, 2});
  for (std::int64_t i = 0; i < 8; ++i) x.set(i, double(10 * i));
  const data::Dataset set({{"x", x}, {"y", y}});
  const auto scales = data::fit_normalization(set, {"x"}, data::Normalization::minmax);
  TrainingData data{.train = {set}, .scales = scales};
  const auto h = Trainer(options(1, 2)).fit(model_of(net), nn::make_loss("l1"), optim::Sgd({.lr = 0}), data);
  EXPECT_NEAR(h.epochs[0].train_loss, 0.5, 1e-6);
}

struct Stopper : Observer {
  int calls = 0;
  bool stop() override { return ++calls == 3; }
};

TEST(Trainer, StopsAfterTheChunkWhenAsked) {
  Net net;
  Stopper stopper;
  auto o = options(100000, 10);
  o.observer = &stopper;
  const History h = Trainer(o).fit(net, kMse, optim::Sgd({.lr = 0.01}), rows(100));
  EXPECT_TRUE(h.stopped);
  EXPECT_LT(h.steps, 1000);
  EXPECT_EQ(h.epochs.back().step, h.steps);
}

TEST(Trainer, VerifyAgreesWithTheInterpreter) {
  Net net;
  auto o = options(2, 10);
  o.verify_steps = 5;
  EXPECT_NO_THROW(Trainer(o).fit(net, kMse, optim::Adam(), rows(33)));
}

TEST(Trainer, CompiledAndInterpretedRunsAgree) {
  std::vector<History> histories;
  for (const Backend backend : {Backend::cpu, Backend::reference}) {
    Net net;
    auto o = options(10, 16);
    o.compile.backend = backend;
    o.compile.disk_cache = false;
    histories.push_back(Trainer(o).fit(net, kMse, optim::Adam({.lr = 0.01}), rows(100), rows(33)));
  }
  for (std::size_t e = 0; e < 10; ++e) {
    const EpochRecord &a = histories[0].epochs[e], &b = histories[1].epochs[e];
    EXPECT_NEAR(a.train_loss, b.train_loss, 1e-5 * b.train_loss);
    EXPECT_NEAR(a.validation->loss, b.validation->loss, 1e-5 * b.validation->loss);
  }
}

std::size_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * 4096;
}

/// Notes the memory held after epochs 10 and 200.
struct MemoryWatch : Observer {
  std::size_t early = 0, late = 0;
  void epoch(const EpochRecord& e) override {
    if (e.epoch == 10) early = resident_bytes();
    if (e.epoch == 200) late = resident_bytes();
  }
};

TEST(Trainer, MemoryDoesNotGrowOverEpochsWithEvaluation) {
  Net net;
  MemoryWatch watch;
  auto o = options(200, 16);
  o.compile.backend = Backend::cpu;
  o.compile.disk_cache = false;
  o.observer = &watch;
  Trainer(o).fit(net, kMse, optim::Adam({.lr = 0.01}), rows(1000), rows(330));
  ASSERT_GT(watch.late, 0u);
  EXPECT_LT(static_cast<double>(watch.late), 1.05 * static_cast<double>(watch.early));
}

TEST(Trainer, ModelThatTakesOtherInputsIsRefused) {
  Classifier net;
  EXPECT_EQ(
      message([&] { Trainer(options(1, 2)).fit(net, kMse, optim::Adam(), rows(5)); }),
      "the model's operator() does not take the 2 inputs of the data set; the last field is the target");
}

}  // namespace
}  // namespace tightloop::train
