// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/file.h>
#include <tightloop/train/report/compare.h>
#include <tightloop/train/report/curves.h>
#include <tightloop/train/report/job_report.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/run_directory.h>
#include <tightloop/train/toml.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

namespace tightloop::train {
namespace {

constexpr std::size_t kMostMetrics = 8;  // columns of results beside the one that sorts

RunSummary read_summary(const std::string& path, std::vector<std::string>& notes) {
  const RunFiles files = find_run(path);
  RunSummary out{
      path, parse_metrics(read_file(files.metrics).text(), files.metrics), {}, files.state, files.report};
  out.steps = files.steps;
  if (out.table.rows() == 0) throw Error(files.metrics + ": has no epochs");
  try {
    out.job = load_job(files.job);
  } catch (const Error& e) {
    notes.push_back(
        fmt::format("{}: its job cannot be read, so only its numbers are compared: {}", path, e.what()));
  }
  if (files.state != "finished") notes.push_back(path + ": " + files.state);
  return out;
}

bool has_values(const RunSummary& run, const std::string& metric) {
  const auto* values = run.table.find(metric);
  return values != nullptr &&
         std::any_of(values->begin(), values->end(), [](double v) { return !std::isnan(v); });
}

bool all_have(const std::vector<RunSummary>& runs, const std::string& metric) {
  return std::all_of(runs.begin(), runs.end(), [&](const auto& run) { return has_values(run, metric); });
}

/// Every metric that a run has, in the order in which they first come.
std::vector<std::string> metrics_of(const std::vector<RunSummary>& runs) {
  std::vector<std::string> out;
  for (const auto& run : runs)
    for (const auto& metric : run.table.measured())
      if (has_values(run, metric) && std::find(out.begin(), out.end(), metric) == out.end())
        out.push_back(metric);
  return out;
}

Watched sorted_by(const std::vector<RunSummary>& runs, const std::string& by) {
  if (!by.empty()) {
    const auto known = metrics_of(runs);
    if (std::find(known.begin(), known.end(), by) == known.end())
      throw Error(fmt::format("compare: no run has a metric '{}'{}; there are {}", by, suggestion(by, known),
                              fmt::join(known, ", ")));
    return watched(by);
  }
  const std::string own = runs[0].job ? job_monitor(*runs[0].job) : "";
  if (!own.empty() && all_have(runs, own)) return watched(own);
  return watched(all_have(runs, "validation_loss") ? "validation_loss" : "train_loss");
}

double best_value(const RunSummary& run, const Watched& by) {
  return run.best ? (*run.table.find(by.metric))[*run.best] : std::numeric_limits<double>::quiet_NaN();
}

/// Runs without a value come last.
void sort(std::vector<RunSummary>& runs, const Watched& by) {
  for (auto& run : runs) run.best = best_row(run.table, by);
  std::stable_sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) {
    if (!a.best || !b.best) return a.best.has_value() && !b.best;
    return by.lower ? best_value(a, by) < best_value(b, by) : best_value(a, by) > best_value(b, by);
  });
}

std::string cell(const RunSummary& run, const std::string& column, std::optional<std::size_t> row) {
  const auto* values = run.table.find(column);
  if (values == nullptr || !row || std::isnan((*values)[*row])) return "\xE2\x80\x93";
  return report::number_text((*values)[*row]);
}

report::Table results_of(const std::vector<RunSummary>& runs, const Watched& by) {
  report::Table out{"", {"run", report::readable(by.metric), "in epoch"}, {true}};
  std::vector<std::string> others = metrics_of(runs);
  std::erase(others, by.metric);
  if (others.size() > kMostMetrics) others.resize(kMostMetrics);
  for (const auto& metric : others) out.head.push_back(report::readable(metric));
  for (const char* name : {"epochs", "time", "samples/s"}) out.head.emplace_back(name);
  for (const RunSummary& run : runs) {
    auto& row = out.rows.emplace_back(
        std::vector<std::string>{run.path, cell(run, by.metric, run.best), cell(run, "epoch", run.best)});
    for (const auto& metric : others) row.push_back(cell(run, metric, run.best));
    const std::size_t last = run.table.rows() - 1;
    const auto* seconds = run.table.find("seconds");
    row.push_back(report::count_text(static_cast<std::int64_t>(run.table.rows())));
    row.push_back(seconds == nullptr ? "" : report::seconds_text((*seconds)[last]));
    row.push_back(cell(run, "samples_per_s", last));
  }
  return out;
}

report::Table differences_of(const std::vector<RunSummary>& runs) {
  report::Table out{"", {"key"}, {true}};
  std::vector<const RunSummary*> readable;
  for (const auto& run : runs)
    if (run.job) readable.push_back(&run), out.head.push_back(run.path), out.left.push_back(true);
  if (readable.size() < 2) return {};
  for (const Key& key : job_keys()) {
    if (key.path.starts_with("output.")) continue;
    std::vector<std::string> row{std::string(key.path)};
    for (const auto* run : readable) row.push_back(write_toml_value(key.write(*run->job)));
    if (std::adjacent_find(row.begin() + 1, row.end(), std::not_equal_to<>()) != row.end())
      out.rows.push_back(std::move(row));
  }
  return out;
}

}  // namespace

Comparison compare_runs(const std::vector<std::string>& paths, const std::string& by) {
  Comparison out;
  for (const auto& path : paths) {
    try {
      out.runs.push_back(read_summary(path, out.notes));
    } catch (const Error& e) {
      out.notes.emplace_back(e.what());
    }
  }
  if (out.runs.empty())
    throw Error(fmt::format("compare: no run could be read:\n  {}", fmt::join(out.notes, "\n  ")));
  out.watched = sorted_by(out.runs, by);
  sort(out.runs, out.watched);
  out.results = results_of(out.runs, out.watched);
  out.differences = differences_of(out.runs);
  return out;
}

}  // namespace tightloop::train
