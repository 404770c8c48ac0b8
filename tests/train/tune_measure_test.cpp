// SPDX-License-Identifier: Apache-2.0
// Trials of a real job: nothing here asks how long anything takes.
#include <tests/support/files.h>
#include <tightloop/train/tune/job_measurer.h>

namespace tightloop::train::tune {
namespace {

const char* const kJob = R"toml([data]
train = "t.csv"
inputs = { x = ["a", "b"] }
target = { y = "y" }
validation = 0.2
batch = 4
[model]
forward = "y = linear(x, 1)"
[train]
loss = "mse"
epochs = 20
early_stopping = 1
max_time = 0.001
optimizer = { name = "adam", lr = 0.01 }
)toml";

class TuneMeasure : public ::testing::Test {
 protected:
  TuneMeasure() {
    std::string table = "a,b,y\n";
    for (int i = 0; i < 200; ++i)
      table +=
          std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + std::to_string(i % 7 - i % 5) + "\n";
    testing::put(folder_ / "t.csv", table);
  }
  JobMeasurer measurer(
      const Settings& given = {}, std::function<bool()> interrupted = [] { return false; }) {
    return JobMeasurer({kJob, "job.toml", folder_.path(), given}, 0.1, std::move(interrupted));
  }
  testing::TempDir folder_;
};

TEST_F(TuneMeasure, ATrialGivesATimeAndLeavesNothing) {
  for (const Settings& given : std::vector<Settings>{{},
                                                     {"data.validation=0"},
                                                     {"train.evaluate_every=7"},
                                                     {"train.checkpoint=1", "train.log_every=1"},
                                                     {"train.repeats=3"},
                                                     {"data.validation=0", "data.fold={ k = 4 }"}}) {
    SCOPED_TRACE(given.empty() ? "" : given[0]);
    JobMeasurer m = measurer(given);
    EXPECT_GT(m.seconds_per_sample({}, 0.01), 0);
    EXPECT_GT(m.seconds_per_sample({"data.batch=16"}, 0.01), 0);
    EXPECT_GT(m.memory({}), 1000u);
  }
  EXPECT_EQ(folder_.entries(), 1) << "the data alone";
}

TEST_F(TuneMeasure, TheLossIsThatOfTheSameSamples) {
  JobMeasurer m = measurer();
  const double loss = m.loss({}, false);
  EXPECT_EQ(m.loss_samples(), 80) << "twenty batches: nothing was timed yet";
  EXPECT_EQ(m.loss({}, false), loss) << "trials begin anew";
  EXPECT_NE(m.loss({}, true), loss) << "another seed";
  EXPECT_EQ(m.loss({"train.threads=1"}, false), loss) << "no number depends on the threads";
  EXPECT_NE(m.loss({"data.batch=8"}, false), loss);
  // As a run of twenty steps by itself.
  PreparedJob p = m.prepared(GivenJob{kJob, "job.toml", folder_.path(), {"train.max_steps=20"}}.with({}));
  p.options.callbacks.clear();
  const History h = Trainer(p.options).fit(p.model->model(), p.loss, *p.optimizer, p.data.data);
  EXPECT_EQ(h.steps, 20);
  EXPECT_EQ(h.epochs.back().validation->loss, loss);
}

TEST_F(TuneMeasure, WithoutValidationTrainingRowsTell) {
  JobMeasurer m = measurer({"data.validation=0"});
  EXPECT_EQ(m.loss({}, false), m.loss({"train.log_every=1"}, false));
}

TEST_F(TuneMeasure, WhatCannotBeRunIsAnError) {
  JobMeasurer m = measurer();
  EXPECT_ERROR(m.seconds_per_sample({"model.forward=\"y = linear(x, 2)\""}, 0.01), "mse");
  EXPECT_ERROR(m.memory({"data.train=\"none.csv\""}), "none.csv");
  EXPECT_ERROR(m.seconds_per_sample({"train.optimizer={ name = \"sgd\", lr = 1e30 }"}, 0.01),
               "the loss is not finite");
  EXPECT_GT(m.seconds_per_sample({}, 0.01), 0) << "others go on";
}

TEST_F(TuneMeasure, AnInterruptEndsATrial) {
  bool interrupted = false;
  JobMeasurer m = measurer({}, [&] { return interrupted; });
  m.seconds_per_sample({}, 0.01);
  interrupted = true;
  EXPECT_THROW(m.seconds_per_sample({}, 1000), Interrupted);
  EXPECT_THROW(m.loss({}, false), Interrupted);
}

}  // namespace
}  // namespace tightloop::train::tune
