// SPDX-License-Identifier: Apache-2.0
// What a training will hold: the plan against the process, and budgets.
#include <tests/support/files.h>
#include <tightloop/train/job_run.h>
#include <tightloop/train/memory_budget.h>

#include <fmt/format.h>
#include <fstream>

namespace tightloop::train {
namespace {

constexpr const char* kJob = R"(seed = 3
[data]
inputs = {{ x = "x.npy" }}
target = {{ y = "y.npy" }}
batch = {}
shuffle = false
[model]
forward = """
{}
"""
[train]
epochs = 2
loss = "mse"
optimizer = {{ name = "adam", lr = 0.001 }}
)";

void write_npy(const std::string& path, std::int64_t rows, std::int64_t columns) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  header += std::string(127 - 10 - header.size(), ' ') + "\n";
  std::ofstream out(path, std::ios::binary);
  out << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size()) << '\0' << header;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const float v = static_cast<float>(i * 37 % 101) / 50 - 1;
    out.write(reinterpret_cast<const char*>(&v), sizeof v);
  }
}

constexpr const char* kDeep =
    "h = gelu(linear(x, 256))\nh = gelu(linear(h, 256))\nh = gelu(linear(h, 256))\nh = gelu(linear(h, 256))\n"
    "h = gelu(linear(h, 256))\nh = gelu(linear(h, 256))\nh = gelu(linear(h, 256))\nh = gelu(linear(h, 256))\n"
    "y = linear(h, 1)";
constexpr const char* kNormalized =
    "h = relu(batch_norm(linear(x, 256)))\nh = relu(batch_norm(linear(h, 256)))\n"
    "h = relu(batch_norm(linear(h, 256)))\ny = linear(h, 1)";

class MemoryJob : public ::testing::Test {
 protected:
  PreparedJob prepared(const char* forward, std::int64_t batch,
                       const std::vector<std::string>& overrides = {}, std::int64_t rows = 0) {
    rows = rows == 0 ? batch : rows;
    if (rows != written_) {  // a job that is there already maps what was written before
      write_npy(folder / "x.npy", rows, 16);
      write_npy(folder / "y.npy", rows, 1);
      written_ = rows;
    }
    testing::put(folder / "job.toml", fmt::format(kJob, batch, forward));
    return prepare(load_job(folder / "job.toml", overrides));
  }
  testing::TempDir folder;

 private:
  std::int64_t written_ = 0;
};

std::string budget(std::size_t bytes) { return fmt::format("train.memory={}", bytes); }

TEST(MemoryBytes, ReadsSizes) {
  EXPECT_EQ(memory_bytes("1500000", "t"), 1500000U);
  EXPECT_EQ(memory_bytes("2GB", "t"), 2000000000U);
  EXPECT_EQ(memory_bytes("1.5 MiB", "t"), 1572864U);
  EXPECT_EQ(memory_bytes("512kB", "t"), 512000U);
  EXPECT_EQ(memory_bytes("50%", "t"), machine_memory() / 2);
  for (const char* bad : {"", "GB", "-1GB", "0", "2XB", "nan", "150%", "1e30GB", "2GBs", "1 2"})
    EXPECT_ERROR(memory_bytes(bad, "train.memory"), "train.memory: '" + std::string(bad) + "' is no amount");
}

TEST_F(MemoryJob, StaysAsItIsWhereThereIsRoom) {
  const PreparedJob job = prepared(kDeep, 4096, {"train.memory=8GB"});
  EXPECT_EQ(job.options.batch, 4096);
  EXPECT_EQ(job.options.update.accumulate, 1);
  EXPECT_EQ(job.options.compile.recompute.what, Recompute::What::nothing);
  EXPECT_EQ(job.options.memory, 0U);
}

