// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/train/tune/job_measurer.h>
#include <tightloop/train/tune/moves/index.h>

#include <algorithm>

namespace tightloop::train::tune {
namespace {

/// A job on a table of 200 rows; `given` as behind --set.
class SmallJob {
 public:
  explicit SmallJob(Settings given = {}, int cores = 4) : cores_(cores) {
    std::string table = "a,b,y\n";
    for (int i = 0; i < 200; ++i)
      table += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + std::to_string(i % 3) + "\n";
    testing::put(folder_ / "t.csv", table);
    job_ = {R"toml([data]
train = "t.csv"
inputs = { x = ["a", "b"] }
target = { y = "y" }
validation = 0.2
batch = 4
[model]
forward = "y = linear(x, 1)"
[train]
loss = "mse"
epochs = 100
optimizer = { name = "adam", lr = 0.01 }
)toml",
            "job.toml", folder_.path(), std::move(given)};
  }
  Proposal propose(const std::string& move) const {
    const PreparedJob p = prepare(job_.with({}));
    return chosen_moves({move})[0]->propose({p.job, p, cores_, std::size_t{1} << 30, features});
  }
  const GivenJob& job() const { return job_; }
  std::vector<std::string> features = {};

 private:
  testing::TempDir folder_;
  GivenJob job_;
  int cores_;
};

std::vector<Settings> sets_of(const Proposal& p) {
  std::vector<Settings> out;
  for (const Variant& v : p.variants) out.push_back(v.sets);
  return out;
}

// Each way of each move must be a job again.
TEST(TuneMoves, WhatTheyProposeAreJobs) {
  const std::vector<Settings> jobs = {
      {},
      {"train.threads=3", "train.log_every=1", "train.checkpoint=2", "data.batch=64"},
      {"train.accumulate=4", "train.max_steps=100", "train.optimizer=sgd"},
      {"train.limit_batches=10", "train.limit_validation_batches=3", "data.batch=16"},
      {"model.forward=\"y = linear(batch_norm(linear(x, 4)), 1)\"", "train.checkpoint={ every_steps = 7 }"}};
  for (const Settings& given : jobs) {
    const SmallJob small(given);
    for (const MoveDef* move : all_moves()) {
      SCOPED_TRACE(move->name);
      const Proposal p = small.propose(std::string(move->name));
      EXPECT_NE(p.variants.empty(), p.skipped.empty());
      for (const Variant& v : p.variants) {
        EXPECT_NO_THROW(prepare(small.job().with(v.sets))) << v.label;
        EXPECT_FALSE(v.label.empty());
        EXPECT_NE(to_toml(small.job().with(v.sets)), to_toml(small.job().with({})))
            << v.label << " changes nothing";
      }
    }
  }
}

TEST(TuneMoves, NamesAreChecked) {
  EXPECT_EQ(chosen_moves({}).size(), all_moves().size());
  EXPECT_EQ(chosen_moves({"threads", "batch"}).size(), 2u);
  EXPECT_ERROR(chosen_moves({"thread"}), "unknown move 'thread' (did you mean 'threads'?)");
}

TEST(TuneMoves, BatchScalesTheRateByTheRule) {
  const Proposal adam = SmallJob().propose("batch");
  EXPECT_TRUE(adam.ladder);
  ASSERT_EQ(adam.variants.size(), 2u) << "160 rows make at least 8 steps";
  EXPECT_EQ(adam.variants[1].sets,
            (Settings{"data.batch=16", "train.optimizer.name=\"adam\"", "train.optimizer.lr=0.02"}));
  const Proposal sgd = SmallJob({"train.optimizer.name=sgd"}).propose("batch");
  EXPECT_EQ(sgd.variants[1].sets,
            (Settings{"data.batch=16", "train.optimizer.name=\"sgd\"", "train.optimizer.lr=0.04"}));
}

TEST(TuneMoves, WhatIsCountedInBatchesMeansAsManySamples) {
  const Proposal p =
      SmallJob({"train.max_steps=101", "train.limit_batches=10", "train.log_every=8"}).propose("batch");
  EXPECT_EQ(p.variants[0].sets,
            (Settings{"data.batch=8", "train.max_steps=51", "train.limit_batches=5", "train.log_every=4",
                      "train.optimizer.name=\"adam\"", "train.optimizer.lr=0.0141"}));
  EXPECT_NE(SmallJob({"train.schedule=one_cycle"}).propose("batch").skipped.find("train.schedule"),
            std::string::npos);
  EXPECT_NE(SmallJob({"train.checkpoint.every_steps=5"}).propose("batch").skipped.find("every_steps"),
            std::string::npos);
  EXPECT_FALSE(SmallJob({"train.group=[{ match = \"*.bias\", lr = 0.1 }]"}).propose("batch").skipped.empty());
}

TEST(TuneMoves, AccumulationKeepsTheRowsOfAnUpdate) {
  EXPECT_EQ(sets_of(SmallJob({"train.accumulate=4"}).propose("accumulation")),
            (std::vector<Settings>{{"data.batch=16", "train.accumulate=1"}}));
  EXPECT_EQ(sets_of(SmallJob({"data.batch=64"}).propose("accumulation")),
            (std::vector<Settings>{{"data.batch=16", "train.accumulate=4"}}));
  EXPECT_EQ(SmallJob().propose("accumulation").skipped, "the batch is small");
}

TEST(TuneMoves, EvaluationsStayTenAtLeast) {
  const Proposal p = SmallJob().propose("evaluation");
  EXPECT_EQ(sets_of(p),
            (std::vector<Settings>{
                {"train.evaluate_every=2"}, {"train.evaluate_every=5"}, {"train.evaluate_every=10"}}));
  EXPECT_EQ(SmallJob({"train.early_stopping=3"}).propose("evaluation").skipped,
            "train.early_stopping looks at each validation");
  EXPECT_EQ(SmallJob({"train.schedule=reduce_on_plateau"}).propose("evaluation").skipped,
            "reduce_on_plateau looks at each validation");
  EXPECT_EQ(SmallJob({"data.validation=0"}).propose("evaluation").skipped, "the job has no validation rows");
  EXPECT_FALSE(SmallJob({"train.epochs=15"}).propose("evaluation").skipped.empty());
}

TEST(TuneMoves, ThreadsGoUpToTheCores) {
  EXPECT_EQ(sets_of(SmallJob().propose("threads")),
            (std::vector<Settings>{{"train.threads=1"}, {"train.threads=2"}}));
  EXPECT_EQ(sets_of(SmallJob({"train.threads=1"}).propose("threads")),
            (std::vector<Settings>{{"train.threads=2"}, {"train.threads=0"}}));
  EXPECT_EQ(SmallJob({}, 1).propose("threads").skipped, "there is one core");
}

TEST(TuneMoves, LoggingAndCheckpointsBecomeRarer) {
  EXPECT_FALSE(SmallJob().propose("logging").skipped.empty());
  EXPECT_EQ(sets_of(SmallJob({"train.log_every=1"}).propose("logging")),
            (std::vector<Settings>{{"train.log_every=\"auto\""}}));
  EXPECT_EQ(sets_of(SmallJob({"train.checkpoint=1"}).propose("checkpoints")),
            (std::vector<Settings>{{"train.checkpoint=5"}, {"train.checkpoint=25"}}));
  EXPECT_EQ(sets_of(SmallJob({"train.checkpoint={ every_steps = 3, keep = 2 }"}).propose("checkpoints"))[0],
            Settings{"train.checkpoint.every_steps=15"});
  EXPECT_FALSE(SmallJob().propose("checkpoints").skipped.empty());
}

TEST(TuneMoves, DropLastOnlyWhereABatchIsShort) {
  EXPECT_EQ(SmallJob().propose("drop_last").skipped, "there is no short last batch");
  const Proposal p = SmallJob({"data.batch=48"}).propose("drop_last");
  ASSERT_EQ(p.variants.size(), 1u);
  EXPECT_EQ(p.variants[0].label, "16 of 160 rows left out of each epoch");
}

TEST(TuneMoves, BiasesInFrontOfANormAreLeftOut) {
  const auto forward = [](const std::string& text) {
    const Proposal p = SmallJob({"model.forward=\"\"\"" + text + "\"\"\""}).propose("biases");
    return p.variants.empty() ? p.skipped : SmallJob().job().with(p.variants[0].sets).model.forward.text;
  };
  EXPECT_EQ(forward("y = linear(batch_norm(linear(x, (4))), 1)"),
            "y = linear(batch_norm(linear(x, (4), bias=false)), 1)");
  EXPECT_EQ(forward("h = linear(x, 4, name=\"a\")\nh2 = relu(batch_norm(h))\ny = linear(h2, 1)"),
            "h = linear(x, 4, name=\"a\", bias=false)\nh2 = relu(batch_norm(h))\ny = linear(h2, 1)");
  EXPECT_EQ(
      forward("a = linear(x, 4)\ny = linear(batch_norm(linear(relu(batch_norm(a)), 3)), 1)"),
      "a = linear(x, 4, bias=false)\ny = linear(batch_norm(linear(relu(batch_norm(a)), 3, bias=false)), 1)");
  const std::string none = "no bias in front of a batch_norm";
  EXPECT_EQ(forward("h = linear(x, 4)\ny = linear(batch_norm(h) + h, 1)"), none) << "h is used twice";
  EXPECT_EQ(forward("y = linear(batch_norm(linear(x, 4, bias=false)), 1)"), none);
  EXPECT_EQ(forward("y = linear(batch_norm(relu(linear(x, 4))), 1)"), none);
  EXPECT_EQ(forward("h = linear(x, 4)\nh = batch_norm(h)\ny = linear(h, 1)"), none)
      << "two meanings of h: left alone";
}

TEST(TuneMoves, SamplesInMemoryNeedNoWorkers) {
  for (const char* move : {"memory", "workers", "prefetch"})
    EXPECT_EQ(SmallJob().propose(move).skipped, "the samples are in memory");
}

TEST(TuneMoves, KeysThatAVersionHasNotAreSkipped) {
  for (const char* move : {"precision", "recompute"}) {
    const Proposal p = SmallJob().propose(move);
    EXPECT_TRUE(p.variants.empty()) << move
                                    << ": this CPU is said to have no features, and the job sets nothing";
    EXPECT_FALSE(p.skipped.empty()) << move;
  }
}

}  // namespace
}  // namespace tightloop::train::tune
