// SPDX-License-Identifier: Apache-2.0
// Training in mixed and in double precision beside f32.
#include <tests/support/files.h>
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/conv.h>
#include <tightloop/nn/layers/layer_norm.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/optim/adam.h>
#include <tightloop/train/job.h>
#include <tightloop/train/precision.h>
#include <tightloop/train/trainer.h>

#include <cmath>

namespace tightloop::train {
namespace {

constexpr std::int64_t kSide = 6, kClasses = 3;

/// Convolution, BatchNorm, a residual, LayerNorm, two products.
struct Net : nn::Module {
  nn::Conv2d first{1, 6, 3, {.padding = 1}}, second{6, 6, 3, {.padding = 1}};
  nn::BatchNorm2d norm{6};
  nn::LayerNorm rows{{24}};
  nn::Linear wide{6 * kSide * kSide, 24}, out{24, kClasses};
  void fields(nn::Fields& f) override {
    f("first", first)("second", second)("norm", norm)("rows", rows)("wide", wide)("out", out);
  }
  Tensor operator()(Tensor x) {
    const Tensor h = relu(norm(first(x)));
    return out(gelu(rows(wide(reshape(h + second(h), {Dim::batch(), 6 * kSide * kSide})))));
  }
};

/// Bars of three directions with noise.
data::Dataset bars(std::int64_t n) {
  Array x(DType::f32, {n, 1, kSide, kSide}), y(DType::i64, {n});
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t kind = i % kClasses, at = i * 7 % kSide;
    y.set_int(i, kind);
    for (std::int64_t r = 0; r < kSide; ++r)
      for (std::int64_t c = 0; c < kSide; ++c) {
        const bool on = kind == 0 ? r == at : kind == 1 ? c == at : (r + c) % kSide == at;
        x.set((i * kSide + r) * kSide + c,
              (on ? 1.0 : 0.0) + 0.3 * std::sin(double(i * 36 + r * 6 + c) * 12.9898));
      }
  }
  return data::Dataset({{"x", x}, {"y", y}});
}

struct Outcome {
  History history;
  double accuracy;
  std::vector<double> norm_weight;
};

Outcome trained(const Precision& precision, std::uint64_t seed = 3, Backend backend = Backend::cpu) {
  TrainerOptions o;
  o.epochs = 12;
  o.batch = 30;
  o.seed = seed;
  o.metrics = {"accuracy"};
  o.compile.backend = backend;
  o.compile.disk_cache = false;
  o.precision = precision;
  Net net;
  const data::Dataset data = bars(240);
  Outcome out{
      Trainer(o).fit(net, nn::make_loss("cross_entropy"), optim::Adam({.lr = 0.003}), data, bars(90)), 0, {}};
  out.accuracy = out.history.epochs.back().validation->metrics.at(0);
  const Array w = net.parameter("norm.weight").array();
  for (std::int64_t i = 0; i < w.count(); ++i) out.norm_weight.push_back(w.at(i));
  return out;
}

Precision forced(DType type, Precision::Level level = Precision::Level::O1) {
  return {.type = type, .level = level, .force = true};
}

TEST(MixedPrecision, LossCurvesStayNearF32) {
  const Outcome exact = trained({});
  for (const DType low : {DType::bf16, DType::f16})
    for (const auto level : {Precision::Level::O1, Precision::Level::O2}) {
      const Outcome mixed = trained(forced(low, level));
      ASSERT_EQ(mixed.history.epochs.size(), exact.history.epochs.size());
      double worst = 0;
      for (std::size_t e = 0; e < exact.history.epochs.size(); ++e)
        worst = std::max(worst,
                         std::abs(mixed.history.epochs[e].train_loss - exact.history.epochs[e].train_loss));
      EXPECT_GT(worst, 0) << "nothing was rounded";
      EXPECT_LT(worst, 0.03) << to_string(forced(low, level));
      EXPECT_NEAR(mixed.accuracy, exact.accuracy, 0.05);
    }
}

TEST(MixedPrecision, NormWeightsMove) {
  for (const DType low : {DType::bf16, DType::f16}) {
    const Outcome mixed = trained(forced(low, Precision::Level::O2));
    for (const double w : mixed.norm_weight) EXPECT_NE(w, 1);
  }
}

TEST(MixedPrecision, HalfParametersAreValuesOfHalf) {
  for (const DType low : {DType::bf16, DType::f16}) {
    const Outcome half = trained(forced(low, Precision::Level::O3));
    for (const double w : half.norm_weight) EXPECT_EQ(Array::scalar(float(w)).cast(low).at(0), w);
    EXPECT_LT(half.history.epochs.back().train_loss, 0.8 * half.history.epochs.front().train_loss);
    const Outcome mixed = trained(forced(low, Precision::Level::O2));
    bool differ = false;
    for (const double w : mixed.norm_weight) differ = differ || Array::scalar(float(w)).cast(low).at(0) != w;
    EXPECT_TRUE(differ) << "O2 keeps parameters of f32";
  }
}

TEST(MixedPrecision, ScalesTheLossOfF16Alone) {
  const auto kind = [](const Precision& p) {
    TrainerOptions o;
    o.precision = p;
    return o.session().update.loss_scale.active();
  };
  EXPECT_TRUE(kind(forced(DType::f16)));
  EXPECT_FALSE(kind(forced(DType::bf16)));
  EXPECT_FALSE(kind({.type = DType::f16})) << "which this machine computes in f32";
}

struct Notes : Observer {
  void note(const std::string& text) override { all += text + "\n"; }
  std::string all;
};

/// What a run in f16 of values of about 1e-5 tells its user.
std::string notes_of(const optim::LossScale& scale) {
  struct Line : nn::Module {
    nn::Linear lin{3, 1};
    void fields(nn::Fields& f) override { f("lin", lin); }
    Tensor operator()(Tensor x) { return lin(x); }
  } net;
  net.initialize(1);
  net.parameter("lin.bias").assign(Array(DType::f32, {1}));
  Array x(DType::f32, {20, 3}), y(DType::f32, {20, 1});
  for (std::int64_t i = 0; i < x.count(); ++i) x.set(i, 1e-5 * std::sin(double(i)));
  Notes notes;
  TrainerOptions o;
  o.epochs = 1;
  o.batch = 10;
  o.observer = &notes;
  o.precision = forced(DType::f16);
  o.update.loss_scale = scale;
  Trainer(o).fit(net, nn::make_loss("mse"), optim::Adam({.lr = 1e-3}), data::Dataset({{"x", x}, {"y", y}}));
  return notes.all;
}

TEST(MixedPrecision, GradientsThatF16LosesAreToldWhereNoLossIsScaled) {
  EXPECT_NE(notes_of(optim::LossScale::none()).find("would become 0: scale the loss"), std::string::npos);
  EXPECT_EQ(notes_of(optim::LossScale::dynamic()).find("would become 0"), std::string::npos);
}

TEST(MixedPrecision, BackendsAgree) {
  for (const DType low : {DType::bf16, DType::f16}) {
    const Outcome compiled = trained(forced(low)), interpreted = trained(forced(low), 3, Backend::reference);
    EXPECT_NEAR(compiled.history.epochs[0].train_loss, interpreted.history.epochs[0].train_loss, 2e-3);
    EXPECT_NEAR(compiled.history.epochs.back().train_loss, interpreted.history.epochs.back().train_loss,
                2e-2);
  }
}

TEST(MixedPrecision, RowsThatOverflowF16AddUpInF32) {
  Net net;
  Array x(DType::f32, {30, 1, kSide, kSide});
  for (std::int64_t i = 0; i < x.count(); ++i) x.set(i, 300 + double(i % 7));
  Array y(DType::i64, {30});
  TrainerOptions o;
  o.epochs = 2;
  o.batch = 30;
  o.precision = forced(DType::f16);
  const History h = Trainer(o).fit(net, nn::make_loss("cross_entropy"), optim::Adam({.lr = 1e-3}),
                                   data::Dataset({{"x", x}, {"y", y}}));
  EXPECT_TRUE(std::isfinite(h.epochs.back().train_loss));
}

TEST(MixedPrecision, WithoutForceTheMachineDecides) {
  const ChosenPrecision chosen = on_this_machine({.type = DType::f16});
  EXPECT_FALSE(chosen.precision.is_mixed());
  EXPECT_NE(chosen.note.find("precision f16: this processor is no faster with it"), std::string::npos);
  EXPECT_EQ(on_this_machine(forced(DType::f16)).note, "");
  EXPECT_EQ(on_this_machine({}).note, "");
  const Outcome asked = trained({.type = DType::f16}), exact = trained({});
  EXPECT_EQ(asked.history.epochs.back().train_loss, exact.history.epochs.back().train_loss);
}

TEST(DoublePrecision, TrainsParametersOfDoubles) {
  Net net;
  TrainerOptions o;
  o.epochs = 1;
  o.batch = 30;
  o.seed = 3;
  o.precision = {.type = DType::f64};
  const History h =
      Trainer(o).fit(net, nn::make_loss("cross_entropy"), optim::Adam({.lr = 0.003}), bars(240));
  for (const auto& p : net.parameters()) EXPECT_EQ(p.parameter->type().dtype, DType::f64) << p.path;
  EXPECT_EQ(net.buffer("norm.running_mean").type().dtype, DType::f64);
  EXPECT_EQ(net.buffer("norm.num_batches_tracked").type().dtype, DType::i64);
  EXPECT_NEAR(h.epochs[0].train_loss, trained({}).history.epochs[0].train_loss, 1e-4);
}

Job job_with(const std::string& precision) {
  return parse_job(
      "[data]\ntrain = \"a.csv\"\ninputs = { x = [\"a\"] }\ntarget = { y = [\"b\"] }\n[model]\nforward = "
      "\"y = linear(x, 1)\"\n[train]\nloss = \"mse\"\nprecision = " +
          precision + "\n",
      "job.toml");
}

TEST(PrecisionKey, NamesTypesAndLevels) {
  EXPECT_EQ(job_with("\"bf16\"").train.precision, (Precision{.type = DType::bf16}));
  EXPECT_EQ(job_with("\"f64\"").train.precision, (Precision{.type = DType::f64}));
  EXPECT_EQ(job_with("\"O2\"").train.precision,
            (Precision{.type = DType::f16, .level = Precision::Level::O2}));
  EXPECT_EQ(job_with("{ type = \"bf16\", level = \"O3\", force = true }").train.precision,
            forced(DType::bf16, Precision::Level::O3));
  EXPECT_FALSE(job_with("\"O0\"").train.precision.is_mixed());
}

TEST(PrecisionKey, ComesBackFromAWrittenJob) {
  for (const char* text : {"\"f32\"", "\"f64\"", "\"bf16\"", "\"O3\"", "{ type = \"bf16\", force = true }",
                           "{ type = \"bf16\", level = \"O2\" }"}) {
    const Job job = job_with(text);
    EXPECT_EQ(parse_job(to_toml(job), "again.toml").train.precision, job.train.precision) << text;
  }
}

TEST(PrecisionKey, RefusesWhatCannotBe) {
  EXPECT_ERROR(job_with("\"half\""), "job.toml:9:13: train.precision must be");
  EXPECT_ERROR(job_with("{ type = \"f8\" }"), "must be");
  EXPECT_ERROR(job_with("{ kind = \"bf16\" }"), "is no key of train.precision");
  EXPECT_ERROR(job_with("{ type = \"f64\", level = \"O2\" }"), "f64 has no levels");
}

}  // namespace
}  // namespace tightloop::train
