// SPDX-License-Identifier: Apache-2.0
// What inspect and check say about data.
#include "command.h"

#include <tests/support/tar.h>

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

struct InspectImages : Inspect {
  static std::string image(const std::string& name) {
    std::ifstream in(places::source_dir() + "/tests/fixtures/images/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void add(const std::string& path, const std::string& name) const { folder.write(path, image(name)); }
};

TEST_F(InspectImages, AsStoredAndAsASample) {
  add("a b.png", "colour.png");
  add("p.png", "palette.png");
  add("bits.png", "bits.png");
  add("deep", "deep.png");
  add("turned.jpg", "turn6.jpg");
  add("k.jpg", "cmyk.jpg");
  add("alpha.webp", "alpha.webp");
  add("cut.png", "cut.png");
  has(out("inspect 'a b.png'"),
      "a b.png: PNG, 37 wide, 23 high, RGB, 8 bits a sample\n  as a sample u8[3, 23, 37]");
  has(out("inspect p.png"), "a palette of colours");
  has(out("inspect bits.png"), "gray, 1 bit a sample\n  as a sample u8[3, ");
  has(out("inspect deep"), "gray, 16 bits a sample\n  as a sample f32[3, ");
  has(out("inspect turned.jpg"), "with EXIF orientation 6\n");
  has(out("inspect k.jpg"), "CMYK, 8 bits");
  has(out("inspect alpha.webp"), "RGBA, 8 bits");
  EXPECT_EQ(Json::parse(out("inspect p.png --json"))[0]["palette"], true);
  folder.write("short.png", image("colour.png").substr(0, 20));
  has(out("inspect short.png", 2), "short.png: the PNG is damaged or cut short");
}

TEST_F(InspectImages, FoldersOfThem) {
  for (const char* path : {"set/cats/1.png", "set/cats/ä 2.png", "set/dogs/1.png"}) add(path, "colour.png");
  add("set/dogs/2.jpg", "gray.jpg");
  folder.write("set/dogs/broken.png", "no image");
  folder.write("set/dogs/Thumbs.db", "x");
  folder.write("set/notes.txt", "x");
  const std::string said = out("inspect set");
  has(said, "set: folder of 5 images in 2 class folders\n  classes: cats ×2; dogs ×3\n");
  has(said, "37 x 23, 3 channels, 8 bits ×3");
  has(said, "  damaged: set/dogs/broken.png: is no image that is read here");
  has(said, "  no images, left out: dogs/Thumbs.db\n");
  EXPECT_EQ(Json::parse(out("inspect set --json"))[0]["classes"]["dogs"], 3);
}

TEST_F(InspectImages, TarShards) {
  using testing::tar_entry;
  folder.write("s-0.tar", tar_entry("a.png", "1") + tar_entry("a.cls", "0") + tar_entry("b.png", "1") +
                              tar_entry("b.cls", "1") + tar_entry("c.png", "1") + testing::tar_end());
  folder.write("s-1.tar", tar_entry("d.png", "1") + testing::tar_end());
  const std::string said = out("inspect 's-{0..1}.tar'");
  has(said,
      "s-0.tar: tar shard, 3 samples\n  files: png ×3; cls ×2\n  1 sample without a file that most have\n  "
      "first: a, b, c\n");
  has(said, "s-1.tar: tar shard, 1 sample\n");
  folder.write("bad.tar", std::string(700, 'x'));
  has(out("inspect bad.tar", 2), "bad.tar: ");
}

TEST_F(Inspect, FilesOfAnyNameAndKindHaveOneMessage) {
  folder.write("ä ö/π data", kTable);
  has(out("inspect 'ä ö/π data'"), "3 rows, 3 columns");
  folder.write("page.csv", "<!DOCTYPE html><html>");
  has(out("inspect page.csv", 2), "page.csv: looks like HTML");
  folder.write("locked.csv", kTable);
  std::filesystem::permissions(folder / "locked.csv", std::filesystem::perms::none);
  if (geteuid() != 0) has(out("inspect locked.csv", 2), "Permission denied");
}

/// Every shared file gives what it holds or one message, and nothing else.
TEST_F(Inspect, SharedFiles) {
  const std::string root = places::source_dir() + "/../shared/fixtures";
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "the shared fixtures are not here";
  struct Expected {
    const char* file;
    int status;
    const char* said;
  };
  const Expected all[] = {
      {"csv/blank_lines.csv", 0, "2 rows, 2 columns"},
      {"csv/commas_only.csv", 2, "the header names two columns ''"},
      {"csv/cr_only.csv", 0, "2 rows, 2 columns"},
      {"csv/decimal_comma.csv", 2, "looks as if fields were separated by ';'"},
      {"csv/dup_header.csv", 2, "the header names two columns 'x'"},
      {"csv/empty.csv", 2, "the file is empty"},
      {"csv/header_only.csv", 0, "0 rows, 2 columns"},
      {"csv/labels_1_to_5.csv", 0, "5 values: 1 ×1"},
      {"csv/na_tokens.csv", 0, "numbers, but 'inf' in row 6"},
      {"csv/nul_byte.csv", 2, "line 3"},
      {"csv/quoted_newline_no_final_eol.csv", 0, "2 rows, 3 columns"},
      {"csv/sci_mix.csv", 0, "2 rows, 2 columns"},
      {"csv/thousands.csv", 0, "text    2 values: 1,234 ×1, 12,345.5 ×1"},
      {"csv/unclosed_quote.csv", 2, "line 3"},
      {"imgfolder", 0, "classes: 1 ×1; 10 ×1; 2 ×1"},
      {"npy/big_endian.npy", 0, "1 to 3, mean 2"},
      {"npy/c_order_2x3.npy", 0, "  0, 1, 2\n  3, 4, 5\n"},
      {"npy/f_order_2x3.npy", 0, "  0, 1, 2\n  3, 4, 5\n"},
      {"npy/truncated.npy", 2, "asks for 16 bytes of data, the file has 12"},
      {"png/gray1.png", 0, "gray, 1 bit a sample"},
      {"png/gray16.png", 0, "gray, 16 bits a sample"},
      {"png/gray8.png", 0, "gray, 8 bits a sample"},
      {"png/gray_alpha.png", 0, "gray and alpha, 8 bits"},
      {"png/huge_dims.png", 2, "claims to be 2147483647 wide"},
      {"png/palette.png", 0, "a palette of colours"},
      {"png/rgb16.png", 0, "RGB, 16 bits"},
      {"png/rgba.png", 0, "RGBA, 8 bits"},
  };
  for (const Expected& e : all) has(out("inspect " + root + "/" + e.file, e.status), e.said);
}

TEST_F(Inspect, AFileThatIsCutShortEndsTheRun) {
  std::string x =
      std::string("\x93NUMPY\1\0v\0", 10) + "{'descr': '<f4', 'fortran_order': False, 'shape': (65536, 4), }";
  x.resize(127, ' ');
  folder.write("x.npy", x + "\n" + std::string(65536 * 16, '\0'));
  folder.write("job.toml",
               "[data]\ninputs = { x = \"x.npy\" }\ntarget = { y = \"x.npy\" }\n[model]\nforward = \"y = "
               "linear(x, 4)\"\n[train]\nepochs = 1000000000\nmax_time = 120\nloss = \"mse\"\n");
  const std::string cut = " & run=$!; until [ -e " + (folder / "run/.tightloop-unfinished/job.toml") +
                          " ] || ! kill -0 $run; do sleep 0.05; done; truncate -s 1000 " +
                          (folder / "x.npy") + "; wait $run";
  const Outcome o = tightloop(folder, "train job.toml --quiet 2>&1" + cut);
  EXPECT_EQ(o.status, 2) << o.out;
  has(o.out, "x.npy' changed while it was read: it had 1048704 bytes and now has 1000");
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
