// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/columns.h>
#include <tightloop/train/load/parts.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

Array flat(const Array& a) { return a.reshaped({a.count()}); }

Array checked_rank(const Array& a, const std::string& path) {
  if (a.rank() <= kMaxRank) return a;
  throw Error(fmt::format("{}: has {} dims; at most {} can be used", path, a.rank(), kMaxRank));
}

Array read_array(const std::string& name, const std::string& path, const data::SourceOptions& options) {
  const data::Source source = open_source(path, options);
  if (const Array* a = source.array()) return checked_rank(*a, path);
  if (source.pack() != nullptr)
    throw Error(
        fmt::format("{}: holds several arrays ({}): name the file in data.train, and one of them in "
                    "data.inputs and data.target each",
                    path, data::name_list(source.pack()->names)));
  throw Error(fmt::format(
      "{}: '{}' is read from a file of its own here, which must be NPY or IDX; a CSV table is named in "
      "data.train and its columns in data.inputs and data.target",
      path, name));
}

/// One number a row is one column, [N, 1], as in a table; a list of ids stays [N].
Array input_array(const Array& a) {
  const bool ids = a.dtype() == DType::i32 || a.dtype() == DType::i64;
  return a.rank() == 1 && !ids ? a.reshaped({a.count(), 1}) : a;
}

/// Class numbers stored as floating numbers.
Array whole_numbers(const std::string& name, const Array& y) {
  Array out(DType::i64, {y.count()});
  for (std::int64_t i = 0; i < y.count(); ++i) {
    const double v = y.at(i);
    if (!(std::fabs(v) < 1e15) || v != std::floor(v))
      throw Error(
          fmt::format("the target '{}' is {}, but this loss takes class numbers: {} in row {} (rows "
                      "count from 1) is no whole number",
                      name, y.type_string(), std::isnan(v) ? "nan" : fmt::format("{}", v), i + 1));
    out.set_int(i, static_cast<std::int64_t>(v));
  }
  return out;
}

Array class_target(const std::string& name, const Array& y) {
  const bool column = y.rank() == 2 && y.dims()[1] == 1;
  if (is_floating(y.dtype()) && (y.rank() < 2 || column)) return whole_numbers(name, y);
  return column ? flat(y) : y;
}

data::Field field_of(const std::string& name, const Array& a, const Request& request) {
  if (name != request.job.data.target[0].name) return {name, input_array(a)};
  return {name, request.kind == nn::TargetKind::values ? a : class_target(name, a)};
}

void refuse_rules(const Request& request) {
  if (request.rules.empty()) return;
  throw Error(
      fmt::format("{} is about the columns of tables (CSV); the data are arrays", request.rules[0].where));
}

std::string one_file(const Field& f) {
  if (f.from.size() != 1)
    throw Error(fmt::format(
        "'{}' names {} files; without a CSV table in data.train an input is read from one NPY or IDX file",
        f.name, f.from.size()));
  return f.from[0];
}

}  // namespace

data::Dataset read_arrays(const std::vector<std::pair<std::string, std::string>>& files,
                          const Request& request) {
  refuse_rules(request);
  std::vector<data::Field> fields;
  for (const auto& [name, path] : files)
    fields.push_back(field_of(name, read_array(name, path, source_options(request.job)), request));
  return data::Dataset(std::move(fields));
}

data::Dataset read_pack(const data::ArrayPack& pack, const std::string& name, Request& request) {
  refuse_rules(request);
  std::vector<data::Field> fields;
  for (const Field& f : wanted_fields(request)) {
    if (f.from.size() != 1)
      throw Error(
          fmt::format("'{}' names {} arrays; it is read from one array of {}", f.name, f.from.size(), name));
    Array a = checked_rank(pack.array(f.from[0], name), name);
    const bool target = f.name == request.job.data.target[0].name;
    if (pack.text && !target && a.dtype() == DType::u8) a = a.cast(DType::i32);  // ids, not pixels
    if (target && f.from[0] == pack.labels && !pack.classes.empty()) request.classes = pack.classes;
    fields.push_back(field_of(f.name, a, request));
  }
  return data::Dataset(std::move(fields));
}

data::Dataset read_folder(const std::string& folder, const std::vector<Field>& given,
                          const Request& request) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const Field& f : wanted_fields(request)) {
    const auto own =
        std::find_if(given.begin(), given.end(), [&](const Field& g) { return g.name == f.name; });
    files.emplace_back(f.name, (fs::path(folder) / one_file(own == given.end() ? f : *own)).string());
  }
  return read_arrays(files, request);
}

}  // namespace tightloop::train
