// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/split.h>
#include <tightloop/train/choice.h>
#include <tightloop/train/load/parts.h>
#include <tightloop/train/read_batch.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

data::Transforms transforms_of(const std::vector<Choice>& list) {
  data::Transforms out;
  for (const Choice& given : list) {
    Choice c = given;
    std::string input;
    if (const Value* named = c.options.find("input")) {
      if (named->as<std::string>() == nullptr) wrong(*named, "the name of an input");
      input = *named->as<std::string>();
    }
    std::erase_if(*c.options.as<Value::Table>(), [](const auto& entry) { return entry.first == "input"; });
    out.add(c.name, to_options(c.options), input, c.where);
  }
  return out;
}

/// A weight for each row of the part.
std::vector<double> sampler_weights(const Job& job, const LoadedData& loaded, const ColumnOf& column_of) {
  const Choice& sampler = job.data.sampler;
  const DataPart& part = loaded.data.train;
  const Value* given = sampler.options.find("column");
  const std::string name = given != nullptr ? *given->as<std::string>() : job.data.target[0].name;
  const bool balanced = sampler.name == "balanced";
  if (!balanced && data::rule_for(loaded.columns, name).type == data::ColumnType::category)
    throw Error(fmt::format("column '{}' holds categories; weights are numbers", name));
  const Array column = column_of(name, balanced);
  std::vector<std::int64_t> rows = part.rows;
  if (rows.empty())
    for (std::int64_t r = 0; r < part.total(); ++r) rows.push_back(r);
  std::vector<double> weights;
  if (!balanced) {
    for (const std::int64_t r : rows) weights.push_back(column.at(r));
    return weights;
  }
  const auto codes = data::codes_of(column);
  std::vector<std::int64_t> classes;
  for (const std::int64_t r : rows) classes.push_back(codes[static_cast<std::size_t>(r)]);
  return data::balanced_weights(classes);
}

/// The two lists must give the model the same.
void check_same_inputs(const LoadedData& loaded, const Job& job) {
  const auto types = [&](const DataPart& part) {
    return input_types(walked(DataSpec::of(part.data, loaded.data.target, loaded.data.scales), part));
  };
  DataPart evaluated = loaded.data.train;
  evaluated.transforms = loaded.evaluation;
  const auto trained = types(loaded.data.train), seen = types(evaluated);
  for (std::size_t i = 0; i < trained.size(); ++i)
    if (trained[i].second != seen[i].second)
      throw Error(fmt::format("{}: data.transforms make input '{}' {}, data.eval_transforms make it {}",
                              job.source, trained[i].first, to_string(trained[i].second),
                              to_string(seen[i].second)));
}

}  // namespace

data::Transforms evaluation_transforms(const Job& job) {
  if (job.data.eval_transforms) return transforms_of(*job.data.eval_transforms);
  return transforms_of(job.data.transforms).evaluation();
}

void add_views(const Job& job, LoadedData& out, const ColumnOf& column) {
  DataPart& train = out.data.train;
  if (job.data.sampler.name == "balanced" || job.data.sampler.name == "weighted") {
    try {
      train.weighted = alias_table(sampler_weights(job, out, column));
    } catch (const Error& e) {
      throw Error(fmt::format("{}: {}", job.data.sampler.where, e.what()));
    }
  }
  train.transforms = transforms_of(job.data.transforms);
  out.evaluation = evaluation_transforms(job);
  if (out.data.validation) out.data.validation->transforms = out.evaluation;
  if (!train.transforms->empty() || job.data.eval_transforms) check_same_inputs(out, job);
}

DataPart other_part(const Job& job, const std::vector<std::string>& sources, data::Dataset data,
                    bool with_target) {
  DataPart out{std::move(data)};
  if (job.data.window) {
    out.window = job.data.window->window;
    out.rows = window_firsts(job, {sources.size() == 1 ? sources[0] : std::string()}, out.data, with_target);
  }
  out.transforms = evaluation_transforms(job);
  return out;
}

}  // namespace tightloop::train
