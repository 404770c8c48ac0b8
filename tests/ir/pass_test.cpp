// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tests/support/files.h>
#include <tightloop/ir/pass.h>

#include <array>

namespace tightloop::ir {
namespace {

Graph renamed(const Graph& g) {
  Graph out = g;
  out.name += "x";
  return out;
}
Graph broken(const Graph& g) {
  Graph out = g;
  out.outputs = {{"", {}}};
  return out;
}

constexpr std::array<Pass, 2> kPasses{{{"first", renamed}, {"second", renamed}}};

TEST(PassRunner, RunsInOrderAndReports) {
  const auto result = run_passes({"g", {}, {}}, kPasses);
  EXPECT_EQ(result.graph.name, "gxx");
  ASSERT_EQ(result.records.size(), 2u);
  EXPECT_EQ(result.records[1].name, "second");
  EXPECT_FALSE(result.records[1].skipped);
}

TEST(PassRunner, LeavesOutByName) {
  PassOptions options;
  options.disabled = {"first"};
  const auto result = run_passes({"g", {}, {}}, kPasses, options);
  EXPECT_EQ(result.graph.name, "gx");
  EXPECT_TRUE(result.records[0].skipped);
  options.disabled = {"frist"};
  EXPECT_ERROR(run_passes({"g", {}, {}}, kPasses, options),
               "there is no pass 'frist' (did you mean 'first'?)");
}

TEST(PassRunner, VerifiesWhenAsked) {
  constexpr std::array<Pass, 1> passes{{{"broken", broken}}};
  PassOptions options;
  options.verify = true;
  EXPECT_THROW(run_passes({"g", {}, {}}, passes, options), InternalError);
}

TEST(PassRunner, DumpsEachStage) {
  const testing::TempDir dir;
  PassOptions options;
  options.dump_directory = dir.path();
  run_passes({"g", {}, {}}, kPasses, options);
  EXPECT_EQ(testing::content_of(dir / "00-traced.txt"), "graph g {\n  return\n}\n");
  EXPECT_EQ(testing::content_of(dir / "02-second.txt"), "graph gxx {\n  return\n}\n");
  options.dump_directory = dir / "missing";
  EXPECT_ERROR(run_passes({"g", {}, {}}, kPasses, options), "cannot write");
}

}  // namespace
}  // namespace tightloop::ir
