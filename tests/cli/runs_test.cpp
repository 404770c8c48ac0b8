// SPDX-License-Identifier: Apache-2.0
// Several runs of one job, the search for a rate, the largest batch, and a step again, from the command line.
#include "command.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

namespace tightloop::cli {
namespace {

/// The lines of a CSV text as fields.
std::vector<std::vector<std::string>> fields(const std::string& text) {
  std::vector<std::vector<std::string>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    out.emplace_back();
    std::istringstream in(line + ",");
    for (std::string field; std::getline(in, field, ',');) out.back().push_back(field);
  }
  return out;
}

struct Runs : testing::Test {
  void SetUp() override {
    folder.write("train.csv", table());
    folder.write("job.toml", kJob);
  }
  Outcome run(const std::string& arguments) const { return tightloop(folder, arguments); }
  /// The last epoch's value of a column of metrics.csv.
  double last(const std::string& directory, const std::string& column) const {
    const auto lines = fields(folder.read(directory + "/metrics.csv"));
    const auto at = std::find(lines[0].begin(), lines[0].end(), column) - lines[0].begin();
    return std::stod(lines.back()[static_cast<std::size_t>(at)]);
  }
  Folder folder;
};

TEST_F(Runs, RepeatsAreTheRunsOfTheirSeeds) {
  const Outcome o = run("train job.toml --out all --set train.repeats=3");
  ASSERT_EQ(o.status, 0) << o.out;
  double sum = 0, squares = 0;
  const auto lines = fields(folder.read("all/repeats.csv"));
  ASSERT_EQ(lines.size(), 4u) << folder.read("all/repeats.csv");
  EXPECT_EQ(lines[0], (std::vector<std::string>{"repeat", "seed", "steps", "seconds", "train_loss",
                                                "validation_loss", "mae", "failure"}));
  for (int i = 1; i <= 3; ++i) {
    SCOPED_TRACE(i);
    const std::string own = "own" + std::to_string(i), its = "all/repeat-" + std::to_string(i);
    ASSERT_EQ(run("train job.toml --out " + own + " --seed " + std::to_string(i)).status, 0);
    EXPECT_EQ(folder.read(its + "/model.safetensors"), folder.read(own + "/model.safetensors"));
    const auto& line = lines[static_cast<std::size_t>(i)];
    EXPECT_EQ(line[0] + " " + line[1] + " " + line[2], std::to_string(i) + " " + std::to_string(i) + " 30");
    EXPECT_EQ(std::stod(line[4]), last(own, "train_loss"));
    EXPECT_EQ(std::stod(line[5]), last(own, "validation_loss"));
    EXPECT_EQ(std::stod(line[6]), last(own, "mae"));
    sum += std::stod(line[6]), squares += std::stod(line[6]) * std::stod(line[6]);
  }
  const auto summary = fields(folder.read("all/summary.csv"));
  ASSERT_EQ(summary.size(), 4u);
  EXPECT_EQ(summary[3][0] + summary[3][1], "mae3");
  const double mean = sum / 3, deviation = std::sqrt((squares - 3 * mean * mean) / 2);
  EXPECT_NEAR(std::stod(summary[3][2]), mean, 1e-9);
  EXPECT_NEAR(std::stod(summary[3][3]), deviation, 1e-6);
  EXPECT_NEAR(std::stod(summary[3][5]) - mean, 4.302653 * deviation / std::sqrt(3.0), 1e-5);
  EXPECT_NE(o.out.find("95 % interval of the mean, 3 runs"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("3 of 3 runs; they are in all"), std::string::npos) << o.out;
  EXPECT_EQ(run("evaluate all/repeat-2").status, 0);
  EXPECT_EQ(run("train all/repeat-2/job.toml --out again").status, 0);
  EXPECT_EQ(folder.read("again/model.safetensors"), folder.read("own2/model.safetensors"));
  EXPECT_EQ(run("train job.toml --out all --quiet --set train.repeats=2").out, "") << "they are replaced";
}

TEST_F(Runs, EveryFoldHoldsBackItsRows) {
  const std::string job = "train job.toml --out folds --set data.validation=0 --set data.fold='{ k = 4 }'";
  const Outcome o = run(job);
  ASSERT_EQ(o.status, 0) << o.out;
  std::vector<int> seen(60);
  for (int f = 0; f < 4; ++f) {
    const auto split = nlohmann::json::parse(folder.read("folds/fold-" + std::to_string(f) + "/split.json"));
    EXPECT_EQ(split["fold"], f);
    for (const int row : split["validation"]) ++seen[static_cast<std::size_t>(row)];
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 60);
  ASSERT_EQ(
      run("train job.toml --out one --set data.validation=0 --set data.fold='{ k = 4, index = 2 }'").status,
      0);
  EXPECT_EQ(folder.read("one/model.safetensors"), folder.read("folds/fold-2/model.safetensors"));
  EXPECT_EQ(fields(folder.read("folds/folds.csv")).size(), 5u);
  const Outcome both = run(with(job, "--out folds", "--out both") + " --set train.repeats=2");
  ASSERT_EQ(both.status, 0) << both.out;
  EXPECT_EQ(fields(folder.read("both/folds.csv")).size(), 9u);
  EXPECT_TRUE(folder.has("both/fold-3-repeat-2/result.json"));
  EXPECT_EQ(run("check job.toml --set data.validation=0 --set data.fold='{ k = 4 }'").status, 0);
}

TEST_F(Runs, TheKeptModelCounts) {
  const Outcome o =
      run("train job.toml --out all --set train.repeats=2 --set train.optimizer.lr=0.9 --set train.epochs=20 "
          "--set train.early_stopping=3");
  ASSERT_EQ(o.status, 0) << o.out;
  for (int i = 1; i <= 2; ++i) {
    const std::string its = "all/repeat-" + std::to_string(i);
    const auto line = fields(folder.read("all/repeats.csv"))[static_cast<std::size_t>(i)];
    const auto own = nlohmann::json::parse(run("evaluate " + its + " --json").out);
    EXPECT_NEAR(std::stod(line[5]), own["loss"].get<double>(), 1e-12);
  }
}

const char* const kSometimesLost = R"(seed = 1
[data]
train = "train.csv"
inputs = { x = "x*", f = "f" }
target = { y = "y" }
validation = 0.25
[model]
parameters = { a = { shape = [1], init = "uniform" } }
forward = "y = linear(x, 1) + sqrt(a) * f"
[train]
epochs = 2
loss = "mse"
repeats = 8
)";

TEST_F(Runs, AFailureIsSaidAndTheOthersCount) {
  folder.write("lost.toml", kSometimesLost);
  const Outcome o = run("train lost.toml --out all");
  EXPECT_EQ(o.status, 2) << o.out;
  const auto lines = fields(folder.read("all/repeats.csv"));
  ASSERT_EQ(lines.size(), 9u);
  int failed = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool lost = lines[i].back().find("not finite") != std::string::npos || lines[i][4].empty();
    failed += lost;
    EXPECT_EQ(folder.has("all/repeat-" + std::to_string(i) + "/result.json"), !lost);
  }
  ASSERT_GT(failed, 0) << folder.read("all/repeats.csv");
  ASSERT_LT(failed, 8) << folder.read("all/repeats.csv");
  EXPECT_NE(o.out.find("tightloop: " + std::to_string(failed) + " of 8 runs failed"), std::string::npos)
      << o.out;
  EXPECT_NE(o.out.find("failed: "), std::string::npos);
  EXPECT_EQ(fields(folder.read("all/summary.csv"))[1][1], std::to_string(8 - failed));
}

