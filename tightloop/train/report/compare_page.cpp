// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/chart.h>
#include <tightloop/train/report/compare.h>
#include <tightloop/train/report/curves.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/page.h>
#include <tightloop/train/report/step_curve.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

/// The last part of the path where that tells the runs apart, else the whole.
std::vector<std::string> short_names(const std::vector<RunSummary>& runs) {
  std::vector<std::string> out;
  for (const auto& run : runs) {
    const fs::path path = fs::path(run.path).lexically_normal();
    out.push_back((path.has_filename() ? path.filename() : path.parent_path().filename()).string());
  }
  for (std::size_t i = 0; i < out.size(); ++i)
    if (out[i].empty() || std::count(out.begin(), out.end(), out[i]) > 1) {
      out.clear();
      for (const auto& run : runs) out.push_back(run.path);
      break;
    }
  return out;
}

class Curves {
 public:
  explicit Curves(const std::vector<RunSummary>& runs) : runs_(runs), names_(short_names(runs)) {}

  /// `column` of all runs over `over`, "epoch" or "seconds".
  std::string chart(const std::string& column, const std::string& over, int height) const {
    const std::string how = over == "epoch" ? "" : " over time";
    LineChart out{.title = report::readable(column) + how, .x_name = over, .lines = {}, .height = height};
    out.whole_x = over == "epoch";
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const auto *x = runs_[r].table.find(over), *y = runs_[r].table.find(column);
      if (x != nullptr && y != nullptr) out.lines.push_back({names_[r], *x, *y, static_cast<int>(r)});
    }
    return report::line_chart(out);
  }

  /// The loss by step of the runs that logged every step.
  std::string steps() const {
    LineChart out{.title = "loss of single steps", .x_name = "step", .lines = {}, .height = 200};
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      report::Line line = report::step_curve_of(runs_[r].steps).line;
      line.name = names_[r];
      line.style = static_cast<int>(r);
      if (!line.x.empty()) out.lines.push_back(std::move(line));
    }
    return report::line_chart(out);
  }

 private:
  using LineChart = report::LineChart;
  const std::vector<RunSummary>& runs_;
  std::vector<std::string> names_;
};

std::vector<std::string> columns_of(const std::vector<RunSummary>& runs) {
  std::vector<std::string> out;
  for (const auto& run : runs)
    for (const auto& column : run.table.measured())
      if (std::find(out.begin(), out.end(), column) == out.end()) out.push_back(column);
  out.emplace_back("lr");
  return out;
}

std::string curves_html(const Comparison& c) {
  const Curves curves(c.runs);
  std::string out = "<div class=charts><div class=first>" + curves.chart(c.watched.metric, "epoch", 280) +
                    "</div>" + curves.chart(c.watched.metric, "seconds", 200) + curves.steps();
  for (const auto& column : columns_of(c.runs))
    if (column != c.watched.metric) out += curves.chart(column, "epoch", 200);
  return out + "</div>\n";
}

/// The results with the lines' colours, and links to the runs' own pages as seen from the folder of `path`.
std::string results_html(const Comparison& c, const std::string& path) {
  report::Table table = c.results;
  table.keys = true;
  std::error_code ec;
  const fs::path folder = fs::absolute(path, ec).parent_path();
  for (const auto& run : c.runs) {
    const fs::path to = fs::absolute(run.report, ec).lexically_relative(folder);
    table.links.push_back(run.report.empty() ? "" : report::address(to.string()));
  }
  return fmt::format(
             "<p class=note>Sorted by the best {}; the other metrics are those of the same epoch.</p>\n",
             report::html(report::readable(c.watched.metric))) +
         report::table_html(table);
}

std::string notes_html(const std::vector<std::string>& notes) {
  if (notes.empty()) return "";
  std::string out = "<ul class=notes>";
  for (const auto& note : notes) out += "<li>" + report::html(note) + "</li>";
  return out + "</ul>\n";
}

std::string differences_html(const Comparison& c) {
  if (!c.differences.rows.empty()) return report::table_html(c.differences);
  return c.differences.head.empty() ? "" : "<p class=note>The jobs are the same.</p>\n";
}

}  // namespace

std::string comparison_html(const Comparison& c, const std::string& path) {
  using report::section;
  const std::string body = section("results", "Results", results_html(c, path)) +
                           section("notes", "Warnings and notes", notes_html(c.notes)) +
                           section("curves", "Curves", curves_html(c)) +
                           section("differences", "What differs in the jobs", differences_html(c));
  return report::page(fmt::format("{} runs compared", c.runs.size()), "Training runs of Tightloop", body);
}

}  // namespace tightloop::train
