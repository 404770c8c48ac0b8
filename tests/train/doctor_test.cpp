// SPDX-License-Identifier: Apache-2.0
// The doctor before machines that are trees of files.
#include <tests/support/files.h>
#include <tightloop/train/doctor/doctor.h>

#include <algorithm>

namespace tightloop::train {
namespace {

/// A machine as it should be, whose files can be changed or taken away.
class FakeMachine {
 public:
  FakeMachine() {
    file("/proc/cpuinfo",
         "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu avx2 fma avx512f amx_tile amx_bf16\n");
    file("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3\n");
    file("/proc/self/cgroup", "0::/\n");
    file("/proc/meminfo",
         "MemTotal:  16000000 kB\nMemAvailable:  12000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    file("/proc/loadavg", "0.20 0.10 0.05 1/200 4242\n");
    file("/proc/pressure/cpu", "some avg10=0.00 avg60=1.50 avg300=0.00 total=1\n");
    file("/sys/devices/system/cpu/online", "0-3\n");
    file("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0\n");
    for (const char* cpu : {"cpu0", "cpu1", "cpu2", "cpu3"})
      file("/sys/devices/system/cpu/" + std::string(cpu) + "/cpufreq/scaling_governor", "performance\n");
    file("/sys/devices/system/node/node0/cpulist", "0-3\n");
    file("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  }
  void file(const std::string& path, const std::string& text) {
    const std::string full = folder_.path() + path;
    std::filesystem::create_directories(std::filesystem::path(full).parent_path());
    testing::put(full, text);
  }
  MachineFacts facts() const { return read_machine(folder_.path()); }

 private:
  testing::TempDir folder_;
};

Probed healthy() {
  return {.amx_permitted = true,
          .usable = 4,
          .omp_num_threads = "",
          .cache = {"/home/me/.cache/tightloop", true, 5000000, 256000000},
          .llvm = "19.1.4",
          .onednn = "2.6.3"};
}

const Symptom& finding(const std::vector<Symptom>& list, const std::string& what) {
  for (const Symptom& f : list)
    if (f.what == what) return f;
  throw std::runtime_error("no finding " + what);
}

std::vector<std::string> warnings(const std::vector<Symptom>& list) {
  std::vector<std::string> out;
  for (const Symptom& f : list)
    if (f.health == Health::warn) {
      out.push_back(f.what);
      EXPECT_FALSE(f.advice.empty()) << f.what << " says not what to do";
    }
  return out;
}

using Names = std::vector<std::string>;

TEST(Doctor, AGoodMachineHasNoWarnings) {
  const FakeMachine machine;
  const auto found = examine(machine.facts(), healthy());
  EXPECT_EQ(warnings(found), Names{});
  EXPECT_EQ(finding(found, "cores").found, "4 of 4 CPUs usable (Some CPU)");
  EXPECT_EQ(finding(found, "vector units").found, "avx2 fma avx512f");
  EXPECT_EQ(finding(found, "AMX").found, "permitted: bf16");
  EXPECT_EQ(finding(found, "memory").found, "16.4 GB, 12.3 GB available");
  EXPECT_EQ(finding(found, "frequency").found, "performance on 4 CPUs");
  EXPECT_EQ(finding(found, "libraries").found, "LLVM 19.1.4, oneDNN 2.6.3");
  EXPECT_EQ(finding(found, "code cache").found, "/home/me/.cache/tightloop: 5.0 MB of at most 256.0 MB");
  EXPECT_EQ(finding(found, "GPU").found, "none");
}

TEST(Doctor, AContainerWithALimitOfCpus) {
  FakeMachine machine;
  machine.file("/proc/self/cgroup", "0::/job\n");
  machine.file("/sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  machine.file("/sys/fs/cgroup/memory.max", "2000000000\n");
  machine.file("/sys/fs/cgroup/memory.current", "1900000000\n");
  const auto found = examine(machine.facts(), healthy());
  EXPECT_EQ(warnings(found), (Names{"cores", "memory"}));
  EXPECT_EQ(finding(found, "cores").found, "a container's limit grants 1.5 of 4 CPUs");
  EXPECT_NE(finding(found, "cores").advice.find("--threads 1"), std::string::npos);
  EXPECT_NE(finding(found, "memory").found.find("a container's limit of 2.0 GB leaves 0.1 GB"),
            std::string::npos);
}

TEST(Doctor, PowersaveIsNamed) {
  FakeMachine machine;
  machine.file("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
  const auto found = examine(machine.facts(), healthy());
  EXPECT_EQ(warnings(found), Names{"frequency"});
  EXPECT_EQ(finding(found, "frequency").found, "performance on 3 CPUs, powersave on 1 CPUs");
}

TEST(Doctor, HugePagesThatAreOff) {
  FakeMachine machine;
  machine.file("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  EXPECT_EQ(warnings(examine(machine.facts(), healthy())), Names{"huge pages"});
}

TEST(Doctor, AmxThatTheKernelRefuses) {
  const FakeMachine machine;
  Probed probed = healthy();
  probed.amx_permitted = false;
  const auto found = examine(machine.facts(), probed);
  EXPECT_EQ(warnings(found), Names{"AMX"});
  EXPECT_NE(finding(found, "AMX").advice.find("seccomp"), std::string::npos);
}

TEST(Doctor, ABusyMachine) {
  FakeMachine machine;
  machine.file("/proc/loadavg", "3.70 3.10 2.05 5/200 4242\n");
  EXPECT_EQ(warnings(examine(machine.facts(), healthy())), Names{"other load"});
  machine.file("/proc/loadavg", "0.10 3.10 2.05 5/200 4242\n");
  machine.file("/proc/pressure/cpu", "some avg10=0.00 avg60=45.00 avg300=0.00 total=1\n");
  const auto found = examine(machine.facts(), healthy());
  EXPECT_EQ(warnings(found), Names{"other load"});
  EXPECT_NE(finding(found, "other load").found.find("45 %"), std::string::npos);
}

TEST(Doctor, AffinityThreadsOfACoreAndMemoryNodes) {
  FakeMachine machine;
  machine.file("/proc/self/status", "Cpus_allowed_list:\t0,2\n");
  machine.file("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0-1\n");
  machine.file("/sys/devices/system/node/node1/cpulist", "\n");
  const auto found = examine(machine.facts(), healthy());
  EXPECT_EQ(warnings(found), Names{"cores"});
  EXPECT_EQ(finding(found, "cores").found, "bound to 2 of 4 CPUs");
  EXPECT_EQ(finding(found, "threads a core").found, "2: 4 CPUs are 2 cores");
  EXPECT_EQ(finding(found, "memory nodes").health, Health::note);
}

TEST(Doctor, OpenMpIsLimitedByTheEnvironment) {
  const FakeMachine machine;
  Probed probed = healthy();
  probed.omp_num_threads = "1", probed.usable = 1;
  EXPECT_EQ(warnings(examine(machine.facts(), probed)), Names{"OMP_NUM_THREADS"});
  probed.omp_num_threads = "4", probed.usable = 4;
  EXPECT_EQ(warnings(examine(machine.facts(), probed)), Names{});
}

TEST(Doctor, ACacheThatCannotBeUsed) {
  const FakeMachine machine;
  Probed probed = healthy();
  probed.cache.usable = false;
  EXPECT_EQ(warnings(examine(machine.facts(), probed)), Names{"code cache"});
}

TEST(Doctor, Gpus) {
  FakeMachine machine;
  machine.file("/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  machine.file("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  EXPECT_EQ(finding(examine(machine.facts(), healthy()), "GPU").found, "NVIDIA, no driver loaded");
  machine.file("/proc/driver/nvidia/version",
               "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue\nGCC version: x\n");
  machine.file("/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 1\n");
  EXPECT_EQ(finding(examine(machine.facts(), healthy()), "GPU").found,
            "NVIDIA H200, driver NVIDIA 550.54.15");
}

TEST(Doctor, AMachineThatSaysNothing) {
  const testing::TempDir empty;
  const MachineFacts facts = read_machine(empty.path());
  EXPECT_EQ(facts.online, 0);
  const auto found = examine(facts, healthy());
  EXPECT_EQ(warnings(found), Names{});
  EXPECT_EQ(finding(found, "memory").health, Health::note);
}

TEST(Doctor, FilesOfNonsenseAreLikeMissingOnes) {
  FakeMachine machine;
  for (const char* path :
       {"/proc/cpuinfo", "/proc/self/status", "/proc/self/cgroup", "/proc/meminfo", "/proc/loadavg",
        "/proc/pressure/cpu", "/sys/devices/system/cpu/online", "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/cpu.max", "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
        "/sys/kernel/mm/transparent_hugepage/enabled", "/proc/driver/nvidia/version"})
    machine.file(path, std::string("]\0-,:[\xff-9999999999999999999999\n:", 31));
  EXPECT_NO_THROW(examine(machine.facts(), healthy()));
}

TEST(Doctor, ListsOfCpus) {
  EXPECT_EQ(count_cpus("0"), 1);
  EXPECT_EQ(count_cpus("0-3,8,10-11"), 7);
  EXPECT_EQ(count_cpus(""), 0);
  for (const char* bad : {"a", "3-1", "0-", "-1", "0-99999999999", "1,,2"})
    EXPECT_EQ(count_cpus(bad), 0) << bad;
}

TEST(Doctor, MeasuredRatesAreShown) {
  const FakeMachine machine;
  const Measured measured{.threads = 4,
                          .peaks = {{"f32", "AVX-512", 100}, {"i8", "AMX", 900}},
                          .all_peaks = {{"f32", "AVX-512", 390}, {"i8", "AMX", 1000}},
                          .bandwidth = 12.5,
                          .all_bandwidth = 40};
  const auto found = examine(machine.facts(), healthy(), measured);
  EXPECT_EQ(finding(found, "f32 peak (AVX-512)").found, "100 GFLOP/s with 1 thread, 390 with 4");
  EXPECT_EQ(finding(found, "f32 peak (AVX-512)").health, Health::ok);
  EXPECT_EQ(finding(found, "i8 peak (AMX)").health, Health::note);
  EXPECT_EQ(finding(found, "memory bandwidth").found, "12.5 GB/s read with 1 thread, 40.0 with 4");
}

TEST(Doctor, TheMachineAtHandIsMeasured) {
  const MachineFacts facts = read_machine();
  const Measured m = measure_machine(facts, 2);
  ASSERT_GE(m.peaks.size(), 2u);
  for (const TypePeak& p : m.peaks) EXPECT_GT(p.gflops, 0.01) << p.type;
  EXPECT_EQ(m.peaks.size(), m.all_peaks.size());
  EXPECT_GT(m.bandwidth, 0.01);
  EXPECT_FALSE(findings_text(examine(facts, probe(), m)).empty());
}

}  // namespace
}  // namespace tightloop::train
