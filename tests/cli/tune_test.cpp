// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <nlohmann/json.hpp>

namespace tightloop::cli {
namespace {

using Json = nlohmann::json;

void write_job(const Folder& folder, const std::string& extra = "") {
  folder.write("train.csv", table(400));
  folder.write("job.toml", with(kJob, "epochs = 5\n", "epochs = 50  # few\n" + extra));
}

TEST(Tune, ASmallJobEndsWithAPageAndAJobThatTrains) {
  Folder folder;
  write_job(folder, "log_every = 1\n");
  const Outcome o = tightloop(
      folder, "tune job.toml --time 30s --moves evaluation,batch,logging,workers --json 2>said; cat said");
  ASSERT_EQ(o.status, 0) << o.out;
  const Json result = Json::parse(o.out.substr(0, o.out.find('\n')));
  EXPECT_GT(result["seconds_per_sample"].get<double>(), 0);
  EXPECT_GE(result["moves"].size(), 4u);
  for (const auto& move : result["moves"]) EXPECT_FALSE(move["why"].get<std::string>().empty()) << move;
  const std::string page = folder.read("tune.html");
  EXPECT_EQ(page.substr(0, 15), "<!doctype html>");
  EXPECT_NE(page.find("Tuning of job.toml"), std::string::npos);
  EXPECT_EQ(folder.has("tuned.toml"), !result["taken"].empty());
  EXPECT_FALSE(folder.has("run"));
  EXPECT_EQ(folder.read("job.toml"), with(kJob, "epochs = 5\n", "epochs = 50  # few\nlog_every = 1\n"));
}

// Batches of one row: whatever the machine, larger ones take less time for the same samples.
TEST(Tune, TheTunedJobIsWrittenWithItsComments) {
  Folder folder;
  folder.write("train.csv", table(2000));
  folder.write("job.toml",
               with(with(kJob, "batch = 8\n", "batch = 1  # tiny\n"), "epochs = 5\n", "epochs = 50\n"));
  const Outcome o = tightloop(folder, "tune job.toml --time 30s --moves batch --band 1");
  ASSERT_EQ(o.status, 0) << o.out;
  if (!folder.has("tuned.toml")) GTEST_SKIP() << "the machine is too busy to tell: " << o.out;
  EXPECT_NE(folder.read("tuned.toml").find("  # tiny"), std::string::npos) << folder.read("tuned.toml");
  EXPECT_EQ(tightloop(folder, "train tuned.toml --quiet --set train.epochs=1").status, 0);
}

TEST(Tune, NothingIsReplacedUnasked) {
  Folder folder;
  write_job(folder);
  folder.write("tuned.toml", "mine");
  Outcome o = tightloop(folder, "tune job.toml --time 30s --moves logging");
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.out.find("tuned.toml: is there already"), std::string::npos) << o.out;
  EXPECT_EQ(folder.read("tuned.toml"), "mine");
  o = tightloop(folder, "tune job.toml --time 30s --moves logging -o ../tuned.toml");
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.out.find("must lie beside job.toml"), std::string::npos) << o.out;
  o = tightloop(folder, "tune job.toml --time 30s --moves logging -o job.toml --force");
  EXPECT_EQ(o.status, 2);
  EXPECT_NE(o.out.find("is the job itself"), std::string::npos) << o.out;
  o = tightloop(folder, "tune job.toml --time 30s --moves logging --force");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("nothing found"), std::string::npos) << o.out;
}

TEST(Tune, WhatIsWrongIsRefused) {
  Folder folder;
  write_job(folder);
  const auto refused = [&](const std::string& arguments, const std::string& words) {
    const Outcome o = tightloop(folder, "tune " + arguments);
    EXPECT_EQ(o.status, 2) << o.out;
    EXPECT_NE(o.out.find(words), std::string::npos) << o.out;
    EXPECT_FALSE(folder.has("tune.html"));
  };
  refused("job.toml --moves bach", "unknown move 'bach' (did you mean 'batch'?)");
  refused("job.toml --time soon", "soon");
  refused("job.toml --time 0.01 --moves evaluation,batch", "are too little");
  refused("job.toml --set train.loss=msee", "did you mean 'mse'?");
  refused("job.toml --set train.optimizer=lbfgs", "lbfgs");
  refused("none.toml", "cannot read the job file");
}

TEST(Tune, AnInterruptLeavesWhatIsKnown) {
  Folder folder;
  write_job(folder, "log_every = 1\n");
  const Outcome o = tightloop(folder, "tune job.toml --time 60s & sleep 3; kill -INT $!; wait $!");
  EXPECT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("interrupted"), std::string::npos) << o.out;
  EXPECT_TRUE(folder.has("tune.html"));
}

TEST(Doctor, LooksAtThisMachine) {
  Folder folder;
  Outcome o = tightloop(folder, "doctor --quick");
  EXPECT_EQ(o.status, 0) << o.out;
  for (const char* word :
       {"cores", "vector units", "memory", "libraries", "LLVM 1", "oneDNN ", "code cache", "cost"})
    EXPECT_NE(o.out.find(word), std::string::npos) << word << "\n" << o.out;
  o = tightloop(folder, "doctor --json");
  EXPECT_EQ(o.status, 0) << o.out;
  const Json result = Json::parse(o.out);
  EXPECT_GE(result["findings"].size(), 6u);
  EXPECT_GT(result["measured"]["read_gb_per_s"].get<double>(), 0);
  EXPECT_GE(result["measured"]["peaks"].size(), 2u);
}

}  // namespace
}  // namespace tightloop::cli
