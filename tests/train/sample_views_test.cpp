// SPDX-License-Identifier: Apache-2.0
// Splits, folds and samplers of samples that are made one by one.
#include <tests/support/files.h>
#include <tests/support/tar.h>

#include <tightloop/data/split.h>
#include <tightloop/io/npy.h>
#include <tightloop/train/job_run.h>

#include <filesystem>
#include <map>
#include <set>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

const std::string kImages = "inputs = { image = \"image\" }\ntarget = { kind = \"class\" }\n";
const std::string kRows =
    "inputs = { image = \"x.npy\" }\ntarget = { kind = \"k.npy\" }\nmemory = \"stream\"\n";

struct SampleViews : ::testing::Test {
  testing::TempDir dir;

  /// 9 images of class a, 3 of class b.
  void images() const {
    for (int i = 0; i < 12; ++i) {
      const std::string folder = dir / (i < 9 ? "set/a" : "set/b");
      fs::create_directories(folder);
      fs::copy_file(testing::fixture("images/colour.png"), folder + "/" + std::to_string(i) + ".png");
    }
  }
  /// The same as rows of NPY files, with a group of three rows each and a time that falls.
  void rows() const {
    Array x(DType::f32, {12, 4}), k(DType::i64, {12}), g(DType::i64, {12}), t(DType::f64, {12});
    for (std::int64_t i = 0; i < 12; ++i) k.set(i, i < 9 ? 0 : 1), g.set(i, i / 3), t.set(i, -i);
    io::write_npy(dir / "x.npy", x);
    io::write_npy(dir / "k.npy", k);
    io::write_npy(dir / "g.npy", g);
    io::write_npy(dir / "t.npy", t);
  }
  Job job(const std::string& data) const {
    Job j = parse_job("[data]\n" + data +
                          "batch = 4\n[model]\nforward = \"y = linear(flatten(image), 2)\"\n[train]\nloss = "
                          "\"cross_entropy\"\nepochs = 2\nbackend = \"reference\"\n",
                      "job.toml");
    j.folder = dir.path();
    return j;
  }
  LoadedData load(const std::string& data) const { return load_data(job(data), nn::TargetKind::classes); }
};

std::vector<std::int64_t> rows_of(const LoadedData& d) { return d.data.validation->rows; }

std::int64_t from(const std::vector<std::int64_t>& rows, std::int64_t first) {
  return std::count_if(rows.begin(), rows.end(), [&](std::int64_t r) { return r >= first; });
}

TEST_F(SampleViews, ClassesKeepTheirSharesInStreamsAndInMemory) {
  images();
  std::vector<std::vector<std::int64_t>> all;
  for (const char* memory : {"stream", "resident"}) {
    const LoadedData d = load("train = \"set\"\nmemory = \"" + std::string(memory) +
                              "\"\nvalidation = 0.34\nsplit = { method = \"stratified\" }\n" + kImages);
    EXPECT_EQ(rows_of(d).size(), 4u) << memory;
    EXPECT_EQ(from(rows_of(d), 9), 1) << memory;
    EXPECT_EQ(d.split.method, "stratified");
    all.push_back(rows_of(d));
  }
  EXPECT_EQ(all[0], all[1]);
}

TEST_F(SampleViews, FoldsCoverEverySampleOnce) {
  images();
  for (const char* memory : {"stream", "resident"}) {
    std::multiset<std::int64_t> seen;
    for (int f = 0; f < 3; ++f) {
      const LoadedData d = load("train = \"set\"\nmemory = \"" + std::string(memory) +
                                "\"\nfold = { k = 3, index = " + std::to_string(f) +
                                " }\nsplit = { method = \"stratified\", column = \"kind\" }\n" + kImages);
      EXPECT_EQ(from(rows_of(d), 9), 1) << memory;
      EXPECT_EQ(d.data.train.rows.size() + rows_of(d).size(), 12u);
      EXPECT_EQ(d.split.folds, 3);
      const auto held = rows_of(d);
      seen.insert(held.begin(), held.end());
    }
    EXPECT_EQ(seen.size(), 12u) << memory;
    EXPECT_EQ(std::set<std::int64_t>(seen.begin(), seen.end()).size(), 12u) << memory;
  }
}

