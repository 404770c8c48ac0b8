// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/mapped.h>
#include <tightloop/data/columns.h>
#include <tightloop/data/csv.h>
#include <tightloop/data/csv_records.h>
#include <tightloop/data/number.h>

#include <algorithm>
#include <unordered_map>

namespace tightloop::data {
namespace {

bool names_tabs(const std::string& name) { return name.ends_with(".tsv") || name.ends_with(".tsv.gz"); }

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool all_numbers(const std::vector<CsvCell>& cells) {
  double ignored = 0;
  return std::all_of(cells.begin(), cells.end(),
                     [&](const CsvCell& c) { return parse_number(c.text, ignored); });
}

void check_different(const std::vector<std::string>& names, const std::string& file) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [it, fresh] = seen.emplace(names[i], i);
    if (!fresh)
      throw Error(file + ": the header names two columns '" + names[i] + "' (columns " +
                  std::to_string(it->second + 1) + " and " + std::to_string(i + 1) + ")");
  }
}

std::vector<std::string> numbered(std::size_t n) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(std::to_string(i));
  return out;
}

/// A first line 0,1,2,... may be data, or the header that tools write for columns without names.
void check_not_counted(const std::vector<CsvCell>& first, const std::string& file) {
  if (first.size() < 3) return;
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i].text != std::to_string(i)) return;
  throw Error(file + ": line 1 counts 0, 1, 2, ...: a header or data? Give the columns names");
}

std::string ragged(const CsvRow& row, const std::vector<std::string>& columns) {
  std::string out = row.where() + " has " + std::to_string(row.cells.size()) +
                    (row.cells.size() == 1 ? " field, " : " fields, ") + std::to_string(columns.size()) +
                    " expected";
  if (columns.size() == 1 && columns[0].find_first_of(";\t|") != std::string::npos)
    out += "; the header '" + columns[0] + "' looks as if fields were separated by '" +
           columns[0][columns[0].find_first_of(";\t|")] + "'";
  return out;
}

}  // namespace

CsvFile CsvFile::open(const std::string& path, const CsvOptions& options) {
  const Bytes bytes = read_file(path);
  return while_unchanged(bytes, [&] { return parse(bytes, path, options); });
}

CsvFile CsvFile::parse(const Bytes& bytes, std::string name, const CsvOptions& options) {
  CsvFile file;
  file.name_ = std::move(name);
  file.bytes_ = bytes.from(byte_order_mark(bytes.text(), file.name_));
  file.separator_ = options.separator != 0 ? options.separator : names_tabs(file.name_) ? '\t' : ',';
  file.threads_ = options.threads;
  if (std::string_view("\"\n\r0123456789.+-eE").find(file.separator_) != std::string_view::npos)
    throw Error(file.name_ + ": a quote, a line end or what numbers are written with cannot separate fields");
  CsvRecords records(file.bytes_.text(), file.separator_, file.name_);
  if (!records.next()) throw Error(file.name_ + ": the file is empty: no header and no rows");
  if (!options.header) check_not_counted(records.cells(), file.name_);
  file.header_ = options.header.value_or(!all_numbers(records.cells()));
  if (file.header_)
    for (const auto& cell : records.cells()) file.columns_.push_back(trimmed(cell.value()));
  else
    file.columns_ = numbered(records.cells().size());
  check_different(file.columns_, file.name_);
  return file;
}

std::vector<std::size_t> CsvFile::select(const std::vector<std::string>& wanted,
                                         const std::vector<std::string>& reserved) const {
  return select_columns(columns_, wanted, name_, reserved);
}

std::int64_t CsvFile::for_each_row(const std::function<void(const CsvRow&)>& function) const {
  return while_unchanged(bytes_, [&] {
    CsvRecords records(bytes_.text(), separator_, name_);
    if (header_) records.next();
    std::int64_t rows = 0;
    while (records.next()) {
      const CsvRow row{records.cells(), ++rows, records.line()};
      if (row.cells.size() != columns_.size()) throw Error(name_ + ": " + ragged(row, columns_));
      function(row);
    }
    return rows;
  });
}

void CsvFile::no_rows() const {
  throw Error(name_ + ": 0 rows" + (header_ ? " behind the header" : "") + "; there is nothing to read");
}

std::string CsvFile::where(const CsvRow& row, std::size_t column) const {
  return name_ + ": " + row.where() + ", column '" + columns_[column] + "': ";
}

Array CsvFile::column(std::string_view name, DType dtype) const {
  const ColumnRequest request{select_columns(columns_, {std::string(name)}, name_), dtype};
  Array values = read({&request, 1})[0];
  if (request.columns.size() != 1)
    throw Error(name_ + ": '" + std::string(name) + "' is more than one column");
  return values.reshaped({values.dims()[0]});
}

Array read_csv(const std::string& path, const std::vector<std::string>& wanted, DType dtype,
               const CsvOptions& options) {
  const CsvFile file = CsvFile::open(path, options);
  const ColumnRequest request{file.select(wanted), dtype};
  return file.read({&request, 1})[0];
}

}  // namespace tightloop::data
