// SPDX-License-Identifier: Apache-2.0
#include "describe.h"

#include "command.h"

#include <tightloop/data/describe.h>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tightloop::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFirst = 5;   ///< rows shown
constexpr std::size_t kAcross = 8;  ///< elements of a row shown

const char* kind_name(const data::ColumnSummary& c) {
  if (c.numbers == 0 && c.distinct == 0) return "empty";
  return c.kind == data::ColumnKind::whole ? "whole" : c.kind == data::ColumnKind::number ? "number" : "text";
}

/// Without what would move the cursor or break the line.
std::string plain(const std::string& text, std::size_t limit = 24) {
  std::string out = text.substr(0, limit);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  while (out.size() < text.size() && !out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80)
    out.pop_back();  // not in the middle of a character
  return out.size() < text.size() ? out + "..." : out;
}

/// Columns of few different values are worth counting, others are not.
bool counted(const data::ColumnSummary& c) {
  const bool whole = c.kind == data::ColumnKind::whole && c.distinct <= 20;
  return c.distinct > 0 && (whole || c.kind == data::ColumnKind::text);
}

std::string classes_text(const data::ColumnSummary& c) {
  if (c.distinct < 0) return fmt::format("more than {} different texts", data::kCounted);
  std::string out = fmt::format("{} value{}: ", c.distinct, c.distinct == 1 ? "" : "s");
  for (std::size_t i = 0; i < c.classes.size(); ++i)
    out += fmt::format("{}{} ×{}", i ? ", " : "", plain(c.classes[i].first), c.classes[i].second);
  return out + (c.distinct > static_cast<std::int64_t>(c.classes.size()) ? ", ..." : "");
}

std::string column_text(const data::ColumnSummary& c, std::size_t width) {
  std::string out = fmt::format("  {:<{}}  {:<6}", plain(c.name), width, kind_name(c));
  if (c.missing > 0) out += fmt::format("  {} missing", c.missing);
  if (c.numbers > 0 && c.odd.empty())
    out += fmt::format("  {:g} to {:g}, mean {:.5g}", c.low, c.high, c.mean);
  if (!c.odd.empty()) out += fmt::format("  {} numbers, but {}", c.numbers, plain(c.odd, 80));
  if (counted(c) || (c.kind == data::ColumnKind::text && c.distinct < 0)) out += "  " + classes_text(c);
  return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
}

std::string table_text(const data::CsvFile& table) {
  const data::TableSummary s = data::summary(table, 10, kFirst);
  std::string out = fmt::format("{}, {}\n", count_text(s.rows, "row"),
                                count_text(static_cast<std::int64_t>(s.columns.size()), "column"));
  std::size_t width = 6;
  for (const auto& c : s.columns) width = std::max(width, plain(c.name).size());
  for (const auto& c : s.columns) out += column_text(c, width);
  for (const auto& row : s.first) {
    out += " ";
    for (std::size_t i = 0; i < row.size() && i < kAcross; ++i) out += (i ? ", " : " ") + plain(row[i]);
    out += row.size() > kAcross ? ", ...\n" : "\n";
  }
  return out;
}

std::string range_text(const Array& a) {
  const data::ArraySummary s = data::summary(a);
  std::string out =
      a.count() == 0 ? "no elements" : fmt::format("{:g} to {:g}, mean {:.5g}", s.low, s.high, s.mean);
  if (s.nan > 0) out += fmt::format(", {} NaN", s.nan);
  if (s.infinite > 0) out += fmt::format(", {} infinite", s.infinite);
  return out;
}

/// The first elements of the first rows.
std::vector<std::vector<double>> first_rows(const Array& a) {
  std::vector<std::vector<double>> out;
  const std::int64_t rows = a.rank() == 0 ? 1 : a.dims()[0];
  const std::int64_t features = rows == 0 ? 0 : a.count() / rows;
  for (std::int64_t r = 0; r < std::min<std::int64_t>(rows, kFirst); ++r) {
    auto& row = out.emplace_back();
    for (std::int64_t i = 0; i < std::min<std::int64_t>(features, kAcross); ++i)
      row.push_back(a.at(r * features + i));
  }
  return out;
}

