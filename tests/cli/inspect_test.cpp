// SPDX-License-Identifier: Apache-2.0
// What inspect and check say about data.
#include "command.h"

#include <nlohmann/json.hpp>

namespace tightloop::cli {
namespace {

using Json = nlohmann::json;

struct Inspect : ::testing::Test {
  Folder folder;
  std::string out(const std::string& arguments, int status = 0) const {
    const Outcome o = tightloop(folder, arguments);
    EXPECT_EQ(o.status, status) << o.out;
    return o.out;
  }
  void has(const std::string& said, const std::string& part) const {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }
};

const char* const kTable = "n,city,half\n1,Rome,0.5\nNA,Oslo,1.5\n4,Rome,2.5\n";

TEST_F(Inspect, Tables) {
  folder.write("a b.csv", kTable);
  const std::string said = out("inspect 'a b.csv'");
  has(said, "a b.csv: CSV, 3 rows, 3 columns\n");
  has(said, "  n       whole   1 missing  1 to 4, mean 2.5  2 values: 1 ×1, 4 ×1\n");
  has(said, "  city    text    2 values: Rome ×2, Oslo ×1\n");
  has(said, "  half    number  0.5 to 2.5, mean 1.5\n");
  has(said, "  NA, Oslo, 1.5\n");
}

TEST_F(Inspect, Objects) {
  folder.write("a.csv", kTable);
  const Json all = Json::parse(out("inspect a.csv --json"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["rows"], 3);
  EXPECT_EQ(all[0]["columns"][0]["missing"], 1);
  EXPECT_EQ(all[0]["columns"][1]["classes"]["Rome"], 2);
  EXPECT_EQ(all[0]["columns"][2]["high"], 2.5);
  EXPECT_EQ(all[0]["first"][1][1], "Oslo");
}

TEST_F(Inspect, MixedColumnsSayWhere) {
  folder.write("a.csv", "x\n1\n2\nthree\n4\n");
  has(out("inspect a.csv"), "3 numbers, but 'three' in row 3 (line 4)");
}

TEST_F(Inspect, FoldersShowWhatIsWrongInThem) {
  folder.write("d/a.csv", kTable);
  folder.write("d/b.html", "<!doctype html>");
  folder.write("d/.hidden", "x");
  const std::string said = out("inspect d");
  has(said, "d/a.csv: CSV, 3 rows");
  has(said, "d/b.html: looks like HTML");
  EXPECT_EQ(said.find("hidden"), std::string::npos);
  std::filesystem::create_directory(folder / "empty");
  has(out("inspect empty", 2), "empty: holds no files");
}

TEST_F(Inspect, TextsOfAnyBytesArePrinted) {
  folder.write("a.csv", "c\n\"\xff\xfe\x1b[31m\"\n\"line\nend\"\n");
  EXPECT_EQ(Json::parse(out("inspect a.csv --json"))[0]["rows"], 2);
  EXPECT_EQ(out("inspect a.csv").find('\x1b'), std::string::npos);
}

TEST_F(Inspect, CheckShowsTheData) {
  folder.write("train.csv", table());
  folder.write("job.toml", kJob);
  const std::string said = out("check job.toml");
  has(said, "f32[60, 2], -1 to ");
  has(said, "CSV, 60 rows, 6 columns");
  has(said, "kind    text    3 values: cat ×20, dog ×20, eel ×20");
}

}  // namespace
}  // namespace tightloop::cli
