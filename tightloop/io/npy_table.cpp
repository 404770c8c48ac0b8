// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/npy_header.h>
#include <tightloop/io/npy_table.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace tightloop::io {
namespace {

struct ColumnType {
  DType dtype;
  std::string_view descr;
};
constexpr std::array<ColumnType, 3> kTypes{{{DType::i64, "<i8"}, {DType::f32, "<f4"}, {DType::f64, "<f8"}}};

std::string literal(const std::vector<TableColumn>& columns, std::int64_t rows) {
  std::string out = "{'descr': [";
  for (const TableColumn& c : columns) {
    const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&](auto& t) { return t.dtype == c.dtype; });
    if (type == kTypes.end() || c.name.find_first_of("'\"\\\n") != std::string::npos)
      throw Error(
          "an NPY table takes columns of i64, f32 and f64 whose names have neither quotes nor \\, not '" +
          c.name + "', " + std::string(name(c.dtype)));
    out += (&c == &columns.front() ? "('" : ", ('") + c.name + "', '" + std::string(type->descr) + "')";
  }
  return out + "], 'fortran_order': False, 'shape': (" + std::to_string(rows) + ",), }";
}

template <class T>
double value_at(const char* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return static_cast<double>(value);
}

}  // namespace

std::size_t bytes_of_row(const std::vector<TableColumn>& columns) {
  std::size_t out = 0;
  for (const TableColumn& c : columns) out += size_of(c.dtype);
  return out;
}

std::size_t NpyTable::offset(std::size_t column) const {
  std::size_t out = 0;
  for (std::size_t i = 0; i < column; ++i) out += size_of(columns[i].dtype);
  return out;
}

double NpyTable::at(std::string_view bytes, std::int64_t row, std::size_t column) const {
  const char* place = bytes.data() + start + static_cast<std::size_t>(row) * row_bytes + offset(column);
  switch (columns[column].dtype) {
    case DType::i64:
      return value_at<std::int64_t>(place);
    case DType::f32:
      return value_at<float>(place);
    default:
      return value_at<double>(place);
  }
}

std::string npy_table_header(const std::vector<TableColumn>& columns, std::int64_t rows) {
  const std::size_t most = npy_preamble(literal(columns, std::numeric_limits<std::int64_t>::max()), 0).size();
  return npy_preamble(literal(columns, rows), most);
}

NpyTable parse_npy_table(std::string_view text, const std::string& name) {
  const NpyHeader header = parse_npy_header(text, name);
  if (header.fields.empty() || header.shape.size() != 1)
    throw Error(name + ": is no table: a list of records with named fields");
  NpyTable out{{}, 0, header.start, 0};
  for (const auto& [field, descr] : header.fields) {
    const std::string_view wanted = descr;
    const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&](auto& t) { return t.descr == wanted; });
    if (type == kTypes.end())
      throw Error(name + ": the column '" + field + "' has the type '" + descr +
                  "'; read are <i8, <f4 and <f8");
    out.columns.push_back({field, type->dtype});
  }
  out.row_bytes = bytes_of_row(out.columns);
  const auto whole = static_cast<std::int64_t>((text.size() - out.start) / out.row_bytes);
  out.rows = std::min(header.shape[0], whole);
  return out;
}

}  // namespace tightloop::io
