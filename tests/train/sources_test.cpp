// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/io/npy.h>
#include <tightloop/train/sources.h>

#include <zlib.h>

namespace tightloop::train {
namespace {

using tightloop::testing::content_of;
using tightloop::testing::put;
using tightloop::testing::TempDir;

const std::string kIdx("\0\0\x8\1\0\0\0\2ab", 10);

TEST(Sources, AreToldByContent) {
  TempDir dir;
  io::write_npy(dir / "named.csv", Array::of<float>({2}, {1, 2}));
  const data::Source npy = open_source(dir / "named.csv");
  EXPECT_EQ(npy.format, "NPY");
  EXPECT_EQ(npy.array()->type_string(), "f32[2]");
  EXPECT_EQ(npy.table(), nullptr);
  EXPECT_EQ(open_source(put(dir / "labels", kIdx)).array()->type_string(), "u8[2]");
  const data::Source csv = open_source(put(dir / "table", "x,y\n1,2\n"));
  EXPECT_EQ(csv.format, "CSV");
  EXPECT_EQ(csv.table()->columns().size(), 2u);
}

TEST(Sources, ReadGzip) {
  TempDir dir;
  const std::string path = dir / "t.tsv.gz";
  gzFile out = gzopen(path.c_str(), "wb");
  gzputs(out, "x\ty\n1\t2\n");
  gzclose(out);
  EXPECT_EQ(open_source(path).table()->column("y", DType::f32).at(0), 2);
}

TEST(Sources, NamesWithSpacesAndOtherLetters) {
  TempDir dir;
  const std::string path = put(dir / "größe und ü.csv", "x,y\n1,2\n");
  EXPECT_EQ(open_source(path).table()->name(), path);
  EXPECT_ERROR(open_source(put(dir / "a b.csv", "x,y\n1\n")).table()->rows(), "/a b.csv: row 1 (line 2)");
}

TEST(Sources, FormatsByName) {
  TempDir dir;
  const std::string path = put(dir / "a.npy", "x,y\n1,2\n");
  EXPECT_EQ(open_source(path, {.format = "csv"}).table()->rows(), 1);
  EXPECT_ERROR(open_source(put(dir / "a.csv", "x\n1\n"), {.format = "npz"}), "zip archive has no directory");
  EXPECT_EQ(open_source(path, {.format = "text"}).pack()->read("text").type_string(), "u8[8]");
  EXPECT_ERROR(open_source(put(dir / "h.txt", "<html>"), {.format = "text"}), "looks like HTML");
}

TEST(Sources, SayWhatTheFileIsInstead) {
  TempDir dir;
  const auto said = [&](const std::string& name, const std::string& content) {
    return tightloop::testing::error_of([&] { open_source(put(dir / name, content)); });
  };
  const auto expect = [&](const std::string& name, const std::string& content, const std::string& part) {
    EXPECT_NE(said(name, content).find(part), std::string::npos) << said(name, content);
  };
  expect("a.csv", "", "the file is empty");
  expect("a.csv", "\n <!DOCTYPE html><html>", "looks like HTML, not data");
  expect("a.npy", "<html>", "looks like HTML, not data");
  expect("a.npz", "PK\3\4....", "a zip archive");
  expect("a.csv", "\x89PNG\r\n", "a PNG image");
  expect("a.npy", "x,y\n1,2\n", "the name is that of NPY, but the content is not");
  expect("train-ubyte", "x,y\n1,2\n", "the name is that of IDX");
  expect("a.bin", std::string("\1\2\0\3", 4),
         "not a format that is read here: NPY (.npy), NPZ (.npz), IDX (.idx -ubyte), CIFAR-10");
  const data::Source binary = open_source(put(dir / "a.csv", std::string("x,y\n1,\0\n", 8)));
  EXPECT_ERROR(binary.table()->rows(), "line 2: a NUL byte");
  expect("a.csv", "version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer");
  EXPECT_ERROR(open_source(dir / "none.csv"), "No such file");
  EXPECT_ERROR(open_source(dir.path()), "it is a directory");
}

}  // namespace
}  // namespace tightloop::train
