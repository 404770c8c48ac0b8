// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/metrics/metric.h>
#include <tightloop/train/history_table.h>
#include <tightloop/train/report/metric_table.h>

#include <fast_float/fast_float.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tightloop::train {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 5> kOwn{"epoch", "step", "lr", "samples_per_s", "seconds"};
constexpr std::size_t kMostColumns = 10000;

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (std::size_t from = 0;;) {
    const auto comma = line.find(',', from);
    out.push_back(line.substr(from, comma == std::string_view::npos ? comma : comma - from));
    if (comma == std::string_view::npos) return out;
    from = comma + 1;
  }
}

double number(std::string_view field, const std::string& where) {
  if (field.empty()) return kNaN;
  double value = 0;
  const auto [end, error] = fast_float::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size())
    throw Error(fmt::format("{}: '{}' is no number", where, std::string(field.substr(0, 40))));
  return value;
}

std::vector<std::string> read_head(std::string_view line, const std::string& name) {
  std::vector<std::string> out;
  for (const auto field : fields_of(line)) out.emplace_back(field);
  if (out[0] != "epoch" || out.size() > kMostColumns)
    throw Error(name + ": is no metrics.csv of a run: its first column is not epoch");
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::find(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(i), out[i]) !=
        out.begin() + static_cast<std::ptrdiff_t>(i))
      throw Error(fmt::format("{}: column '{}' comes twice", name, out[i].substr(0, 40)));
  return out;
}

}  // namespace

const std::vector<double>* MetricTable::find(std::string_view column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  return found == columns.end() ? nullptr : &values[static_cast<std::size_t>(found - columns.begin())];
}

std::vector<std::string> MetricTable::measured() const {
  std::vector<std::string> out;
  for (const auto& column : columns)
    if (std::find(kOwn.begin(), kOwn.end(), column) == kOwn.end()) out.push_back(column);
  return out;
}

MetricTable metric_table(const std::vector<EpochRecord>& epochs, const std::vector<std::string>& metrics) {
  MetricTable out;
  const auto add = [&](const std::string& name, auto value) {
    out.columns.push_back(name);
    auto& column = out.values.emplace_back();
    for (const EpochRecord& e : epochs) column.push_back(value(e));
  };
  add("epoch", [](const auto& e) { return static_cast<double>(e.epoch); });
  add("step", [](const auto& e) { return static_cast<double>(e.step); });
  add("train_loss", [](const auto& e) { return e.train_loss; });
  add("validation_loss", [](const auto& e) { return e.validation ? e.validation->loss : kNaN; });
  for (std::size_t m = 0; m < metrics.size(); ++m)
    add(metrics[m], [m](const auto& e) {
      return e.validation && m < e.validation->metrics.size() ? e.validation->metrics[m] : kNaN;
    });
  add("lr", [](const auto& e) { return e.lr; });
  add("samples_per_s", [](const auto& e) { return e.samples_per_s; });
  add("seconds", [](const auto& e) { return e.seconds; });
  for (const std::string& name : extra_names(epochs))
    add(name, [&name](const auto& e) {
      const auto own =
          std::find_if(e.extra.begin(), e.extra.end(), [&](const auto& v) { return v.first == name; });
      return own == e.extra.end() ? kNaN : own->second;
    });
  return out;
}

MetricTable parse_metrics(std::string_view text, const std::string& name) {
  const auto head = text.find('\n');
  MetricTable out;
  out.columns = read_head(text.substr(0, head), name);
  out.values.resize(out.columns.size());
  std::size_t line = 2;
  for (std::size_t from = head == std::string_view::npos ? text.size() : head + 1; from < text.size();
       ++line) {
    const auto end = text.find('\n', from);
    if (end == std::string_view::npos) break;  // cut short
    const auto fields = fields_of(text.substr(from, end - from));
    const std::string where = fmt::format("{}: line {}", name, line);
    if (fields.size() != out.columns.size())
      throw Error(
          fmt::format("{}: has {} fields, the first line {}", where, fields.size(), out.columns.size()));
    std::vector<double> row;
    for (const auto field : fields) row.push_back(number(field, where));
    const auto& epochs = out.values[0];
    if (!std::isfinite(row[0]) || (!epochs.empty() && row[0] <= epochs.back()))
      throw Error(where + ": epochs must rise");
    for (std::size_t c = 0; c < row.size(); ++c) out.values[c].push_back(row[c]);
    from = end + 1;
  }
  return out;
}

Watched watched(const std::string& metric) {
  const auto* def = nn::find_metric(metric);
  if (def == nullptr) def = nn::find_metric(metric.substr(0, metric.find_last_of('_')));  // top_k_2
  return {metric, metric.ends_with("_loss") || def == nullptr || !def->greater_is_better};
}

Watched usual_metric(const MetricTable& table) {
  const auto* validation = table.find("validation_loss");
  const bool validates = validation != nullptr && std::any_of(validation->begin(), validation->end(),
                                                              [](double v) { return !std::isnan(v); });
  return {validates ? "validation_loss" : "train_loss", true};
}

std::optional<std::size_t> best_row(const MetricTable& table, const Watched& watched) {
  const auto* column = table.find(watched.metric);
  std::optional<std::size_t> out;
  if (column == nullptr) return out;
  for (std::size_t i = 0; i < column->size(); ++i) {
    const double v = (*column)[i];
    if (std::isnan(v)) continue;
    if (!out || (watched.lower ? v < (*column)[*out] : v > (*column)[*out])) out = i;
  }
  return out;
}

}  // namespace tightloop::train