TEST_F(MemoryJob, TakesTheCheapestThatFits) {
  PreparedJob plain = prepared(kDeep, 8192);
  const MemoryPlan plan = MemoryPlanner(plain).at(8192);
  const std::size_t tight = plan.total() - plan.temporaries * 3 / 4;
  PreparedJob job = prepared(kDeep, 8192, {budget(tight)});
  EXPECT_LE(MemoryPlanner(job).at(job.options.batch).total(), tight);
  EXPECT_EQ(job.options.batch * job.options.update.accumulate, 8192);
  EXPECT_EQ(job.job.data.batch, job.options.batch);
  EXPECT_EQ(job.job.train.accumulate, job.options.update.accumulate);
  // Written down and read back it is the same training.
  PreparedJob again = prepare(parse_job(to_toml(job.job), "again.toml"));
  EXPECT_EQ(again.options.batch, job.options.batch);
  EXPECT_EQ(again.options.update.accumulate, job.options.update.accumulate);
  EXPECT_EQ(again.options.compile.recompute.what, job.options.compile.recompute.what);
}

TEST_F(MemoryJob, PrefersComputingAgainWhereBatchesNormalize) {
  PreparedJob plain = prepared(kNormalized, 8192),
              blocks = prepared(kNormalized, 8192, {"train.recompute=cheap"});
  const std::size_t all = MemoryPlanner(plain).at(8192).total(),
                    less = MemoryPlanner(blocks).at(8192).total();
  ASSERT_LT(less, all);
  const PreparedJob job = prepared(kNormalized, 8192, {budget((less + all) / 2)});
  EXPECT_NE(job.options.compile.recompute.what, Recompute::What::nothing);
  EXPECT_EQ(job.options.batch, 8192);
}

TEST_F(MemoryJob, SaysTheLeastThatWouldDo) {
  EXPECT_ERROR(prepared(kDeep, 4096, {"train.memory=1MB"}), "at least");
  EXPECT_ERROR(prepared(kDeep, 4096, {"train.memory=lots"}), "train.memory: 'lots' is no amount of memory");
  EXPECT_ERROR(prepared(kDeep, 4096, {"train.memory=-5"}), "train.memory must be bytes");
  EXPECT_ERROR(prepared(kDeep, 4096, {"train.recompute=most"}),
               "must be 'none', 'auto', 'cheap' or 'blocks'");
}

TEST_F(MemoryJob, TrainsLikeTheWholeBatch) {
  PreparedJob plain = prepared(kDeep, 8192, {}, 16384);
  const std::size_t tight = MemoryPlanner(plain).at(2048).total() + (std::size_t{24} << 20);
  PreparedJob job = prepared(kDeep, 8192, {budget(tight), "train.recompute=none"}, 16384);
  ASSERT_LT(job.options.batch, 8192);
  for (PreparedJob* p : {&plain, &job})
    Trainer(p->options, p->metrics).fit(p->model->model(), p->loss, *p->optimizer, p->data.data);
  const Array a = plain.model->state("linear0.weight").array(),
              b = job.model->state("linear0.weight").array();
  for (std::int64_t i = 0; i < a.count(); ++i) EXPECT_NEAR(a.at(i), b.at(i), 1e-4);
}

#if !defined(__SANITIZE_ADDRESS__)
std::size_t peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

/// From now on peak() begins at what is in memory now. False where the system does not allow it.
bool forget_peak() {
  std::ofstream out("/proc/self/clear_refs");
  out << "5" << std::flush;
  return out.good();
}

TEST_F(MemoryJob, IsWhatTheProcessTakes) {
  PreparedJob job = prepared(kDeep, 8192, {"train.max_steps=3"}, 16384);
  const MemoryPlan plan = plan_memory(job);
  if (!forget_peak()) GTEST_SKIP() << "this system does not reset a process's peak";
  const std::size_t before = resident_memory();
  Trainer(job.options, job.metrics).fit(job.model->model(), job.loss, *job.optimizer, job.data.data);
  const double took = static_cast<double>(peak() - before);
  // Data and parameters were there before; the compiler has been here already, for the plan.
  const double planned = static_cast<double>(plan.states + plan.kept + plan.temporaries);
  EXPECT_GT(took, 0.9 * planned);
  EXPECT_LT(took, 1.05 * planned + (40 << 20));
}
#endif

}  // namespace
}  // namespace tightloop::train
