// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "describe.h"
#include "report.h"

#include <tightloop/data/shards.h>
#include <tightloop/train/check_run.h>
#include <tightloop/train/plan.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tightloop::cli {
namespace {

struct Arguments {
  JobArguments job;
  bool largest = false;
  std::uint64_t memory = 0;
  CLI::Option* memory_given = nullptr;
};

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
  if (plan.copies > 0)
    say(fmt::format("copies               {:>14} bytes  checkpoints, averages, what waits for the loggers\n",
                    plan.copies));
  say(fmt::format("program              {:>14} bytes  code, libraries and the compiler, as measured here\n",
                  plan.program));
  say(fmt::format("total                {:>14} bytes  ({})\n", plan.total(), bytes_text(plan.total())));
  if (plan.recomputed > 0)
    say(fmt::format("computed again       {:>14.1f} %      of a step's arithmetic\n", 100 * plan.recomputed));
}

/// The table that the rows come from, when it is one.
void print_table(const train::Job& job) {
  const std::string path = train::resolve(job, job.data.train);
  if (path.empty() || data::is_shards(path) || std::filesystem::is_directory(path)) return;
  const data::Source source = train::open_source(path, train::source_options(job));
  if (source.table() != nullptr) say(fmt::format("{}: {}\n", path, text_of(source)));
}

/// The powers of two up to the first whose plan does not fit, and the largest batch whose plan does.
void print_batches(train::PreparedJob& prepared, std::size_t memory, bool given) {
  const train::MemoryPlanner planner(prepared);
  const std::string what = fmt::format("{}{}", bytes_text(memory), given ? "" : " that are free");
  const std::int64_t largest = planner.largest_batch(memory);
  if (largest == 0)
    throw Error(fmt::format("not even a batch of one row fits into {}: the plan takes {}", what,
                            bytes_text(planner.at(1).total())));
  say(fmt::format("{:>12} {:>20} {:>20}\n", "batch", "temporaries, bytes", "in all, bytes"));
  bool fits = true;
  for (std::int64_t batch = 1; fits && batch < 2 * planner.rows(); batch *= 2) {
    const std::int64_t rows = std::min(batch, planner.rows());
    const train::MemoryPlan plan = planner.at(rows);
    fits = plan.total() <= memory;
    say(fmt::format("{:>12} {:>20} {:>20}{}\n", rows, plan.temporaries, plan.total(),
                    fits ? "" : "  too much"));
  }
  say(fmt::format("largest batch {} in {}{}\n", largest, what,
                  largest == planner.rows() ? " (all training rows)" : ""));
}

int run(const Arguments& a) {
  if (a.memory_given->count() > 0 && !a.largest)
    throw Error("--memory says what --largest-batch may take; write both");
  const train::Job job = a.job.load();
  const std::size_t memory = a.memory_given->count() > 0 ? a.memory : train::free_memory();
  train::PreparedJob prepared = train::prepare(job);
  train::check_run(prepared);
  if (a.largest) return print_batches(prepared, memory, a.memory_given->count() > 0), 0;
  warn_of(prepared.data.notes);
  const train::MemoryPlan plan = train::plan_memory(prepared);
  say(train::to_toml(prepared.memory.empty() ? job : prepared.job) + "\n");
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
  if (!prepared.memory.empty()) say(prepared.memory + "\n");
  return 0;
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Validate a job; print it in full, its layers and the memory it takes");
  const auto a = std::make_shared<Arguments>();
  a->job.add_to(*command);
  command->add_flag("--largest-batch", a->largest,
                    "Only say which is the largest batch whose memory plan fits");
  a->memory_given =
      command->add_option("--memory", a->memory, "What it may take, such as 2GB; what is free if left out")
          ->type_name("BYTES")
          ->transform(CLI::AsSizeValue(true))
          ->transform(CLI::Validator(
              [](const std::string& s) {
                return s.starts_with('-') ? "must not be negative, but is " + s : std::string();
              },
              ""));
  command->footer("Example: tightloop check job.toml --set data.batch=512");
  command->callback([&action, a] { action = [a] { return run(*a); }; });
}

}  // namespace tightloop::cli
