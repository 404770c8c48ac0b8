// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "describe.h"
#include "report.h"

#include <tightloop/train/plan.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>

#include <filesystem>

namespace tightloop::cli {
namespace {

void print_inputs(const train::PreparedJob& p) {
  for (const auto& [name, type] : p.data.model_inputs())
    say(fmt::format("{:<20} {}\n", name, to_string(type)));
  say(fmt::format("{:<20} {}\n", "output", to_string(p.model->output())));
}

/// What each parameter learns with, when not all learn alike.
void print_groups(const train::PreparedJob& p) {
  if (p.optimizer->groups().empty()) return;
  for (const auto& [path, parameter] : p.model->parameters()) {
    const optim::Membership m = optim::membership(*p.optimizer, path);
    say(fmt::format("{:<20} lr {:<10} weight_decay {:<10} {}\n", path, m.lr, m.weight_decay,
                    m.group == nullptr ? "in no group" : fmt::format("group {}", m.group->pattern)));
  }
  say("\n");
}

void print_memory(const train::MemoryPlan& plan) {
  say(fmt::format("training data        {:>14} bytes\n", plan.data));
  if (plan.batches > 0)
    say(fmt::format("batches ahead        {:>14} bytes  that loader threads fill, at most\n", plan.batches));
  say(fmt::format("states               {:>14} bytes  parameters, buffers, optimizer, sums\n", plan.states));
  say(fmt::format("states kept          {:>14} bytes  the last good ones\n", plan.kept));
  say(fmt::format("temporaries          {:>14} bytes  of a step and of an evaluation\n", plan.temporaries));
  say(fmt::format("total                {:>14} bytes  ({})\n", plan.total(), bytes_text(plan.total())));
}

/// The table that the rows come from, when it is one.
void print_table(const train::Job& job) {
  const std::string path = train::resolve(job, job.data.train);
  if (path.empty() || std::filesystem::is_directory(path)) return;
  const data::Source source = train::open_source(path, train::source_options(job));
  if (source.table() != nullptr) say(fmt::format("{}: {}\n", path, text_of(source)));
}

void run(const JobArguments& a) {
  const train::Job job = a.load();
  train::PreparedJob prepared = train::prepare(job);
  warn_of(prepared.data.notes);
  const train::MemoryPlan plan = train::plan_memory(prepared);
  train::Trainer(prepared.options, prepared.metrics)
      .check(prepared.model->model(), prepared.loss, *prepared.optimizer, prepared.data.data);
  say(train::to_toml(job) + "\n");
  print_inputs(prepared);
  say(fmt::format("\n{}\n", prepared.model->summary()));
  print_groups(prepared);
  say(idle_text(prepared));
  say(fmt::format(
      "{} training rows, {} validation rows, {} steps an epoch\n\n", prepared.data.data.train.count(),
      prepared.data.data.validation ? prepared.data.data.validation->count() : 0, plan.steps_per_epoch));
  say(fields_text(prepared.data) + "\n");
  print_table(job);
  print_memory(plan);
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Validate a job; print it in full, its layers and the memory it takes");
  const auto a = std::make_shared<JobArguments>();
  a->add_to(*command);
  command->footer("Example: tightloop check job.toml --set data.batch=512");
  command->callback([&action, a] { action = [a] { return run(*a), 0; }; });
}

}  // namespace tightloop::cli
