// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/columns.h>
#include <tightloop/train/load/parts.h>
#include <tightloop/train/sources.h>

#include <fmt/format.h>
#include <cstring>
#include <filesystem>
#include <set>

namespace tightloop::train {
namespace {

std::vector<std::int64_t> row_dims(const Array& a) { return {a.dims().begin() + 1, a.dims().end()}; }

/// The arrays of field `f`, one behind the other.
Array joined(const std::vector<data::Dataset>& parts, std::size_t f, const std::vector<std::string>& files) {
  const Array& first = parts[0].fields()[f].values;
  std::vector<std::int64_t> dims = first.dims();
  for (std::size_t p = 1; p < parts.size(); ++p) {
    const Array& a = parts[p].fields()[f].values;
    if (a.rank() == 0 || a.dtype() != first.dtype() || row_dims(a) != row_dims(first))
      throw Error(fmt::format("{}: '{}' is {}, in {} it is {}", files[p], parts[0].fields()[f].name,
                              a.type_string(), files[0], first.type_string()));
    dims[0] += a.dims()[0];
  }
  Array out(first.dtype(), dims);
  std::byte* to = out.bytes();
  for (const auto& part : parts) {
    const Array& a = part.fields()[f].values;
    if (a.size_bytes() > 0) std::memcpy(to, a.bytes(), a.size_bytes());
    to += a.size_bytes();
  }
  return out;
}

/// Where the target is a column of texts, the classes of all files together.
void find_classes(const std::vector<std::string>& files, Request& request) {
  const auto& from = request.job.data.target[0].from;
  if (request.kind == nn::TargetKind::values || request.fixed_classes) return;
  std::set<std::string> all;
  for (const auto& file : files) {
    if (std::filesystem::is_directory(file)) return;
    const data::Source source = open_source(file, source_options(request.job));
    if (source.table() == nullptr) return;
    const auto columns = source.table()->select(from);
    if (columns.size() != 1) return;
    const data::ColumnRule rule = data::rule_for(request.rules, source.table()->columns()[columns[0]]);
    if (rule.values || !holds_names(*source.table(), columns[0], rule)) return;
    const auto names = source.table()->classes(columns[0]).names;
    all.insert(names.begin(), names.end());
  }
  request.classes.assign(all.begin(), all.end());
  request.fixed_classes = true;
}

}  // namespace

data::Dataset read_parts(const std::vector<std::string>& files, Request& request) {
  if (files.size() > 1) find_classes(files, request);
  std::vector<data::Dataset> parts;
  for (std::int64_t first = 0; const auto& file : files) {
    parts.push_back(read_part(file, {}, request));
    request.files.push_back({file, first});
    first += parts.back().rows();
  }
  if (parts.size() == 1) return std::move(parts[0]);
  std::vector<data::Field> fields;
  for (std::size_t f = 0; f < parts[0].fields().size(); ++f)
    fields.push_back({parts[0].fields()[f].name, joined(parts, f, files)});
  return data::Dataset(std::move(fields));
}

}  // namespace tightloop::train
