// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/csv_records.h>
#include <tightloop/data/describe.h>
#include <tightloop/data/number.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace tightloop::data {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Running range and mean.
struct Range {
  double low = kInfinity, high = -kInfinity, mean = 0;
  std::int64_t count = 0;
  void add(double v) {
    low = v < low ? v : low;
    high = v > high ? v : high;
    mean += (v - mean) / static_cast<double>(++count);
  }
};

/// What is known of a column so far.
class Column {
 public:
  void add(const CsvRow& row, const CsvCell& cell) {
    const std::string text = cell.value();
    if (is_missing(text)) {
      ++missing_;
      return;
    }
    count(text);
    double number = 0;
    if (parse_number(cell.text, number)) {
      range_.add(number);
      std::int64_t ignored = 0;
      whole_ = whole_ && parse_number(cell.text, ignored);
    } else if (++texts_ == 1) {
      first_text_ = "'" + text.substr(0, 40) + "' in " + row.where();
    }
  }
  ColumnSummary finish(std::string name, std::size_t most) const {
    ColumnSummary out{.name = std::move(name), .missing = missing_, .numbers = range_.count};
    out.kind = texts_ > 0 ? ColumnKind::text : whole_ ? ColumnKind::whole : ColumnKind::number;
    if (range_.count > 0) out.low = range_.low, out.high = range_.high, out.mean = range_.mean;
    if (texts_ > 0 && range_.count > 0) out.odd = first_text_;
    out.distinct = many_ ? -1 : static_cast<std::int64_t>(counts_.size());
    out.classes.assign(counts_.begin(), counts_.end());
    std::sort(out.classes.begin(), out.classes.end(), [](const Counted& a, const Counted& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    if (out.classes.size() > most) out.classes.resize(most);
    return out;
  }

 private:
  void count(const std::string& text) {
    if (many_) return;
    ++counts_[text];
    if (counts_.size() <= static_cast<std::size_t>(kCounted)) return;
    many_ = true;
    counts_.clear();
  }

  Range range_;
  bool whole_ = true, many_ = false;
  std::int64_t missing_ = 0, texts_ = 0;
  std::string first_text_;
  std::unordered_map<std::string, std::int64_t> counts_;
};

template <class T>
ArraySummary summary_of(std::span<const T> values) {
  ArraySummary out;
  Range range;
  for (const T value : values) {
    const auto v = static_cast<double>(value);
    if (std::isfinite(v))
      range.add(v);
    else
      ++(std::isnan(v) ? out.nan : out.infinite);
  }
  if (range.count > 0) out.low = range.low, out.high = range.high, out.mean = range.mean;
  return out;
}

}  // namespace

TableSummary summary(const CsvFile& table, std::size_t most, std::size_t first) {
  std::vector<Column> columns(table.columns().size());
  TableSummary out;
  out.rows = table.for_each_row([&](const CsvRow& row) {
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].add(row, row.cells[c]);
    if (out.first.size() >= first) return;
    auto& fields = out.first.emplace_back();
    for (const CsvCell& cell : row.cells) fields.push_back(cell.value());
  });
  for (std::size_t c = 0; c < columns.size(); ++c)
    out.columns.push_back(columns[c].finish(table.columns()[c], most));
  return out;
}

ArraySummary summary(const Array& values) {
  switch (values.dtype()) {
    case DType::f32:
      return summary_of(values.as<float>());
    case DType::f64:
      return summary_of(values.as<double>());
    case DType::u8:
      return summary_of(values.as<std::uint8_t>());
    case DType::i32:
      return summary_of(values.as<std::int32_t>());
    case DType::i64:
      return summary_of(values.as<std::int64_t>());
    default:
      return summary(values.cast(DType::f32));
  }
}

std::vector<std::pair<std::int64_t, std::int64_t>> counts_of(const Array& values,
                                                             const std::vector<std::int64_t>& rows) {
  if (!is_integer(values.dtype())) return {};
  std::vector<std::int64_t> times(static_cast<std::size_t>(kCounted));
  const std::int64_t n = rows.empty() ? values.count() : static_cast<std::int64_t>(rows.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t v = values.int_at(rows.empty() ? i : rows[static_cast<std::size_t>(i)]);
    if (v < 0 || v >= kCounted) return {};
    ++times[static_cast<std::size_t>(v)];
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (std::int64_t v = 0; v < kCounted; ++v)
    if (const auto t = times[static_cast<std::size_t>(v)]; t > 0) out.emplace_back(v, t);
  return out;
}

}  // namespace tightloop::data
