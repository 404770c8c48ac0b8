// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/file.h>
#include <tightloop/train/report/curves.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/page.h>
#include <tightloop/train/report/report.h>
#include <tightloop/train/report/table.h>
#include <tightloop/train/report/time.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace tightloop::train {
namespace report {
namespace {

constexpr std::size_t kRowsShown = 40;  // of a table that is not folded
constexpr std::size_t kMostRows = 400;  // of any table
constexpr std::size_t kMostNotes = 50;
constexpr std::size_t kMostJob = 40000;  // characters

/// "Loss 0.29 at epoch 8 of 10."
std::string lead(const MetricTable& table, const Watched& watched, std::optional<std::size_t> best) {
  if (!best) return "<p class=lead>No epoch was completed.</p>\n";
  return fmt::format("<p class=lead>Best {} <b>{}</b> in epoch {} of {}.</p>\n",
                     html(readable(watched.metric)), number_text((*table.find(watched.metric))[*best]),
                     number_text(table.values[0][*best], 9), table.rows());
}

std::string ending(const ReportData& d) {
  if (!d.ending.empty()) return d.ending;
  if (d.history.stopped) return "interrupted; it can go on by --resume";
  return d.history.reason.empty() ? "took its full length" : d.history.reason;
}

double middle(std::vector<double> values) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

std::string result_html(const ReportData& d, const MetricTable& table) {
  const Watched by = d.monitor.empty() ? usual_metric(table) : watched(d.monitor);
  const auto best = best_row(table, by);
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& column : table.measured()) {
    const double v = best ? (*table.find(column))[*best] : NAN;
    if (!std::isnan(v)) values.emplace_back(readable(column), number_text(v));
  }
  if (values.size() > 8) values.resize(8);
  if (table.rows() > 0) {
    values.emplace_back("time", seconds_text(table.find("seconds")->back()));
    values.emplace_back("steps", count_text(d.history.steps));
    values.emplace_back("samples/s (median)", count_text(std::llround(middle(*table.find("samples_per_s")))));
  }
  return lead(table, by, best) + tiles(values) +
         fmt::format("<p class=note style=\"margin-top:16px\">How it ended: {}.</p>\n", html(ending(d)));
}

std::string notes_html(const ReportData& d) {
  std::vector<std::string> all = d.notes;
  for (const auto& s : d.history.skipped) all.push_back("left out: " + s);
  if (all.empty()) return "";
  std::string out = "<ul class=notes>";
  for (std::size_t i = 0; i < std::min(all.size(), kMostNotes); ++i) out += "<li>" + html(all[i]) + "</li>";
  if (all.size() > kMostNotes) out += fmt::format("<li>and {} more</li>", all.size() - kMostNotes);
  return out + "</ul>\n";
}

std::string outcome_html(const Outcome& o) {
  if (o.empty()) return "";
  const std::string seen = o.rows == o.all_rows
                               ? fmt::format("All {} {}", count_text(o.rows), o.rows_name)
                               : fmt::format("{} of {} {}, evenly spaced", count_text(o.rows),
                                             count_text(o.all_rows), o.rows_name);
  return fmt::format("<p class=note>{}, with the weights that the run left.</p>\n", html(seen)) +
         (o.classes ? confusion_html(*o.classes) : residuals_html(o.outputs));
}

std::string layers_html(const std::vector<LayerRow>& layers) {
  if (layers.empty()) return "";
  Table table{"", {"layer", "type", "output", "parameters"}, {true, true, true}};
  std::int64_t parameters = 0;
  for (const LayerRow& row : layers) {
    if (row.depth == 0) parameters += row.parameters;
    if (table.rows.size() == kMostRows) continue;
    table.rows.push_back(
        {row.path, row.type, row.output.empty() ? "\xE2\x80\x93" : row.output,
         row.parameters == 0 ? "" : count_text(row.parameters) + (row.frozen ? " frozen" : "")});
  }
  std::string out = fmt::format("<p>{} parameters. B is the rows of a batch.</p>\n", count_text(parameters));
  if (layers.size() > kMostRows)
    out += fmt::format("<p class=note>The first {} of {} layers.</p>\n", kMostRows, layers.size());
  return out +
         foldable(fmt::format("{} layers", layers.size()), table_html(table), layers.size() > kRowsShown);
}

std::string class_counts(const DataFacts& d) {
  if (d.classes.empty()) return "";
  Table table{"Rows by class", {"class", "training", "validation"}, {true}};
  for (const auto& c : d.classes) {
    if (table.rows.size() == kMostRows) break;
    table.rows.push_back({c.name, count_text(c.rows), count_text(c.validation_rows)});
  }
  return foldable(fmt::format("{} classes", d.classes.size()), table_html(table),
                  d.classes.size() > kRowsShown);
}

std::string data_html(const DataFacts& d) {
  if (d.rows == 0) return "";
  std::string out = fmt::format("<p>{} training rows, {} validation rows. {}</p>\n", count_text(d.rows),
                                count_text(d.validation_rows), html(d.split));
  Table table{"", {"field", "role", "a row", "normalised"}, {true, true, true, true}};
  for (const auto& f : d.fields) table.rows.push_back({f.name, f.role, f.type, f.normalized});
  return out + "<div class=two>" + (table.rows.empty() ? "" : table_html(table)) + class_counts(d) +
         "</div>\n";
}

std::string job_html(const std::string& job) {
  if (job.empty()) return "";
  return "<pre tabindex=0><code>" + html(shortened(job, kMostJob)) + "</code></pre>\n";
}

}  // namespace
}  // namespace report

std::string report_html(const ReportData& d) {
  using report::section;
  const MetricTable table = metric_table(d.history.epochs, d.metrics);
  const Watched by = d.monitor.empty() ? usual_metric(table) : watched(d.monitor);
  const std::string when = d.finished.empty() ? "" : ", finished " + d.finished;
  const std::string body =
      section("result", "", report::result_html(d, table)) +
      section("notes", "Warnings and notes", report::notes_html(d)) +
      section("curves", "Curves", report::curves_html(table, best_row(table, by), d.steps)) +
      section("predictions", d.outcome.classes ? "Confusion" : "Predictions",
              report::outcome_html(d.outcome)) +
      section("model", "Model", report::layers_html(d.layers)) +
      section("data", "Data", report::data_html(d.data)) +
      section("time", "Time", report::time_html(d.history.time)) +
      section("job", "Job", report::job_html(d.job));
  return report::page(d.title, "A training run of Tightloop" + when, body);
}

void write_report(const std::string& path, const ReportData& data) {
  write_file(path, report_html(data), false);
}

}  // namespace tightloop::train
