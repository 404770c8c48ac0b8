// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tightloop::cli {
namespace {

struct Arguments {
  std::string run;
  std::vector<std::string> data;
  bool json = false;
};

/// The validation part of the job where there is one, else its training data as an evaluation sees them.
train::DataPart own_data(const train::TrainedModel& trained) {
  train::LoadedData loaded = train::load_data(trained.run.job, trained.target);
  if (loaded.data.validation) return std::move(*loaded.data.validation);
  if (loaded.data.train.is_stream())
    return train::load_other_part(trained.run.job, trained.target,
                                  {train::resolve(trained.run.job, trained.run.job.data.train)},
                                  trained.run.classes, true);
  loaded.data.train.transforms = std::move(loaded.evaluation);
  return std::move(loaded.data.train);
}

void run(const Arguments& a) {
  train::TrainedModel trained = train::read_trained(a.run);
  const train::DataPart part = a.data.empty() ? own_data(trained)
                                              : train::load_other_part(trained.run.job, trained.target,
                                                                       a.data, trained.run.classes, true);
  train::make_model(trained, part);
  train::Trainer trainer(trained.options, trained.metrics);
  const train::Evaluation e = trainer.evaluate(trained.model->model(), trained.loss, part, trained.run.scales,
                                               trained.run.job.data.target[0].name);
  warn_of(e.skipped);
  const std::int64_t rows = part.count() - static_cast<std::int64_t>(e.skipped.size());
  if (!a.json) {
    say(fmt::format("{}  ({})\n", evaluation_text(e, trained.metric_names), count_text(rows, "row")));
    return;
  }
  nlohmann::ordered_json out{{"loss", e.loss}, {"rows", rows}};
  for (std::size_t i = 0; i < trained.metric_names.size(); ++i) out[trained.metric_names[i]] = e.metrics[i];
  say(out.dump() + "\n");
}

}  // namespace

void add_evaluate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("evaluate", "Loss and metrics of a trained run");
  const auto a = std::make_shared<Arguments>();
  command->add_option("run", a->run, "The run directory")->required()->type_name("RUN");
  command
      ->add_option("--data", a->data,
                   "A CSV file, a folder, tar shards, or name=file for each field; the job's own validation "
                   "data if left out")
      ->type_name("DATA");
  command->add_flag("--json", a->json, "Print one JSON object");
  command->footer("Example: tightloop evaluate run --data test.csv");
  command->callback([&action, a] { action = [a] { return run(*a), 0; }; });
}

}  // namespace tightloop::cli
