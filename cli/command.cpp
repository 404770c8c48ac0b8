// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <fmt/format.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>

namespace tightloop::cli {
namespace {

volatile std::sig_atomic_t interrupt_flag = 0;

void on_interrupt(int signal) {
  interrupt_flag = 1;
  std::signal(signal, SIG_DFL);
}

std::chrono::steady_clock::time_point process_start;

}  // namespace

void JobArguments::add_to(CLI::App& command) {
  command.add_option("job", file, "The job file")->required()->type_name("JOB");
  command.add_option("--set", sets, "Change a key: --set train.epochs=3")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--threads", threads, "Most threads of the step, as far as they pay; 0: all cores")
      ->type_name("N");
  command.add_option("--seed", seed, "Start of every random draw")->type_name("N");
  command.add_option("--out", out, "Where the run is written")
      ->type_name("DIR")
      ->check([](const std::string& text) { return std::string(text.empty() ? "must name a folder" : ""); });
}

std::vector<std::string> JobArguments::overrides() const {
  std::vector<std::string> out = sets;
  if (!threads.empty()) out.push_back("train.threads=" + threads);
  if (!seed.empty()) out.push_back("seed=" + seed);
  return out;
}

train::Job JobArguments::load() const {
  train::Job job = train::load_job(file, overrides());
  if (!out.empty()) job.output.directory = out;
  return job;
}

void catch_interrupt() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  std::signal(SIGUSR1, on_interrupt);
  if (std::signal(SIGHUP, on_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond its limit is an error of the write
}
bool interrupted() { return interrupt_flag != 0; }

void note_start() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  process_start = std::chrono::steady_clock::now() - std::chrono::seconds(used.tv_sec) -
                  std::chrono::nanoseconds(used.tv_nsec);
}

double process_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - process_start).count();
}

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string count_text(std::int64_t count, const std::string& thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string bytes_text(std::size_t bytes) {
  const double b = static_cast<double>(bytes);
  if (bytes < 10000) return fmt::format("{} B", bytes);
  if (b < 1e6) return fmt::format("{:.1f} kB", b / 1e3);
  return b < 1e9 ? fmt::format("{:.1f} MB", b / 1e6) : fmt::format("{:.2f} GB", b / 1e9);
}

}  // namespace tightloop::cli
