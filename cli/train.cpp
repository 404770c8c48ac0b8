// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "report.h"

#include <fmt/format.h>

namespace tightloop::cli {
namespace {

struct Arguments {
  JobArguments job;
  bool quiet = false;
  bool verify = false;
};

constexpr std::int64_t kVerifySteps = 3;

void run(const Arguments& a) {
  const train::Job job = a.job.load();
  train::PreparedJob prepared = train::prepare(job);
  warn_of(prepared.data.notes);
  Report report(prepared.metric_names, a.quiet);
  if (a.verify) {
    prepared.options.verify_steps = kVerifySteps;
    report.verifying(kVerifySteps);
  }
  if (!a.quiet) say(idle_text(prepared));
  catch_interrupt();
  const train::History history = train::run_job(prepared, job.output.directory, &report);
  report.finish(history, job.output.directory);
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("train", "Train a job and write its run directory");
  const auto a = std::make_shared<Arguments>();
  a->job.add_to(*command);
  command->add_flag("--quiet", a->quiet, "Print errors only");
  command->add_flag("--verify", a->verify,
                    "Run the first steps beside the interpreter and compare every tensor");
  command->footer("Example: tightloop train job.toml --set train.epochs=3 --out quick");
  command->callback([&action, a] { action = [a] { run(*a); }; });
}

}  // namespace tightloop::cli
