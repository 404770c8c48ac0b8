// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <tightloop/train/bench.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <fstream>

namespace tightloop::cli {
namespace {

struct Arguments {
  JobArguments job;
  bool json = false;
  double seconds = 1.5;
};

/// The most memory that the process held, in bytes.
std::size_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

nlohmann::ordered_json to_json(const train::BenchResult& r, double first_step_ms) {
  return {{"us_per_step", r.us_per_step},
          {"steps", r.steps},
          {"compile_ms", r.compile_ms},
          {"cached", r.cached},
          {"first_step_ms", first_step_ms},
          {"samples_per_s", r.samples_per_s},
          {"gflops", r.gflops},
          {"peak_gflops", r.peak_gflops},
          {"peak_share", r.gflops / r.peak_gflops},
          {"threads", r.threads},
          {"planned_bytes", r.planned_bytes},
          {"peak_bytes", peak_bytes()}};
}

void print(const nlohmann::ordered_json& r) {
  say(fmt::format("compile          {:10.2f} ms{}\n", r["compile_ms"].get<double>(),
                  r["cached"].get<bool>() ? "  (from the cache)" : ""));
  say(fmt::format("first step       {:10.2f} ms after the start of the process\n",
                  r["first_step_ms"].get<double>()));
  say(fmt::format("step             {:10.3f} us  (median; {} steps)\n", r["us_per_step"].get<double>(),
                  r["steps"].get<std::int64_t>()));
  say(fmt::format("samples          {:10.0f} a second\n", r["samples_per_s"].get<double>()));
  say(fmt::format("arithmetic       {:10.2f} GFLOP/s, {:.1f} % of this machine's {:.1f} with {} thread(s)\n",
                  r["gflops"].get<double>(), 100 * r["peak_share"].get<double>(),
                  r["peak_gflops"].get<double>(), r["threads"].get<int>()));
  say(fmt::format("memory           {:>10} planned, {} held by the process at most\n",
                  bytes_text(r["planned_bytes"].get<std::size_t>()),
                  bytes_text(r["peak_bytes"].get<std::size_t>())));
}

void run(const Arguments& a) {
  train::PreparedJob prepared = train::prepare(a.job.load());
  double first_step_ms = 0;
  const auto first_step = [&] { first_step_ms = 1e3 * process_seconds(); };
  const train::BenchResult measured = train::bench(prepared, a.seconds, first_step);
  const nlohmann::ordered_json result = to_json(measured, first_step_ms);
  if (a.json)
    say(result.dump() + "\n");
  else
    print(result);
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("bench", "Time a job's step; nothing is written");
  const auto a = std::make_shared<Arguments>();
  a->job.add_to(*command);
  command->add_flag("--json", a->json, "Print one JSON object");
  command->add_option("--seconds", a->seconds, "How long to measure: 0.05 to 600")
      ->type_name("S")
      ->check([](const std::string& text) {
        double s = 0;
        const bool fits = CLI::detail::lexical_cast(text, s) && s >= 0.05 && s <= 600;
        return std::string(fits ? "" : "must be a number from 0.05 to 600");
      });
  command->footer("Example: tightloop bench job.toml --json");
  command->callback([&action, a] { action = [a] { return run(*a), 0; }; });
}

}  // namespace tightloop::cli
