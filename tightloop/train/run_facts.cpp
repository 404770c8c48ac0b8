// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/nn/metrics/metric.h>
#include <tightloop/train/run_facts.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train {
namespace {

/// "top_k_2" is the second metric called top_k.
const nn::MetricDef* metric_of(const std::string& column) {
  if (const auto* def = nn::find_metric(column)) return def;
  return nn::find_metric(column.substr(0, column.find_last_of('_')));
}

}  // namespace

std::vector<std::string> RunFacts::columns() const {
  std::vector<std::string> out{"train_loss"};
  if (validates) {
    out.emplace_back("validation_loss");
    out.insert(out.end(), metrics.begin(), metrics.end());
  }
  out.insert(out.end(), measures.begin(), measures.end());
  return out;
}

void RunFacts::check_metric(const std::string& who, const std::string& name) const {
  const auto known = columns();
  if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end())
    throw Error(fmt::format("{}: there is no metric '{}' to watch{}; there are {}{}", who, name,
                            suggestion(name, known), fmt::join(known, ", "),
                            validates ? "" : " (there are no validation rows)"));
}

optim::Direction direction_of(const std::string& metric) {
  const auto* def = metric.ends_with("_loss") ? nullptr : metric_of(metric);
  return def != nullptr && def->greater_is_better ? optim::Direction::max : optim::Direction::min;
}

}  // namespace tightloop::train
