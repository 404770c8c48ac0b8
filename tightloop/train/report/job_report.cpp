// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/describe.h>
#include <tightloop/train/plan.h>
#include <tightloop/train/report/job_report.h>
#include <tightloop/train/report/numbers.h>

#include <fmt/format.h>
#include <algorithm>
#include <ctime>

namespace tightloop::train {
namespace {

using report::count_text;

constexpr double kLeastSeconds = 1, kShareOfRun = 0.02;  // of the predictions
constexpr std::int64_t kLeastRows = 256;

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local)};
}

std::string split_text(const SplitRecord& s) {
  if (s.kind == "none") return "";
  if (s.kind == "file") return "The validation rows are data of their own.";
  std::string out = "The validation rows are ";
  if (s.folds > 0)
    out += fmt::format("fold {} of {}", s.fold + 1, s.folds);
  else
    out += report::percent_text(s.fraction) + " of the rows";
  if (!s.method.empty()) out += ", split by " + s.method + (s.column.empty() ? "" : " of " + s.column);
  return out + ".";
}

std::string normalized_text(const LoadedData& data, const std::string& field) {
  for (const auto& scale : data.data.scales)
    if (scale.field == field)
      return scale.shift.count() == 1 ? fmt::format("(x - {}) / {}", report::number_text(scale.shift.at(0)),
                                                    report::number_text(scale.scale.at(0)))
                                      : "each feature";
  return "no";
}

std::string type_text(const TensorType& type) {
  std::string out(name(type.dtype));
  for (std::size_t i = 1; i < type.shape.rank(); ++i)
    out += (i == 1 ? " " : " \xC3\x97 ") + to_string(type.shape[i]);
  return out;
}

/// Rows of each class, where the target is a class number that lies in memory.
std::vector<DataFacts::Class> class_counts(const LoadedData& data, nn::TargetKind kind) {
  const auto counts = [&](const DataPart& part) {
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    if (part.is_stream() || part.window) return out;
    const Array& y = part.data[data.data.target];
    return is_integer(y.dtype()) && y.count() == part.data.rows() ? data::counts_of(y, part.rows) : out;
  };
  std::vector<DataFacts::Class> out;
  if (kind == nn::TargetKind::values) return out;
  const auto add = [&](const DataPart& part, std::int64_t DataFacts::Class::*rows) {
    for (const auto& [value, times] : counts(part)) {
      const auto v = static_cast<std::size_t>(value);
      while (out.size() <= v)
        out.push_back(
            {out.size() < data.classes.size() ? data.classes[out.size()] : std::to_string(out.size())});
      out[v].*rows = times;
    }
  };
  add(data.data.train, &DataFacts::Class::rows);
  if (data.data.validation) add(*data.data.validation, &DataFacts::Class::validation_rows);
  return out;
}

DataFacts facts_of(const PreparedJob& p, const DataSpec& spec) {
  const LoadedData& data = p.data;
  DataFacts out{data.data.train.count(), data.data.validation ? data.data.validation->count() : 0,
                split_text(data.split)};
  for (const auto& f : spec.inputs)
    out.fields.push_back({f.name, "input", type_text(f.type), normalized_text(data, f.name)});
  for (const auto& f : spec.target) out.fields.push_back({f.name, "target", type_text(f.type), "no"});
  const auto* loss = nn::find_loss(p.job.train.loss.name);
  out.classes = class_counts(data, loss == nullptr ? nn::TargetKind::values : loss->target);
  return out;
}

/// The rows to predict, as an evaluation sees them.
DataPart rows_to_predict(const LoadedData& data) {
  DataPart part = data.data.validation ? *data.data.validation : data.data.train;
  const auto& training = data.data.train.transforms;
  if (!data.data.validation)
    part.transforms = data.evaluation, part.weighted.clear();
  else if (!part.transforms && training)
    part.transforms = training->evaluation();
  return part;
}

/// As many rows as the time allows that they may take.
std::int64_t most_rows(const History& history, std::int64_t rows) {
  const auto& epochs = history.epochs;
  double pass = history.time.last_evaluation;
  if (pass <= 0 && !epochs.empty() && epochs.back().samples_per_s > 0)
    pass = static_cast<double>(rows) / epochs.back().samples_per_s;
  const double allowed = std::max(kLeastSeconds, kShareOfRun * history.time.total);
  if (pass <= allowed) return 0;
  return std::max(kLeastRows, static_cast<std::int64_t>(static_cast<double>(rows) * allowed / pass));
}

Outcome job_outcome(PreparedJob& p, const DataSpec& spec, const History& history) {
  const DataPart part = rows_to_predict(p.data);
  const bool own = p.data.data.validation.has_value();
  if (!own && part.is_stream()) return {};  // its samples come as training sees them
  return outcome_of(p.model->model(), p.job.train.loss, spec, part,
                    {.rows_name = own ? "validation rows" : "training rows (there are no validation rows)",
                     .classes = p.data.classes,
                     .most_rows = most_rows(history, part.count()),
                     .batch = p.options.evaluation_batch(),
                     .compile = p.options.compile});
}

}  // namespace

std::string job_monitor(const Job& job) {
  for (const char* callback : {"early_stopping", "checkpoint"})
    for (const auto& [name, value] : job.train.callbacks)
      if (const Value* monitor = name == callback ? value.find("monitor") : nullptr)
        if (const auto* text = monitor->as<std::string>()) return *text;
  return "";
}

ReportData report_of(PreparedJob& p, const History& history, const std::vector<std::string>& notes) {
  const TrainingData& data = p.data.data;
  const DataSpec spec = DataSpec::of(data.train.data, data.target, data.scales);
  ReportData out{.title = p.job.output.directory, .finished = now_text(), .history = history};
  out.history.time.reading = p.reading_s;
  out.metrics = p.metric_names;
  out.monitor = job_monitor(p.job);
  for (const std::vector<std::string>* list :
       std::initializer_list<const std::vector<std::string>*>{&p.data.notes, &p.notes, &notes})
    out.notes.insert(out.notes.end(), list->begin(), list->end());
  for (const auto& path : idle_parameters(p))
    out.notes.push_back("no part in the loss, and so not trained: " + path);
  out.layers = layers_of(p.model->model(), walked(spec, data.train));
  out.data = facts_of(p, spec);
  out.job = to_toml(p.job);
  out.outcome = job_outcome(p, spec, history);
  return out;
}

}  // namespace tightloop::train
