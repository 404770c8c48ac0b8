// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/chart.h>
#include <tightloop/train/report/curves.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/step_curve.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tightloop::train::report {
namespace {

class Curves {
 public:
  Curves(const MetricTable& table, std::optional<std::size_t> best)
      : table_(table), epochs_(*table.find("epoch")) {
    if (best) best_ = epochs_[*best];
  }

  std::string loss() const {
    LineChart chart = marked("Loss", 280);
    for (const char* column : {"train_loss", "validation_loss"})
      if (const auto* values = table_.find(column))
        chart.lines.push_back({column == std::string("train_loss") ? "training" : "validation", epochs_,
                               *values, column == std::string("train_loss") ? 1 : 0,
                               column == std::string("train_loss")});
    return line_chart(chart);
  }

  std::string single(const std::string& column, int style, bool may_be_log) const {
    LineChart chart = marked(readable(column), 170);
    chart.may_be_log = may_be_log;
    chart.columns = table_.measured().size() > 6 ? 80 : 150;
    const auto* values = table_.find(column);
    if (values == nullptr) return "";
    chart.lines.push_back({"", epochs_, *values, style});
    return line_chart(chart);
  }

 private:
  LineChart marked(const std::string& title, int height) const {
    LineChart out{.title = title, .lines = {}, .height = height};
    if (best_) out.mark = best_, out.mark_text = "best: " + number_text(*best_, 9);
    return out;
  }

  const MetricTable& table_;
  const std::vector<double>& epochs_;
  std::optional<double> best_;
};

}  // namespace

std::string readable(const std::string& column) {
  if (column == "lr") return "learning rate";
  if (column == "samples_per_s") return "samples/s";
  std::string out = column;
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

std::string curves_html(const MetricTable& table, std::optional<std::size_t> best, const std::string& steps) {
  if (table.rows() == 0) return "";
  const Curves curves(table, best);
  const std::string loss = curves.loss();
  std::string out = "<div class=charts>";
  if (!loss.empty()) out += "<div class=first>" + loss + "</div>";
  out += step_chart(steps);
  for (const std::string& column : table.measured())
    if (column != "train_loss" && column != "validation_loss") out += curves.single(column, 0, true);
  out += curves.single("lr", 2, false) + curves.single("samples_per_s", 3, false);
  return out + "</div>\n";
}

}  // namespace tightloop::train::report
