// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <tightloop/train/plan.h>

#include <fmt/format.h>

namespace tightloop::cli {
namespace {

void print_inputs(const train::PreparedJob& p) {
  for (const auto& [name, type] : p.data.model_inputs()) fmt::print("{:<20} {}\n", name, to_string(type));
  fmt::print("{:<20} {}\n", "output", to_string(p.model->output()));
}

void print_memory(const train::MemoryPlan& plan) {
  fmt::print("training data        {:>14} bytes\n", plan.data);
  fmt::print("states               {:>14} bytes  parameters, optimizer, sums\n", plan.states);
  fmt::print("states kept          {:>14} bytes  the last good ones\n", plan.kept);
  fmt::print("temporaries          {:>14} bytes  of a step and of an evaluation\n", plan.temporaries);
  fmt::print("total                {:>14} bytes  ({})\n", plan.total(), bytes_text(plan.total()));
}

void run(const JobArguments& a) {
  const train::Job job = a.load();
  train::PreparedJob prepared = train::prepare(job);
  const train::MemoryPlan plan = train::plan_memory(prepared);
  fmt::print("{}\n", train::to_toml(job));
  print_inputs(prepared);
  fmt::print("\n{}\n", prepared.model->summary());
  fmt::print("{} training rows, {} validation rows, {} steps an epoch\n\n", prepared.data.data.train.count(),
             prepared.data.data.validation ? prepared.data.data.validation->count() : 0,
             plan.steps_per_epoch);
  print_memory(plan);
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Validate a job; print it in full, its layers and the memory it takes");
  const auto a = std::make_shared<JobArguments>();
  a->add_to(*command);
  command->footer("Example: tightloop check job.toml --set data.batch=512");
  command->callback([&action, a] { action = [a] { run(*a); }; });
}

}  // namespace tightloop::cli
