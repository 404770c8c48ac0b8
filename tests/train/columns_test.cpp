// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/train/load.h>
#include <tightloop/train/sources.h>

#include <cmath>

namespace tightloop::train {
namespace {

using tightloop::testing::error_of;
using tightloop::testing::put;
using tightloop::testing::TempDir;

struct Columns : ::testing::Test {
  TempDir dir;

  Job job(const std::string& data) const {
    Job j = parse_job(
        "[data]\n" + data + "[model]\nforward = \"y = linear(x, 1)\"\n[train]\nloss = \"mse\"\n", "job.toml");
    j.folder = dir.path();
    return with_columns(j);
  }
  LoadedData load(const std::string& data, nn::TargetKind kind = nn::TargetKind::values) const {
    return load_data(job(data), kind);
  }
  std::string message(const std::string& data, nn::TargetKind kind = nn::TargetKind::values) const {
    return error_of([&] { load(data, kind); });
  }
  void has(const std::string& said, const std::string& part) const {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }
};

std::string numbers(const Array& a) {
  std::string out = a.type_string() + ":";
  for (std::int64_t i = 0; i < a.count(); ++i) {
    char text[32];
    std::snprintf(text, sizeof text, " %g", a.at(i));
    out += text;
  }
  return out;
}

const std::string kXY = "train = \"a.csv\"\ninputs = { x = [\"n\", \"c\"] }\ntarget = { y = \"y\" }\n";
const std::string kC = "train = \"a.csv\"\ninputs = { c = \"c\" }\ntarget = { y = \"y\" }\n";

TEST_F(Columns, WordsBecomeOneColumnEach) {
  put(dir / "a.csv", "n,c,y\n1,red,0\n2,blue,1\n3,red,0\n");
  EXPECT_EQ(numbers(load(kXY).data.train.data["x"]), "f32[3, 3]: 1 0 1 2 1 0 3 0 1");
}

TEST_F(Columns, ALoneCategoryIsItsNumber) {
  put(dir / "a.csv", "c,y\nred,0\nblue,1\n\"gr,een\",0\n");
  const LoadedData d = load(kC);
  EXPECT_EQ(numbers(d.data.train.data["c"]), "i64[3]: 2 0 1");
  EXPECT_EQ(to_string(d.model_inputs()[0].second), "i64[B]");
  EXPECT_EQ(*d.columns[0].values, (std::vector<std::string>{"blue", "gr,een", "red"}));
  EXPECT_EQ(numbers(load(kC + "columns = { c = { type = \"category\", encode = \"one_hot\" } }\n")
                        .data.train.data["c"]),
            "f32[3, 3]: 0 0 1 1 0 0 0 1 0");
}

TEST_F(Columns, NumbersGoneWrongAreNoCategories) {
  put(dir / "a.csv", "n,c,y\n\"1,234\",a,0\n\"2,345\",b,1\n");
  has(message(kXY), "row 1 (line 2), column 'n': '1,234' is not a number");
  put(dir / "a.csv", "n,c,y\n1,a,0\n2,7,1\n");
  has(message(kXY), "row 1 (line 2), column 'c': 'a' is not a number");
  put(dir / "a.csv", "n,c,y\ninf,a,0\nInfinity,b,1\n");
  has(message(kXY), "column 'n': 'inf' is not a number");
  EXPECT_EQ(numbers(load(kXY + "columns = { n = \"category\" }\n").data.train.data["x"]),
            "f32[2, 4]: 0 1 1 0 1 0 0 1");
}

TEST_F(Columns, NumbersMayBeCategoriesWhenSaid) {
  put(dir / "a.csv", "n,c,y\n1,10,0\n2,9,1\n");
  EXPECT_EQ(numbers(load(kXY + "columns = { c = \"category\" }\n").data.train.data["x"]),
            "f32[2, 3]: 1 1 0 2 0 1");
  EXPECT_EQ(numbers(load(kC + "columns = { c = { values = [\"9\", \"10\"] } }\n").data.train.data["c"]),
            "i64[2]: 1 0");
  has(message(kC + "columns = { c = { values = [\"9\", \"11\"] } }\n"),
      "row 1, column 'c': '10' is not one of the 2 values");
}

TEST_F(Columns, MissingNumbers) {
  put(dir / "a.csv", "n,c,y\n1,5,0\nNA,6,1\n4,,1\n");
  has(message(kXY), "row 2 (line 3), column 'n': 'NA' is a missing value");
  EXPECT_EQ(numbers(load(kXY + "columns = { \"*\" = { missing = \"mean\" } }\n").data.train.data["x"]),
            "f32[3, 2]: 1 5 2.5 6 4 5.5");
  EXPECT_EQ(
      numbers(load(kXY + "columns = { n = { missing = -1 }, c = { missing = 0.5 } }\n").data.train.data["x"]),
      "f32[3, 2]: 1 5 -1 6 4 0.5");
  has(message(kXY + "columns = { n = { missing = \"mean\" } }\n"),
      "row 3 (line 4), column 'c': '' is a missing value");
  put(dir / "a.csv", "n,c,y\n,5,0\nNA,6,1\n");
  has(message(kXY + "columns = { n = { missing = \"mean\" } }\n"),
      "column 'n' has no number in the training rows");
}

TEST_F(Columns, MissingCategories) {
  put(dir / "a.csv", "n,c,y\n1,a,0\n2,,1\n3,b,1\n");
  has(message(kXY), "row 2, column 'c': the value is missing");
  EXPECT_EQ(numbers(load(kC + "columns = { c = { missing = \"category\" } }\n").data.train.data["c"]),
            "i64[3]: 0 2 1");
  EXPECT_EQ(numbers(load(kXY + "columns = { c = { missing = \"category\" } }\n").data.train.data["x"]),
            "f32[3, 4]: 1 1 0 0 2 0 0 1 3 0 1 0");
}

TEST_F(Columns, TrainingRowsDecide) {
  std::string text = "n,c,y\n";
  for (int i = 0; i < 20; ++i)
    text += std::to_string(i) + ",c" + std::to_string(i) + ",0\n";  // each value once
  put(dir / "a.csv", text);
  const std::string split =
      kXY + "validation = 0.25\ncolumns = { n = { missing = \"mean\" }, c = { missing = \"category\" } }\n";
  const LoadedData d = load(split);
  EXPECT_EQ(d.data.train.data["x"].dims()[1], 1 + 15 + 1);
  const auto x = d.data.validation->data["x"].as<float>();
  for (const std::int64_t row : d.data.validation->rows)
    EXPECT_EQ(x[static_cast<std::size_t>(row * 17 + 16)], 1);
  has(message(kXY + "validation = 0.25\n"), "is not one of the 15 values of the training rows");
}

TEST_F(Columns, OtherFilesFollow) {
  put(dir / "a.csv", "n,c,y\n1,a,0\n,b,1\n3,a,1\n");
  put(dir / "b.csv", "y,c,n\n1,b,\n");
  Job j = job(kXY + "validation = \"b.csv\"\ncolumns = { n = { missing = \"mean\" } }\n");
  const LoadedData d = load_data(j, nn::TargetKind::values);
  EXPECT_EQ(numbers(d.data.train.data["x"]), "f32[3, 3]: 1 1 0 2 0 1 3 1 0");
  EXPECT_EQ(numbers(d.data.validation->data["x"]), "f32[1, 3]: 2 0 1");
  j.data.columns = d.columns;
  Job again = parse_job(to_toml(j), "again.toml");  // what the run directory keeps
  EXPECT_EQ(numbers(load_other(again, nn::TargetKind::values, {dir / "b.csv"}, {}, false)["x"]),
            "f32[1, 3]: 2 0 1");
  EXPECT_EQ(numbers(load_data(again, nn::TargetKind::values).data.train.data["x"]),
            numbers(d.data.train.data["x"]));
  put(dir / "b.csv", "y,c,n\n1,b,1\n1,bb,\n");
  has(error_of([&] { load_other(again, nn::TargetKind::values, {dir / "b.csv"}, {}, false); }),
      "b.csv: row 2, column 'c': 'bb' is not one of the 2 values of the training rows (did you mean 'b'?)");
}

TEST_F(Columns, IndexStandsAlone) {
  put(dir / "a.csv", "n,c,y\n1,a,0\n2,b,1\n");
  has(message(kXY + "columns = { c = { encode = \"index\" } }\n"),
      "input 'x': column 'c' is encoded by index and cannot stand beside numbers");
}

TEST_F(Columns, TargetsByRule) {
  put(dir / "a.csv", "n,c,y\n1,a,9\n2,b,10\n");
  const LoadedData d =
      load(kXY + "columns = { y = { values = [\"9\", \"10\"] } }\n", nn::TargetKind::classes);
  EXPECT_EQ(numbers(d.data.train.data["y"]), "i64[2]: 0 1");
  EXPECT_EQ(d.classes, (std::vector<std::string>{"9", "10"}));
  EXPECT_EQ(load(kXY + "columns = { y = \"category\" }\n", nn::TargetKind::classes).classes[0], "10");
  has(message(kXY + "columns = { y = { missing = 0 } }\n", nn::TargetKind::classes),
      "would fill in the target, 'y'");
}

TEST_F(Columns, PatternsLeaveTargetsAlone) {
  put(dir / "a.csv", "n,c,y\n1,2,0\n,3,1\n");
  const std::string all = kXY + "columns = { \"*\" = { missing = \"mean\" } }\n";
  EXPECT_EQ(numbers(load(all, nn::TargetKind::classes).data.train.data["y"]), "i64[2]: 0 1");
  has(message(kXY + "columns = { n = { missing = 0 }, y = \"category\" }\n"),
      "makes the target 'y' a category");
}

TEST_F(Columns, RulesMustFitTheTable) {
  put(dir / "a.csv", "n,c,y\n1,2,9\n");
  has(message(kXY + "columns = { k = \"number\" }\n"), "data.columns.k: ");
  has(message(kXY + "columns = { k = \"number\" }\n"), "has no such column");
  has(message(kXY + "columns = { n = { kind = \"number\" } }\n"), "is unknown");
  has(message(kXY + "columns = { n = { type = \"number\", encode = \"index\" } }\n"), "mixes a number with");
  has(message(kXY + "columns = { n = \"numbr\" }\n"),
      "must be 'number' or 'category', not the string 'numbr' (did you mean");
}

TEST_F(Columns, SeveralFilesOfOneTable) {
  put(dir / "a.csv", "n,c,y\n1,b,dog\n2,c,cat\n");
  put(dir / "b.csv", "y,n,c\nemu,3,a\n");
  const std::string both =
      "train = [\"a.csv\", \"b.csv\"]\ninputs = { x = [\"n\", \"c\"] }\ntarget = { y = \"y\" }\n";
  const LoadedData d = load(both, nn::TargetKind::classes);
  EXPECT_EQ(numbers(d.data.train.data["x"]), "f32[3, 4]: 1 0 1 0 2 0 0 1 3 1 0 0");
  EXPECT_EQ(numbers(d.data.train.data["y"]), "i64[3]: 1 0 2");
  EXPECT_EQ(d.classes, (std::vector<std::string>{"cat", "dog", "emu"}));
  put(dir / "b.csv", "y,n,c\nemu,3,7\nemu,x,8\n");
  has(message(both, nn::TargetKind::classes), "b.csv: row 2 (line 3), column 'n': 'x' is not a number");
}

TEST_F(Columns, SeparatorHeaderAndFormat) {
  put(dir / "a.csv", "1;2;3\n4;5;6\n");
  const std::string data =
      "train = \"a.csv\"\ninputs = { x = [\"0\", \"1\"] }\ntarget = { y = \"2\" }\nseparator = \";\"\n";
  EXPECT_EQ(numbers(load(data).data.train.data["x"]), "f32[2, 2]: 1 2 4 5");
  EXPECT_EQ(load(data + "header = false\nformat = \"csv\"\n").data.train.data.rows(), 2);
  has(message(data + "header = true\n"), "no column is named '0'");
  has(message(data + "format = \"npy\"\n"), "not an NPY file");
  has(message(data + "format = \"cifar1\"\n"), "(did you mean 'cifar10'?)");
}

TEST_F(Columns, TextIsASeries) {
  put(dir / "t.txt", "abca");
  put(dir / "v.txt", "a\nbc\n");
  const std::string data =
      "train = \"t.txt\"\nformat = \"text\"\ninputs = { x = \"text\" }\ntarget = { y = \"text\" }\n";
  const LoadedData d = load(data, nn::TargetKind::classes);
  EXPECT_EQ(numbers(d.data.train.data["x"]), "i32[4]: 97 98 99 97");
  EXPECT_EQ(numbers(d.data.train.data["y"]), "u8[4]: 97 98 99 97");
  EXPECT_EQ(numbers(load(data + "vocabulary = \"v.txt\"\n", nn::TargetKind::classes).data.train.data["x"]),
            "i32[3]: 0 1 0");
  EXPECT_EQ(to_string(d.model_inputs()[0].second), "i64[B]");
}

TEST_F(Columns, CifarFolders) {
  std::filesystem::create_directory(dir / "c");
  put(dir / "c/data_batch_1.bin", "\3" + std::string(3072, 'a') + "\1" + std::string(3072, 'b'));
  put(dir / "c/data_batch_2.bin", "\2" + std::string(3072, 'c'));
  put(dir / "c/test_batch.bin", "\4" + std::string(3072, 'd'));
  put(dir / "c/batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
  const std::string data =
      "train = \"c\"\nvalidation = \"c/test_batch.bin\"\ninputs = { x = \"images\" }\ntarget = { y = "
      "\"labels\" }\n";
  const LoadedData d = load(data, nn::TargetKind::classes);
  EXPECT_EQ(d.data.train.data["x"].type_string(), "u8[3, 3, 32, 32]");
  EXPECT_EQ(numbers(d.data.train.data["y"]), "i64[3]: 3 1 2");
  EXPECT_EQ(numbers(d.data.validation->data["y"]), "i64[1]: 4");
  EXPECT_EQ(d.classes.size(), 10u);
  has(message("train = \"c\"\ninputs = { x = \"image\" }\ntarget = { y = \"labels\" }\n",
              nn::TargetKind::classes),
      "holds no array 'image' (did you mean 'images'?)");
}

}  // namespace
}  // namespace tightloop::train
