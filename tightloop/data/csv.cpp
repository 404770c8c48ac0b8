// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/columns.h>
#include <tightloop/data/csv.h>
#include <tightloop/data/csv_records.h>
#include <tightloop/data/number.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <variant>

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

struct Row {
  const std::vector<CsvCell>& cells;
  std::int64_t number;
  std::int64_t line;

  std::string where() const {
    return "row " + std::to_string(number) + " (line " + std::to_string(line) + ")";
  }
};

std::string ragged(const Row& row, const std::vector<std::string>& columns) {
  std::string out = row.where() + " has " + std::to_string(row.cells.size()) +
                    (row.cells.size() == 1 ? " field, " : " fields, ") + std::to_string(columns.size()) +
                    " expected";
  if (columns.size() == 1 && columns[0].find_first_of(";\t|") != std::string::npos)
    out += "; the header '" + columns[0] + "' looks as if fields were separated by '" +
           columns[0][columns[0].find_first_of(";\t|")] + "'";
  return out;
}

using Values = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                            std::vector<std::int64_t>>;

Values values_of(DType dtype, const std::string& file) {
  switch (dtype) {
    case DType::f32:
      return std::vector<float>();
    case DType::f64:
      return std::vector<double>();
    case DType::i32:
      return std::vector<std::int32_t>();
    case DType::i64:
      return std::vector<std::int64_t>();
    default:
      throw Error(file + ": a CSV column is read as f32, f64, i32 or i64, not as " +
                  std::string(name(dtype)));
  }
}

/// Fills one array, row by row.
class Collector {
 public:
  Collector(const ColumnRequest& request, const std::string& file, const std::vector<std::string>& names)
      : columns_(request.columns), values_(values_of(request.dtype, file)), file_(file), names_(names) {
    for (const std::size_t c : columns_) require(c < names.size(), "CsvFile::read: column out of range");
  }

  void reserve(std::size_t rows) {
    std::visit([&](auto& v) { v.reserve(rows * columns_.size()); }, values_);
  }
  void add(const Row& row) {
    std::visit([&](auto& v) { append(row, v); }, values_);
  }
  Array take(std::int64_t rows) {
    return std::visit([&](auto& v) { return adopt(rows, std::move(v)); }, values_);
  }

 private:
  template <class T>
  void append(const Row& row, std::vector<T>& values) {
    for (const std::size_t c : columns_) {
      T value{};
      if (!parse_number(row.cells[c].text, value))
        throw Error(file_ + ": " + row.where() + ", column '" + names_[c] +
                    "': " + not_a_number(row.cells[c].text, std::is_integral_v<T>));
      values.push_back(value);
    }
  }
  template <class T>
  Array adopt(std::int64_t rows, std::vector<T> values) const {
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    T* data = owner->data();
    return Array::borrow(dtype_of<T>, {rows, static_cast<std::int64_t>(columns_.size())}, data,
                         std::move(owner));
  }

  const std::vector<std::size_t>& columns_;
  Values values_;
  const std::string& file_;
  const std::vector<std::string>& names_;
};

constexpr std::int64_t kSample = 100;

/// Rows of a file of `bytes` whose first kSample rows take `sample` bytes, and a little more.
std::size_t expected_rows(std::size_t bytes, std::ptrdiff_t sample) {
  const double rows = static_cast<double>(bytes) * kSample / static_cast<double>(sample);
  return static_cast<std::size_t>(rows * 1.02) + 16;
}

[[noreturn]] void no_rows(const std::string& file, bool header) {
  throw Error(file + ": 0 rows" + (header ? " behind the header" : "") + "; there is nothing to read");
}

}  // namespace

CsvFile CsvFile::open(const std::string& path, const CsvOptions& options) {
  return parse(read_file(path), path, options);
}