TEST_F(Runs, ResumingGoesOnWithTheNextMissingOne) {
  const std::string job = "train job.toml --out all --set train.repeats=3";
  ASSERT_EQ(run(job).status, 0);
  const std::string whole = folder.read("all/summary.csv"),
                    second = folder.read("all/repeat-2/model.safetensors");
  std::filesystem::remove(folder / "all/repeat-2/result.json");
  std::filesystem::remove(folder / "all/repeat-2/model.safetensors");
  std::filesystem::remove_all(folder / "all/repeat-3");
  const Outcome o = run(job + " --resume");
  ASSERT_EQ(o.status, 0) << o.out;
  EXPECT_EQ(folder.read("all/repeat-2/model.safetensors"), second);
  EXPECT_EQ(folder.read("all/summary.csv"), whole);
  EXPECT_NE(o.out.find("(trained before)"), std::string::npos) << o.out;
  EXPECT_EQ(o.out.find("(trained before)"), o.out.rfind("(trained before)")) << o.out;
  const Outcome changed = run(job + " --resume --set train.epochs=6");
  EXPECT_EQ(changed.status, 2);
  EXPECT_NE(changed.out.find("was trained by another job (train.epochs: 6 instead of 5)"), std::string::npos)
      << changed.out;
  folder.write("all/repeat-1/result.json", "{}");
  const Outcome broken = run(job + " --resume");
  EXPECT_EQ(broken.status, 2);
  EXPECT_NE(broken.out.find("does not hold a result"), std::string::npos) << broken.out;
}