/// "0 ×7, 1 ×20": the first of the numbers in an array, by the names of the classes where there are any.
std::string counts_text(const Array& a, const std::vector<std::int64_t>& rows = {},
                        const std::vector<std::string>& names = {}) {
  const auto counts = data::counts_of(a, rows);
  std::string out;
  for (std::size_t i = 0; i < counts.size() && i < 10; ++i) {
    const auto [value, times] = counts[i];
    const auto v = static_cast<std::size_t>(value);
    out +=
        fmt::format("{}{} ×{}", i ? ", " : "", v < names.size() ? plain(names[v]) : std::to_string(v), times);
  }
  return out + (counts.size() > 10 ? ", ..." : "");
}

std::string array_text(const Array& a) {
  std::string out = fmt::format("{}, {}\n", a.type_string(), range_text(a));
  const std::string counts = a.rank() == 1 ? counts_text(a) : "";
  if (!counts.empty()) out += "  values: " + counts + "\n";
  const std::int64_t shown = static_cast<std::int64_t>(kFirst * kAcross);
  for (const auto& row : first_rows(a)) {
    out += "  ";
    for (std::size_t i = 0; i < row.size(); ++i) out += fmt::format("{}{:g}", i ? ", " : "", row[i]);
    out += a.rank() > 1 && a.count() > shown && row.size() == kAcross ? ", ...\n" : "\n";
  }
  return out;
}

Json column_json(const data::ColumnSummary& c) {
  Json out{{"name", c.name}, {"type", kind_name(c)}, {"missing", c.missing}};
  if (c.numbers > 0) out["low"] = c.low, out["high"] = c.high, out["mean"] = c.mean;
  if (!c.odd.empty()) out["numbers"] = c.numbers, out["first_text"] = c.odd;
  if (c.distinct >= 0) out["distinct"] = c.distinct;
  for (const auto& [text, times] : c.classes)
    if (counted(c)) out["classes"][text] = times;
  return out;
}

Json table_json(const data::CsvFile& table) {
  const data::TableSummary s = data::summary(table, 10, kFirst);
  Json columns = Json::array();
  for (const auto& c : s.columns) columns.push_back(column_json(c));
  return {{"rows", s.rows}, {"columns", columns}, {"first", s.first}};
}

Json array_json(const Array& a) {
  const data::ArraySummary s = data::summary(a);
  return {{"dtype", name(a.dtype())}, {"shape", a.dims()},     {"low", s.low},
          {"high", s.high},           {"mean", s.mean},        {"nan", s.nan},
          {"infinite", s.infinite},   {"first", first_rows(a)}};
}

std::string target_text(const train::LoadedData& data) {
  const auto& part = data.data.train;
  const Array& y = part.data[data.data.target];
  if (y.count() != part.data.rows()) return "";
  const std::string counts = counts_text(y, part.rows, data.classes);
  return counts.empty() ? "" : fmt::format("{:<20} {}\n", "classes", counts);
}

}  // namespace

std::string text_of(const data::Source& source) {
  if (source.table() != nullptr) return fmt::format("{}, {}", source.format, table_text(*source.table()));
  if (source.array() != nullptr) return fmt::format("{}, {}", source.format, array_text(*source.array()));
  std::string out = fmt::format("{}, {}\n", source.format,
                                count_text(static_cast<std::int64_t>(source.pack()->names.size()), "array"));
  for (const auto& name : source.pack()->names)
    out += plain(name, 60) + ": " + array_text(source.pack()->read(name));
  if (!source.pack()->classes.empty())
    out += fmt::format("classes: {}\n", fmt::join(source.pack()->classes, ", "));
  return out;
}

Json json_of(const data::Source& source) {
  Json out{{"format", source.format}};
  if (source.table() != nullptr) {
    out.update(table_json(*source.table()));
  } else if (source.array() != nullptr) {
    out.update(array_json(*source.array()));
  } else {
    for (const auto& name : source.pack()->names) out["arrays"][name] = array_json(source.pack()->read(name));
    if (!source.pack()->classes.empty()) out["classes"] = source.pack()->classes;
  }
  return out;
}

std::string fields_text(const train::LoadedData& data) {
  std::string out;
  for (const auto& f : data.data.train.data.fields())
    out += fmt::format("{:<20} {}, {}\n", f.name, f.values.type_string(), range_text(f.values));
  return out + target_text(data);
}

}  // namespace tightloop::cli
