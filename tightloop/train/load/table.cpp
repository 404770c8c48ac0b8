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

/// A pattern may match the target by accident; its name does not.
void check_target_rule(const std::string& column, const Request& request) {
  for (const data::ColumnRule& r : request.rules) {
    if (r.match != column) continue;
    if (r.missing != data::Missing::refuse)
      throw Error(
          fmt::format("{} would fill in the target, '{}'; leave out rows without one", r.where, column));
    if (r.type == data::ColumnType::category && request.kind == nn::TargetKind::values)
      throw Error(
          fmt::format("{} makes the target '{}' a category; this loss takes numbers", r.where, column));
  }
}

data::Field csv_target(const data::CsvFile& csv, Request& request) {
  const Field& target = request.job.data.target[0];
  const auto columns = csv.select(target.from);
  for (const std::size_t c : columns) check_target_rule(csv.columns()[c], request);
  const bool probabilities = request.kind == nn::TargetKind::classes_or_probabilities && columns.size() > 1 &&
                             !request.fixed_classes;
  if (request.kind == nn::TargetKind::values || probabilities) {
    const data::ColumnRequest wanted{columns, DType::f32};
    Array values = csv.read({&wanted, 1})[0];
    note_rounded(csv, columns, values, request);
    return {target.name, std::move(values)};
  }
  if (columns.size() != 1)
    throw Error(fmt::format("{}: this loss takes one column of classes as target, {} match", csv.name(),
                            columns.size()));
  const data::ColumnRule rule = data::rule_for(request.rules, csv.columns()[columns[0]]);
  if (rule.values && !request.fixed_classes) request.classes = *rule.values, request.fixed_classes = true;
  if (request.fixed_classes || holds_names(csv, columns[0], rule)) {
    auto found = csv.classes(columns[0], request.fixed_classes ? &request.classes : nullptr);
    request.classes = found.names;
    request.fixed_classes = true;
    return {target.name, found.codes};
  }
  const data::ColumnRequest wanted{columns, DType::i64};
  return {target.name, flat(csv.read({&wanted, 1})[0])};
}

}  // namespace

bool holds_names(const data::CsvFile& csv, std::size_t column, const data::ColumnRule& rule) {
  if (rule.type != data::ColumnType::unsaid) return rule.type == data::ColumnType::category;
  return csv.kind(column) == data::ColumnKind::text;
}

data::Dataset read_table(const data::CsvFile& csv, Request& request) {
  const Job& job = request.job;
  std::vector<data::Field> fields = read_inputs(csv, request, target_columns(job, csv));
  if (request.with_target) fields.push_back(csv_target(csv, request));
  return data::Dataset(std::move(fields));
}

}  // namespace tightloop::train
