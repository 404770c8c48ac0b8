// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the subcommands share. Each adds itself to the application and says what to run when it is chosen.
#include <tightloop/train/job_run.h>

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tightloop::cli {

/// Set by the subcommand that the command line chose; gives the exit status.
using Action = std::function<int()>;

/// Exit status of a training that was interrupted and can go on by --resume (EX_TEMPFAIL of sysexits.h).
inline constexpr int kResumable = 75;

void add_train(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_evaluate(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_pack(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_find_rate(CLI::App& app, Action& action);
void add_replay(CLI::App& app, Action& action);
void add_profile(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);

/// The job file and the options that change it.
struct JobArguments {
  std::string file;
  std::vector<std::string> sets;
  std::string out;
  std::string threads;
  std::string seed;

  void add_to(CLI::App& command);
  train::Job load() const;
  /// What the options change, as texts behind --set; --out is not among them.
  std::vector<std::string> overrides() const;
};

/// From now on Ctrl-C, a request to terminate, SIGUSR1 and a closed terminal ask the run to end; a second one
/// ends the process. A reader of the output who goes away does not end the run.
void catch_interrupt();
bool interrupted();

/// Seconds since the process began, the loading of libraries included.
double process_seconds();
/// Called first in main().
void note_start();

/// Writes to the standard output. That it could not be written is said when the command ends, so that it does
/// not end a training.
void say(const std::string& text);

/// "1 step", "2 steps"
std::string count_text(std::int64_t count, const std::string& thing);
/// "1.5 MB"
std::string bytes_text(std::size_t bytes);

}  // namespace tightloop::cli
