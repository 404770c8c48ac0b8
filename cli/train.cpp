// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "report.h"
#include "series.h"

#include <fmt/format.h>

namespace tightloop::cli {
namespace {

struct Arguments {
  JobArguments job;
  bool quiet = false;
  bool verify = false;
  bool try_it = false;
  bool profile = false;
  CLI::Option* resume_given = nullptr;
  std::string resume;
};

constexpr std::int64_t kVerifySteps = 3;

int try_it(train::PreparedJob& prepared, bool quiet) {
  const train::History history = train::try_job(prepared, nullptr);
  const train::EpochRecord& e = history.epochs.front();
  if (quiet) return 0;
  say(fmt::format("train loss {:.6g}\n", e.train_loss));
  if (e.validation) say("validation " + evaluation_text(*e.validation, prepared.metric_names) + "\n");
  say("one batch of everything went well; nothing was written\n");
  return 0;
}

std::string resume_of(const Arguments& a) {
  if (a.resume_given->count() == 0) return "";
  if (a.resume.ends_with(".toml"))
    throw Error("--resume takes last, best or a checkpoint, not " + a.resume + ": write the job first");
  return a.resume.empty() ? "last" : a.resume;
}

/// Says how far the data are while they are made.
struct Loading : train::Observer {
  bool quiet = false;
  void note(const std::string& text) override {
    if (!quiet) say(text + "\n");
  }
};

int run(const Arguments& a) {
  const std::string resume = resume_of(a);
  JobArguments arguments = a.job;
  if (a.profile) arguments.sets.insert(arguments.sets.begin(), "train.profile=true");
  const train::Job job = arguments.load();
  if (train::is_series(job) && !a.try_it) {
    if (!resume.empty() && resume != "last")
      throw Error(fmt::format(
          "--resume {}: several runs go on with the next that is missing; write --resume alone", resume));
    return run_series(job, !resume.empty(), a.verify ? kVerifySteps : 0, a.quiet);
  }
  Loading loading;
  loading.quiet = a.quiet;
  train::PreparedJob prepared = train::prepare(job, &loading);
  warn_of(prepared.data.notes);
  Report report(prepared.metric_names, a.quiet);
  for (const auto& note : prepared.notes) report.note(note);
  if (!prepared.memory.empty()) report.note(prepared.memory);
  if (a.verify) {
    prepared.options.verify_steps = kVerifySteps;
    report.verifying(kVerifySteps);
  }
  if (!a.quiet) say(idle_text(prepared));
  if (a.try_it) return try_it(prepared, a.quiet);
  catch_interrupt();
  const train::History history = train::run_job(prepared, job.output.directory, &report, resume);
  report.finish(history, job.output.directory);
  if (!history.stopped || !train::can_resume(job)) return 0;
  report.note("go on with it by the same command with --resume");
  return kResumable;
}

}  // namespace

void add_train(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("train", "Train a job and write its run directory");
  const auto a = std::make_shared<Arguments>();
  a->job.add_to(*command);
  a->resume_given = command
                        ->add_option("--resume", a->resume,
                                     "Go on from a checkpoint of the run: last (if left out), best or a file")
                        ->type_name("[WHICH]")
                        ->expected(0, 1);
  command->add_flag("--quiet", a->quiet, "Print errors only");
  command->add_flag("--verify", a->verify,
                    "Run the first steps beside the interpreter and compare every tensor");
  command->add_flag(
      "--fast-dev-run", a->try_it,
      "One batch of training and one of validation, to see whether the job works; writes nothing");
  command->add_flag(
      "--profile", a->profile,
      "Show where the time of some steps goes: profile.html and trace.json in the run directory");
  command->footer("Example: tightloop train job.toml --set train.epochs=3 --out quick");
  command->callback([&action, a] { action = [a] { return run(*a); }; });
}

}  // namespace tightloop::cli
