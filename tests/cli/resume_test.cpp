// SPDX-License-Identifier: Apache-2.0
// Trainings that are interrupted, killed and gone on with, from the command line.
#include "command.h"

#include <tightloop/io/safetensors.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <vector>

namespace tightloop::cli {
namespace {

const char* const kNet = R"(seed = 1
[data]
train = "train.csv"
inputs = { x = "x*", f = "f" }
target = { y = "y" }
validation = 0.25
batch = 8
[model]
forward = """
h = dropout(relu(batch_norm(linear(x, 16))), p=0.2)
y = linear(h, 1) + linear(f, 1)
"""
[train]
epochs = 40
loss = "mse"
optimizer = { name = "adamw", lr = 0.02 }
schedule = [{ name = "linear", steps = 10, every = "step" }, "cosine"]
clip = 1.0
ema = 0.9
early_stopping = 30
checkpoint = { every_steps = 7, keep = 3 }
metrics = ["mae"]
[output]
directory = "run"
)";

struct Interrupted : testing::Test {
  void SetUp() override {
    folder.write("train.csv", table());
    folder.write("job.toml", kNet);
  }
  Outcome run(const std::string& arguments) const { return tightloop(folder, arguments); }
  /// metrics.csv without the columns of time.
  std::string numbers(const std::string& name) const {
    std::istringstream in(folder.read(name));
    std::string out;
    for (std::string line; std::getline(in, line);) {
      for (int i = 0; i < 2; ++i) line.resize(line.rfind(','));
      out += line + "\n";
    }
    return out;
  }
  std::size_t checkpoints(const std::string& where) const {
    std::size_t count = 0;
    for (const auto& e : std::filesystem::directory_iterator(folder / where))
      count += e.path().filename().string().starts_with("step-");
    return count;
  }
  Folder folder;
};

TEST_F(Interrupted, GoingOnEqualsTheRunThatDidNotEnd) {
  ASSERT_EQ(run("train job.toml --out whole").status, 0);
  EXPECT_EQ(checkpoints("whole/checkpoints"), 3u);
  EXPECT_TRUE(folder.has("whole/checkpoints/best.safetensors"));
  for (const int step : {9, 60, 101}) {
    SCOPED_TRACE(step);
    const std::string out = " --out part" + std::to_string(step);
    const std::string cut =
        " --set train.checkpoint='{ every_steps = " + std::to_string(step) + ", keep = 0 }'";
    ASSERT_EQ(run("train job.toml" + out + cut).status, 0);
    std::string name = std::to_string(step);
    name = "part" + name + "/checkpoints/step-" + std::string(8 - name.size(), '0') + name + ".safetensors";
    ASSERT_TRUE(folder.has(name));
    const Outcome o = run("train job.toml" + out + " --resume " + name);
    ASSERT_EQ(o.status, 0) << o.out;
    EXPECT_NE(o.out.find("going on after " + std::to_string(step) + " steps"), std::string::npos) << o.out;
    EXPECT_NE(o.out.find("changed since the checkpoint: train.checkpoint: "), std::string::npos) << o.out;
    const std::string part = "part" + std::to_string(step) + "/";
    EXPECT_EQ(folder.read(part + "model.safetensors"), folder.read("whole/model.safetensors"));
    EXPECT_EQ(numbers(part + "metrics.csv"), numbers("whole/metrics.csv"));
  }
}

TEST_F(Interrupted, BySignalsItCanGoOn) {
  const std::string endless =
      " --set train.epochs=1000000 --set train.checkpoint=false --set train.early_stopping=false";
  for (const char* signal : {"INT", "TERM", "USR1"}) {
    SCOPED_TRACE(signal);
    const std::string out = std::string(" --out ") + signal;
    const Outcome o =
        run("train job.toml" + endless + out + " & pid=$!; sleep 2; kill -" + signal + " $pid; wait $pid");
    ASSERT_EQ(o.status, 75) << o.out;
    EXPECT_NE(o.out.find("go on with it by the same command with --resume"), std::string::npos) << o.out;
    EXPECT_EQ(run("evaluate " + std::string(signal)).status, 0);
    EXPECT_EQ(checkpoints(std::string(signal) + "/checkpoints"), 1u);
    const Outcome refused = run("train job.toml" + out);
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.out.find("holds a training that was interrupted: go on with it by --resume"),
              std::string::npos)
        << refused.out;
    const Outcome on = run("train job.toml" + endless + out + " --set train.max_steps=1 --resume");
    EXPECT_EQ(on.status, 0) << on.out;
    EXPECT_EQ(run("train job.toml" + out).status, 0) << "the run has ended, so another may begin";
  }
}

TEST_F(Interrupted, AKilledRunHasAWholeCheckpoint) {
  std::mt19937 draw(3);
  const std::string job =
      "train job.toml --quiet --set train.epochs=100000 --set train.early_stopping=false"
      " --set train.checkpoint='{ every_steps = 20, keep = 2 }'";
  const std::string begun =
      "until ls " + folder.path() + "/run/checkpoints/step-* >/dev/null 2>&1; do sleep 0.05; done; ";
  for (int i = 0; i < 6; ++i) {
    const std::string wait = std::to_string(static_cast<double>(draw() % 1000) / 1000);
    const Outcome o = run(job + (i == 0 ? "" : " --resume") + " & pid=$!; " + begun + "sleep " + wait +
                          "; kill -KILL $pid; wait $pid");
    EXPECT_EQ(o.out.find("tightloop:"), std::string::npos) << o.out;
  }
  const Outcome o = run("train job.toml --resume --set train.epochs=1");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("going on after"), std::string::npos) << o.out;
}

