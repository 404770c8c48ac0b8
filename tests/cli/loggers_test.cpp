// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <chrono>
#include <sstream>
#include <thread>
#include <vector>

namespace tightloop::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Logs : testing::Test {
  void SetUp() override {
    folder.write("train.csv", table());
    folder.write("job.toml", kJob);
  }
  Outcome run(const std::string& arguments) const { return tightloop(folder, arguments); }
  /// The lines that are whole.
  std::vector<json> lines(const std::string& name = "run/metrics.jsonl") const {
    std::vector<json> out;
    const std::string text = folder.read(name);
    std::stringstream whole(text.substr(0, text.rfind('\n') + 1));
    for (std::string line; std::getline(whole, line);) out.push_back(json::parse(line));
    return out;
  }
  std::size_t event_files() const {
    std::size_t out = 0;
    for (const auto& e : fs::directory_iterator(folder / "run"))
      out += e.path().filename().string().starts_with("events.out.tfevents.") ? 1 : 0;
    return out;
  }
  Folder folder;
};

TEST_F(Logs, EveryRunHasLinesOfItsEpochs) {
  ASSERT_EQ(run("train job.toml").status, 0);
  const auto log = lines();
  ASSERT_EQ(log.size(), 5u) << "30 steps, and every 50th is logged";
  for (std::size_t i = 0; i < log.size(); ++i) {
    EXPECT_EQ(log[i]["kind"], "epoch");
    EXPECT_EQ(log[i]["epoch"], i + 1);
    EXPECT_EQ(log[i]["step"], 6 * (i + 1));
    EXPECT_TRUE(log[i]["mae"].is_number());
  }
  EXPECT_EQ(event_files(), 0u);
}

TEST_F(Logs, AreWhatTheJobAsksFor) {
  ASSERT_EQ(
      run("train job.toml --set train.log_every=1 --set train.loggers='[\"jsonl\",\"tensorboard\"]'").status,
      0);
  EXPECT_EQ(lines().size(), 35u);
  EXPECT_EQ(event_files(), 1u);
  // Another run in their place, and none at last.
  ASSERT_EQ(
      run("train job.toml --set train.log_every=10 --set train.loggers='[\"jsonl\",\"tensorboard\"]'").status,
      0);
  EXPECT_EQ(lines().size(), 8u);
  EXPECT_EQ(event_files(), 1u);
  ASSERT_EQ(run("train job.toml --set train.loggers=[]").status, 0);
  EXPECT_FALSE(folder.has("run/metrics.jsonl"));
  EXPECT_EQ(event_files(), 0u);
  EXPECT_TRUE(folder.has("run/metrics.csv"));
}

TEST_F(Logs, WhatIsNotOneIsRefusedWithItsPlace) {
  for (const auto& [set, said] :
       {std::pair{"train.loggers=[\"jsonll\"]", "unknown logger 'jsonll' (did you mean 'jsonl'?)"},
        {"train.loggers=[{name=\"tensorboard\",histogram=true}]", "did you mean 'histograms'?"},
        {"train.loggers=3", "train.loggers must be"},
        {"train.log_every=-1", "train.log_every must be"},
        {"train.log_every=often", "a whole number or \"auto\""}}) {
    const Outcome o = run(std::string("train job.toml --set '") + set + "'");
    EXPECT_EQ(o.status, 2) << o.out;
    EXPECT_NE(o.out.find(said), std::string::npos) << o.out;
  }
  EXPECT_FALSE(folder.has("run"));
}

TEST_F(Logs, AnEarlierRunKeepsThemWhenTheFirstStepFails) {
  ASSERT_EQ(run("train job.toml --set train.log_every=1").status, 0);
  const std::string before = folder.read("run/metrics.jsonl");
  folder.write("bad.csv", "x0,x1,f,y\n1,1,1,1e30\n1,1,1,1e30\n1,1,1,1e30\n1,1,1,1e30\n");
  EXPECT_EQ(run("train job.toml --set data.train=bad.csv --set train.metrics=[]").status, 2);
  EXPECT_EQ(folder.read("run/metrics.jsonl"), before);
}

/// A training in a process of its own, that is killed.
class Killed {
 public:
  Killed(const Folder& folder, const std::vector<std::string>& arguments) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    const int null = ::open("/dev/null", O_RDWR);
    for (const int to : {0, 1, 2}) ::dup2(null, to);
    std::vector<char*> words;
    std::string program = places::command();
    words.push_back(program.data());
    for (const auto& a : arguments) words.push_back(const_cast<char*>(a.c_str()));
    words.push_back(nullptr);
    if (::chdir(folder.path().c_str()) == 0) ::execv(words[0], words.data());
    ::_exit(127);
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }

 private:
  pid_t pid_ = -1;
};

TEST_F(Logs, AKilledRunLeavesItsLinesAndAResumedOneNoneTwice) {
  Killed training(folder, {"train", "job.toml", "--set", "train.epochs=1000000000", "--set",
                           "train.log_every=1000", "--set", "train.checkpoint={every_steps=20000,keep=0}"});
  const auto checkpoints = [&] {
    std::size_t out = 0;
    std::error_code ec;
    for (const auto& e : fs::directory_iterator(folder / "run/checkpoints", ec))
      out += e.path().filename().string().starts_with("step-") ? 1 : 0;
    return out;
  };
  for (int i = 0; i < 6000 && checkpoints() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  training.kill();
  const auto left = lines();
  ASSERT_FALSE(left.empty());
  EXPECT_FALSE(folder.has("run/metrics.csv")) << "the run has not ended";

  const std::int64_t end = left.back()["step"].get<std::int64_t>() / 6 + 5000;  // epochs of 6 steps
  const Outcome o =
      run("train job.toml --set train.epochs=" + std::to_string(end) +
          " --set train.log_every=1000 --set 'train.checkpoint={every_steps=20000,keep=0}' --resume");
  ASSERT_EQ(o.status, 0) << o.out;
  const auto log = lines();
  std::int64_t step = 0, epoch = 0;
  for (const json& line : log) {
    std::int64_t& last = line["kind"] == "step" ? step : epoch;
    const std::int64_t now = line[line["kind"] == "step" ? "step" : "epoch"];
    // What the killed process had not written yet of its last moments is missing, but for epochs.
    if (line["kind"] == "epoch")
      ASSERT_EQ(now, last + 1) << line;
    else
      ASSERT_GT(now, last) << line;
    last = now;
  }
  EXPECT_EQ(epoch, end);
  EXPECT_EQ(step, 6 * end / 1000 * 1000);
}

}  // namespace
}  // namespace tightloop::cli
