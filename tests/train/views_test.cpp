// SPDX-License-Identifier: Apache-2.0
// Windows, splits, samplers and transforms as a job and a C++ program use them.
#include <tests/support/files.h>
#include <tightloop/data/csv.h>
#include <tightloop/io/npy.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/adam.h>
#include <tightloop/optim/lbfgs.h>
#include <tightloop/train/job_run.h>
#include <tightloop/train/read_batch.h>
#include <tightloop/train/trainer.h>

#include <cmath>
#include <filesystem>
#include <set>

namespace tightloop::train {
namespace {

using Rows = std::vector<std::int64_t>;

struct Views : ::testing::Test {
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tightloop-views-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  Job job(const std::string& data, const std::string& model = "y = linear(x, 1)",
          const std::string& train = "loss = \"mse\"") const {
    Job j = parse_job("[data]\n" + data + "\n[model]\nforward = \"\"\"" + model + "\"\"\"\n[train]\n" + train,
                      "job.toml");
    j.folder = folder;
    return j;
  }
  LoadedData load(const std::string& data, nn::TargetKind kind = nn::TargetKind::values) const {
    return load_data(job(data), kind);
  }
  /// 40 rows: t counts, x = 10 t, w = t mod 2, group g = t / 10, class c = t mod 4.
  void write_series() const {
    std::vector<Array> columns;
    for (const int k : {0, 1, 2, 3, 4}) {
      Array a(DType::f32, {40});
      for (std::int64_t i = 0; i < 40; ++i)
        a.set(i, static_cast<double>(k == 0   ? i
                                     : k == 1 ? 10 * i
                                     : k == 2 ? i % 2
                                     : k == 3 ? i / 10
                                              : i % 4));
      columns.push_back(a);
    }
    data::write_csv(folder + "/s.csv", {"t", "x", "w", "g", "c"}, columns);
  }