TEST_F(Runs, AnInterruptedOneGoesOn) {
  const std::string job = "train job.toml --out all --set train.repeats=2 --set train.epochs=1000000";
  const Outcome o = run(job + " & pid=$!; sleep 2; kill -INT $pid; wait $pid");
  ASSERT_EQ(o.status, 75) << o.out;
  EXPECT_NE(o.out.find("with --resume"), std::string::npos) << o.out;
  EXPECT_FALSE(folder.has("all/repeat-1/result.json"));
  const Outcome refused = run("train job.toml --out all --set train.repeats=2");
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.out.find("holds a training that was interrupted"), std::string::npos) << refused.out;
  const Outcome on = run(job + " --set train.max_steps=1 --resume");
  ASSERT_EQ(on.status, 0) << on.out;
  EXPECT_NE(on.out.find("going on after"), std::string::npos) << on.out;
  EXPECT_EQ(fields(folder.read("all/repeats.csv")).size(), 3u);
}

TEST_F(Runs, FindRateSuggestsARateThatLearns) {
  const Outcome o = run("find-rate job.toml -o r.csv");
  ASSERT_EQ(o.status, 0) << o.out;
  const auto at = o.out.find("suggested lr = ");
  ASSERT_NE(at, std::string::npos) << o.out;
  EXPECT_GT(fields(folder.read("r.csv")).size(), 50u);
  EXPECT_FALSE(folder.has("run")) << "nothing is trained";
  const std::string rate = std::to_string(std::stod(o.out.substr(at + 15)));
  ASSERT_EQ(run("train job.toml --set train.epochs=30 --set train.optimizer.lr=" + rate).status, 0);
  EXPECT_LT(last("run", "train_loss"), 0.1 * std::stod(fields(folder.read("run/metrics.csv"))[1][2]));
  ASSERT_EQ(run("find-rate job.toml -o r.svg").status, 0);
  EXPECT_EQ(folder.read("r.svg").substr(0, 4), "<svg");
}

/// "largest batch N"
std::int64_t largest(const std::string& out) {
  const auto at = out.find("largest batch ");
  return at == std::string::npos ? -1 : std::stoll(out.substr(at + 14));
}

