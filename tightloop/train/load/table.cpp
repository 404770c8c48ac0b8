// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/columns.h>
#include <tightloop/train/load/parts.h>

#include <fmt/format.h>

namespace tightloop::train {
namespace {

std::vector<std::string> target_columns(const Job& job, const data::CsvFile& csv) {
  std::vector<std::string> out;
  for (const auto& pattern : job.data.target[0].from)
    for (const auto& column : csv.columns())
      if (column == pattern || data::matches(pattern, column)) out.push_back(column);
  return out;
}

Array flat(const Array& a) { return a.reshaped({a.count()}); }

data::Field csv_target(const data::CsvFile& csv, Request& request) {
  const Field& target = request.job.data.target[0];
  const auto columns = csv.select(target.from);
  const bool probabilities = request.kind == nn::TargetKind::classes_or_probabilities && columns.size() > 1 &&
                             !request.fixed_classes;
  if (request.kind == nn::TargetKind::values || probabilities) {
    const data::ColumnRequest wanted{columns, DType::f32};
    return {target.name, csv.read({&wanted, 1})[0]};
  }
  if (columns.size() != 1)
    throw Error(fmt::format("{}: this loss takes one column of classes as target, {} match", csv.name(),
                            columns.size()));
  if (csv.kind(columns[0]) == data::ColumnKind::text || request.fixed_classes) {
    auto found = csv.classes(columns[0], request.fixed_classes ? &request.classes : nullptr);
    request.classes = found.names;
    request.fixed_classes = true;
    return {target.name, found.codes};
  }
  const data::ColumnRequest wanted{columns, DType::i64};
  return {target.name, flat(csv.read({&wanted, 1})[0])};
}

}  // namespace

data::Dataset read_table(const data::CsvFile& csv, Request& request) {
  const Job& job = request.job;
  const auto reserved = target_columns(job, csv);
  std::vector<data::ColumnRequest> wanted;
  for (const Field& f : job.data.inputs) wanted.push_back({csv.select(f.from, reserved), DType::f32});
  std::vector<Array> arrays = csv.read(wanted);
  std::vector<data::Field> fields;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    fields.push_back({job.data.inputs[i].name, std::move(arrays[i])});
  if (request.with_target) fields.push_back(csv_target(csv, request));
  return data::Dataset(std::move(fields));
}

}  // namespace tightloop::train
