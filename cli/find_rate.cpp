// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "report.h"

#include <tightloop/base/file.h>
#include <tightloop/train/find_rate.h>

#include <fmt/format.h>

#include <algorithm>

namespace tightloop::cli {
namespace {

struct Arguments {
  JobArguments job;
  train::RateSearch search;
  std::string output;
  CLI::Option* output_given = nullptr;
};

/// Twenty lines at most: the rate, the smoothed loss, and a bar of its size.
std::string table(const train::RateResult& result) {
  constexpr std::size_t most = 20;
  constexpr double width = 40;
  double low = result.points.front().smoothed, high = low;
  for (const auto& p : result.points) low = std::min(low, p.smoothed), high = std::max(high, p.smoothed);
  const std::size_t every = (result.points.size() + most - 1) / most;
  std::string out = fmt::format("{:>12} {:>12}\n", "rate", "loss");
  for (std::size_t i = 0; i < result.points.size(); i += every) {
    const train::RatePoint& p = result.points[i];
    const double share = high > low ? (p.smoothed - low) / (high - low) : 0;
    out += fmt::format("{:>12.3g} {:>12.6g}  {}\n", p.rate, p.smoothed,
                       std::string(1 + static_cast<std::size_t>(share * width), '#'));
  }
  return out;
}

/// Before the search, so that it is not in vain.
void check_output(const Arguments& a) {
  if (a.output_given->count() > 0 && !a.output.ends_with(".csv") && !a.output.ends_with(".svg"))
    throw Error(fmt::format("-o {}: the search is written as .csv or .svg", a.output));
}

int run(const Arguments& a) {
  check_output(a);
  train::PreparedJob prepared = train::prepare(a.job.load());
  warn_of(prepared.data.notes);
  const train::RateResult result =
      train::find_rate(prepared.model->model(), prepared.loss, *prepared.optimizer, prepared.data.data,
                       prepared.options, a.search);
  if (result.points.empty())
    throw Error(fmt::format(
        "find-rate: the loss is not finite at the first rate, {}; take a lower one by --low", a.search.low));
  say(table(result));
  if (result.stopped)
    say(fmt::format("ended at {:.3g}, where the loss had run away\n", result.points.back().rate));
  if (a.output_given->count() > 0)
    write_file(a.output, a.output.ends_with(".csv") ? to_csv(result) : to_svg(result));
  if (!result.suggestion) {
    say("no clear suggestion: the loss does not fall by more than its batches differ; take more --steps, a "
        "higher "
        "--high, or larger batches\n");
    return 0;
  }
  say(fmt::format("suggested lr = {:.3g}, where the loss falls most steeply\n", *result.suggestion));
  return 0;
}

}  // namespace

void add_find_rate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "find-rate", "Let the learning rate grow from step to step and say where the loss falls most");
  const auto a = std::make_shared<Arguments>();
  a->job.add_to(*command);
  command->add_option("--low", a->search.low, "The first step's rate, 1e-8 if left out")->type_name("RATE");
  command->add_option("--high", a->search.high, "The last step's rate, 1 if left out")->type_name("RATE");
  command->add_option("--steps", a->search.steps, "Updates, 100 if left out")->type_name("N");
  command
      ->add_option("--stop-at", a->search.stop_at,
                   "Ends when the smoothed loss is so many times the lowest, 4 if left out; 0: never")
      ->type_name("FACTOR");
  a->output_given =
      command->add_option("-o", a->output, "Writes all points (.csv) or a drawing (.svg)")->type_name("FILE");
  command->footer("Example: tightloop find-rate job.toml -o rates.svg");
  command->callback([&action, a] { action = [a] { return run(*a); }; });
}

}  // namespace tightloop::cli
