// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/csv.h>

#include <charconv>

namespace tightloop::data {
namespace {

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

void append_value(std::string& out, const Array& array, std::int64_t i) {
  char buffer[40];
  std::to_chars_result end{};
  if (array.dtype() == DType::f64)
    end = std::to_chars(buffer, std::end(buffer), array.at(i));
  else if (is_floating(array.dtype()))
    end = std::to_chars(buffer, std::end(buffer), static_cast<float>(array.at(i)));
  else
    end = std::to_chars(buffer, std::end(buffer), array.int_at(i));
  out.append(buffer, end.ptr);
}

}  // namespace

void write_csv(const std::string& path, const std::vector<std::string>& names,
               const std::vector<Array>& columns, const RowNames& row_names) {
  require(!columns.empty() && names.size() == columns.size(), "write_csv: one name a column");
  const std::int64_t rows = columns[0].count();
  const bool named = !row_names.header.empty();
  require(!named || row_names.names.size() == static_cast<std::size_t>(rows), "write_csv: one name a row");
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].count() != rows || columns[c].rank() == 0 || columns[c].dims()[0] != rows)
      throw Error("cannot write '" + path + "': column '" + names[c] + "' is " + columns[c].type_string() +
                  ", " + std::to_string(rows) + " rows of one value expected");
  constexpr std::size_t kChunk = 1 << 20;
  AtomicFile file(path);
  std::string out = named ? csv_text(row_names.header) + "," : "";
  for (std::size_t c = 0; c < names.size(); ++c) out += (c ? "," : "") + csv_text(names[c]);
  out += '\n';
  for (std::int64_t r = 0; r < rows; ++r) {
    if (named) out += csv_text(row_names.names[static_cast<std::size_t>(r)]) + ",";
    const bool gap = row_names.gaps.contains(r);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c) out += ',';
      if (!gap) append_value(out, columns[c], r);
    }
    out += '\n';
    if (out.size() < kChunk) continue;
    file.write(out);
    out.clear();
  }
  file.write(out);
  file.commit();
}

}  // namespace tightloop::data
