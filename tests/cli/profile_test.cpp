// SPDX-License-Identifier: Apache-2.0
// tightloop profile, train --profile and explain.
#include "command.h"

#include <nlohmann/json.hpp>

namespace tightloop::cli {
namespace {

const char* const kPages[] = {"profile.html", "trace.json", "profile.folded"};

TEST(Profile, WritesItsFilesAndPrintsATableAndAVerdict) {
  Folder folder;
  folder.write("train.csv", table());
  folder.write("job.toml", kJob);
  const Outcome o = tightloop(folder, "profile job.toml --seconds 0.1 --no-trials");
  ASSERT_EQ(o.status, 0) << o.out;
  for (const char* name : kPages) EXPECT_TRUE(folder.has(std::string("profile/") + name)) << name;
  EXPECT_FALSE(folder.has("run")) << "the run itself is gone";
  EXPECT_NE(o.out.find("us/step"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("lin: "), std::string::npos) << "kernels carry their layer: " << o.out;
  EXPECT_NE(o.out.find("Next: "), std::string::npos) << o.out;
}

TEST(Profile, CountsExactlyTheStepsThatAreAskedFor) {
  Folder folder;
  folder.write("train.csv", table());
  folder.write("job.toml", kJob);
  const Outcome o = tightloop(
      folder, "profile job.toml --steps 37 --json --no-trials --out p --set train.early_stopping=1");
  ASSERT_EQ(o.status, 0) << o.out;
  const auto json = nlohmann::json::parse(o.out);
  EXPECT_EQ(json["steps"], 37);
  double sum = 0;
  for (const auto& row : json["rows"]) sum += row["us"].get<double>();
  EXPECT_NEAR(sum, json["step_us"].get<double>(), 1e-6 * sum);
  const auto trace = nlohmann::json::parse(folder.read("p/trace.json"));
  std::size_t steps = 0;
  for (const auto& event : trace["traceEvents"]) steps += event.value("cat", "") == "step" ? 1 : 0;
  EXPECT_GE(steps, 37u);
}

TEST(Profile, OfARunLiesBesideIt) {
  Folder folder;
  folder.write("train.csv", table());
  folder.write("job.toml", kJob);
  ASSERT_EQ(tightloop(folder, "train job.toml --profile --quiet --set train.epochs=40").status, 0);
  for (const char* name : kPages) EXPECT_TRUE(folder.has(std::string("run/") + name)) << name;
  const Outcome o = tightloop(folder, "train job.toml --profile --out short --set train.epochs=1");
  ASSERT_EQ(o.status, 0) << o.out;
  EXPECT_NE(o.out.find("no step was profiled"), std::string::npos) << o.out;
  EXPECT_FALSE(folder.has("short/profile.html"));
}

TEST(Profile, RefusesWhatItCannotDo) {
  Folder folder;
  folder.write("train.csv", table());
  folder.write("job.toml", kJob);
  folder.write("file", "");
  const auto refused = [&](const std::string& arguments, const std::string& expected) {
    const Outcome o = tightloop(folder, arguments);
    EXPECT_EQ(o.status, 2) << arguments;
    EXPECT_NE(o.out.find(expected), std::string::npos) << arguments << ": " << o.out;
  };
  refused("profile job.toml --set train.optimizer=lbfgs", "searches between its steps");
  refused("profile job.toml --set train.backend=reference", "the interpreter has no kernels");
  refused("profile job.toml --by tensor", "--by");
  refused("profile job.toml --steps 0", "--steps");
  refused("profile job.toml --steps 3 --no-trials --out file/p", "cannot be made");
  refused("train job.toml --set train.profile=0", "active must be at least 1 step");
  refused("train job.toml --set train.profile='{ actve = 3 }'", "did you mean 'active'?");
  refused("explain job.toml --dump wasm x", "takes ir, llvm or asm");
  refused("explain job.toml --set train.backend=reference", "compiles nothing");
}

TEST(Explain, SaysWhatTheCompilerDid) {
  Folder folder;
  folder.write("train.csv", table());
  folder.write("job.toml", kJob);
  const Outcome o = tightloop(folder, "explain job.toml");
  ASSERT_EQ(o.status, 0) << o.out;
  for (const char* word : {"passes, in their order", "eliminate_common", "kernels in", "lin: ", "generated",
                           "casts", "memory: states", "threads: up to"})
    EXPECT_NE(o.out.find(word), std::string::npos) << word << " in: " << o.out;
}

TEST(Explain, DumpsGraphsLlvmAndAssembly) {
  Folder folder;
  folder.write("train.csv", table());
  folder.write("job.toml", kJob);
  for (const char* kind : {"ir", "llvm", "asm"})
    ASSERT_EQ(tightloop(folder, std::string("explain job.toml --dump ") + kind + " d").status, 0) << kind;
  EXPECT_NE(folder.read("d/step.txt").find("train.loss_sum"), std::string::npos);
  EXPECT_NE(folder.read("d/step.ll").find("define void @kernel"), std::string::npos);
  EXPECT_NE(folder.read("d/step.s").find("kernel0"), std::string::npos);
}

/// Jobs that are slow by far for one reason; the files say which. What they need, and the causes that are
/// true.
struct Slow {
  const char* job;
  std::vector<std::string> causes;
};

std::string wide_table(int rows, int columns) {
  std::string text;
  for (int c = 0; c < columns; ++c) text += "x" + std::to_string(c) + ",";
  text += "y\n";
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) text += std::to_string((r * 37 + c * 11) % 41 / 41.0) + ",";
    text += std::to_string(r % 7 / 7.0) + "\n";
  }
  return text;
}

/// An NPY file of f32 [rows, columns].
std::string npy(int rows, int columns) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                       std::to_string(columns) + "), }";
  header += std::string(63 - (10 + header.size()) % 64, ' ') + "\n";
  std::string out = std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size() % 256) +
                    static_cast<char>(header.size() / 256) + header;
  for (int i = 0; i < rows * columns; ++i) {
    const float value = static_cast<float>(i % 13) / 13;
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return out;
}

