// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/train/job.h>
#include <tightloop/train/tune/tuned_job.h>

namespace tightloop::train::tune {
namespace {

const char* const kJob = R"(# A job of mine.
seed = 1  # é
[data]
train = "train.csv"
inputs = { x = "x*", f = "é" }  # two
target = { y = "y" }
batch = 8    # rows

# The model.
[model]
forward = """
y = linear(x, 1)
""" # done
[train]
loss = "mse"
optimizer = "adam"
# the end
)";

std::string changed(const Settings& settings, const std::string& job = kJob) {
  const std::string out = with_settings(job, "job.toml", settings);
  EXPECT_EQ(to_toml(parse_job(out, "job.toml")), to_toml(parse_job(job, "job.toml", settings))) << out;
  return out;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(TunedJob, ValuesAreReplacedWhereTheyStand) {
  EXPECT_EQ(changed({"data.batch=64"}), replaced(kJob, "batch = 8 ", "batch = 64 "));
  EXPECT_EQ(changed({"seed=7"}), replaced(kJob, "seed = 1", "seed = 7"));
  EXPECT_EQ(changed({"data.inputs={ x = \"a\" }"}),
            replaced(kJob, R"({ x = "x*", f = "é" })", R"({ x = "a" })"));
}

TEST(TunedJob, NewKeysComeBehindTheOthersOfTheirTable) {
  EXPECT_EQ(changed({"train.threads=1"}), replaced(kJob, "\"adam\"\n", "\"adam\"\nthreads = 1\n"));
  EXPECT_EQ(changed({"data.drop_last=true"}), replaced(kJob, "# rows\n", "# rows\ndrop_last = true\n"));
  EXPECT_EQ(changed({"output.report=false"}), std::string(kJob) + "\n[output]\nreport = false\n");
}

TEST(TunedJob, ANameBecomesATableWithOptions) {
  EXPECT_EQ(changed({"train.optimizer.lr=0.02"}),
            replaced(kJob, "\"adam\"", "{ name = \"adam\", lr = 0.02 }"));
}

TEST(TunedJob, TextsOfSeveralLinesStayReadable) {
  EXPECT_EQ(changed({"model.forward=\"\"\"\ny = linear(x, 1, bias=false)\n\"\"\""}),
            replaced(kJob, "linear(x, 1)", "linear(x, 1, bias=false)"));
}

TEST(TunedJob, SeveralSettingsInOrder) {
  const std::string out =
      changed({"data.batch=64", "train.optimizer.lr=0.1", "data.batch=32", "train.threads=2"});
  EXPECT_NE(out.find("batch = 32    # rows"), std::string::npos) << out;
  EXPECT_NE(out.find("# The model.\n"), std::string::npos);
}

TEST(TunedJob, TablesOfTheirOwn) {
  const std::string job =
      replaced(kJob, "optimizer = \"adam\"\n# the end\n",
               "[train.optimizer] # how\nname = \"sgd\"\n[[train.group]]\nmatch = \"*.bias\"\nlr = 1.0\n");
  EXPECT_NE(
      changed({"train.optimizer.lr=0.5"}, job).find("[train.optimizer] # how\nname = \"sgd\"\nlr = 0.5\n"),
      std::string::npos);
  EXPECT_NE(changed({"train.epochs=3"}, job).find("loss = \"mse\"\nepochs = 3\n"), std::string::npos);
}

TEST(TunedJob, OtherWaysToWriteTablesGiveTheSameJob) {
  const std::string job =
      "data = { train = \"t.csv\", inputs = { x = \"x\" }, target = { y = \"y\" } }\n"
      "model.forward = \"y = linear(x, 1)\"\ntrain.loss = \"mse\"";
  changed({"data.batch=64"}, job);
  changed({"train.epochs=3"}, job);
  changed({"train.optimizer.name=adam", "train.optimizer.lr=0.5", "output.report=false"}, job);
}

TEST(TunedJob, WindowsLineEndsStay) {
  std::string job;
  for (const char c : std::string(kJob)) job += c == '\n' ? "\r\n" : std::string(1, c);
  changed({"data.batch=64", "train.threads=1"}, job);
}

TEST(TunedJob, WhatIsNoJobIsRefused) {
  EXPECT_ERROR(with_settings("x = ", "job.toml", {}), "job.toml:1");
  EXPECT_ERROR(with_settings(kJob, "job.toml", {"data.bacth=3"}), "unknown key data.bacth");
}

}  // namespace
}  // namespace tightloop::train::tune
