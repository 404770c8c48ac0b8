// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <fmt/format.h>

#include <cstdio>
#include <new>

namespace {

constexpr const char* kExamples = R"(Examples:
  tightloop train job.toml                           train, and write the run directory
  tightloop train job.toml --set train.epochs=3 --out quick
  tightloop train job.toml --resume                  go on with what was interrupted
  tightloop inspect train.csv                        what a file of data holds
  tightloop check job.toml                           look before training
  tightloop evaluate run --data test.csv             loss and metrics on other data
  tightloop predict run new.csv -o predictions.csv
  tightloop bench job.toml --json                    how fast a step is, and what share of this machine that is
  tightloop find-rate job.toml                       which learning rate to take
  tightloop replay run --step 57                     one step of a run again, in detail
  tightloop profile job.toml                         where the time goes, and what to do about it
  tightloop explain job.toml                         what the compiler made of the step
  tightloop pack photos -o photos.npy                decode a folder of images once
  tightloop tune job.toml --time 60s                 which settings make the job faster
  tightloop doctor                                   what of this machine costs speed
  tightloop compare run quick                        runs beside each other, in compare.html

Exit status: 0 done, 75 a training was interrupted and can go on by --resume, 2 something in the job or the
data is wrong, 1 a fault of tightloop.
The job file is described key by key in docs/job.md.
)";

int report(int status, const std::string& text) {
  fmt::print(stderr, "tightloop: {}\n", text);
  return status;
}

std::string problem(const CLI::App& app, const CLI::ParseError& e) {
  const auto rest = app.remaining();
  if (!app.get_subcommands().empty() || rest.empty()) return e.what();
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return (rest[0].starts_with('-') ? "unknown option '" : "unknown subcommand '") + rest[0] + "'" +
         tightloop::suggestion(rest[0], names);
}

int run(int argc, char** argv) {
  CLI::App app("Trains neural networks as one compiled loop.", "tightloop");
  app.set_version_flag("--version", "tightloop " TIGHTLOOP_VERSION);
  app.footer(kExamples);
  app.require_subcommand(1);
  tightloop::cli::Action action;
  tightloop::cli::add_train(app, action);
  tightloop::cli::add_check(app, action);
  tightloop::cli::add_evaluate(app, action);
  tightloop::cli::add_predict(app, action);
  tightloop::cli::add_bench(app, action);
  tightloop::cli::add_inspect(app, action);
  tightloop::cli::add_pack(app, action);
  tightloop::cli::add_compare(app, action);
  tightloop::cli::add_find_rate(app, action);
  tightloop::cli::add_replay(app, action);
  tightloop::cli::add_profile(app, action);
  tightloop::cli::add_explain(app, action);
  tightloop::cli::add_doctor(app, action);
  tightloop::cli::add_tune(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);
  } catch (const CLI::ParseError& e) {
    return report(2, problem(app, e) + "\nTry: tightloop --help");
  }
  const int status = action();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return report(2, "the standard output could not be written in full (is its disk full, its reader gone?)");
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  tightloop::cli::note_start();
  try {
    return run(argc, argv);
  } catch (const tightloop::Error& e) {
    return report(2, e.what());
  } catch (const std::bad_alloc&) {
    return report(2, "not enough memory for this job");
  } catch (const std::exception& e) {
    return report(
        1, std::string(e.what()) + "\nThis is a fault of tightloop; please report it with the job file.");
  }
}
