// SPDX-License-Identifier: Apache-2.0
// A layer with buffers through a whole run: trained, saved, read back, evaluated.
#include <tests/support/files.h>
#include <tightloop/train/job_run.h>
#include <tightloop/train/plan.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::train {
namespace {

constexpr const char* kJob = R"(seed = 3
[data]
train = "train.csv"
inputs = { x = "x*" }
target = { y = "y" }
batch = 16
[model]
forward = """
h = relu(batch_norm(linear(x, 8, name="lin"), name="bn"))
y = linear(h, 1)
"""
[train]
epochs = 8
loss = "mse"
optimizer = { name = "adam", lr = 0.02 }
)";

std::string table(int rows) {
  std::string out = "x0,x1,y\n";
  for (int i = 0; i < rows; ++i) {
    const double a = (i * 37 % 41) / 4.0 + 20, b = (i * 17 % 29) / 2.0;
    out += fmt::format("{},{},{}\n", a, b, a - 0.5 * b);
  }
  return out;
}

class BatchNormJob : public ::testing::Test {
 protected:
  PreparedJob prepared(const std::vector<std::string>& overrides = {}, int rows = 200) {
    testing::put(folder / "train.csv", table(rows));
    testing::put(folder / "job.toml", kJob);
    return prepare(load_job(folder / "job.toml", overrides));
  }
  static Evaluation evaluated(PreparedJob& job, std::int64_t batch) {
    TrainerOptions o = job.options;
    o.batch = batch;
    return Trainer(o, job.metrics).evaluate(job.model->model(), job.loss, job.data.data.train, {}, "y");
  }
  testing::TempDir folder;
};

TEST_F(BatchNormJob, TrainsSavesAndComesBackTheSame) {
  PreparedJob job = prepared();
  const History history = run_job(job, folder / "run", nullptr);
  EXPECT_LT(history.epochs.back().train_loss, 0.25 * history.epochs.front().train_loss);
  EXPECT_EQ(job.model->buffer("bn.num_batches_tracked").array().int_at(0), 8 * 13);
  TrainedModel trained = read_trained(folder / "run");
  make_model(trained, job.data.data.train);
  for (const auto& s : job.model->state_dict())
    EXPECT_TRUE(identical(s.array(), trained.model->state(s.path).array())) << s.path;
}

TEST_F(BatchNormJob, EvaluatesTheSameForEveryBatchSize) {
  PreparedJob job = prepared();
  run_job(job, folder / "run", nullptr);
  const double all = evaluated(job, 200).loss;
  for (const std::int64_t batch : {1, 7, 64})
    EXPECT_NEAR(evaluated(job, batch).loss, all, 1e-6 * all) << batch;
}

TEST_F(BatchNormJob, RunningStatisticsFollowTheData) {
  PreparedJob job =
      prepared({"train.optimizer={ name = \"sgd\", lr = 0.0 }", "data.batch=200", "train.epochs=200"});
  run_job(job, folder / "run", nullptr);
  const Array weight = job.model->state("lin.weight").array(), bias = job.model->state("lin.bias").array();
  const Array x = job.data.data.train.data["x"];
  double mean = 0, squares = 0;
  for (std::int64_t i = 0; i < 200; ++i) {
    const double h = weight.at(0) * x.at(2 * i) + weight.at(1) * x.at(2 * i + 1) + bias.at(0);
    mean += h / 200, squares += h * h / 200;
  }
  EXPECT_NEAR(job.model->buffer("bn.running_mean").array().at(0), mean, 1e-4 * std::abs(mean));
  const double variance = (squares - mean * mean) * 200 / 199;
  EXPECT_NEAR(job.model->buffer("bn.running_var").array().at(0), variance, 1e-3 * variance);
}

TEST_F(BatchNormJob, TheBiasInFrontStaysAndVerifyAgrees) {
  PreparedJob job = prepared();
  const Array before = job.model->state("lin.bias").array().cast(DType::f32);
  job.options.verify_steps = 20;
  run_job(job, folder / "run", nullptr);
  EXPECT_TRUE(identical(job.model->state("lin.bias").array(), before));
  EXPECT_TRUE(idle_parameters(job).empty());
}

TEST_F(BatchNormJob, ALastBatchOfOneRowIsRefusedBeforeTheFirstStep) {
  PreparedJob job = prepared({}, 33);
  EXPECT_ERROR(
      run_job(job, folder / "run", nullptr),
      "batch_norm 'bn': the statistics of a batch need more than one value per channel, and one row has "
      "one; the last batch of an epoch has 1 of the 33 rows: take another batch size than 16, or "
      "drop_last = true");
  EXPECT_EQ(job.model->buffer("bn.num_batches_tracked").array().int_at(0), 0);
  PreparedJob dropped = prepared({"data.drop_last=true"}, 33);
  EXPECT_NO_THROW(run_job(dropped, folder / "run", nullptr));
  PreparedJob single = prepared({"data.batch=1"}, 33);
  EXPECT_ERROR(run_job(single, folder / "other", nullptr), "the batch has 1: take a larger one");
}

TEST_F(BatchNormJob, ThePlanCountsBuffers) {
  PreparedJob with = prepared();
  PreparedJob without =
      prepared({"model.forward=y = linear(relu(batch_norm(linear(x, 8, name='lin'), affine=true, "
                "track_running_stats=false)), 1)"});
  EXPECT_EQ(plan_memory(with).states, plan_memory(without).states + 8 * 4 * 2 + 8);
}

}  // namespace
}  // namespace tightloop::train
