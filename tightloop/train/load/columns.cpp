// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/split.h>
#include <tightloop/train/load/parts.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

/// What a column beside inputs and target is read from: a table or arrays by name, or else a folder of files.
struct Place {
  std::string path;
  std::optional<data::Source> source;

  const data::CsvFile* table() const { return source ? source->table() : nullptr; }
  const data::ArrayPack* pack() const { return source ? source->pack() : nullptr; }
};

Place place_of(const Job& job, const std::string& path) {
  std::error_code ec;
  Place out{path, std::nullopt};
  if (path.empty()) out.path = job.folder;
  if (path.empty()) return out;
  if (fs::is_directory(path, ec))
    out.source = open_folder(path, source_options(job));
  else if (fs::is_regular_file(path, ec))
    out.source = open_source(path, source_options(job));
  if (out.source && out.source->array() != nullptr) {
    out.path = fs::path(path).parent_path().string();
    out.source.reset();
  }
  return out;
}

Array array_at(const Job& job, const std::string& path, const std::string& name) {
  if (!fs::exists(path))
    throw Error(fmt::format("there is no field '{}', and no file {} to read it from", name, path));
  const data::Source source = open_source(path, source_options(job));
  if (source.array() == nullptr)
    throw Error(fmt::format("{}: '{}' is read from an array here, NPY or IDX", path, name));
  return *source.array();
}

std::size_t column_of(const data::CsvFile& table, const std::string& name) { return table.select({name})[0]; }

Array numbers_at(const Job& job, const Place& place, const std::string& name) {
  if (const auto* table = place.table())
    return table->column(table->columns()[column_of(*table, name)], DType::f64);
  if (place.pack() != nullptr) return place.pack()->array(name, place.path);
  return array_at(job, (fs::path(place.path) / name).string(), name);
}

bool holds_texts(const Place& place, const std::string& name) {
  const auto* table = place.table();
  return table != nullptr && table->kind(column_of(*table, name)) == data::ColumnKind::text;
}

/// The texts of a table's column by number: the same text has the same number in all tables.
Array codes_at(const Place& place, const std::string& name, std::map<std::string, std::int64_t>& numbers) {
  const auto* table = place.table();
  if (table == nullptr)
    throw Error(fmt::format("{}: '{}' is an array, in other files of data.train a column of texts",
                            place.path, name));
  data::ClassColumn column = table->classes(column_of(*table, name), nullptr, 1 << 30);
  std::vector<std::int64_t> own;
  for (const auto& text : column.names)
    own.push_back(numbers.emplace(text, static_cast<std::int64_t>(numbers.size())).first->second);
  for (auto& code : column.codes.as<std::int64_t>()) code = own[static_cast<std::size_t>(code)];
  return column.codes;
}

/// One value a row, one file behind the other.
Array joined(const std::vector<Array>& parts) {
  const auto other = [&](const Array& a) { return a.dtype() != parts[0].dtype(); };
  const bool mixed = std::any_of(parts.begin(), parts.end(), other);
  std::int64_t rows = 0;
  for (const Array& a : parts) rows += a.count();
  Array out(mixed ? DType::f64 : parts[0].dtype(), {rows});
  std::byte* to = out.bytes();
  for (const Array& a : parts) {
    const Array same = mixed ? a.cast(DType::f64) : a;
    if (same.size_bytes() > 0) std::memcpy(to, same.bytes(), same.size_bytes());
    to += same.size_bytes();
  }
  return out;
}

Array one_a_row(Array a, const std::string& name, std::int64_t rows) {
  if (a.rank() == 0 || a.dims()[0] != rows || a.count() != rows)
    throw Error(
        fmt::format("'{}' is {}; one value for each of the {} rows is needed", name, a.type_string(), rows));
  return a.reshaped({rows});
}

}  // namespace

Array extra_column(const Job& job, const std::vector<std::string>& files, const data::Dataset& data,
                   const std::string& name, bool text) {
  if (const Array* field = data.find(name)) return one_a_row(*field, name, data.rows());
  return one_a_row(extra_column(job, files, name, text), name, data.rows());
}

Array extra_column(const Job& job, const std::vector<std::string>& files, const std::string& name,
                   bool text) {
  std::vector<Place> places;
  for (const auto& file : files) places.push_back(place_of(job, file));
  const bool codes =
      text && std::any_of(places.begin(), places.end(), [&](const Place& p) { return holds_texts(p, name); });
  std::map<std::string, std::int64_t> numbers;
  std::vector<Array> parts;
  for (const Place& p : places)
    parts.push_back(codes ? codes_at(p, name, numbers) : numbers_at(job, p, name));
  return parts.size() == 1 ? parts[0] : joined(parts);
}

std::vector<std::int64_t> window_firsts(const Job& job, const std::vector<std::string>& files,
                                        const data::Dataset& data, bool with_target) {
  const WindowChoice& w = *job.data.window;
  std::vector<std::int64_t> groups;
  if (!w.group.empty()) groups = data::codes_of(extra_column(job, files, data, w.group, true));
  return data::window_rows(data.rows(), w.window, with_target, groups);
}

}  // namespace tightloop::train