CsvFile CsvFile::parse(Bytes bytes, std::string name, const CsvOptions& options) {
  CsvFile file;
  file.bytes_ = std::move(bytes);
  file.name_ = std::move(name);
  file.separator_ = options.separator != 0 ? options.separator : names_tabs(file.name_) ? '\t' : ',';
  if (std::string_view("\"\n\r").find(file.separator_) != std::string_view::npos)
    throw Error(file.name_ + ": a quote or line end cannot separate fields");
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

template <class RowFunction>
std::int64_t CsvFile::for_each_row(RowFunction function) const {
  CsvRecords records(bytes_.text(), separator_, name_);
  if (header_) records.next();
  std::int64_t rows = 0;
  while (records.next()) {
    const Row row{records.cells(), ++rows, records.line()};
    if (row.cells.size() != columns_.size()) throw Error(name_ + ": " + ragged(row, columns_));
    function(row);
  }
  return rows;
}

std::vector<Array> CsvFile::read(std::span<const ColumnRequest> requests) const {
  std::vector<Collector> collectors;
  for (const auto& request : requests) collectors.emplace_back(request, name_, columns_);
  const char* first = nullptr;
  const std::int64_t rows = for_each_row([&](const Row& row) {
    const char* begin = row.cells[0].text.data();
    if (row.number == 1) first = begin;
    if (row.number == kSample + 1)
      for (auto& c : collectors) c.reserve(expected_rows(bytes_.size(), begin - first));
    for (auto& c : collectors) c.add(row);
  });
  if (rows == 0) no_rows(name_, header_);
  std::vector<Array> out;
  for (auto& c : collectors) out.push_back(c.take(rows));
  return out;
}

Array CsvFile::column(std::string_view name, DType dtype) const {
  const ColumnRequest request{select_columns(columns_, {std::string(name)}, name_), dtype};
  Array values = read({&request, 1})[0];
  if (request.columns.size() != 1)
    throw Error(name_ + ": '" + std::string(name) + "' is more than one column");
  return values.reshaped({values.dims()[0]});
}

ClassColumn CsvFile::classes(std::size_t column, const std::vector<std::string>* names,
                             std::size_t limit) const {
  require(column < columns_.size(), "CsvFile::classes: column out of range");
  const std::string& title = columns_[column];
  std::unordered_map<std::string, std::int64_t> known;
  std::vector<std::string> found;
  for (std::size_t i = 0; names != nullptr && i < names->size(); ++i)
    known.emplace((*names)[i], static_cast<std::int64_t>(i));
  std::vector<std::int64_t> codes;
  std::string missing;  // what is wrong with the first field that is missing, where the others are numbers
  bool numbers = false;
  const std::int64_t rows = for_each_row([&](const Row& row) {
    const std::string text = row.cells[column].value();
    const auto where = [&] { return name_ + ": " + row.where() + ", column '" + title + "': "; };
    if (text.empty()) throw Error(where() + "the class is missing");
    auto it = known.find(text);
    if (it == known.end() && names != nullptr)
      throw Error(where() + "'" + text + "' is not one of the known classes" + suggestion(text, *names));
    if (it == known.end()) {
      if (found.size() == limit)
        throw Error(where() + "more than " + std::to_string(limit) +
                    " different texts; this is no column of classes");
      it = known.emplace(text, static_cast<std::int64_t>(found.size())).first;
      found.push_back(text);
      double ignored = 0;
      numbers = numbers || parse_number(text, ignored);
      if (missing.empty() && is_missing(text)) missing = where() + not_a_number(text, true);
    }
    codes.push_back(it->second);
  });
  if (rows == 0) no_rows(name_, header_);
  if (names != nullptr) return {Array::of<std::int64_t>({rows}, codes), *names};
  if (numbers && !missing.empty()) throw Error(missing);
  std::vector<std::string> sorted = found;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> place;
  for (const auto& text : found)
    place.push_back(std::lower_bound(sorted.begin(), sorted.end(), text) - sorted.begin());
  for (auto& code : codes) code = place[static_cast<std::size_t>(code)];
  return {Array::of<std::int64_t>({rows}, codes), std::move(sorted)};
}

ColumnKind CsvFile::kind(std::size_t column) const {
  require(column < columns_.size(), "CsvFile::kind: column out of range");
  ColumnKind kind = ColumnKind::whole;
  for_each_row([&](const Row& row) {
    const auto text = row.cells[column].text;
    std::int64_t whole = 0;
    double number = 0;
    if (kind == ColumnKind::whole && !parse_number(text, whole)) kind = ColumnKind::number;
    if (kind == ColumnKind::number && !parse_number(text, number)) kind = ColumnKind::text;
  });
  return kind;
}

std::int64_t CsvFile::rows() const {
  return for_each_row([](const Row&) {});
}

Array read_csv(const std::string& path, const std::vector<std::string>& wanted, DType dtype,
               const CsvOptions& options) {
  const CsvFile file = CsvFile::open(path, options);
  const ColumnRequest request{file.select(wanted), dtype};
  return file.read({&request, 1})[0];
}

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
               const std::vector<Array>& columns) {
  require(!columns.empty() && names.size() == columns.size(), "write_csv: one name a column");
  const std::int64_t rows = columns[0].count();
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (columns[c].count() != rows || columns[c].rank() == 0 || columns[c].dims()[0] != rows)
      throw Error("cannot write '" + path + "': column '" + names[c] + "' is " + columns[c].type_string() +
                  ", " + std::to_string(rows) + " rows of one value expected");
  constexpr std::size_t kChunk = 1 << 20;
  AtomicFile file(path);
  std::string out;
  for (std::size_t c = 0; c < names.size(); ++c) out += (c ? "," : "") + csv_text(names[c]);
  out += '\n';
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c) out += ',';
      append_value(out, columns[c], r);
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
