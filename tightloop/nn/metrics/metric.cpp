// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/metrics/metric.h>

#include <tightloop/nn/metrics/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <array>
#include <limits>

namespace tightloop::nn {

std::vector<MetricState> MeanMetric::states(const TensorType&) const { return {{"sum"}, {"count"}}; }

std::vector<Tensor> MeanMetric::update(std::span<const Tensor> states, const Tensor& prediction,
                                       const Tensor& target) const {
  const Part p = part(prediction, target);
  return {states[0] + p.sum, states[1] + p.count};
}

double MeanMetric::finish(std::span<const Array> states) const {
  const double count = states[1].at(0);
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : states[0].at(0) / count;
}

std::span<const MetricDef* const> all_metrics() {
  static const auto metrics = std::to_array<const MetricDef*>({
#define TIGHTLOOP_METRIC(name) &metrics::name##_def(),
#include <tightloop/nn/metrics/index.def>
#undef TIGHTLOOP_METRIC
  });
  return metrics;
}

const MetricDef* find_metric(std::string_view name) {
  for (const MetricDef* def : all_metrics())
    if (def->name == name) return def;
  return nullptr;
}

std::unique_ptr<Metric> make_metric(std::string_view name, const Options& given) {
  if (const MetricDef* def = find_metric(name))
    return def->build(resolve(fmt::format("metric {}", name), given, def->options));
  std::vector<std::string> names;
  for (const MetricDef* def : all_metrics()) names.emplace_back(def->name);
  throw Error(fmt::format("unknown metric '{}'{}; known are {}", name, suggestion(name, names),
                          fmt::join(names, ", ")));
}

}  // namespace tightloop::nn