TEST_F(Runs, TheLargestBatchIsTheLastWhosePlanFits) {
  const std::string wide =
      " --set model.forward='y = linear(relu(linear(relu(linear(x, 64)), 64)), 1) + par * f'";
  folder.write("train.csv", table(2000));
  const Outcome all = run("check job.toml --largest-batch --memory 1GB" + wide);
  ASSERT_EQ(all.status, 0) << all.out;
  EXPECT_EQ(largest(all.out), 1500) << all.out;
  EXPECT_NE(all.out.find("(all training rows)"), std::string::npos);
  EXPECT_GT(largest(run("check job.toml --largest-batch" + wide).out), 0) << "what is free";
  const auto total = [&](std::int64_t batch) {
    const Outcome o = run("check job.toml --set data.batch=" + std::to_string(batch) + wide);
    const auto bytes = [&](const std::string& line) {
      return std::stoll(o.out.substr(o.out.find(line) + line.size()));
    };
    return bytes("\ntotal  ") - bytes("\nprogram  ") + 100'000'000;  // what is kept free for any program
  };
  const std::string memory = std::to_string((total(512) + total(1024)) / 2);
  const Outcome some = run("check job.toml --largest-batch --memory " + memory + wide);
  const std::int64_t batch = largest(some.out);
  ASSERT_GT(batch, 512) << some.out;
  ASSERT_LT(batch, 1024) << some.out;
  EXPECT_LE(total(batch), std::stoll(memory));
  EXPECT_GT(total(batch + 1), std::stoll(memory));
  EXPECT_NE(some.out.find("too much"), std::string::npos) << some.out;
}

TEST_F(Runs, ReplayShowsAStepOfARun) {
  ASSERT_EQ(run("train job.toml --set train.checkpoint='{ every_steps = 7, keep = 0 }'").status, 0);
  const Outcome o = run("replay run --step 16 --verify");
  ASSERT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("step 16 in epoch 3, from run/checkpoints/step-00000014.safetensors"),
            std::string::npos)
      << o.out;
  for (const char* word :
       {"8 rows (they count from 1): ", "lin.weight", "par ", "loss ", "interpreted values agree"})
    EXPECT_NE(o.out.find(word), std::string::npos) << word << o.out;
  const Outcome written = run("replay run --step 16 --json");
  ASSERT_EQ(written.status, 0) << written.out;
  const auto json = nlohmann::json::parse(written.out);
  EXPECT_EQ(json["step"], 16);
  EXPECT_EQ(json["epoch"], 3);
  EXPECT_EQ(json["checkpoint"], "run/checkpoints/step-00000014.safetensors");
  EXPECT_EQ(json["rows"].size(), 8u);
  EXPECT_NE(o.out.find(
                fmt::format("count from 1): {} {} ", json["rows"][0].get<int>(), json["rows"][1].get<int>())),
            std::string::npos);
  EXPECT_NE(o.out.find(fmt::format("loss {:.8g} ", json["loss"].get<double>())), std::string::npos);
  EXPECT_EQ(json["parameters"][0]["path"], "lin.weight");
  EXPECT_GT(json["parameters"][0]["gradient"], 0.0);
  std::filesystem::remove_all(folder / "run/checkpoints");
  const Outcome start = run("replay run --step 16 --verify");
  ASSERT_EQ(start.status, 0) << start.out;
  EXPECT_NE(start.out.find("from the start"), std::string::npos);
  EXPECT_EQ(start.out.substr(start.out.find("rows (they")), o.out.substr(o.out.find("rows (they")))
      << "the same numbers from anywhere";
}

TEST_F(Runs, ReplayOfARunThatLostItsLoss) {
  folder.write("job.toml", with(kJob, "lr = 0.05", "lr = 1e30"));
  const Outcome lost = run("train job.toml");
  ASSERT_EQ(lost.status, 2) << lost.out;
  const auto at = lost.out.find("it began in step ");
  ASSERT_NE(at, std::string::npos) << lost.out;
  const std::string step = std::to_string(std::stoi(lost.out.substr(at + 17)));
  const Outcome o = run("replay run --step " + step);
  ASSERT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("the first value that is not finite: op "), std::string::npos) << o.out;
}

}  // namespace
}  // namespace tightloop::cli
