// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/split.h>
#include <tightloop/train/load/parts.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>
#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

/// Null unless `path` is a table.
std::optional<data::CsvFile> table_at(const Job& job, const std::string& path) {
  std::error_code ec;
  if (path.empty() || !fs::is_regular_file(path, ec)) return std::nullopt;
  data::Source source = open_source(path, source_options(job));
  if (source.table() == nullptr) return std::nullopt;
  return std::get<data::CsvFile>(std::move(source.content));
}

Array array_at(const Job& job, const std::string& path, const std::string& name) {
  if (!fs::exists(path))
    throw Error(fmt::format("there is no field '{}', and no file {} to read it from", name, path));
  const data::Source source = open_source(path, source_options(job));
  if (source.array() == nullptr)
    throw Error(fmt::format("{}: '{}' is read from an array here, NPY or IDX", path, name));
  return *source.array();
}

Array one_a_row(Array a, const std::string& name, std::int64_t rows) {
  if (a.rank() == 0 || a.dims()[0] != rows || a.count() != rows)
    throw Error(
        fmt::format("'{}' is {}; one value for each of the {} rows is needed", name, a.type_string(), rows));
  return a.reshaped({rows});
}

}  // namespace

Array extra_column(const Job& job, const std::string& path, const data::Dataset& data,
                   const std::string& name, bool text) {
  if (const Array* field = data.find(name)) return one_a_row(*field, name, data.rows());
  if (!job.data.train_more.empty() && path == resolve(job, job.data.train))
    throw Error(
        fmt::format("{}: '{}' is no input and not the target; of training data from several files only "
                    "these can be looked at",
                    job.source, name));
  if (const auto table = table_at(job, path)) {
    const std::size_t column = table->select({name})[0];
    const bool codes = text && table->kind(column) == data::ColumnKind::text;
    return one_a_row(codes ? table->classes(column, nullptr, 1 << 30).codes
                           : table->column(table->columns()[column], DType::f64),
                     name, data.rows());
  }
  fs::path folder = path.empty() ? job.folder : path;
  if (!path.empty() && !fs::is_directory(folder)) folder = folder.parent_path();
  return one_a_row(array_at(job, (folder / name).string(), name), name, data.rows());
}

std::vector<std::int64_t> window_firsts(const Job& job, const std::string& path, const data::Dataset& data,
                                        bool with_target) {
  const WindowChoice& w = *job.data.window;
  std::vector<std::int64_t> groups;
  if (!w.group.empty()) groups = data::codes_of(extra_column(job, path, data, w.group, true));
  return data::window_rows(data.rows(), w.window, with_target, groups);
}

}  // namespace tightloop::train
