// SPDX-License-Identifier: Apache-2.0
// Files that change while they are trained on.
#include <tests/support/files.h>

#include <tightloop/data/csv.h>
#include <tightloop/data/csv_records.h>
#include <tightloop/io/npy.h>
#include <tightloop/train/job_run.h>
#include <tightloop/train/load.h>

#include <unistd.h>
#include <functional>

namespace tightloop::train {
namespace {

using testing::TempDir;

constexpr std::int64_t kRows = 4096;

const char* const kJob = R"job(
[data]
inputs = { x = "x.npy" }
target = { y = "y.npy" }
batch = 512
[model]
forward = "y = linear(x, 1)"
[train]
epochs = 50
loss = "mse"
)job";

Array ones(std::vector<std::int64_t> dims) {
  Array a(DType::f32, std::move(dims));
  for (float& v : a.as<float>()) v = 1;
  return a;
}

/// Does something once, at the end of the third epoch.
struct Meanwhile : Observer {
  explicit Meanwhile(std::function<void()> what) : what_(std::move(what)) {}
  void epoch(const EpochRecord& e) override {
    epochs = e.epoch;
    if (e.epoch == 3) what_();
  }
  std::int64_t epochs = 0;
  std::function<void()> what_;
};

struct ChangedFiles : ::testing::Test {
  TempDir dir;
  PreparedJob prepared(const std::vector<std::string>& changes = {}) const {
    io::write_npy(dir / "x.npy", ones({kRows, 8}));
    io::write_npy(dir / "y.npy", ones({kRows, 1}));
    Job job = parse_job(kJob, "job.toml", changes);
    job.folder = dir.path();
    return prepare(job);
  }
};

TEST_F(ChangedFiles, OneThatBecomesShorterEndsARunThatStreamsIt) {
  PreparedJob p = prepared({"data.memory=stream"});
  ASSERT_TRUE(p.data.data.train.is_stream());
  Meanwhile observer([&] { EXPECT_EQ(::truncate((dir / "x.npy").c_str(), 0), 0); });
  EXPECT_ERROR(run_job(p, dir / "run", &observer), "x.npy' changed while it was read");
}

TEST_F(ChangedFiles, OneThatBecomesShorterEndsTheRun) {
  PreparedJob p = prepared();
  Meanwhile observer([&] { EXPECT_EQ(::truncate((dir / "x.npy").c_str(), 4096), 0); });
  EXPECT_ERROR(run_job(p, dir / "run", &observer),
               "x.npy' changed while it was read: it had 131200 bytes and now has 4096");
  EXPECT_EQ(observer.epochs, 3);
}

TEST_F(ChangedFiles, OneThatIsWrittenToDoesToo) {
  PreparedJob p = prepared();
  Meanwhile observer([&] { io::write_npy(dir / "copy", ones({kRows, 1})); });
  run_job(p, dir / "run", &observer);
  EXPECT_EQ(observer.epochs, 50);
  PreparedJob again = prepared();
  Meanwhile other([&] {
    testing::put(dir / "y.npy", testing::content_of(dir / "copy"));
    std::filesystem::last_write_time(dir / "y.npy", std::filesystem::file_time_type());
  });
  EXPECT_ERROR(run_job(again, dir / "run2", &other), "y.npy' changed while it was read: it was written to");
}

TEST_F(ChangedFiles, OneThatAnotherTakesThePlaceOfDoesNot) {
  PreparedJob p = prepared();
  Meanwhile observer([&] { io::write_npy(dir / "x.npy", ones({2, 1})); });
  run_job(p, dir / "run", &observer);
  EXPECT_EQ(observer.epochs, 50);
}

TEST_F(ChangedFiles, PredictionsOfSuchAFileAreNone) {
  PreparedJob p = prepared();
  run_job(p, dir / "run", nullptr);
  const TrainedModel trained = read_trained(dir / "run");
  const DataPart part = load_other_part(trained.run.job, trained.target, {dir / "x.npy"}, {}, false);
  EXPECT_EQ(::truncate((dir / "x.npy").c_str(), 200), 0);
  EXPECT_ERROR(Trainer(p.options).predict(p.model->model(), part, {}), "x.npy' changed while it was read");
}

TEST_F(ChangedFiles, TablesThatBecomeShorterWhileTheyAreParsed) {
  std::string text = "a,b\n";
  while (text.size() < 200000) text += "1,2\n";
  const auto path = testing::put(dir / "a.csv", text);
  const auto csv = data::CsvFile::open(path);
  const auto cut = [&](const data::CsvRow& row) {
    if (row.number != 100) return;
    EXPECT_EQ(::truncate(path.c_str(), 5000), 0);
  };
  EXPECT_ERROR(csv.for_each_row(cut), "a.csv' changed while it was read");
  EXPECT_ERROR(csv.column("a", DType::f32), "a.csv' changed while it was read");
}

}  // namespace
}  // namespace tightloop::train