void fill(const Folder& folder) {
  folder.write("train.csv", wide_table(4096, 16));
  folder.write("x.npy", npy(4096, 8));
  folder.write("y.npy", npy(4096, 1));
  std::ifstream in(std::filesystem::path(places::source_dir()) / "tests/fixtures/images/large.jpg",
                   std::ios::binary);
  const std::string photo{std::istreambuf_iterator<char>(in), {}};
  for (int i = 0; i < 32; ++i)
    folder.write("photos/" + std::string(i % 2 == 0 ? "a/" : "b/") + std::to_string(i) + ".jpg", photo);
}

/// Of the clock, so not part of the suite: TIGHTLOOP_TIMED=1 runs it on a quiet machine.
TEST(Verdict, NamesTheCauseOfSixSlowJobs) {
  if (std::getenv("TIGHTLOOP_TIMED") == nullptr) GTEST_SKIP() << "measures; TIGHTLOOP_TIMED=1 runs it";
  Folder folder;
  fill(folder);
  for (const Slow& slow : {Slow{"loader", {"loader"}}, Slow{"batch", {"batch"}}, Slow{"memory", {"memory"}},
                           Slow{"arithmetic", {"compute", "f32"}}, Slow{"threads", {"threads"}},
                           Slow{"evaluation", {"evaluation"}}}) {
    const std::string file = std::string(slow.job) + ".toml";
    std::ifstream in(std::filesystem::path(places::source_dir()) / "tests/cli/fixtures/slow" / file);
    folder.write(file, {std::istreambuf_iterator<char>(in), {}});
    const Outcome o = tightloop(folder, "profile " + file + " --seconds 0.5 --json");
    ASSERT_EQ(o.status, 0) << slow.job << ": " << o.out;
    const auto json = nlohmann::json::parse(o.out);
    const std::string cause = json["findings"][0]["cause"];
    EXPECT_NE(std::find(slow.causes.begin(), slow.causes.end(), cause), slow.causes.end())
        << slow.job << ": " << json["findings"].dump(1);
  }
}

}  // namespace
}  // namespace tightloop::cli
