// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/history_table.h>
#include <tightloop/train/loggers/csv.h>
#include <tightloop/train/loggers/index.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tightloop::train {
namespace {

std::string number(double v) { return std::isnan(v) ? "nan" : fmt::format("{}", v); }

std::string line_of(const EpochRecord& e, std::size_t metrics, const std::vector<std::string>& extra) {
  std::string out = fmt::format("{},{},{},{}", e.epoch, e.step, number(e.train_loss),
                                e.validation ? number(e.validation->loss) : "");
  for (std::size_t i = 0; i < metrics; ++i)
    out += "," + (e.validation ? number(e.validation->metrics[i]) : "");
  out += fmt::format(",{},{:.1f},{:.3f}", number(e.lr), e.samples_per_s, e.seconds);
  for (const auto& name : extra) {
    const auto own =
        std::find_if(e.extra.begin(), e.extra.end(), [&](const auto& v) { return v.first == name; });
    out += "," + (own == e.extra.end() ? "" : number(own->second));
  }
  return out + "\n";
}

}  // namespace

void CsvTable::start(const RunInfo& info) {
  metrics_ = info.metrics;
  epochs_ = info.before;
  new_columns_ = true;
  written_ = {};
  file_.open(path_, 0);
}

bool CsvTable::has_columns_of(const EpochRecord& record) const {
  return std::all_of(record.extra.begin(), record.extra.end(), [&](const auto& v) {
    return std::find(extra_.begin(), extra_.end(), v.first) != extra_.end();
  });
}

void CsvTable::epoch(const EpochRecord& record, const Weights&) {
  epochs_.push_back(record);
  new_columns_ = new_columns_ || !has_columns_of(record);
}

void CsvTable::flush() {
  const bool changed = new_columns_ || lines_ < epochs_.size();
  if (changed && std::chrono::steady_clock::now() - written_ >= std::chrono::seconds(1)) write();
}

void CsvTable::write() {
  std::string text;
  if (new_columns_) {
    text = "epoch,step,train_loss,validation_loss";
    for (const auto& m : metrics_) text += "," + m;
    extra_ = extra_names(epochs_);
    text += ",lr,samples_per_s,seconds";
    for (const auto& name : extra_) text += "," + name;
    text += "\n";
    lines_ = 0;
  }
  for (std::size_t i = lines_; i < epochs_.size(); ++i) text += line_of(epochs_[i], metrics_.size(), extra_);
  if (new_columns_) file_.cut(0);
  file_.append(text);
  new_columns_ = false;
  lines_ = epochs_.size();
  written_ = std::chrono::steady_clock::now();
}

const LoggerDef& csv_logger() {
  static const LoggerDef def{
      "csv",
      "metrics.csv: a table with a line an epoch",
      {},
      [](const Options&, const std::string& folder) -> std::shared_ptr<Logger> {
        return std::make_shared<CsvTable>((std::filesystem::path(folder) / kMetricsTable).string());
      }};
  return def;
}

}  // namespace tightloop::train
