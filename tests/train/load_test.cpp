// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/file.h>
#include <tightloop/io/npy.h>
#include <tightloop/train/load.h>

#include <gtest/gtest.h>
#include <cmath>
#include <filesystem>

namespace tightloop::train {
namespace {

struct Load : testing::Test {
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tightloop-load-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void write(const std::string& name, const Array& a) const { io::write_npy(folder + "/" + name, a); }

  Job job(const std::string& data) const {
    Job j = parse_job(
        "[data]\n" + data + "[model]\nforward = \"y = linear(x, 1)\"\n[train]\nloss = \"mse\"\n", "job.toml");
    j.folder = folder;
    return j;
  }
  LoadedData load(const std::string& data, nn::TargetKind kind = nn::TargetKind::values) const {
    return load_data(job(data), kind);
  }
  std::string message(const std::string& data, nn::TargetKind kind = nn::TargetKind::values) const {
    try {
      load(data, kind);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }

  std::string folder;
};

Array counting(DType dtype, std::vector<std::int64_t> dims) {
  Array a(dtype, std::move(dims));
  for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(i));
  return a;
}

const std::string kNpy = "inputs = { x = \"x.npy\" }\ntarget = { y = \"y.npy\" }\n";

TEST_F(Load, NpyFilesByField) {
  write("x.npy", counting(DType::f64, {6, 2}));
  write("y.npy", counting(DType::f32, {6}));
  const LoadedData d = load(kNpy);
  EXPECT_EQ(d.data.train.data.rows(), 6);
  EXPECT_EQ(d.data.target, "y");
  EXPECT_EQ(d.data.train.data["x"].dtype(), DType::f64);
  ASSERT_EQ(d.model_inputs().size(), 1u);
  EXPECT_EQ(to_string(d.model_inputs()[0].second), "f32[B, 2]");
}

TEST_F(Load, AnArrayThatNoFieldNamesIsNotTakenForItsFolder) {
  write("x.npy", counting(DType::f32, {6, 2}));
  write("y.npy", counting(DType::f32, {6}));
  write("other.npy", counting(DType::f32, {4, 2}));
  EXPECT_EQ(load("train = \"y.npy\"\n" + kNpy).data.train.data.rows(), 6);
  EXPECT_NE(message("train = \"other.npy\"\n" + kNpy).find("other.npy: is one array, and none that"),
            std::string::npos);
  EXPECT_NE(message("validation = \"other.npy\"\n" + kNpy).find("name the file of each of x, y"),
            std::string::npos);
}

TEST_F(Load, OneNumberARowIsOneColumnButIdsStayAsTheyAre) {
  write("x.npy", counting(DType::f32, {6}));
  write("k.npy", counting(DType::i32, {6}));
  write("y.npy", counting(DType::f32, {6}));
  const LoadedData d = load("inputs = { x = \"x.npy\", k = \"k.npy\" }\ntarget = { y = \"y.npy\" }\n");
  EXPECT_EQ(to_string(d.model_inputs()[0].second), "f32[B, 1]");
  EXPECT_EQ(to_string(d.model_inputs()[1].second), "i64[B]");
}

TEST_F(Load, AnArrayOfTooManyDimensionsIsNamed) {
  std::string npy(std::string_view("\x93NUMPY\x01\0v\0", 10));
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1), }";
  header.resize(117, ' ');
  npy += header + '\n' + std::string(4, '\0');
  write_file(folder + "/x.npy", npy);
  write("y.npy", counting(DType::f32, {1}));
  EXPECT_EQ(message(kNpy), folder + "/x.npy: has 9 dims; at most 8 can be used");
}

TEST_F(Load, OnlyInputsAreNormalized) {
  write("x.npy", counting(DType::f32, {6, 2}));
  write("y.npy", counting(DType::f32, {6}));
  EXPECT_NE(message(kNpy + "normalize = { y = \"standard\" }\n")
                .find("data.normalize.y names the target, which is never normalized; inputs are x"),
            std::string::npos);
  EXPECT_NE(message(kNpy + "normalize = { xx = \"standard\" }\n")
                .find("data.normalize.xx names no input (did you mean 'x'?); inputs are x"),
            std::string::npos);
}

