// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <tightloop/data/csv.h>
#include <tightloop/io/npy.h>
#include <tightloop/train/load/stream.h>

#include <fmt/format.h>
#include <filesystem>

namespace tightloop::cli {
namespace {

struct Arguments {
  std::string run;
  std::vector<std::string> input;
  std::string out;
};

/// Column `c` of values [rows, columns].
Array column(const Array& values, std::int64_t c, std::int64_t columns) {
  Array out(values.dtype(), {values.dims()[0]});
  for (std::int64_t i = 0; i < out.count(); ++i) out.set(i, values.at(i * columns + c));
  return out;
}

/// `name` as the user finds it: below the folder, or beside the archive, that was given.
std::string shown_name(const std::string& name, const std::string& input) {
  const std::filesystem::path given = std::filesystem::absolute(input);
  for (const std::string& root : {given.string() + "/", given.parent_path().string() + "/"})
    if (name.starts_with(root)) return name.substr(root.size());
  return name;
}

/// A column of files, when that is what the samples are.
data::RowNames files_of(const train::DataPart& part, const std::string& input,
                        const std::map<std::int64_t, std::string>& skipped) {
  data::RowNames out;
  if (!part.is_stream() || part.samples->name(0) == part.samples->Samples::name(0)) return out;
  out.header = "file";
  for (std::int64_t i = 0; i < part.count(); ++i)
    out.names.push_back(shown_name(part.samples->name(i), input));
  for (const auto& [number, what] : skipped) out.gaps.insert(number);
  return out;
}

void write_table(const std::string& path, const Array& values, const std::string& name,
                 const std::vector<std::string>& classes, const data::RowNames& rows) {
  const std::int64_t columns = values.count() / values.dims()[0];
  std::vector<std::string> names;
  std::vector<Array> arrays;
  for (std::int64_t c = 0; c < columns; ++c) {
    const bool named = static_cast<std::int64_t>(classes.size()) == columns;
    names.push_back(columns == 1 ? name
                    : named      ? classes[static_cast<std::size_t>(c)]
                                 : fmt::format("{}{}", name, c));
    arrays.push_back(column(values, c, columns));
  }
  data::write_csv(path, names, arrays, rows);
}

void check_other_file(const Arguments& a) {
  for (const std::string& input : a.input) {
    std::error_code ec;
    const std::string file = std::filesystem::exists(input, ec) ? input : input.substr(input.find('=') + 1);
    if (std::filesystem::equivalent(file, a.out, ec))
      throw Error(a.out + ": is what the predictions are made from; write them to another file");
  }
}

void run(const Arguments& a) {
  const bool npy = a.out.ends_with(".npy");
  if (!npy && !a.out.ends_with(".csv"))
    throw Error(a.out + ": predictions are written as .csv or .npy; choose such a name");
  check_other_file(a);
  train::TrainedModel trained = train::read_trained(a.run);
  const train::DataPart part =
      train::load_other_part(trained.run.job, trained.target, a.input, trained.run.classes, false);
  train::make_model(trained, part);
  std::map<std::int64_t, std::string> skipped;
  const Array values =
      train::Trainer(trained.options).predict(trained.model->model(), part, trained.run.scales, &skipped);
  for (const auto& [number, what] : skipped)
    fmt::print(stderr, "tightloop: warning: no prediction: {}\n", what);
  if (npy)
    io::write_npy(a.out, values);
  else
    write_table(a.out, values, trained.run.job.data.target[0].name, trained.run.classes,
                files_of(part, a.input[0], skipped));
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("predict", "Predictions of a trained run, row by row");
  const auto a = std::make_shared<Arguments>();
  command->add_option("run", a->run, "The run directory")->required()->type_name("RUN");
  command
      ->add_option("input", a->input, "A CSV or NPY file, a folder, tar shards, or name=file for each input")
      ->required()
      ->type_name("INPUT");
  command->add_option("-o,--out", a->out, "Where they go: .csv or .npy")->required()->type_name("OUT");
  command->footer("Example: tightloop predict run new.csv -o predictions.csv");
  command->callback([&action, a] { action = [a] { return run(*a), 0; }; });
}

}  // namespace tightloop::cli
