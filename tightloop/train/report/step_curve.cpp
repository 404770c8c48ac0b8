// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/mapped.h>
#include <tightloop/io/npy_table.h>
#include <tightloop/train/report/step_curve.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>

namespace tightloop::train::report {
namespace {

constexpr std::int64_t kStretches = 1000;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

/// Rows that are kept of [first, last), in their order.
template <class Value>
std::vector<std::int64_t> kept_rows(std::int64_t first, std::int64_t last, std::int64_t every, Value value) {
  std::optional<std::int64_t> low, high, lost;
  for (std::int64_t row = first; row < last; row += every) {
    const double v = value(row);
    if (!std::isfinite(v)) {
      lost = lost.value_or(row);
      continue;
    }
    if (!low || v < value(*low)) low = row;
    if (!high || v > value(*high)) high = row;
  }
  std::vector<std::int64_t> out{first, last - 1};
  for (const auto& row : {low, high, lost})
    if (row) out.push_back(*row);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

StepCurve step_curve(std::string_view text, const std::string& name) {
  const io::NpyTable table = io::parse_npy_table(text, name);
  const auto& columns = table.columns;
  const auto loss = std::find_if(columns.begin(), columns.end(), [](auto& c) { return c.name == "loss"; });
  if (columns.front().name != "step" || loss == columns.end())
    throw Error(name + ": is no table of steps: it lacks the columns step, which comes first, and loss");
  const auto column = static_cast<std::size_t>(loss - columns.begin());
  const auto value = [&](std::int64_t row) { return table.at(text, row, column); };
  StepCurve out;
  while (text.size() / static_cast<std::size_t>(out.every) > kMostBytes) out.every *= 2;
  const std::int64_t stretches = std::min(kStretches, table.rows);
  for (std::int64_t i = 0; i < stretches; ++i) {
    const auto [first, last] = std::pair{table.rows / stretches * i, table.rows / stretches * (i + 1)};
    for (const auto row : kept_rows(first, i + 1 == stretches ? table.rows : last, out.every, value)) {
      out.line.x.push_back(table.at(text, row, 0));
      out.line.y.push_back(value(row));
    }
  }
  return out;
}

StepCurve step_curve_of(const std::string& path) {
  if (path.empty()) return {};
  try {
    const Bytes bytes = map_file(path);
    return while_unchanged(bytes, [&] { return step_curve(bytes.text(), path); });
  } catch (const Error&) {
    return {};
  }
}

std::string step_chart(const std::string& path) {
  StepCurve curve = step_curve_of(path);
  if (curve.line.x.empty()) return "";
  const std::string some = curve.every > 1 ? fmt::format(" (every {}th)", curve.every) : "";
  LineChart chart{.title = "Loss of single steps" + some, .x_name = "step", .lines = {}, .height = 170};
  curve.line.style = 1;
  chart.lines.push_back(std::move(curve.line));
  return line_chart(chart);
}

}  // namespace tightloop::train::report
