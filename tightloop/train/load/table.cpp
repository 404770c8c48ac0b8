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

data::ColumnRule target_rule(const std::string& column, const Request& request) {
  data::ColumnRule rule = data::rule_for(request.rules, column);
  if (rule.missing != data::Missing::refuse)
    throw Error(
        fmt::format("{} would fill in the target, '{}'; leave out rows without one", rule.where, column));
  return rule;
}

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
  const data::ColumnRule rule = target_rule(csv.columns()[columns[0]], request);
  if (rule.values && !request.fixed_classes) request.classes = *rule.values, request.fixed_classes = true;
  const bool category =
      rule.type == data::ColumnType::category ||
      (rule.type == data::ColumnType::unsaid && csv.kind(columns[0]) == data::ColumnKind::text);
  if (category || request.fixed_classes) {
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
  std::vector<data::Field> fields = read_inputs(csv, request, target_columns(job, csv));
  if (request.with_target) fields.push_back(csv_target(csv, request));
  return data::Dataset(std::move(fields));
}

}  // namespace tightloop::train