TEST_F(Load, TrainMayBeAFolderOrAFileInIt) {
  std::filesystem::create_directory(folder + "/sub");
  write("sub/x.npy", counting(DType::f32, {6, 2}));
  write("sub/y.npy", counting(DType::f32, {6}));
  EXPECT_EQ(load("train = \"sub\"\n" + kNpy).data.train.data.rows(), 6);
  EXPECT_EQ(load("train = \"sub/x.npy\"\n" + kNpy).data.train.data.rows(), 6);
}

TEST_F(Load, ValidationByFractionFolderAndFiles) {
  write("x.npy", counting(DType::f32, {10, 2}));
  write("y.npy", counting(DType::f32, {10}));
  write("x2.npy", counting(DType::f32, {4, 2}));
  write("y2.npy", counting(DType::f32, {4}));
  const LoadedData fraction = load(kNpy + "validation = 0.3\n");
  EXPECT_EQ(fraction.data.train.count(), 7);
  EXPECT_EQ(fraction.data.validation->count(), 3);
  EXPECT_EQ(fraction.split.validation.size(), 3u);
  EXPECT_EQ(load(kNpy + "validation = { x = \"x2.npy\", y = \"y2.npy\" }\n").data.validation->count(), 4);
  EXPECT_NE(message(kNpy + "validation = { z = \"x2.npy\" }\n")
                .find("data.validation.z is no input and not the target"),
            std::string::npos);
  write("x2.npy", counting(DType::f32, {4, 3}));
  EXPECT_NE(message(kNpy + "validation = { x = \"x2.npy\", y = \"y2.npy\" }\n")
                .find("'x' is f32[4, 3], in the training data it is f32[10, 2]"),
            std::string::npos);
}

TEST_F(Load, RowsThatDoNotMatchAreRefusedWithTheNumbers) {
  write("x.npy", counting(DType::f32, {6, 2}));
  write("y.npy", counting(DType::f32, {5}));
  const std::string what = message(kNpy);
  EXPECT_NE(what.find('6'), std::string::npos) << what;
  EXPECT_NE(what.find('5'), std::string::npos) << what;
  write("x.npy", Array(DType::f32, {0, 2}));
  EXPECT_NE(message(kNpy), "no error");
}

TEST_F(Load, ClassTargetsAreWholeNumbers) {
  write("x.npy", counting(DType::f32, {6, 2}));
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{6}, {6, 1}}) {
    Array y = counting(DType::f32, dims);
    write("y.npy", y);
    EXPECT_EQ(load(kNpy, nn::TargetKind::classes).data.train.data["y"].type_string(), "i64[6]");
    y.set(4, 2.5);
    write("y.npy", y);
    EXPECT_NE(message(kNpy, nn::TargetKind::classes)
                  .find("this loss takes class numbers: 2.5 in row 5 (rows count from 1) is no whole number"),
              std::string::npos);
  }
  write("y.npy", counting(DType::u8, {6, 1}));
  EXPECT_EQ(load(kNpy, nn::TargetKind::classes).data.train.data["y"].rank(), 1u);
}

