// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/history_table.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>
#include <string_view>

namespace tightloop::train {
namespace {

constexpr std::array<const char*, 7> kOwn{"epoch",   "step", "train_loss",     "samples_per_s",
                                          "seconds", "lr",   "validation_loss"};
constexpr std::string_view kMetric = "metric.", kExtra = "extra.";
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

double extra_of(const EpochRecord& e, const std::string& name) {
  for (const auto& [own, value] : e.extra)
    if (own == name) return value;
  return kNone;
}

EpochRecord record_of(const std::vector<double>& row, const std::vector<std::string>& names,
                      const std::vector<std::string>& metrics) {
  EpochRecord e{static_cast<std::int64_t>(row[0]),
                static_cast<std::int64_t>(row[1]),
                row[2],
                {},
                row[3],
                row[4],
                row[5]};
  if (!std::isnan(row[6])) {
    e.validation = Evaluation{row[6], {}};
    for (const auto& metric : metrics) {
      const auto at = std::find(names.begin(), names.end(), std::string(kMetric) + metric);
      e.validation->metrics.push_back(at == names.end() ? kNone
                                                        : row[static_cast<std::size_t>(at - names.begin())]);
    }
  }
  for (std::size_t c = kOwn.size(); c < names.size(); ++c)
    if (names[c].starts_with(kExtra) && !std::isnan(row[c]))
      e.extra.emplace_back(names[c].substr(kExtra.size()), row[c]);
  return e;
}

}  // namespace

std::vector<std::string> extra_names(const std::vector<EpochRecord>& epochs) {
  std::vector<std::string> out;
  for (const EpochRecord& e : epochs)
    for (const auto& [name, value] : e.extra)
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  return out;
}

std::string history_columns(const std::vector<EpochRecord>& epochs, const std::vector<std::string>& metrics) {
  std::string out;
  for (const char* name : kOwn) out.append(name).append("\n");
  for (const auto& name : metrics) out.append(kMetric).append(name).append("\n");
  for (const auto& name : extra_names(epochs)) out.append(kExtra).append(name).append("\n");
  return out;
}

Array history_table(const std::vector<EpochRecord>& epochs, const std::vector<std::string>& metrics) {
  return HistoryRows().table(epochs, epochs.size(), metrics);
}

void HistoryRows::clear() { *this = {}; }

void HistoryRows::add(const EpochRecord& e, std::size_t metrics) {
  rows_.insert(rows_.end(), {static_cast<double>(e.epoch), static_cast<double>(e.step), e.train_loss,
                             e.samples_per_s, e.seconds, e.lr, e.validation ? e.validation->loss : kNone});
  for (std::size_t m = 0; m < metrics; ++m)
    rows_.push_back(e.validation ? e.validation->metrics.at(m) : kNone);
  for (const auto& name : extra_) rows_.push_back(extra_of(e, name));
  ++count_;
}

bool HistoryRows::has_columns_of(const EpochRecord& e) const {
  return std::all_of(e.extra.begin(), e.extra.end(), [&](const auto& v) {
    return std::find(extra_.begin(), extra_.end(), v.first) != extra_.end();
  });
}

Array HistoryRows::table(const std::vector<EpochRecord>& epochs, std::size_t count,
                         const std::vector<std::string>& metrics) {
  const auto known = epochs.begin() + static_cast<std::ptrdiff_t>(count_);
  const bool same = std::all_of(known, epochs.end(), [&](auto& e) { return has_columns_of(e); });
  if (!same || columns_.empty()) {
    rows_.clear();
    count_ = 0;
    extra_ = extra_names(epochs);
    columns_ = history_columns(epochs, metrics);
  }
  while (count_ < epochs.size()) add(epochs[count_], metrics.size());
  const std::size_t width = kOwn.size() + metrics.size() + extra_.size();
  Array out(DType::f64, {static_cast<std::int64_t>(count), static_cast<std::int64_t>(width)});
  std::copy_n(rows_.begin(), count * width, out.as<double>().data());
  return out;
}

std::vector<EpochRecord> read_history(const Array& table, const std::string& columns,
                                      const std::vector<std::string>& metrics, const std::string& who) {
  const auto names = lines_of(columns);
  const bool own = names.size() >= kOwn.size() && std::equal(kOwn.begin(), kOwn.end(), names.begin());
  if (!own || table.dtype() != DType::f64 || table.rank() != 2 ||
      table.dims()[1] != static_cast<std::int64_t>(names.size()))
    throw Error(who + ": is no checkpoint of a run that this version can go on with");
  std::vector<EpochRecord> out;
  std::vector<double> row(names.size());
  for (std::int64_t r = 0; r < table.dims()[0]; ++r) {
    for (std::size_t c = 0; c < row.size(); ++c)
      row[c] = table.at(r * table.dims()[1] + static_cast<std::int64_t>(c));
    out.push_back(record_of(row, names, metrics));
  }
  return out;
}

}  // namespace tightloop::train
