// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/doctor/doctor.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>

namespace tightloop::train {
namespace {

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GB", 1e-9 * static_cast<double>(bytes));
}
std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", 1e-6 * static_cast<double>(bytes));
}

/// One after the other, what they find.
class Examination {
 public:
  Examination(const MachineFacts& facts, const Probed& probed) : f_(facts), p_(probed) {}

  std::vector<Symptom> run(const std::optional<Measured>& measured) {
    cores();
    openmp();
    siblings();
    vectors();
    tiles();
    memory();
    nodes();
    pages();
    governor();
    load();
    if (measured) rates(*measured);
    gpus();
    versions();
    cache();
    return std::move(out_);
  }

 private:
  void add(std::string what, Health health, std::string found, std::string advice = "") {
    out_.push_back({std::move(what), health, std::move(found), std::move(advice)});
  }

  int cpus() const { return f_.allowed > 0 ? f_.allowed : f_.online; }

  void cores() {
    const int all = f_.online, mine = cpus();
    if (mine == 0)
      return add("cores", Health::note, fmt::format("{} usable; the system does not say more", p_.usable));
    if (f_.granted && *f_.granted < mine)
      return add(
          "cores", Health::warn,
          fmt::format("a container's limit grants {:.3g} of {} CPUs", *f_.granted, mine),
          fmt::format(
              "threads beyond it are stopped again and again; give the container more (docker run --cpus, "
              "resources.limits.cpu), or take --threads {}",
              std::max(1, static_cast<int>(*f_.granted))));
    if (mine < all)
      return add("cores", Health::warn, fmt::format("bound to {} of {} CPUs", mine, all),
                 "widen the affinity if that is not meant: taskset -c, Slurm's --cpus-per-task, docker's "
                 "--cpuset-cpus");
    add("cores", Health::ok,
        fmt::format("{} of {} CPUs usable{}", mine, mine, f_.cpu.empty() ? "" : " (" + f_.cpu + ")"));
  }

  void openmp() {
    if (p_.omp_num_threads.empty()) return;
    const bool fewer = cpus() > 0 && p_.usable < cpus() && (!f_.granted || p_.usable < *f_.granted);
    add("OMP_NUM_THREADS", fewer ? Health::warn : Health::ok, p_.omp_num_threads,
        fewer ? fmt::format("limits training to {} thread(s); unset it unless that is meant", p_.usable)
              : "");
  }

  void siblings() {
    if (f_.threads_per_core == 0) return;
    if (f_.threads_per_core == 1) return add("threads a core", Health::ok, "1");
    add("threads a core", Health::note,
        fmt::format("{}: {} CPUs are {} cores", f_.threads_per_core, f_.online,
                    f_.online / f_.threads_per_core),
        "matrix products gain little from a core's second thread; where steps waver, bind one thread to each "
        "core "
        "(OMP_PLACES=cores OMP_PROC_BIND=close)");
  }

  void vectors() {
    static constexpr std::array<std::string_view, 12> kKnown = {
        "avx2",  "fma",     "avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16",
        "asimd", "asimddp", "fphp",    "sve",         "bf16",        "i8mm"};
    if (f_.features.empty())
      return add("vector units", Health::note, "unknown: the system lists no features");
    std::string found;
    for (const auto feature : kKnown)
      if (f_.has(feature)) found += (found.empty() ? "" : " ") + std::string(feature);
    const bool wide = f_.has("avx2") || f_.has("asimd");
    add("vector units", wide ? Health::ok : Health::warn, found.empty() ? "none beyond SSE2" : found,
        wide ? "" : "a virtual machine may hide them: choose the host's CPU model (for instance -cpu host)");
  }

  void tiles() {
    if (!f_.has("amx_tile")) return;
    const std::string kinds =
        fmt::format("{}{}", f_.has("amx_bf16") ? " bf16" : "", f_.has("amx_int8") ? " int8" : "");
    if (!p_.amx_permitted || *p_.amx_permitted) return add("AMX", Health::ok, "permitted:" + kinds);
    add("AMX", Health::warn,
        "the CPU has it (" + kinds.substr(std::min<std::size_t>(1, kinds.size())) +
            "), the kernel refuses it",
        "needs Linux 5.16 or newer, and a container whose seccomp profile lets arch_prctl through; without "
        "it bf16 and "
        "int8 products take many times as long");
  }

  void memory() {
    if (f_.memory == 0) return add("memory", Health::note, "unknown: /proc/meminfo cannot be read");
    std::uint64_t free = f_.memory_available;
    std::string found = fmt::format("{}, {} available", gigabytes(f_.memory), gigabytes(free));
    if (f_.memory_limit) {
      const std::uint64_t used = std::min(f_.memory_used.value_or(0), *f_.memory_limit);
      free = std::min(free, *f_.memory_limit - used);
      found +=
          fmt::format("; a container's limit of {} leaves {}", gigabytes(*f_.memory_limit), gigabytes(free));
    }
    const std::uint64_t all = f_.memory_limit.value_or(f_.memory),
                        swapped = f_.swap - std::min(f_.swap, f_.swap_free);
    if (swapped > 0) found += fmt::format("; {} swapped out", gigabytes(swapped));
    const bool scarce = 10 * free < all;
    add("memory", scarce ? Health::warn : Health::ok, found,
        scarce ? "end what holds it, or take smaller batches (tightloop check JOB --largest-batch)" : "");
  }