TEST_F(Interrupted, OtherDataOrAnotherModelAreRefusedKeyByKey) {
  ASSERT_EQ(run("train job.toml --set train.epochs=2").status, 0);
  const std::string before = folder.read("run/model.safetensors");
  const std::pair<const char*, const char*> cases[] = {
      {"seed=5", "seed: 5 instead of 1"},
      {"data.batch=4", "data.batch: 4 instead of 8"},
      {"model.forward='y = linear(x, 1) + f'", "model.forward"},
      {"train.loss=l1", "train.loss: \"l1\" instead of \"mse\""},
      {"train.optimizer=adam", "train.optimizer"},
      {"train.freeze='linear0.*'", "train.freeze"}};
  for (const auto& [change, words] : cases) {
    const Outcome o = run(std::string("train job.toml --resume --set ") + change);
    EXPECT_EQ(o.status, 2) << change;
    EXPECT_NE(o.out.find("the job has changed in what a run cannot go on with"), std::string::npos) << o.out;
    EXPECT_NE(o.out.find(words), std::string::npos) << o.out;
  }
  EXPECT_EQ(folder.read("run/model.safetensors"), before);
  const Outcome o = run("train job.toml --resume --set train.epochs=4 --set train.optimizer.lr=0.5");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("changed since the checkpoint: train.epochs: 4 instead of 2"), std::string::npos)
      << o.out;
  EXPECT_NE(o.out.find("lr = 0.5"), std::string::npos) << o.out;
  EXPECT_NE(folder.read("run/metrics.csv").find("\n4,24,"), std::string::npos);
}

TEST_F(Interrupted, ADamagedCheckpointIsSaidAndTheOneBeforeTaken) {
  ASSERT_EQ(run("train job.toml --set train.epochs=2").status, 0);
  std::string bytes = folder.read("run/checkpoints/step-00000012.safetensors");
  ASSERT_FALSE(bytes.empty());
  bytes.pop_back();
  folder.write("run/checkpoints/step-00000012.safetensors", bytes);
  const Outcome o = run("train job.toml --set train.epochs=2 --resume");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("step-00000012.safetensors: "), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("taking the one before\ngoing on after 7 steps"), std::string::npos) << o.out;
}

TEST_F(Interrupted, ATryWritesNothing) {
  const Outcome o = run("train job.toml --fast-dev-run");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("validation loss"), std::string::npos) << o.out;
  EXPECT_FALSE(folder.has("run"));
}

TEST_F(Interrupted, EarlyStoppingSaysWhyAndWhichWeights) {
  const Outcome o = run("train job.toml --set train.epochs=4000 --set train.early_stopping=2");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("ended early: validation_loss has not improved for 2 evaluated epochs"),
            std::string::npos)
      << o.out;
  EXPECT_NE(o.out.find("the weights are those of epoch "), std::string::npos) << o.out;
}

TEST_F(Interrupted, WeightsOfACheckpointStartAnotherModel) {
  ASSERT_EQ(run("train job.toml --set train.epochs=2 --set train.ema=false").status, 0);
  const std::string other = with(kNet, "linear(x, 16)", "linear(x, 16, name=\"body\")");
  folder.write("other.toml", with(other, "linear(h, 1) + linear(f, 1)",
                                  "linear(h, 1, name=\"linear1\") + linear(f, 1, name=\"linear2\")"));
  const std::string weights = " --set model.weights='{ file = \"run/checkpoints/step-00000012.safetensors\"";
  const Outcome strict = run("train other.toml --out other" + weights + " }'");
  EXPECT_EQ(strict.status, 2);
  EXPECT_NE(strict.out.find("missing"), std::string::npos) << strict.out;
  const Outcome loose = run("train other.toml --out other" + weights + ", strict = false }'");
  EXPECT_EQ(loose.status, 0) << loose.out;
  EXPECT_NE(loose.out.find("body.weight"), std::string::npos) << loose.out;
}

TEST_F(Interrupted, FrozenParametersStay) {
  ASSERT_EQ(run("train job.toml --out a --set train.epochs=2").status, 0);
  ASSERT_EQ(run("train job.toml --out b --set train.epochs=2 --set train.freeze='linear*' "
                "--set model.weights=a/model.safetensors")
                .status,
            0);
  const auto a = io::read_safetensors(folder / "a/model.safetensors"),
             b = io::read_safetensors(folder / "b/model.safetensors");
  for (const auto& [name, value] : a.tensors) {
    if (name.starts_with("linear")) {
      EXPECT_TRUE(identical(value, *b.find(name))) << name;
    }
  }
  EXPECT_FALSE(identical(*a.find("batch_norm0.weight"), *b.find("batch_norm0.weight")));
  const auto c = io::read_safetensors(folder / "b/checkpoints/step-00000012.safetensors");
  EXPECT_EQ(c.find("optimizer.exp_avg.linear0.weight"), nullptr) << "no state for what is frozen";
}

}  // namespace
}  // namespace tightloop::cli