  std::string folder;
};

const std::string kSeries = "train = \"s.csv\"\ninputs = { x = [\"x\", \"t\"] }\ntarget = { y = \"t\" }\n";

/// A model without parameters that gives the inputs back.
Model identity() {
  static nn::Linear unused{1, 1};
  return {&unused, [](std::span<const Tensor> x) { return x[0]; }};
}

TEST_F(Views, WindowsAreTheRowsOfTheSeries) {
  for (const auto dtype : {DType::f32, DType::u8})
    for (const std::int64_t features : {1, 2, 17}) {
      Array series(dtype, {30, features});
      for (std::int64_t i = 0; i < series.count(); ++i) series.set(i, static_cast<double>(i * 7 % 251));
      DataPart part{data::Dataset({{"x", series}})};
      part.window = data::Window{.length = 5, .horizon = 1, .stride = 3};
      part.rows = data::window_rows(30, *part.window, false);
      for (const Backend backend : {Backend::reference, Backend::cpu}) {
        TrainerOptions o;
        o.compile.backend = backend;
        o.compile.disk_cache = false;
        const Array y = Trainer(o).predict(identity(), part);
        ASSERT_EQ(y.dims(), (std::vector<std::int64_t>{9, 5, features}));
        for (std::int64_t i = 0; i < y.count(); ++i) {
          const std::int64_t window = i / (5 * features), rest = i % (5 * features);
          ASSERT_EQ(y.at(i), series.at(window * 3 * features + rest));
        }
      }
    }
}

TEST_F(Views, WindowTargetsAreAheadOrShifted) {
  Array x(DType::f32, {20, 2}), y(DType::f32, {20, 1});
  for (std::int64_t i = 0; i < 20; ++i) y.set(i, static_cast<double>(i));
  for (const auto target : {data::WindowTarget::ahead, data::WindowTarget::shifted}) {
    DataPart part{data::Dataset({{"x", x}, {"y", y}})};
    part.window = data::Window{.length = 4, .horizon = 2, .target = target};
    part.rows = data::window_rows(20, *part.window);
    double wanted = 0, count = 0;
    for (const auto first : part.rows)
      for (std::int64_t k = 0; k < part.window->target_rows(); ++k, ++count)
        wanted += std::pow(static_cast<double>(first + part.window->target_first() + k), 2);
    for (const Backend backend : {Backend::reference, Backend::cpu}) {
      const std::int64_t rows = part.window->target_rows();
      nn::Linear unused{1, 1};
      const Model zero{&unused, [&](std::span<const Tensor> in) {
                         return broadcast_to(unsqueeze(sum(in[0] * 0.0, {1, 2}), 1), {Dim::batch(), rows});
                       }};
      TrainerOptions o;
      o.compile.backend = backend;
      o.compile.disk_cache = false;
      EXPECT_NEAR(Trainer(o).evaluate(zero, nn::make_loss("mse"), part, {}, "y").loss, wanted / count, 1e-4);
    }
  }
}

TEST_F(Views, JobCutsASeriesInTime) {
  write_series();
  const LoadedData d =
      load(kSeries + "validation = 0.25\nnormalize = \"standard\"\nwindow = { length = 6, horizon = 2 }");
  EXPECT_EQ(to_string(d.model_inputs()[0].second), "f32[B, 6, 2]");
  EXPECT_EQ(d.data.train.rows.front(), 0);
  EXPECT_EQ(d.data.train.rows.back(), 22);  // 22 + 6 + 2 = 30 rows train
  EXPECT_EQ(d.data.validation->rows.front(), 24);
  EXPECT_EQ(d.data.validation->rows.back(), 32);
  EXPECT_EQ(d.split.method, "time");
  double mean = 0;
  for (int i = 0; i < 28; ++i) mean += 10.0 * i / 28;  // the rows that training windows show
  EXPECT_NEAR(d.data.scales[0].shift.at(0), mean, 1e-4);
}

TEST_F(Views, JobCutsEachGroupOfASeries) {
  write_series();
  const LoadedData d = load(kSeries + "validation = 0.2\nwindow = { length = 3, group = \"g\" }");
  EXPECT_EQ(d.data.train.rows.size(), 4u * 5);  // 8 of 10 rows, windows of 4
  EXPECT_EQ(d.data.validation->rows, (Rows{5, 6, 15, 16, 25, 26, 35, 36}));
  const LoadedData whole = load(
      kSeries + "validation = 0.25\nsplit = { method = \"group\" }\nwindow = { length = 3, group = \"g\" }");
  EXPECT_EQ(whole.data.train.rows.size(), 3u * 7);
  EXPECT_EQ(whole.data.validation->rows.size(), 7u);
  EXPECT_EQ(whole.split.column, "g");
}

TEST_F(Views, JobSplitsByTheColumnsOfTheTable) {
  write_series();
  const LoadedData s =
      load(kSeries + "validation = 0.2\nsplit = { method = \"stratified\", column = \"c\" }");
  std::multiset<double> classes;
  for (const auto r : s.data.validation->rows) classes.insert(static_cast<double>(r % 4));
  for (const double c : {0, 1, 2, 3}) EXPECT_EQ(classes.count(c), 2u);
  const LoadedData g =
      load(kSeries + "fold = { k = 4, index = 1 }\nsplit = { method = \"group\", column = \"g\" }");
  EXPECT_EQ(g.data.validation->rows.size(), 10u);
  EXPECT_EQ(g.split.kind, "fold");
  EXPECT_EQ(g.split.folds, 4);
  const LoadedData t = load(kSeries + "validation = 0.1\nsplit = { method = \"time\", column = \"t\" }");
  EXPECT_EQ(t.data.validation->rows, (Rows{36, 37, 38, 39}));
}

std::string refused(const std::function<void()>& f) { return testing::error_of(f); }

TEST_F(Views, JobRefusesWhatContradicts) {
  write_series();
  const auto said = [&](const std::string& data) { return refused([&] { load(kSeries + data); }); };
  const auto expect = [&](const std::string& data, const std::string& part) {
    EXPECT_NE(said(data).find(part), std::string::npos) << said(data);
  };
  expect("shuffle = false\nsampler = \"balanced\"", "is false, but data.sampler is balanced; leave one out");
  expect("shuffle = true\nsampler = \"sequential\"", "is true, but data.sampler is sequential");
  expect("sampler = \"weigthed\"", "(did you mean 'weighted'?)");
  expect("sampler = \"weighted\"", "has no column");
  expect("sampler = { name = \"shuffled\", column = \"w\" }", "is no option of the sampler shuffled");
  expect("validation = 0.1\nfold = { k = 3 }", "and so does data.validation");
  expect("fold = { k = 3, index = 3 }", "of 3 folds there are 0 to 2");
  expect("split = { method = \"time\" }", "but none are");
  expect("validation = 0.1\nsplit = { method = \"group\" }", "has no column");
  expect("validation = 0.1\nsplit = { method = \"random\" }\nwindow = { length = 3 }", "windows share rows");
  expect("validation = 0.1\nwindow = { horizon = 3 }", "has no length");
  expect("window = { length = 3, lenght = 3 }", "is no key here");
  expect("window = { length = 50 }", "51 rows are needed");
  expect("fold = { k = 30, index = 0 }\nsplit = { method = \"stratified\", column = \"c\" }",
         "fewer than the 30 folds");
  expect("sampler = { name = \"weighted\", column = \"nothing\" }", "nothing");
  expect("transforms = [\"noise\", \"horizontal_flip\"]", "horizontal_flip: fits no input");
  expect("transforms = [\"nois\"]", "there is no transform 'nois'");
  expect("transforms = [{ name = \"noise\", sigma = \"x\" }]", "sigma");
  expect("transforms = [{ name = \"noise\", input = \"z\" }]", "there is no input 'z'");
}

TEST_F(Views, ResolvedJobReadsBack) {
  write_series();
  const std::string data =
      kSeries +
      "validation = 0.2\nsampler = { name = \"weighted\", column = \"w\" }\n"
      "split = { method = \"time\", column = \"t\" }\n"
      "window = { length = 3, horizon = 2, stride = 2, target = \"shifted\" }\n"
      "transforms = [{ name = \"noise\", sigma = 0.5 }, \"column_dropout\"]\neval_transforms = []";
  const std::string once = to_toml(job(data));
  EXPECT_EQ(to_toml(parse_job(once, "resolved")), once);
  EXPECT_NE(once.find("target = \"shifted\""), std::string::npos) << once;
  EXPECT_NE(to_toml(job(kSeries + "sampler = \"sequential\"")).find("shuffle = false"), std::string::npos);
  EXPECT_NO_THROW(parse_job(to_toml(job(kSeries + "shuffle = false")), "resolved"));
}

/// Rows of weight 0 are never seen: they hold NaN here.
TEST_F(Views, WeightedRowsAloneAreTrainedOn) {
  Array x(DType::f32, {40, 1}), y(DType::f32, {40, 1});
  std::vector<double> weights;
  for (std::int64_t i = 0; i < 40; ++i) {
    x.set(i, std::sin(static_cast<double>(i)));
    y.set(i, i % 4 == 0 ? 2 * x.at(i) : NAN);
    weights.push_back(i % 4 == 0 ? 1 : 0);
  }
  nn::Linear net{1, 1};
  TrainingData data{.train = {data::Dataset({{"x", x}, {"y", y}})}};
  data.train.weighted = alias_table(weights);
  TrainerOptions o;
  o.epochs = 200;
  o.batch = 8;
  const History h = Trainer(o).fit(model_of(net), nn::make_loss("mse"), optim::Adam({.lr = 0.05}), data);
  EXPECT_LT(h.epochs.back().train_loss, 1e-4);
  EXPECT_THROW(Trainer(o).fit(model_of(net), nn::make_loss("mse"), optim::Lbfgs(), data), Error);
}

TEST_F(Views, BalancedSamplerShowsClassesEquallyOften) {
  Array x(DType::f32, {100}), c(DType::i64, {100});
  for (std::int64_t i = 0; i < 100; ++i) c.set_int(i, i < 90 ? 0 : 1), x.set(i, c.at(i));
  io::write_npy(folder + "/x.npy", x);
  io::write_npy(folder + "/c.npy", c);
  const LoadedData d = load("inputs = { x = \"x.npy\" }\ntarget = { c = \"c.npy\" }\nsampler = \"balanced\"",
                            nn::TargetKind::classes);
  const Sampling s{.rows = 100, .batch = 100, .weighted = d.data.train.weighted.data()};
  double ones = 0;
  std::vector<std::int64_t> rows(100);
  for (std::int64_t e = 0; e < 200; ++e) {
    s.fill(s.at(e), rows.data());
    for (const auto r : rows) ones += r >= 90 ? 1 : 0;
  }
  EXPECT_NEAR(ones / 20000, 0.5, 0.02);
}

TEST_F(Views, PartsThatReachBeyondTheDataAreRefused) {
  const data::Dataset data({{"x", Array(DType::f32, {10, 1})}});
  const auto said = [&](const DataPart& part) {
    return refused([&] { Trainer(TrainerOptions()).predict(identity(), part); });
  };
  EXPECT_NE(said({data, {3, 10}}).find("row 10 of a part needs 1 row from it on, but the data have 10"),
            std::string::npos);
  const data::Window w{.length = 4};
  EXPECT_NE(said({data, {}, w}).find("data::window_rows()"), std::string::npos);
  EXPECT_NE(said({data, {7}, w}).find("row 7 of a part needs 4 rows"), std::string::npos);
  EXPECT_NE(said({data, {-1}, w}).find("row -1"), std::string::npos);
  EXPECT_NO_THROW(Trainer(TrainerOptions()).predict(identity(), {data, {6}, w}));
  EXPECT_NE(said({data, {}, {}, alias_table(std::vector<double>{1, 2})}).find("weights for 2 rows"),
            std::string::npos);
}

struct Pictures : Views {
  void SetUp() override {
    Views::SetUp();
    Array x(DType::u8, {60, 8, 8}), y(DType::u8, {60});
    for (std::int64_t i = 0; i < 60; ++i) {
      y.set_int(i, i % 3);
      for (std::int64_t p = 0; p < 64; ++p)
        x.set_int(i * 64 + p, (p / 8 % 3 == i % 3 ? 200 : 20) + (i * 31 + p * 7) % 40);
    }
    io::write_npy(folder + "/x.npy", x);
    io::write_npy(folder + "/y.npy", y);
  }
  History fit(const std::string& data, int threads, std::int64_t verify = 0,
              const std::string& train = "") const {
    PreparedJob p = prepare(job("inputs = { x = \"x.npy\" }\ntarget = { y = \"y.npy\" }\nbatch = 16\n" + data,
                                "h = flatten(x)\nh = relu(linear(h, 16))\ny = linear(h, 3)",
                                "loss = \"cross_entropy\"\nmetrics = [\"accuracy\"]\nepochs = 6\n" + train));
    p.options.compile.threads = threads;
    p.options.compile.disk_cache = false;
    p.options.verify_steps = verify;
    return Trainer(p.options, p.metrics).fit(p.model->model(), p.loss, *p.optimizer, p.data.data);
  }
};

const std::string kList =
    "validation = 0.2\nnormalize = \"standard\"\ntransforms = [{ name = \"random_crop\", size = 6, padding = "
    "1 }, "
    "\"horizontal_flip\", \"random_erasing\"";

TEST_F(Pictures, TrainTheSameWithAnyNumberOfThreads) {
  const History one = fit(kList + "]", 1), two = fit(kList + "]", 2);
  EXPECT_EQ(one.epochs.back().train_loss, two.epochs.back().train_loss);
  EXPECT_EQ(one.epochs.back().validation->loss, two.epochs.back().validation->loss);
  EXPECT_NE(one.epochs.back().train_loss,
            fit("validation = 0.2\nnormalize = \"standard\"", 1).epochs.back().train_loss);
}

TEST_F(Pictures, TheInterpreterAgreesStepByStep) {
  EXPECT_NO_THROW(fit(kList + ", \"mixup\"]\ndrop_last = true", 1, 12));
  EXPECT_NO_THROW(
      fit("sampler = \"balanced\"\ntransforms = [{ name = \"rotation\", degrees = 20 }]\n", 1, 12));
}

TEST_F(Pictures, LearnFromMixedSamples) {
  for (const std::string name : {"mixup", "cutmix"}) {
    const History h = fit("validation = 0.2\nnormalize = \"standard\"\ntransforms = [\"" + name + "\"]", 1, 0,
                          "optimizer = { name = \"adam\", lr = 0.01 }\n");
    EXPECT_GT(h.epochs.back().validation->metrics[0], 0.9) << name;
    EXPECT_GT(h.epochs.back().train_loss, 0.05) << "mixed targets cannot be met exactly";
  }
}

TEST_F(Pictures, RefuseWhatDoesNotFit) {
  const auto said = [&](const std::string& data) { return refused([&] { fit(data, 1); }); };
  EXPECT_NE(
      said("transforms = [{ name = \"random_crop\", size = 6 }]\neval_transforms = []").find("f32[B, 6, 6]"),
      std::string::npos);
  EXPECT_NE(said("normalize = \"standard\"\ntransforms = [{ name = \"normalize\", mean = 0.5, std = 0.5 }]")
                .find("normalized twice"),
            std::string::npos);
  const auto nll = refused([&] {
    prepare(job("inputs = { x = \"x.npy\" }\ntarget = { y = \"y.npy\" }\ntransforms = [\"cutmix\"]",
                "y = linear(flatten(x), 3)", "loss = \"nll\""));
  });
  EXPECT_NE(nll.find("nll takes one class a row"), std::string::npos) << nll;
}

}  // namespace
}  // namespace tightloop::train
