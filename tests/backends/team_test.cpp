// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <omp.h>
#include <tightloop/backends/cpu/runtime/cores.h>
#include <tightloop/backends/cpu/runtime/flush_denormals.h>
#include <tightloop/backends/cpu/runtime/team.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

namespace fs = std::filesystem;
using namespace tightloop::backends::cpu;

namespace {

class TeamSize : public testing::TestWithParam<int> {};

// Each phase writes a slot and, behind the barrier, reads all slots of that phase: a barrier that lets one
// thread through early shows as a stale number.
int stale_reads(int threads, int phases) {
  Team team;
  std::vector<int> slots(threads, -1);
  std::atomic<int> stale{0};
  auto body = [&](int thread, int given) {
    for (int phase = 0; phase < phases; ++phase) {
      slots[thread] = phase;
      team.barrier().wait(thread);
      for (int i = 0; i < given; ++i)
        if (slots[i] != phase) ++stale;
      team.barrier().wait(thread);
    }
  };
  team.run(threads, body);
  return stale;
}

TEST_P(TeamSize, CallsEachThreadOnce) {
  Team team;
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<int> calls(GetParam(), 0);
    auto body = [&](int thread, int threads) {
      EXPECT_EQ(threads, GetParam());
      ++calls[thread];
    };
    team.run(GetParam(), body);
    EXPECT_EQ(calls, std::vector<int>(GetParam(), 1));
  }
}

// More threads than cores are here on purpose: waiting must not starve who is waited for.
TEST_P(TeamSize, BarrierLetsNobodyThroughEarly) { EXPECT_EQ(stale_reads(GetParam(), 300), 0); }

INSTANTIATE_TEST_SUITE_P(Sizes, TeamSize, testing::Values(1, 2, 3, 4, 5, 8, 17));

TEST(Team, SizesMayChangeBetweenRuns) {
  Team team;
  for (const int threads : {3, 1, 2, 5, 2}) {
    std::atomic<int> sum{0};
    auto body = [&](int thread, int) {
      for (int i = 0; i < 5; ++i) {
        team.barrier().wait(thread);
        ++sum;
      }
    };
    team.run(threads, body);
    EXPECT_EQ(sum, 5 * threads);
  }
}

TEST(Team, InsideAParallelRegionRunsWithTheThreadsItGets) {
  std::atomic<int> wrong{0}, bodies{0};
#pragma omp parallel num_threads(2)
  {
    Team team;
    auto body = [&](int thread, int threads) {
      if (threads != 1 || thread != 0) ++wrong;
      team.barrier().wait(thread);
      ++bodies;
    };
    team.run(4, body);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(bodies, 2);
}

TEST(Barrier, WakesASleeper) {
  Barrier barrier(2);
  std::atomic<int> passed{0};
  std::thread sleeper([&] {
    for (int i = 0; i < 3; ++i) barrier.wait(0), ++passed;
  });
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(passed, i);
    barrier.wait(1);
    while (passed != i + 1) std::this_thread::yield();
  }
  sleeper.join();
}

TEST(FlushDenormals, FlushesAndRestores) {
  volatile float tiny = 1e-39f, one = 1;
  EXPECT_NE(tiny * one, 0.0f);
#if defined(__x86_64__) || defined(__aarch64__)
  {
    const FlushDenormals flush;
    const FlushDenormals nested;
    EXPECT_EQ(tiny * one, 0.0f);
  }
#endif
  EXPECT_NE(tiny * one, 0.0f);
}

class Groups : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("groups-" + std::to_string(::getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  int cores(const char* membership) { return quota_cores(membership, root_.string()); }

 private:
  fs::path root_;
};

TEST_F(Groups, NoFilesMeanNoLimit) {
  EXPECT_EQ(cores("0::/\n"), 0);
  EXPECT_EQ(cores(""), 0);
  EXPECT_EQ(cores("nonsense"), 0);
}

TEST_F(Groups, Version2) {
  put("job/cpu.max", "250000 100000\n");
  EXPECT_EQ(cores("0::/job\n"), 2);
  put("job/cpu.max", "max 100000\n");
  EXPECT_EQ(cores("0::/job\n"), 0);
  put("job/cpu.max", "5000 100000\n");
  EXPECT_EQ(cores("0::/job\n"), 1);
}

TEST_F(Groups, AParentLimits) {
  put("user/cpu.max", "300000 100000\n");
  put("user/job/cpu.max", "800000 100000\n");
  EXPECT_EQ(cores("0::/user/job\n"), 3);
}

TEST_F(Groups, Version1) {
  put("cpu/cpu.cfs_quota_us", "-1\n");
  put("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores("3:cpuset:/\n1:cpu:/\n0::/\n"), 0);
  put("cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n");
  put("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores("4:cpu,cpuacct:/job\n"), 4);
  EXPECT_EQ(cores("4:cpuacct,cpuset:/job\n"), 0);
}

TEST_F(Groups, AGroupThatOnlyTheHostKnowsMeansTheRoot) {
  put("cpu/cpu.cfs_quota_us", "100000");
  put("cpu/cpu.cfs_period_us", "50000");
  EXPECT_EQ(cores("1:cpu:/docker/0123\n"), 2);
}

TEST(AvailableCores, AtLeastOneAndNoMoreThanTheMachine) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_LE(available_cores(), static_cast<int>(std::thread::hardware_concurrency()));
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  EXPECT_EQ(available_cores(), 1);
  omp_set_num_threads(before);
}

}  // namespace
