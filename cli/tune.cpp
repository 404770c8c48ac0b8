// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "report.h"

#include <tightloop/base/file.h>
#include <tightloop/engine/machine.h>
#include <tightloop/train/callbacks/max_time.h>
#include <tightloop/train/doctor/machine_facts.h>
#include <tightloop/train/plan.h>
#include <tightloop/train/tune/job_measurer.h>
#include <tightloop/train/tune/moves/index.h>
#include <tightloop/train/tune/tune_report.h>
#include <tightloop/train/tune/tuned_job.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tightloop::cli {
namespace {

namespace fs = std::filesystem;
namespace tune = train::tune;
using Json = nlohmann::ordered_json;

struct Arguments {
  JobArguments job;
  std::string time = "60s";
  std::vector<std::string> moves;
  std::string output, page;
  tune::TuneOptions options;
  bool json = false, force = false;
};

/// Beside the job, from where its paths start.
std::string beside(const Arguments& a, const std::string& name) {
  return (fs::path(a.job.file).parent_path() / name).string();
}

/// Before the search, so that it is not in vain.
void check_outputs(const Arguments& a) {
  std::error_code ec;
  const auto folder = [&](const std::string& file) {
    return fs::weakly_canonical(fs::absolute(file), ec).parent_path();
  };
  if (folder(a.output) != folder(a.job.file))
    throw Error(fmt::format("-o {}: the tuned job must lie beside {}, as its paths start there", a.output,
                            a.job.file));
  if (fs::equivalent(a.output, a.job.file, ec))
    throw Error(fmt::format("-o {}: is the job itself", a.output));
  for (const auto& file : {a.output, a.page})
    if (!a.force && fs::exists(file, ec))
      throw Error(fmt::format("{}: is there already; give another name, or --force to replace it", file));
}

tune::GivenJob read_job(const Arguments& a) {
  a.job.load();  // with its messages
  std::ifstream in(a.job.file, std::ios::binary);
  tune::GivenJob out{{std::istreambuf_iterator<char>(in), {}},
                     a.job.file,
                     fs::path(a.job.file).parent_path().string(),
                     a.job.overrides()};
  if (!train::can_resume(out.with({})))
    throw Error(fmt::format(
        "tune: {} looks at all rows for each step of its own length; there is nothing to tune by trials",
        out.with({}).train.optimizer.name));
  return out;
}

Json to_json(const tune::Interval& i) {
  return {{"middle", i.middle}, {"low", i.low}, {"high", i.high}, {"coverage", i.coverage}};
}

Json to_json(const tune::Outcome& o) {
  Json out{{"move", o.move}, {"how", o.label}, {"settings", o.sets}};
  if (o.gain) out["gain"] = to_json(*o.gain), out["pairs"] = o.pairs;
  if (o.memory) out["memory"] = *o.memory;
  if (o.loss) out["loss"] = *o.loss;
  out["taken"] = o.taken, out["why"] = o.why;
  return out;
}

Json to_json(const tune::TuneResult& r) {
  Json out{
      {"seconds_per_sample", r.seconds_per_sample}, {"memory", r.memory}, {"interrupted", r.interrupted}};
  if (r.loss) out["loss"] = *r.loss, out["allowance"] = r.allowance;
  if (r.confirmed) out["confirmed"] = to_json(*r.confirmed);
  if (r.tuned_memory) out["tuned_memory"] = *r.tuned_memory;
  if (r.tuned_loss) out["tuned_loss"] = *r.tuned_loss;
  out["taken"] = r.taken;
  Json moves = Json::array();
  for (const auto& o : r.outcomes) moves.push_back(to_json(o));
  out["moves"] = std::move(moves);
  out["seconds"] = r.seconds, out["ending"] = r.ending;
  return out;
}

/// The text of the tuned job; "" when nothing was taken.
std::string tuned_text(const Arguments& a, const tune::GivenJob& job, const tune::TuneResult& r) {
  if (r.taken.empty()) return "";
  tune::Settings all = job.given;
  all.insert(all.end(), r.taken.begin(), r.taken.end());
  return fmt::format("# {} made by tightloop tune: {}.\n", fs::path(a.job.file).filename().string(),
                     r.ending) +
         tune::with_settings(job.text, job.source, all);
}

tune::TuneResult search(const Arguments& a, tune::JobMeasurer& measurer, const tune::GivenJob& given,
                        const std::vector<const tune::MoveDef*>& moves) {
  train::PreparedJob prepared = measurer.prepared(given.with({}));
  warn_of(prepared.data.notes);
  const tune::Situation situation{prepared.job, prepared, available_cores(), train::free_memory(),
                                  train::read_machine().features};
  const auto progressed = [&](const std::string& line) {
    if (!a.json) fmt::print(stderr, "{}\n", line);
  };
  return tune::search(tune::proposals(moves, situation), measurer, a.options, progressed);
}

int run(Arguments a) {
  if (a.output.empty()) a.output = beside(a, "tuned.toml");
  if (a.page.empty()) a.page = beside(a, "tune.html");
  a.options.seconds = train::parse_seconds(a.time);
  const std::vector<const tune::MoveDef*> moves = tune::chosen_moves(a.moves);
  const tune::GivenJob given = read_job(a);
  check_outputs(a);
  catch_interrupt();
  tune::JobMeasurer measurer(given, a.options.seconds / 30, interrupted);
  const tune::TuneResult result = search(a, measurer, given, moves);
  const std::string tuned = tuned_text(a, given, result);
  if (!tuned.empty()) write_file(a.output, tuned);
  write_file(a.page,
             tune::tune_html(result, a.options,
                             {"Tuning of " + a.job.file, tuned, a.output, measurer.loss_samples()}),
             false);
  if (a.json) return say(to_json(result).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"), 0;
  say(train::report::table_text(tune::tune_table(result)) + "\n");
  for (const auto& note : tune::tune_notes(result, a.options, measurer.loss_samples())) say(note + "\n");
  say(fmt::format("\n{}\n", result.ending));
  say(tuned.empty() ? fmt::format("the page is {}\n", a.page)
                    : fmt::format("the job is {}, the page {}\n", a.output, a.page));
  return 0;
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "tune", "Try known accelerations on a job, and write the job with those that make it faster");
  const auto a = std::make_shared<Arguments>();
  a->job.add_to(*command);
  command->add_option("--time", a->time, "How long to search: 90, 60s, 5m; 60s if left out")
      ->type_name("TIME");
  command->add_option("--moves", a->moves, "Only these, such as batch,threads")
      ->type_name("NAMES")
      ->delimiter(',');
  command->add_option("-o,--output", a->output, "The tuned job; tuned.toml beside the job if left out")
      ->type_name("FILE");
  command->add_option("--page", a->page, "The page; tune.html beside the job if left out")->type_name("FILE");
  command->add_option("--band", a->options.band, "A loss may be so much higher, 0.05 if left out: 5 %")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag("--force", a->force, "Replace the files that are there");
  command->add_flag("--json", a->json, "Print one JSON object");
  command->footer("Example: tightloop tune job.toml --time 60s");
  command->callback([&action, a] { action = [a] { return run(*a); }; });
}

}  // namespace tightloop::cli