  void nodes() {
    if (f_.memory_nodes < 2) return;
    add("memory nodes", Health::note,
        fmt::format("{}: a CPU reads the others' memory more slowly", f_.memory_nodes),
        "keep small jobs on one: numactl --cpunodebind=0 --membind=0 tightloop train …");
  }

  void pages() {
    if (f_.huge_pages.empty()) return;
    const bool never = f_.huge_pages == "never";
    add("huge pages", never ? Health::warn : Health::ok, f_.huge_pages,
        never ? "large arrays cost more misses of the address cache: echo madvise | sudo tee "
                "/sys/kernel/mm/transparent_hugepage/enabled"
              : "");
  }

  void governor() {
    if (f_.governors.empty())
      return add("frequency", Health::note, "the governor cannot be seen, as is usual in virtual machines");
    std::string found;
    int slow = 0;
    for (const auto& [name, count] : f_.governors) {
      found += fmt::format("{}{} on {} CPUs", found.empty() ? "" : ", ", name, count);
      if (name == "powersave" || name == "conservative") slow += count;
    }
    add("frequency", slow > 0 ? Health::warn : Health::ok, found,
        slow > 0 ? "short steps may run at a low clock: sudo cpupower frequency-set -g performance" : "");
  }

  void load() {
    if (!f_.load) return;
    const int mine = std::max(1, cpus());
    const bool busy = *f_.load > 0.5 * mine || f_.waiting.value_or(0) > 0.2;
    std::string found =
        fmt::format("{:.2f} processes on average over the last minute, on {} CPUs", *f_.load, mine);
    if (f_.waiting) found += fmt::format("; {:.0f} % of it some waited for a CPU", 100 * *f_.waiting);
    add("other load", busy ? Health::warn : Health::ok, found,
        busy ? "times waver, and threads that wait for each other suffer most: end what else runs (top), or "
               "take fewer "
               "threads"
             : "");
  }

  void rates(const Measured& m) {
    for (std::size_t i = 0; i < m.peaks.size(); ++i) {
      const TypePeak& one = m.peaks[i];
      std::string found =
          fmt::format("{:.0f} {} with 1 thread", one.gflops, one.type == "i8" ? "GOP/s" : "GFLOP/s");
      bool shared = false;
      if (i < m.all_peaks.size()) {
        const double all = m.all_peaks[i].gflops;
        found += fmt::format(", {:.0f} with {}", all, m.threads);
        shared = all < 0.6 * m.threads * one.gflops;
      }
      add(fmt::format("{} peak ({})", one.type, one.units), shared ? Health::note : Health::ok, found,
          shared ? "the threads do not add up: they share cores or the clock, or others run beside them"
                 : "");
    }
    std::string found = fmt::format("{:.1f} GB/s read with 1 thread", m.bandwidth);
    if (m.all_bandwidth > 0) found += fmt::format(", {:.1f} with {}", m.all_bandwidth, m.threads);
    add("memory bandwidth", Health::ok, found);
  }

  void gpus() {
    if (f_.gpus.empty()) return add("GPU", Health::ok, "none");
    for (const Gpu& gpu : f_.gpus)
      add("GPU", Health::note,
          fmt::format("{}, {}", gpu.name, gpu.driver.empty() ? "no driver loaded" : "driver " + gpu.driver),
          "this version trains on the CPU alone");
  }

  void versions() { add("libraries", Health::ok, fmt::format("LLVM {}, oneDNN {}", p_.llvm, p_.onednn)); }

  void cache() {
    if (!p_.cache.usable)
      return add(
          "code cache", Health::warn, p_.cache.path + " cannot be used",
          "every run compiles anew: make it a folder that you alone can write to, or set XDG_CACHE_HOME");
    add("code cache", Health::ok,
        fmt::format("{}: {} of at most {}", p_.cache.path, megabytes(p_.cache.bytes),
                    megabytes(p_.cache.most)));
  }

  const MachineFacts& f_;
  const Probed& p_;
  std::vector<Symptom> out_;
};

}  // namespace

std::string_view name(Health health) {
  static constexpr std::array<std::string_view, 3> kNames = {"ok", "note", "warn"};
  return kNames[static_cast<std::size_t>(health)];
}

std::vector<Symptom> examine(const MachineFacts& facts, const Probed& probed,
                             const std::optional<Measured>& measured) {
  return Examination(facts, probed).run(measured);
}

std::string findings_text(const std::vector<Symptom>& findings) {
  std::size_t width = 0;
  for (const Symptom& f : findings) width = std::max(width, f.what.size());
  std::string out;
  for (const Symptom& f : findings) {
    out += fmt::format("{:<4}  {:<{}}  {}\n", name(f.health), f.what, width, f.found);
    if (!f.advice.empty()) out += fmt::format("{:<{}}  -> {}\n", "", width + 6, f.advice);
  }
  return out;
}

}  // namespace tightloop::train