TEST_F(SampleViews, BalancedSamplingDrawsTheRareClassAsOften) {
  images();
  const LoadedData d = load("train = \"set\"\nmemory = \"stream\"\nsampler = \"balanced\"\n" + kImages);
  ASSERT_EQ(d.data.train.weighted.size(), 12u);
  Sampling s{.rows = 12, .batch = 4, .shuffle = true, .seed = 1};
  s.data_rows = 12;
  s.weighted = d.data.train.weighted.data();
  data::Loader loader(d.data.train.samples, s, {.workers = 0});
  std::int64_t rare = 0;
  constexpr std::int64_t kSteps = 300;
  for (std::int64_t step = 0; step < kSteps; ++step)
    for (std::int64_t i = 0; i < 4; ++i) rare += loader.at(step).fields[1].int_at(i);
  EXPECT_NEAR(static_cast<double>(rare) / (4 * kSteps), 0.5, 0.06);  // 4 standard deviations
}

TEST_F(SampleViews, RowsOfFilesAreSplitByGroupAndTimeAndDrawnByWeight) {
  rows();
  const LoadedData group =
      load("validation = 0.25\nsplit = { method = \"group\", column = \"g.npy\" }\n" + kRows);
  ASSERT_TRUE(group.data.train.is_stream());
  ASSERT_EQ(rows_of(group).size(), 3u);
  EXPECT_EQ(rows_of(group)[0] / 3, rows_of(group)[2] / 3);
  const LoadedData time =
      load("validation = 0.25\nsplit = { method = \"time\", column = \"t.npy\" }\n" + kRows);
  EXPECT_EQ(rows_of(time), (std::vector<std::int64_t>{0, 1, 2}));
  const LoadedData strata = load("validation = 0.34\nsplit = { method = \"stratified\" }\n" + kRows);
  EXPECT_EQ(from(rows_of(strata), 9), 1);
  EXPECT_EQ(
      load("sampler = { name = \"weighted\", column = \"g.npy\" }\n" + kRows).data.train.weighted.size(),
      12u);
  EXPECT_EQ(load("sampler = \"balanced\"\n" + kRows).data.train.weighted.size(), 12u);
  EXPECT_ERROR(load("validation = 0.25\nsplit = { method = \"group\", column = \"h.npy\" }\n" + kRows),
               "there is no field 'h.npy', and no file ");
}

TEST_F(SampleViews, AStreamTrainsOnADrawnAndSplitPart) {
  images();
  PreparedJob p =
      prepare(job("train = \"set\"\nmemory = \"stream\"\nsampler = \"balanced\"\nvalidation = 0.34\n"
                  "split = { method = \"stratified\" }\n" +
                  kImages));
  const History h = run_job(p, dir / "run", nullptr);
  EXPECT_EQ(h.epochs.size(), 2u);
  EXPECT_TRUE(h.epochs.back().validation.has_value());
}

TEST_F(SampleViews, WhatOnlyDecodingWouldShowIsRefused) {
  images();
  const std::string stream = "train = \"set\"\nmemory = \"stream\"\n" + kImages;
  EXPECT_ERROR(
      load(stream + "sampler = { name = \"weighted\", column = \"w\" }\n"),
      "'w' of each sample must be known before they are made; of images and shards only the class can be");
  std::string tar;
  const std::string png = testing::content_of(testing::fixture("images/colour.png"));
  for (int i = 0; i < 6; ++i) {
    const std::string name = "s" + std::to_string(i);
    tar += testing::tar_entry(name + ".png", png) + testing::tar_entry(name + ".cls", std::to_string(i % 2));
  }
  testing::put(dir / "set.tar", tar + std::string(1024, '\0'));
  const std::string shards = "train = \"set.tar\"\n" + kImages + "sampler = \"balanced\"\n";
  EXPECT_ERROR(load(shards + "memory = \"stream\"\n"),
               "of tar shards it is not: make them one array by tightloop pack");
  EXPECT_EQ(load(shards).data.train.weighted.size(), 6u);
}

}  // namespace
}  // namespace tightloop::train
