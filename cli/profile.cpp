// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "report.h"

#include <tightloop/base/file.h>
#include <tightloop/train/profile/outputs.h>
#include <tightloop/train/profile/profiler.h>
#include <tightloop/train/profile/trials.h>

#include <fmt/format.h>

#include <unistd.h>
#include <chrono>
#include <filesystem>
#include <map>

namespace tightloop::cli {
namespace {

struct Arguments {
  JobArguments job;
  std::int64_t steps = 0;
  double seconds = 2;
  std::string by = "kernel", sort = "time", out = "profile";
  int depth = 0, rows = 20;
  bool no_trials = false, json = false;
};

const std::map<std::string, train::ProfileBy> kBy{{"layer", train::ProfileBy::layer},
                                                  {"kernel", train::ProfileBy::kernel},
                                                  {"category", train::ProfileBy::category}};
const std::map<std::string, train::ProfileSort> kSort{
    {"time", train::ProfileSort::time},   {"calls", train::ProfileSort::calls},
    {"flops", train::ProfileSort::flops}, {"bytes", train::ProfileSort::bytes},
    {"name", train::ProfileSort::name},   {"roofline", train::ProfileSort::roofline}};

template <class T>
std::vector<std::string> names(const std::map<std::string, T>& choices) {
  std::vector<std::string> out;
  for (const auto& [name, value] : choices) out.push_back(name);
  return out;
}

/// A folder for what the run writes, gone with it.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "tightloop-profile-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error("profile: no folder can be made in " + name);
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string run() const { return (path_ / "run").string(); }

 private:
  std::filesystem::path path_;
};

/// Ends the run when enough was seen: all steps that were asked for, or so many seconds and a few steps.
class Enough : public train::Observer {
 public:
  Enough(const train::Profiler& profiler, const Arguments& a) : profiler_(profiler), a_(a) {}
  bool stop() override {
    if (interrupted()) return true;
    if (steps_ == 0) return false;
    if (a_.steps > 0) return profiler_.done();
    const double passed = std::chrono::duration<double>(Clock::now() - begun_).count();
    return passed > a_.seconds && (steps_ >= kFewest || passed > 10 * a_.seconds);
  }
  void progress(const train::Progress& p) override {
    if (steps_ == 0) begun_ = Clock::now();
    steps_ = p.step;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t kFewest = 30;
  const train::Profiler& profiler_;
  const Arguments& a_;
  Clock::time_point begun_;
  std::int64_t steps_ = 0;
};

void check(const train::Job& job) {
  if (!train::can_resume(job))
    throw Error("profile: optimizer " + job.train.optimizer.name +
                " searches between its steps, which is not profiled; take another for the profile, such as "
                "--set train.optimizer=adam");
  if (job.train.backend == "reference")
    throw Error("profile: the interpreter has no kernels to profile; write --set train.backend=compiled");
}

train::ProfileSchedule schedule_of(const Arguments& a) {
  constexpr std::int64_t without_end = 1'000'000'000;
  return {.skip_first = 3, .wait = 0, .warmup = 2, .active = a.steps > 0 ? a.steps : without_end};
}

/// The run goes on for as long as it is watched, and callbacks that would end it are left out.
void prepare_run(train::PreparedJob& prepared, std::shared_ptr<train::Profiler> profiler) {
  train::TrainerOptions& o = prepared.options;
  std::erase_if(o.callbacks, [](const auto& c) {
    return c->name() == "early_stopping" || c->name() == "stop_at" || c->name() == "max_time" ||
           c->name() == "profile";
  });
  std::erase_if(prepared.job.train.callbacks, [](const auto& c) { return c.first == "profile"; });
  o.callbacks.push_back(std::move(profiler));
  o.epochs = std::max<std::int64_t>(o.epochs, 1'000'000);
  o.max_steps = 0;
  prepared.job.output.report = false;
}

int run(const Arguments& a) {
  const train::Job job = a.job.load();
  check(job);
  train::PreparedJob prepared = train::prepare(job);
  warn_of(prepared.data.notes);
  const auto profiler = std::make_shared<train::Profiler>(train::ProfilerOptions{.schedule = schedule_of(a)});
  prepare_run(prepared, profiler);
  catch_interrupt();
  {
    const Scratch scratch;
    Enough enough(*profiler, a);
    train::run_job(prepared, scratch.run(), &enough);
  }
  train::Profile profile = profiler->profile();
  if (profile.empty()) throw Error("profile: the run ended before a step could be profiled");
  profile.title = a.job.file;
  if (!a.no_trials && !interrupted()) profile.trials = train::try_changes(prepared, profile);
  train::write_profile(a.out, profile);
  if (a.json) return say(train::profile_json(profile) + "\n"), 0;
  say(train::profile_text(profile, {.by = kBy.at(a.by),
                                    .sort = kSort.at(a.sort),
                                    .depth = a.depth,
                                    .most = static_cast<std::size_t>(a.rows)}));
  say(fmt::format(
      "the page is {0}/profile.html; {0}/trace.json opens in ui.perfetto.dev, {0}/profile.folded in "
      "flame graph tools\n",
      a.out));
  return 0;
}

}  // namespace

void add_profile(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "profile", "Train for a moment and show where the time goes and what to do about it");
  const auto a = std::make_shared<Arguments>();
  a->job.add_to(*command);
  command->remove_option(command->get_option("--out"));
  command->add_option("--out", a->out, "The folder to write to, profile if left out")->type_name("DIR");
  command->add_option("--steps", a->steps, "Profile exactly so many steps")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  command->add_option("--seconds", a->seconds, "Without --steps: how long to train, 2 if left out")
      ->type_name("S")
      ->check(CLI::Range(0.05, 3600.0));
  command->add_option("--by", a->by, "Lines of the table: kernel (if left out), layer or category")
      ->check(CLI::IsMember(names(kBy)));
  command->add_option("--sort", a->sort, "By time (if left out), calls, flops, bytes, roofline or name")
      ->check(CLI::IsMember(names(kSort)));
  command->add_option("--depth", a->depth, "With --by layer: how many parts of a layer's path count; 0: all")
      ->type_name("N")
      ->check(CLI::Range(0, 100));
  command->add_option("--rows", a->rows, "Lines of the table, 20 if left out; 0: all")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000));
  command->add_flag("--json", a->json, "Print one JSON object instead of the table and the verdict");
  command->add_flag("--no-trials", a->no_trials, "Do not try the changes that the verdict may advise");
  command->footer("Example: tightloop profile job.toml --by layer --depth 1");
  command->callback([&action, a] { action = [a] { return run(*a); }; });
}

}  // namespace tightloop::cli
