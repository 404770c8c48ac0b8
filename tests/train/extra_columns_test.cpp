// SPDX-License-Identifier: Apache-2.0
// Columns beside inputs and target, in lists of files and in files of several arrays; keys that some data do
// not look at; numbers that f32 rounds.
#include <tests/support/files.h>

#include <tightloop/io/npy.h>
#include <tightloop/train/job_run.h>
#include <tightloop/train/load.h>
#include <tightloop/train/sources.h>

#include <cstdlib>
#include <filesystem>

namespace tightloop::train {
namespace {

using testing::put;
using Rows = std::vector<std::int64_t>;

const std::string kXY = "inputs = { x = \"x\" }\ntarget = { y = \"y\" }\n";
const std::string kList = "train = [\"a.csv\", \"b.csv\"]\n" + kXY;

struct DataKeys : ::testing::Test {
  testing::TempDir dir;
  Job job(const std::string& data) const {
    Job j = parse_job(
        "[data]\n" + data + "[model]\nforward = \"y = linear(x, 1)\"\n[train]\nloss = \"mse\"\n", "job.toml");
    j.folder = dir.path();
    return with_columns(j);
  }
  LoadedData load(const std::string& data, nn::TargetKind kind = nn::TargetKind::values) const {
    return load_data(job(data), kind);
  }
  void two_tables() const {
    put(dir / "a.csv", "x,y,g,w,t\n1,1,red,1,5\n2,2,red,0,6\n3,3,7,0,7\n");
    put(dir / "b.csv", "t,x,y,w,g\n1,4,4,0,blue\n2,5,5,0,red\n3,6,6,1,blue\n");
  }
  /// A stored NPZ, as numpy.savez makes it.
  void npz(const std::string& name, const std::vector<std::string>& arrays) const {
    std::string command =
        "cd '" + dir.path() + "' && python3 -c \"import zipfile as z; f = z.ZipFile('" + name + "', 'w')";
    for (const auto& a : arrays) command += "; f.write('" + a + ".npy')";
    ASSERT_EQ(std::system((command + "; f.close()\"").c_str()), 0);
  }
};

TEST_F(DataKeys, ListsAreSplitByColumnsBesideTheFields) {
  two_tables();
  const LoadedData groups =
      load(kList + "validation = 0.34\nsplit = { method = \"group\", column = \"g\" }\n");
  Rows held = groups.data.validation->rows;
  const auto group = [](std::int64_t row) {
    return std::vector{0, 0, 1, 2, 0, 2}[static_cast<std::size_t>(row)];
  };
  for (const std::int64_t train : groups.data.train.rows)
    for (const std::int64_t validation : held) EXPECT_NE(group(train), group(validation));
  EXPECT_FALSE(held.empty());
  const LoadedData time = load(kList + "validation = 0.34\nsplit = { method = \"time\", column = \"t\" }\n");
  EXPECT_EQ(time.data.validation->rows, (Rows{1, 2}));
  const LoadedData drawn = load(kList + "sampler = { name = \"weighted\", column = \"w\" }\n");
  EXPECT_EQ(drawn.data.train.weighted.size(), 6u);
  EXPECT_ERROR(load(kList + "sampler = { name = \"weighted\", column = \"v\" }\n"), "a.csv: ");
  EXPECT_ERROR(
      load(kList + "columns = { w = \"category\" }\nsampler = { name = \"weighted\", column = \"w\" }\n"),
      "column 'w' holds categories; weights are numbers");
}

TEST_F(DataKeys, WindowsOfListsStayInGroupsOfAnyFile) {
  put(dir / "a.csv", "x,y,g\n1,1,p\n2,2,p\n3,3,q\n");
  put(dir / "b.csv", "x,y,g\n4,4,q\n5,5,q\n6,6,r\n");
  const LoadedData d = load(kList + "window = { length = 2, horizon = 1, group = \"g\" }\n");
  EXPECT_EQ(d.data.train.rows, (Rows{2}));  // q is three rows long, over the files' border
}

TEST_F(DataKeys, ArraysOfOneFileAreColumnsToo) {
  Array x(DType::f32, {8, 1}), g(DType::i64, {8}), w(DType::f32, {8});
  for (std::int64_t i = 0; i < 8; ++i) x.set(i, i), g.set(i, i / 2), w.set(i, i == 3);
  io::write_npy(dir / "x.npy", x);
  io::write_npy(dir / "y.npy", x);
  io::write_npy(dir / "g.npy", g);
  io::write_npy(dir / "w.npy", w);
  npz("d.npz", {"x", "y", "g", "w"});
  const std::string data = "train = \"d.npz\"\n" + kXY;
  const LoadedData d = load(data + "validation = 0.25\nsplit = { method = \"group\", column = \"g\" }\n");
  ASSERT_EQ(d.data.validation->rows.size(), 2u);
  EXPECT_EQ(d.data.validation->rows[0] / 2, d.data.validation->rows[1] / 2);
  EXPECT_EQ(load(data + "sampler = { name = \"weighted\", column = \"w\" }\n").data.train.weighted.size(),
            8u);
  EXPECT_ERROR(load(data + "sampler = { name = \"weighted\", column = \"v\" }\n"),
               "d.npz: holds no array 'v'");
  const LoadedData twice = load("train = [\"d.npz\", \"d.npz\"]\n" + kXY +
                                "validation = 0.25\nsplit = { method = \"group\", column = \"g\" }\n");
  EXPECT_EQ(twice.data.validation->rows.size(), 4u);
}

TEST_F(DataKeys, MessagesAboutListsNameTheFileAndItsOwnRow) {
  put(dir / "a.csv", "x,c,y\n1,red,1\n2,blue,2\n");
  put(dir / "b.csv", "x,c,y\n3,red,3\n4,,4\n");
  EXPECT_ERROR(
      load("train = [\"a.csv\", \"b.csv\"]\ninputs = { c = \"c\" }\ntarget = { y = \"y\" }\ncolumns = { c = "
           "\"category\" }\n"),
      dir / "b.csv: row 2, column 'c': the value is missing");
}

TEST_F(DataKeys, KeysThatTheDataDoNotLookAtAreRefused) {
  two_tables();
  io::write_npy(dir / "x.npy", Array(DType::f32, {4, 1}));
  io::write_npy(dir / "i.npy", Array(DType::i64, {4}));
  io::write_npy(dir / "y.npy", Array(DType::f32, {4, 1}));
  put(dir / "v.txt", "a\n");
  const std::string table = "train = \"a.csv\"\n" + kXY;
  const std::string arrays = "inputs = { x = \"x.npy\", i = \"i.npy\" }\ntarget = { y = \"y.npy\" }\n";
  EXPECT_ERROR(
      load(table + "vocabulary = \"v.txt\"\n"),
      "job.toml: data.vocabulary is for text (data.format = \"text\"), but the training data are a table");
  EXPECT_ERROR(load(table + "on_error = \"skip\"\n"), "data.on_error is for streams");
  EXPECT_ERROR(load(table + "workers = 2\n"), "data.workers is for streams");
  EXPECT_ERROR(load(arrays + "separator = \";\"\n"),
               "data.separator is for tables (CSV), but the training data are arrays");
  EXPECT_ERROR(load(arrays + "header = true\n"), "data.header is for tables (CSV)");
  EXPECT_ERROR(load(arrays + "memory = \"stream\"\nformat = \"csv\"\n"),
               "data.format is 'csv', but the training data are NPY");
  EXPECT_EQ(load(arrays + "workers = 2\nformat = \"npy\"\n").data.train.data.rows(), 4);
  std::filesystem::create_directories(dir / "set/a");
  std::filesystem::copy_file(testing::fixture("images/colour.png"), dir / "set/a/1.png");
  const std::string images = "train = \"set\"\ninputs = { x = \"image\" }\ntarget = { y = \"class\" }\n";
  for (const char* key :
       {"format = \"csv\"\n", "separator = \";\"\n", "header = true\n", "columns = { x = \"number\" }\n"})
    EXPECT_ERROR(load(images + key, nn::TargetKind::classes), "but the training data are a folder of images");
}

TEST_F(DataKeys, IdsAreNotNormalized) {
  io::write_npy(dir / "x.npy", Array(DType::f32, {4, 1}));
  io::write_npy(dir / "i.npy", Array(DType::i64, {4}));
  io::write_npy(dir / "y.npy", Array(DType::f32, {4, 1}));
  const std::string both = "inputs = { x = \"x.npy\", i = \"i.npy\" }\ntarget = { y = \"y.npy\" }\n";
  EXPECT_ERROR(load(both + "normalize = { i = \"standard\" }\n"),
               "data.normalize.i: 'i' is i64[4]: whole numbers are ids, which are not normalized");
  EXPECT_EQ(load(both + "normalize = \"standard\"\n").data.scales.size(), 1u);
  EXPECT_EQ(load(both + "normalize = { i = \"none\" }\n").data.scales.size(), 0u);
  EXPECT_ERROR(load("inputs = { i = \"i.npy\" }\ntarget = { y = \"y.npy\" }\nnormalize = \"minmax\"\n"),
               "no input can be normalized: i holds whole numbers, which are ids");
}

TEST_F(DataKeys, WholeNumbersThatF32RoundsAreSaid) {
  put(dir / "a.csv", "x,z,y\n16777216,1.5e9,1\n16777217,2,2\n");
  const LoadedData d = load("train = \"a.csv\"\ninputs = { x = [\"x\", \"z\"] }\ntarget = { y = \"y\" }\n");
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_EQ(d.notes[0],
            (dir / "a.csv") +
                ": column 'x' holds whole numbers that f32 rounds (above 2^24): 16777217 in row 2 "
                "becomes 16777216; where they are ids or classes, make it a category in data.columns");
  put(dir / "a.csv", "x,z,y\n1,1,100000001\n2,2,2\n");
  EXPECT_NE(load("train = \"a.csv\"\n" + kXY).notes.at(0).find("column 'y'"), std::string::npos);
  put(dir / "a.csv", "x,z,y\n33554432,1,1e30\nNA,2,16777216.5\n");
  EXPECT_TRUE(load("train = \"a.csv\"\ncolumns = { x = { missing = 0 } }\n" + kXY).notes.empty());
}

}  // namespace
}  // namespace tightloop::train
