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

/// The validation part of the job where there is one, else its training data.
train::DataPart own_data(const train::TrainedModel& trained) {
  train::LoadedData loaded = train::load_data(trained.run.job, trained.target);
  if (loaded.data.validation) return std::move(*loaded.data.validation);
  loaded.data.train.transforms = train::evaluation_transforms(trained.run.job);
  return std::move(loaded.data.train);
}

void run(const Arguments& a) {
  train::TrainedModel trained = train::read_trained(a.run);
  const train::DataPart part =
      a.data.empty()
          ? own_data(trained)
          : train::other_part(
                trained.run.job, a.data,
                train::load_other(trained.run.job, trained.target, a.data, trained.run.classes, true), true);
  train::make_model(trained, part);
  train::Trainer trainer(trained.options, trained.metrics);
  const train::Evaluation e = trainer.evaluate(trained.model->model(), trained.loss, part, trained.run.scales,
                                               trained.run.job.data.target[0].name);
  if (!a.json) {
    say(fmt::format("{}  ({})\n", evaluation_text(e, trained.metric_names), count_text(part.count(), "row")));
    return;
  }
  nlohmann::ordered_json out{{"loss", e.loss}, {"rows", part.count()}};
  for (std::size_t i = 0; i < trained.metric_names.size(); ++i) out[trained.metric_names[i]] = e.metrics[i];
  say(out.dump() + "\n");
}

}  // namespace

void add_evaluate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("evaluate", "Loss and metrics of a trained run");
  const auto a = std::make_shared<Arguments>();
  command->add_option("run", a->run, "The run directory")->required()->type_name("RUN");
  command
      ->add_option(
          "--data", a->data,
          "A CSV file, a folder, or name=file for each field; the job's own validation data if left out")
      ->type_name("DATA");
  command->add_flag("--json", a->json, "Print one JSON object");
  command->footer("Example: tightloop evaluate run --data test.csv");
  command->callback([&action, a] { action = [a] { return run(*a), 0; }; });
}

}  // namespace tightloop::cli