TEST_F(Load, ProbabilitiesMayStandForClasses) {
  const auto kind = nn::TargetKind::classes_or_probabilities;
  write_file(folder + "/a.csv", "x,p0,p1\n1,0.25,0.75\n2,1,0\n");
  const std::string table = "train = \"a.csv\"\ninputs = { x = \"x\" }\n";
  const Array p = load(table + "target = { y = \"p*\" }\n", kind).data.train.data["y"];
  EXPECT_EQ(p.type_string(), "f32[2, 2]");
  EXPECT_EQ(p.at(1), 0.75);
  EXPECT_EQ(load(table + "target = { y = \"x\" }\n", kind).data.train.data["y"].type_string(), "i64[2]");
  EXPECT_NE(
      message(table + "target = { y = \"p*\" }\n", nn::TargetKind::classes).find("one column of classes"),
      std::string::npos);
  write("x.npy", counting(DType::f32, {6, 2}));
  write("y.npy", counting(DType::f32, {6, 3}));
  EXPECT_EQ(load(kNpy, kind).data.train.data["y"].type_string(), "f32[6, 3]");
  write("y.npy", counting(DType::f32, {6}));
  EXPECT_EQ(load(kNpy, kind).data.train.data["y"].type_string(), "i64[6]");
}

TEST_F(Load, TablesAreNormalizedByColumnAndImagesAsAWhole) {
  write("x.npy", counting(DType::f32, {4, 2}));
  write("i.npy", counting(DType::u8, {4, 2, 2}));
  write("y.npy", counting(DType::f32, {4}));
  const LoadedData d = load(
      "inputs = { x = \"x.npy\", i = \"i.npy\" }\ntarget = { y = \"y.npy\" }\nnormalize = \"standard\"\n");
  ASSERT_EQ(d.data.scales.size(), 2u);
  EXPECT_NEAR(d.data.scales[0].shift.at(0), 3, 1e-6);
  EXPECT_NEAR(d.data.scales[0].shift.at(1), 4, 1e-6);
  EXPECT_EQ(d.data.scales[1].shift.dims(), (std::vector<std::int64_t>{2, 2}));
  EXPECT_NEAR(d.data.scales[1].shift.at(3), 7.5, 1e-6);
  EXPECT_NEAR(d.data.scales[1].scale.at(0), std::sqrt(21.25), 1e-5);
}

TEST_F(Load, StatisticsComeFromTheTrainingPartAlone) {
  write("x.npy", counting(DType::f32, {10, 1}));
  write("y.npy", counting(DType::f32, {10}));
  const LoadedData d = load(kNpy + "validation = 0.3\nnormalize = { x = \"minmax\" }\n");
  const auto& rows = d.data.train.rows;
  EXPECT_EQ(d.data.scales[0].shift.at(0), static_cast<double>(rows.front()));
  EXPECT_EQ(d.data.scales[0].scale.at(0), static_cast<double>(rows.back() - rows.front()));
}

TEST_F(Load, ATextTargetBecomesClassesOfTheTrainingData) {
  write_file(folder + "/a.csv", "x,kind\n1,dog\n2,cat\n3,dog\n");
  write_file(folder + "/b.csv", "x,kind\n1,cat\n");
  write_file(folder + "/c.csv", "x,kind\n1,cow\n");
  const std::string data = "train = \"a.csv\"\ninputs = { x = \"x\" }\ntarget = { y = \"kind\" }\n";
  const LoadedData d = load(data + "validation = \"b.csv\"\n", nn::TargetKind::classes);
  EXPECT_EQ(d.classes, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(d.data.train.data["y"].int_at(0), 1);
  EXPECT_EQ(d.data.validation->data["y"].int_at(0), 0);
  EXPECT_NE(message(data + "validation = \"c.csv\"\n", nn::TargetKind::classes).find("cow"),
            std::string::npos);
}

TEST_F(Load, AFieldOfItsOwnMustBeAnArray) {
  write_file(folder + "/x.csv", "a\n1\n");
  write("y.npy", counting(DType::f32, {1}));
  EXPECT_NE(message("inputs = { x = \"x.csv\" }\ntarget = { y = \"y.npy\" }\n").find("must be NPY or IDX"),
            std::string::npos);
  EXPECT_NE(
      message("inputs = { y = \"y.npy\" }\ntarget = { y = \"y.npy\" }\n").find("has the name of an input"),
      std::string::npos);
}

}  // namespace
}  // namespace tightloop::train
